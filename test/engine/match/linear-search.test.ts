// The linear search against the built-in one, and texts that were made to be slow: what one request may cost.
import t from 'tap'
import { uniqueContext } from '../../../src/engine/explain/unique-context.ts'
import { searchLinear, searchLinearAnyBreak } from '../../../src/engine/match/linear-search.ts'
import type { LineEnding } from '../../../src/engine/text/lines.ts'
import { locate, Needle } from '../../../src/engine/match/locate.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { searchText } from '../../../src/engine/inspect/search.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const plan = (file: string | Buffer, edits: Parameters<typeof planTextEdits>[1]) =>
  planTextEdits(Buffer.from(file), edits, { line_endings: 'adapt', max_result_size: 1 << 27 })

t.test('finds what indexOf finds, in a text of any pieces', t => {
  for (let round = 0; round < often(3000, 300); round++) {
    const random = new Random(SEED * 60_013 + round)
    const pieces = Array.from({ length: 1 + random.int(5) }, () => Buffer.from(random.text(['a', 'b', 'aa'], 8)))
    const needle = Buffer.from(random.pick(['a', 'b']) + random.text(['a', 'b'], 4))
    const whole = Buffer.concat(pieces)
    const from = random.int(whole.length + 1)
    const found: number[] = []
    searchLinear(new Text(pieces), needle, from, at => found.push(at))
    const expected: number[] = []
    for (let at = whole.indexOf(needle, from); at !== -1 && at >= from; at = whole.indexOf(needle, at + 1)) {
      expected.push(at)
    }
    if (JSON.stringify(found) === JSON.stringify(expected)) continue
    t.fail(
      `differs: ${JSON.stringify({ seed: SEED, round, pieces: pieces.map(String), needle: String(needle), from, found, expected })}`
    )
    break
  }
  t.pass('all rounds')
  t.end()
})

t.test('finds every place where breaks of any kind are one letter, and halves no pair', t => {
  for (let round = 0; round < often(3000, 300); round++) {
    const random = new Random(SEED * 50_021 + round)
    const pieces = Array.from({ length: 1 + random.int(4) }, () =>
      Buffer.from(random.text(['a', 'b', '\n', '\r', '\r\n'], 8))
    )
    const letters =
      Buffer.concat(pieces)
        .toString()
        .match(/\r\n|[^]/g) ?? []
    const needle = random.pick(['a', '\n']) + random.text(['a', '\n'], 4)
    const expected: number[][] = []
    for (let i = 0, at = 0; i < letters.length; at += letters[i++]!.length) {
      const place = letters.slice(i, i + needle.length)
      if (place.map(letter => (/[\r\n]/.test(letter) ? '\n' : letter)).join('') === needle) {
        expected.push([at, at + place.join('').length])
      }
    }
    const found: number[][] = []
    searchLinearAnyBreak(new Text(pieces), Buffer.from(needle), (start, end) => found.push([start, end]))
    if (JSON.stringify(found) === JSON.stringify(expected)) continue
    t.fail(`differs: ${JSON.stringify({ seed: SEED, round, pieces: pieces.map(String), needle, found, expected })}`)
    break
  }
  t.pass('all rounds')
  t.end()
})

const count = (text: string, needle: string, ending: LineEnding = 'lf') =>
  locate(new Text([Buffer.from(text)]), new Needle(needle), 'adapt', ending)

t.test('goes over to the linear search where places are many, and loses none', t => {
  t.equal(count('ab'.repeat(30_000), 'ab').matches.count, 30_000)
  t.equal(count('a'.repeat(700_000), 'a'.repeat(200)).all.count, 699_801)
  t.equal(count('ab'.repeat(100_000) + 'b', 'ab'.repeat(40_000) + 'b').all.count, 1)
  const long = 'x'.repeat(5000) + 'y'
  const found = count(`${long}-${long}`, long)
  t.strictSame(
    [found.all.at(0), found.all.at(1), found.all.count],
    [{ start: 0, end: 5001 }, { start: 5002, end: 10_003 }, 2]
  )
  t.equal(count('a', 'ab').all.count, 0)
  const lines = 'a\n'.repeat(20_000)
  t.match(count(lines + '\r\n', 'a\n'.repeat(2000), 'mixed'), { exact: true, all: { count: 18_001 } })
  t.match(count('a\r\n' + lines, 'a\n'.repeat(2000), 'mixed'), { exact: false, all: { count: 18_002 } })
  t.match(count('\n'.repeat(20_000) + 'b\r\n', '\n'.repeat(2000) + 'b', 'mixed').all, { count: 1 })
  t.match(count('\r\n' + '\n'.repeat(20_000), '\n'.repeat(2000), 'mixed'), { exact: false, all: { count: 18_002 } })
  t.end()
})

// Each of these took from five seconds to for ever before it was mended. Nothing here asserts a time: the test's own
// limit does.
t.test('ends on texts that were made to be slow', { skip: ONLY_CI }, t => {
  t.match(
    plan('a'.repeat(640_000), [{ old_text: 'a'.repeat(320_000), new_text: '' }]),
    { ok: false, failure: { code: 'WRONG_COUNT', actual_occurrences: 320_001 } },
    'a text that overlaps itself everywhere'
  )
  t.match(
    plan('a'.repeat(100_000), [
      { old_text: 'a', new_text: 'b', replace_all: true },
      { old_text: 'b', new_text: 'c', replace_all: true }
    ]),
    { ok: true },
    'many places in what was written'
  )
  const there = Array.from({ length: 300 }, (_, i) =>
    i % 2 === 0
      ? { old_text: 'a', new_text: 'b', replace_all: true }
      : { old_text: 'b', new_text: 'a', replace_all: true }
  )
  t.match(plan('a'.repeat(1000), there), { ok: true }, 'places that are replaced again and again')
  t.match(
    count('a\n'.repeat(200_000) + '\r\n', 'a\n'.repeat(20_000) + 'b', 'mixed').all,
    { count: 0 },
    'lines that are all alike, in a text of mixed breaks'
  )
  t.match(
    count('a'.repeat(1_000_000), 'a'.repeat(500) + 'b' + 'a'.repeat(500)).all,
    { count: 0 },
    'a needle that nearly fits everywhere'
  )
  t.match(
    suggest(Buffer.from('x'.repeat(1000)), '\n'.repeat(100_000) + 'y'),
    { candidates: [] },
    'a text that is nearly all blank'
  )
  t.match(
    suggest(Buffer.from('A'.repeat(100_000)), ' '.repeat(20_000) + 'a'),
    { candidates: Array },
    'a short text that is alike everywhere'
  )
  t.match(
    searchText(Buffer.from('é e'.repeat(40_000), 'latin1'), { text: 'e', regex: false, ignore_case: false }),
    { total_matches: 40_000, matches: { length: 200 } },
    'matches on one long line'
  )
  const padded = Buffer.concat([Buffer.from('<td>'.repeat(280)), Buffer.alloc(24, 0xa0), Buffer.from('foo\nfoo\n')])
  t.match(
    plan(padded, [{ old_text: 'foo', new_text: 'bar' }]),
    { ok: false, failure: { code: 'WRONG_COUNT' } },
    'bytes that continue nothing'
  )
  const text = new Text([padded])
  const { all } = locate(text, new Needle('foo'), 'exact', 'lf')
  t.match(uniqueContext(text, all.at(0), all, true), { end: padded.indexOf('\n') })
  t.end()
})
