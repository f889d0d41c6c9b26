// What is recorded of a change.
import t from 'tap'
import { changedSplices } from '../../../src/engine/edit/changed-splices.ts'
import { Splices, type Splice } from '../../../src/engine/edit/splice.ts'
import { differing, recordedSplices } from '../../../src/engine/undo/refine.ts'
import { often } from '../../often.ts'
import { Random, randomFile, SEED } from '../../random.ts'
import { randomSplices } from './random-history.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
type Expected = [start: number, old: string, insert: string][]

/** The splices of a change between two texts, given as Latin-1. */
function check(name: string, before: string, after: string, expected: Expected): void {
  t.test(name, t => {
    const found = differing(bytes(before), bytes(after))
    const shown = found.map(({ start, old, insert }) => [start, old.toString('latin1'), insert.toString('latin1')])
    t.strictSame(shown, expected)
    t.end()
  })
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1')

check('records nothing of equal texts', 'a\nb\n', 'a\nb\n', [])
check('records the line that changed', 'a\nb\nc\n', 'a\nB\nc\n', [[2, 'b', 'B']])
check('records lines that are apart apart', 'a\nb\nc\nd', 'A\nb\nC\nd', [
  [0, 'a', 'A'],
  [4, 'c', 'C']
])
check('records whole lines where they are put in or taken out', 'a\nb\nb\nc\n', 'a\nb\nc\nx\n', [
  [4, 'b\n', ''],
  [8, '', 'x\n']
])
check('ends a line at a lone \\r', 'a\rb\rc', 'a\rB\rc', [[2, 'b', 'B']])
check('parts no \\r\\n where only the break changes', 'a\nb', 'a\r\nb', [[1, '\n', '\r\n']])
check('parts no \\r\\n where its first half goes', 'a\r\nb', 'a\nb', [[1, '\r\n', '\n']])
check('parts no \\r\\n where its second half goes', 'a\r\nb', 'a\rb', [[1, '\r\n', '\r']])
check('parts no character', utf8('x é y'), utf8('x è y'), [[2, utf8('é'), utf8('è')]])
check('parts no character at its end', utf8('x é y'), utf8('x ĩ y'), [[2, utf8('é'), utf8('ĩ')]])
check('takes bytes that are not UTF-8 one by one', 'x \xff\xfe y', 'x \xff\xfd y', [[3, '\xfe', '\xfd']])
check('takes a text that is put where none was', '', 'a\n', [[0, '', 'a\n']])

t.test('finds lines in 10,000 places', t => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`)
  const before = Buffer.from(lines.join(''))
  const after = Buffer.from(lines.map((line, i) => (i % 2 ? `${line.trim()} x\n` : line)).join(''))
  const found = differing(before, after)
  t.equal(found.length, 10_000)
  t.equal(
    found.every(({ old, insert }) => old.length === 0 && insert.length === 2),
    true
  )
  t.end()
})

t.test('compares no lines where too many differ between two that are the same', t => {
  const before = Buffer.from('a\nb\n'.repeat(200))
  const after = Buffer.from('b\nc\n'.repeat(300))
  t.equal(differing(before, after).length, 1)
  t.end()
})

t.test('compares no lines where that takes too long, however they lie', t => {
  const blocks = (lines: string) => Buffer.from(Array.from({ length: 200 }, (_, i) => `${i}.\n${lines}`).join(''))
  const found = differing(blocks('x\ny\nz\n'.repeat(70)), blocks('y\nw\nx\n'.repeat(70)))
  t.ok(found.length >= 200 && found.length < 200 * 140, `${found.length} splices`)
  t.equal(differing(Buffer.from('a\nb\n'.repeat(300_000)), Buffer.from('b\nc\n'.repeat(300_000))).length, 1)
  t.end()
})

t.test('compares the lines of many splices for no longer than those of one', t => {
  const one = Buffer.from('x\ny\nz\n'.repeat(30))
  const before = Buffer.concat(Array.from({ length: 3000 }, () => one))
  const list = Array.from({ length: 3000 }, (_, i): Splice => {
    const start = i * one.length
    return { start, end: start + one.length, insert: Buffer.from('y\nw\nx\n'.repeat(30)) }
  })
  const found = recordedSplices(before, changedSplices(before, list).list)
  const countIn = (at: number) => found.filter(({ start }) => Math.floor(start / one.length) === at).length
  t.ok(countIn(0) > 1, `${countIn(0)} splices in the first`)
  t.ok(countIn(2998) + countIn(2999) < 2, 'and the last are not compared')
  t.end()
})

t.test('keeps no more than ten thousand splices, those of near lines together', t => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i}\n`)
  const before = Buffer.from(lines.join(''))
  const now = lines.map((line, i) => (i % 2 ? `${line.trim()} x\n` : line)).join('')
  const found = differing(before, Buffer.from(now))
  t.ok(found.length <= 10_000 && found.length >= 5000, `${found.length} splices`)
  const splices = found.map(({ start, old, insert }): Splice => ({ start, end: start + old.length, insert }))
  t.equal(Buffer.concat(new Splices(splices, before.length).apply(before)).toString(), now)
  t.end()
})

t.test('compares no lines where too many have one hash', t => {
  const lines = sameSlot(250, 2048)
  t.equal(differing(Buffer.concat(lines), Buffer.concat(lines.toReversed())).length, 1)
  t.ok(differing(Buffer.concat(lines.slice(0, 50)), Buffer.concat(lines.slice(0, 50).toReversed())).length > 1)
  t.end()
})

/** Lines that the table of `nameLines` looks for in one place first, where it has so many slots. */
function sameSlot(count: number, slots: number): Buffer[] {
  const lines: Buffer[] = []
  for (let i = 0; lines.length < count; i++) {
    const line = bytes(`${i}\n`)
    const hash = line.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0)
    if (((hash ^ (hash >>> 15)) & (slots - 1)) === 0) lines.push(line)
  }
  return lines
}

t.test('takes a line of 10 MB, and keeps no view of it', t => {
  const before = Buffer.alloc(10_000_000, 'x')
  const [splice, ...more] = differing(
    before,
    Buffer.concat([before.subarray(0, 5_000_000), bytes('y'), before.subarray(5_000_001)])
  )
  t.strictSame({ ...splice, more }, { start: 5_000_000, old: bytes('x'), insert: bytes('y'), more: [] })
  t.ok(splice!.old.buffer.byteLength < 100_000)
  t.end()
})

t.test('comes to the same text as the splices', t => {
  const count = often(4000)
  for (let round = 0; round < count; round++) {
    const random = new Random(SEED * 50_021 + round)
    const { bytes, alphabet } = randomFile(random)
    const list = randomSplices(
      random,
      bytes,
      alphabet.map(text => Buffer.from(text))
    )
    const after = Buffer.concat(new Splices(list, bytes.length).apply(bytes))
    const holds = [recordedSplices(bytes, changedSplices(bytes, list).list), differing(bytes, after)].every(
      recorded => {
        const splices = recorded.map(({ start, old, insert }): Splice => ({ start, end: start + old.length, insert }))
        return (
          Buffer.concat(new Splices(splices, bytes.length).apply(bytes)).equals(after) &&
          recorded.every(
            ({ start, old, insert }) =>
              bytes.subarray(start, start + old.length).equals(old) &&
              old.length + insert.length > 0 &&
              !old.equals(insert)
          )
        )
      }
    )
    if (holds) continue
    t.fail('broken', { seed: SEED, round, file: bytes.toString('latin1'), list })
    break
  }
  t.pass(`${count} changes`)
  t.end()
})
