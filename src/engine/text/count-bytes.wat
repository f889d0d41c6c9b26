;; Counts bytes and pairs of neighbouring bytes in the first `length` bytes of its memory, sixteen at a time.
;; A comparison gives -1 for each equal byte, so subtracting it counts; a lane holds up to 255.
;; `length` is a multiple of 16. It must not count zeros: the caller pads the memory with zeros.
(module
  (memory (export "memory") 2)

  ;; The sum of the sixteen lanes of `counts`.
  (func $sum (param $counts v128) (result i32)
    (local.set $counts (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (local.get $counts))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $counts)) (i32x4.extract_lane 1 (local.get $counts)))
      (i32.add (i32x4.extract_lane 2 (local.get $counts)) (i32x4.extract_lane 3 (local.get $counts)))))

  ;; How often `byte` occurs.
  (func (export "bytes") (param $length i32) (param $byte i32) (result i32)
    (local $at i32) (local $stop i32) (local $found i32) (local $counts v128) (local $wanted v128)
    (local.set $wanted (i8x16.splat (local.get $byte)))
    (block $done
      (loop $stretch
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $stop (i32.add (local.get $at) (i32.const 4080))) ;; 255 × 16
        (if (i32.gt_u (local.get $stop) (local.get $length)) (then (local.set $stop (local.get $length))))
        (local.set $counts (v128.const i32x4 0 0 0 0))
        (loop $each
          (local.set $counts (i8x16.sub (local.get $counts) (i8x16.eq (v128.load (local.get $at)) (local.get $wanted))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $each (i32.lt_u (local.get $at) (local.get $stop))))
        (local.set $found (i32.add (local.get $found) (call $sum (local.get $counts))))
        (br $stretch)))
    (local.get $found))

  ;; How often `second` follows `first`; also reads the byte after the last.
  (func (export "pairs") (param $length i32) (param $first i32) (param $second i32) (result i32)
    (local $at i32) (local $stop i32) (local $found i32) (local $counts v128) (local $one v128) (local $other v128)
    (local.set $one (i8x16.splat (local.get $first)))
    (local.set $other (i8x16.splat (local.get $second)))
    (block $done
      (loop $stretch
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $stop (i32.add (local.get $at) (i32.const 4080)))
        (if (i32.gt_u (local.get $stop) (local.get $length)) (then (local.set $stop (local.get $length))))
        (local.set $counts (v128.const i32x4 0 0 0 0))
        (loop $each
          (local.set $counts (i8x16.sub (local.get $counts) (v128.and
            (i8x16.eq (v128.load (local.get $at)) (local.get $one))
            (i8x16.eq (v128.load offset=1 (local.get $at)) (local.get $other)))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $each (i32.lt_u (local.get $at) (local.get $stop))))
        (local.set $found (i32.add (local.get $found) (call $sum (local.get $counts))))
        (br $stretch)))
    (local.get $found)))
