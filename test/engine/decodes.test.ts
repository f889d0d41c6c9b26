// No part of a file is decoded that is as long as the file: Node has no strings of more than 2^29 - 24 units, and a
// file may be four times as long.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { unifiedDiff } from '../../src/engine/report/diff.ts'
import {
  byteOfUtf16,
  decode,
  decodeByColumn,
  excerpt,
  excerptAround,
  excerptOf,
  ShownLine,
  utf16Length
} from '../../src/engine/text/encoding.ts'
import { planOfSplices } from '../../src/engine/edit/plan-of-splices.ts'
import { Splices } from '../../src/engine/edit/splice.ts'
import { lineStarts } from '../../src/engine/text/lines.ts'
import { searchText } from '../../src/engine/inspect/search.ts'
import { planTask, replanOnCurrent, type TaskChange } from '../../src/engine/task.ts'
import { Text } from '../../src/engine/text/text.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'

/**
 * Bytes that the longest decoded stretch may have; the files have sixteen times as many. Files up to 1 MiB may be decoded
 * whole: some searches for what was meant do (engine/suggest/like-lines.ts).
 */
const MOST = 1 << 17
const SIZE = 16 * MOST

/**
 * The bytes of the longest stretch that is decoded while `work` runs. The engine has one way to a string, toString of a
 * buffer: it uses neither a TextDecoder nor the slices of single encodings, which Node 24 doesn't go through any more.
 */
function longestDecoded(work: () => void): number {
  const own = Buffer.prototype.toString
  let longest = 0
  Buffer.prototype.toString = function (this: Buffer, encoding?: BufferEncoding, start = 0, end = this.length) {
    longest = Math.max(longest, Math.min(end, this.length) - start)
    return own.call(this, encoding, start, end)
  }
  try {
    work()
  } finally {
    Buffer.prototype.toString = own
  }
  return longest
}

t.test('knows the only way in which the engine decodes', t => {
  const folder = join(import.meta.dirname, '../../src/engine')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    t.notMatch(readFileSync(join(folder, name), 'utf8'), /Slice\(|TextDecoder|StringDecoder|transcode/, name)
  }
  t.end()
})

t.test('sees what is decoded', t => {
  t.equal(
    longestDecoded(() => {
      Buffer.alloc(SIZE).toString()
    }),
    SIZE
  )
  t.equal(
    longestDecoded(() => {
      Buffer.alloc(SIZE).toString('latin1', 5)
    }),
    SIZE - 5
  )
  t.end()
})

const repeated = (text: string): Buffer => Buffer.alloc(SIZE, text)
/** Lines of all kinds, one long line, one long line between others, and the same not in UTF-8. */
const FILES: Record<string, Buffer> = {
  'of many lines': repeated('one two\r\nthree\nfour five six\rseven\n'),
  'of one line': repeated('one two three '),
  'with a long line amid others': Buffer.concat([
    Buffer.from('first\r\nsecond\n'),
    repeated('one two three '),
    Buffer.from('\nlast but one\r\nlast\n')
  ]),
  'not in UTF-8': Buffer.concat([
    Buffer.from('first\r\nsecond\n'),
    repeated('one \xff three '),
    Buffer.from([10, 0xff, 13, 10])
  ])
}

const SLIP = '1\tone\n2\ttwo\n// ... existing code ...\n3\tthree\n'

for (const [name, bytes] of Object.entries(FILES)) {
  const { total } = lineStarts(new Text([bytes]), [])
  const all = { start_line: 1, end_line: total }
  const changes: Record<string, TaskChange> = {
    'replaces all lines': { operation: 'edit_lines', edits: [{ ...all, new_text: SLIP }], line_endings: 'adapt' },
    'replaces all lines by others in exact bytes': {
      operation: 'edit_lines',
      edits: [{ ...all, new_text: SLIP }],
      line_endings: 'exact'
    },
    'inserts a line': {
      operation: 'edit_lines',
      edits: [{ start_line: total, end_line: total - 1, new_text: 'x' }],
      line_endings: 'adapt'
    },
    'expects another text': {
      operation: 'edit_lines',
      edits: [{ ...all, new_text: 'x', expected_text: 'one\ntwo' }],
      line_endings: 'adapt'
    },
    'expects another text in exact bytes': {
      operation: 'edit_lines',
      edits: [{ ...all, new_text: 'x', expected_text: 'one' }],
      line_endings: 'exact'
    },
    'expects a text that is there only in part': {
      operation: 'edit_lines',
      edits: [{ ...all, new_text: 'x', expected_text: bytes.toString('utf8', 0, 40) }],
      line_endings: 'adapt'
    },
    'replaces a text': {
      operation: 'edit',
      edits: [{ old_text: 'three', new_text: 'x\ny', occurrence: 'last' }],
      line_endings: 'adapt'
    },
    'finds too many': { operation: 'edit', edits: [{ old_text: 'three', new_text: 'x' }], line_endings: 'adapt' },
    'finds none': { operation: 'edit', edits: [{ old_text: 'one  two', new_text: 'x' }], line_endings: 'adapt' },
    'finds none like it': {
      operation: 'edit',
      edits: [{ old_text: 'function nobody () {}\n', new_text: 'x' }],
      line_endings: 'adapt'
    },
    'replaces the content': { operation: 'create', content: SLIP }
  }
  t.test(`decodes no large part of a file ${name}`, t => {
    for (const [what, change] of Object.entries(changes)) {
      const task = { change, max_result_size: 2 * SIZE, context_lines: 3, dry_run: true }
      t.ok(
        longestDecoded(() => {
          planTask(bytes, task, { path: 'f', exists: true })
        }) < MOST,
        what
      )
      t.ok(
        longestDecoded(() => {
          replanOnCurrent(bytes, task)
        }) < MOST,
        `${what}, against a stale hash`
      )
    }
    for (const text of ['three', 'one two\nthree', 'nowhere']) {
      t.ok(
        longestDecoded(() => {
          searchText(bytes, { text, regex: false, ignore_case: false })
        }) < MOST,
        `searches ${text}`
      )
    }
    t.end()
  })
}

