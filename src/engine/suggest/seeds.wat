;; Finds the words of a text that may end a gram: four words at a time, by the hash of each word and the word before it.
;; Memory: 0 to 8191: a bit for each hash; from 8192 on: 16 bytes, the last four being the word before the text, then
;; the text, whose length is a multiple of 16; from 81920 on: the results, the offset of each word in the text.
;; The hash must equal `hash` in seeds.ts, which checks the results.
(module
  (memory (export "memory") 3)

  ;; `weight`: factor of the word before in the hash; 0 for grams of one word. Returns four times the number found.
  (func (export "find") (param $length i32) (param $weight i32) (result i32)
    (local $at i32) (local $to i32) (local $slots v128) (local $lower v128) (local $weights v128) (local $last v128)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32)
    (local.set $lower (i8x16.splat (i32.const 0x20)))
    (local.set $weights (i32x4.splat (local.get $weight)))
    (local.set $last (i32x4.splat (i32.const 0x85ebca6b)))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $slots
          (i32x4.shr_u
            (i32x4.mul
              (i32x4.add
                (v128.or (v128.load offset=8208 (local.get $at)) (local.get $lower))
                (i32x4.mul
                  (v128.or (v128.load offset=8204 (local.get $at)) (local.get $lower))
                  (local.get $weights)))
              (local.get $last))
            (i32.const 16)))
        ;; The lowest bit of each result is the bit of its hash; the other bits mean nothing.
        (local.set $a (i32x4.extract_lane 0 (local.get $slots)))
        (local.set $a
          (i32.shr_u (i32.load (i32.shl (i32.shr_u (local.get $a) (i32.const 5)) (i32.const 2))) (local.get $a)))
        (local.set $b (i32x4.extract_lane 1 (local.get $slots)))
        (local.set $b
          (i32.shr_u (i32.load (i32.shl (i32.shr_u (local.get $b) (i32.const 5)) (i32.const 2))) (local.get $b)))
        (local.set $c (i32x4.extract_lane 2 (local.get $slots)))
        (local.set $c
          (i32.shr_u (i32.load (i32.shl (i32.shr_u (local.get $c) (i32.const 5)) (i32.const 2))) (local.get $c)))
        (local.set $d (i32x4.extract_lane 3 (local.get $slots)))
        (local.set $d
          (i32.shr_u (i32.load (i32.shl (i32.shr_u (local.get $d) (i32.const 5)) (i32.const 2))) (local.get $d)))
        (if
          (i32.and
            (i32.or (i32.or (local.get $a) (local.get $b)) (i32.or (local.get $c) (local.get $d)))
            (i32.const 1))
          (then
            ;; Writes each offset; it is kept only if the end of the results then advances.
            (i32.store offset=81920 (local.get $to) (local.get $at))
            (local.set $to (i32.add (local.get $to) (i32.shl (i32.and (local.get $a) (i32.const 1)) (i32.const 2))))
            (i32.store offset=81920 (local.get $to) (i32.add (local.get $at) (i32.const 4)))
            (local.set $to (i32.add (local.get $to) (i32.shl (i32.and (local.get $b) (i32.const 1)) (i32.const 2))))
            (i32.store offset=81920 (local.get $to) (i32.add (local.get $at) (i32.const 8)))
            (local.set $to (i32.add (local.get $to) (i32.shl (i32.and (local.get $c) (i32.const 1)) (i32.const 2))))
            (i32.store offset=81920 (local.get $to) (i32.add (local.get $at) (i32.const 12)))
            (local.set $to (i32.add (local.get $to) (i32.shl (i32.and (local.get $d) (i32.const 1)) (i32.const 2))))
          ))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $each)))
    (local.get $to)))