t.test('holds no expression against a line that would take too long', t => {
  const bytes = Buffer.concat([Buffer.from('ab\n'), Buffer.alloc((1 << 26) + 1, 'ab'), Buffer.from('\nab\n')])
  for (const request of [
    { text: 'ab', regex: true, ignore_case: false },
    { text: 'AB', regex: false, ignore_case: true }
  ]) {
    t.match(searchText(bytes, request), {
      matches: [{ line_number: 1 }],
      total_matches: 1,
      truncated: true,
      stopped_at_line: 2
    })
  }
  t.end()
})

t.test('makes no diff of lines that are too long to show', t => {
  const LONG = 1 << 24
  const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.alloc(LONG, 'ab'), Buffer.from('\nb\n')])
  const check = (what: string, splice: [start: number, end: number, insert: string], least: number) => {
    const [start, end, insert] = splice
    const plan = planOfSplices(bytes, new Splices([{ start, end, insert: Buffer.from(insert) }], bytes.length))
    const diff = (max_lines: number) => unifiedDiff(bytes, plan, { path: 'f', exists: true, max_lines })
    t.strictSame(diff(100), { diff_unavailable: 'too_long' }, what)
    t.match(diff(least), { diff_truncated: true }, `${what}: what isn’t shown doesn’t matter`)
    return diff(least)
  }
  check('the line before', [0, 2, 'x\n'], 5)
  check('in the line', [LONG / 2, LONG / 2, 'x'], 4)
  t.match(check('a line behind the end of its text', [LONG, LONG + 2, 'ab\nx'], 4), {
    diff: '--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n… 3 more lines of this diff left out: raise max_diff_lines to see them\n'
  })
  t.end()
})

t.test('makes no lines that a diff leaves out', t => {
  const LINES = 100_000
  const [few, many] = [Buffer.from('x\n'), Buffer.from('\n'.repeat(LINES))]
  for (const [what, original, insert, header] of [
    ['removed', many, few, `@@ -1,${LINES} +1,1 @@`],
    ['added', few, many, `@@ -1,1 +1,${LINES} @@`],
    ['kept', Buffer.concat([many, few, many]), Buffer.concat([many, many]), `@@ -${LINES - 2},7 +${LINES - 2},6 @@`]
  ] as const) {
    const plan = planOfSplices(original, new Splices([{ start: 0, end: original.length, insert }], original.length))
    const capture = t.capture(Buffer.prototype, 'subarray', Buffer.prototype.subarray)
    const made = unifiedDiff(original, plan, { path: 'f', exists: true, max_lines: 10 })
    t.match(made, { diff: `--- a/f\n+++ b/f\n${header}\n` }, what)
    t.ok(capture().length < 100, `views of bytes: ${what}`)
    capture.restore()
  }
  t.end()
})

t.test('shows of bytes what it would show of their text', t => {
  const alphabet = ['a', 'bc', 'é', '字', '😀', '\ufeff', ' ']
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 90_001 + round)
    const bytes = Buffer.from(random.text(alphabet, random.pick([3, 40, 400])))
    const broken = random.chance(30)
    if (broken && bytes.length > 0) {
      for (let i = 0; i < 3; i++) bytes[random.int(bytes.length)] = random.pick([0xff, 0xc3, 0xe5, 0x80])
    }
    const max = random.pick([2, 7, 20])
    const { text, lossy } = decodeByColumn(bytes)
    const complain = (what: string, found: unknown, wanted: unknown) =>
      t.strictSame(
        found,
        wanted,
        `${what}: ${JSON.stringify({ seed: SEED, round, bytes: bytes.toString('hex'), max })}`
      )
    if (utf16Length(bytes) !== text.length) complain('length', utf16Length(bytes), text.length)
    const at = random.int(text.length + 1)
    const byte = byteOfUtf16(bytes, at)
    const column = utf16Length(bytes.subarray(0, byte))
    const around = new ShownLine(bytes).around(byte, column, max)
    if (around !== excerptAround(text, column, max)) complain('around', around, excerptAround(text, column, max))
    if (new ShownLine(bytes).lossy !== (lossy === true)) complain('lossy', !lossy, lossy)
    const ends = excerptOf(bytes, max)
    const whole = decode(bytes)
    // How much is left out of bytes that are no text is counted by bytes.
    if (!broken && ends.text !== excerpt(whole.text, max)) complain('ends', ends.text, excerpt(whole.text, max))
    if (ends.lossy !== whole.lossy) complain('lossy ends', ends.lossy, whole.lossy)
  }
  const long = Buffer.from('x😀字'.repeat(40_000))
  t.equal(utf16Length(long), long.toString().length, 'a text of many steps')
  const four = '\ufffd'.repeat(4)
  const noText = { text: `${four}…[992 characters left out]…${four}`, lossy: true }
  t.strictSame(excerptOf(Buffer.alloc(1000, 0x80), 10), noText, 'bytes of which no character begins')
  t.end()
})
