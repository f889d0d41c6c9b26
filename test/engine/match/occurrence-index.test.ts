// Many strings in a text that changes, against a search for each of them: the fast way must find what the naive one
// does.
import t from 'tap'
import { ONLY_CI } from '../../often.ts'
import { PieceTable } from '../../../src/engine/edit/piece-table.ts'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import { GramFilter, keyLength } from '../../../src/engine/match/gram-filter.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { OccurrenceIndex } from '../../../src/engine/match/occurrence-index.ts'
import { Random, SEED } from '../../random.ts'
import { collidingTexts } from '../colliding.ts'
import { rounds } from '../rounds.ts'

/** Every place, one search after the other. */
function naive(bytes: Buffer, string: Buffer): number[] {
  const found: number[] = []
  for (let at = bytes.indexOf(string); at !== -1; at = bytes.indexOf(string, at + 1)) found.push(at)
  return found
}

const same = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((place, i) => place === b[i])

const ALPHABETS = [
  ['a', 'b'],
  ['a'],
  ['a', 'b', 'c', '\n', '\r\n'],
  ['foo ', 'bar ', '        ', 'é'],
  [...'abcdefgh0123456789 \n']
]
const LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 22, 23, 24, 38, 39, 40, 62, 63, 64, 65, 90, 200]

/** Strings that are there, nearly there, or longer than the text. */
function randomString(random: Random, bytes: Buffer, alphabet: readonly string[]): Buffer {
  const length = random.pick(LENGTHS)
  const from = random.int(Math.max(1, bytes.length - length + 1))
  const string = Buffer.from(
    random.chance(85) ? bytes.subarray(from, from + length) : Buffer.from(random.text(alphabet, length))
  )
  if (string.length > 0 && random.chance(15)) string[random.int(string.length)] = 98
  return string.length === 0 ? Buffer.from('a') : string
}

const randomBytes = (random: Random, alphabet: readonly string[]): Buffer => {
  const bytes = Buffer.from(
    random.text(alphabet, random.int(400) === 0 ? 20_000 : random.chance(6) ? 1500 : random.pick([10, 40, 80, 200]))
  )
  // The same bytes at any place in memory.
  return Buffer.concat([Buffer.alloc(random.int(4)), bytes]).subarray(-bytes.length || Infinity)
}

t.test('finds in one pass what a search for each key finds', t => {
  let places = 0
  for (const round of rounds(t, 2000)) {
    const random = new Random(SEED * 40_009 + round)
    const alphabet = random.pick(ALPHABETS)
    const bytes = randomBytes(random, alphabet)
    const strings = Array.from({ length: 1 + random.int(12) }, () => randomString(random, bytes, alphabet)).filter(
      string => string.length > 3
    )
    const keys = [
      ...new Set(strings.map(string => string.subarray(0, keyLength(string.length)).toString('latin1')))
    ].map(key => Buffer.from(key, 'latin1'))
    const found: number[][] = keys.map(() => [])
    new GramFilter(keys).scan(bytes, (key, at) => found[key]!.push(at))
    const expected = keys.map(key => naive(bytes, key))
    places += expected.flat().length
    if (
      found.every((list, key) =>
        same(
          list.sort((a, b) => a - b),
          expected[key]!
        )
      )
    ) {
      continue
    }
    t.fail('differs', { seed: SEED, round, bytes: bytes.toString('latin1'), keys: keys.map(String), found, expected })
    break
  }
  t.ok(places > 0, `${places} places`)
  t.end()
})

t.test('distinguishes keys of the same hash', t => {
  const found: number[][] = []
  new GramFilter([Buffer.from('kdgih1f'), Buffer.from('k7n1z3h')]).scan(Buffer.from('.k7n1z3h kdgih1f'), (key, at) =>
    found.push([key, at])
  )
  t.strictSame(found.sort(), [
    [0, 9],
    [1, 1]
  ])
  t.end()
})

t.test('knows every place after any edits', t => {
  let known = 0
  for (const round of rounds(t, 4000)) {
    const random = new Random(SEED * 30_011 + round)
    const alphabet = random.pick(ALPHABETS)
    let bytes = randomBytes(random, alphabet)
    const draft = new PieceTable(bytes)
    const turns = 3 + random.int(10)
    const strings = Array.from({ length: turns }, () =>
      random.chance(5) ? undefined : randomString(random, bytes, alphabet)
    )
    if (random.chance(30)) strings[turns - 1] = strings[0]
    const occurrences = new OccurrenceIndex(strings, 0)
    for (const [edit_index, string] of strings.entries()) {
      const expected = string === undefined ? [] : naive(bytes, string)
      const found = occurrences.find(edit_index, draft.text)
      if (found !== undefined) {
        known++
        const starts = [...found.starts()]
        if (
          string === undefined ||
          !same(starts, expected) ||
          (found.count > 0 && found.at(0).end !== starts[0]! + string.length)
        ) {
          t.fail('differs', {
            seed: SEED,
            round,
            edit_index,
            bytes: bytes.toString('latin1'),
            string: String(string),
            starts,
            expected
          })
          return t.end()
        }
      }
      // Some of the places, or none, and stretches anywhere; what is put in makes strings that are still to come.
      const later = strings[edit_index + random.int(turns - edit_index)]
      let at = 0
      const ranges = (
        random.chance(70)
          ? expected.filter(() => random.chance(50)).map(start => [start, start + string!.length])
          : [[random.int(bytes.length + 1), 0]]
      ).flatMap(([start, end]) => {
        if (start! < at) return []
        at = Math.max(start!, end!, Math.min(bytes.length, start! + random.int(3)))
        const insert = random.chance(25)
          ? Buffer.alloc(0)
          : random.chance(40) && later !== undefined
            ? later.subarray(random.int(3))
            : Buffer.from(random.text(alphabet, 6))
        return [{ edit_index, operation: 'replace' as const, start: start!, end: at, insert }]
      })
      draft.replace(ranges)
      const parts: Buffer[] = []
      let from = 0
      for (const { start, end, insert } of ranges) {
        parts.push(bytes.subarray(from, start), insert)
        from = end
      }
      bytes = Buffer.concat([...parts, bytes.subarray(from)])
      if (!draft.text.slice(0, draft.text.length).equals(bytes)) {
        t.fail('the draft differs', { seed: SEED, round, edit_index })
        return t.end()
      }
      occurrences.changed(edit_index, draft.text, ranges)
    }
  }
  t.ok(known > 0, `${known} times known`)
  t.end()
})

/** Lines that occur once, or nearly so. */
const lines = (count: number, ending: (line: number) => string): string =>
  Array.from({ length: count }, (_, i) => `  const item_${i} = lookup(table_${i % 7}) // of ${i % 3}${ending(i)}`).join(
    ''
  )

t.test('plans many edits at once as it plans one after the other', t => {
  const kinds = [['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r']]
  for (const round of rounds(t, 20)) {
    const random = new Random(SEED * 20_011 + round)
    const breaks = kinds[round % kinds.length]!
    const mixed = breaks.length > 1
    let bytes = Buffer.from(
      (random.chance(20) ? '\ufeff' : '') +
        lines(random.pick([300, 300, 300, 1000]), i => breaks[((i * 7) % 5) % breaks.length]!)
    )
    const original = bytes
    const edits: TextEdit[] = []
    const results: Array<[number, number] | string> = []
    const options = { line_endings: 'adapt', max_result_size: 1 << 24 } as const
    for (let i = 0; i < 40; i++) {
      // Texts of some lines as they are now, with breaks of any kind, or short ones that are everywhere.
      const text = bytes.toString()
      const from = random.int(text.length)
      const old_text = (text.slice(from, from + random.pick([4, 9, 20, 60, 200])) || 'item').replace(
        /\r\n|\r|\n/g,
        random.pick(['\n', '\n', '\r\n'])
      )
      const new_text = random.pick(['', 'x', `item_${i}`, old_text.replace('item', 'thing'), `${old_text} ${old_text}`])
      const edit: TextEdit = {
        old_text,
        new_text: mixed ? new_text.replace(/[\r\n]+/g, ' ') : new_text,
        ...random.pick([{}, { replace_all: true }, { occurrence: 'first' }, { occurrence: 'last' }])
      }
      const one = planTextEdits(bytes, [edit], options)
      const last = edits.length > 30 && random.chance(5)
      if (!one.ok && !last) continue
      edits.push(edit)
      if (!one.ok) {
        results.push(one.failure.code)
        break
      }
      results.push([one.value.edits_applied[0]!.occurrences_found, one.value.edits_applied[0]!.occurrences_replaced])
      bytes = Buffer.concat(one.value.pieces)
    }
    const all = planTextEdits(original, edits, options)
    const same = all.ok
      ? Buffer.concat(all.value.pieces).equals(bytes) &&
        JSON.stringify(all.value.edits_applied.map(one => [one.occurrences_found, one.occurrences_replaced])) ===
          JSON.stringify(results)
      : all.failure.code === results.at(-1) && all.failure.edit_index === edits.length - 1
    if (same) continue
    t.fail('differs', { seed: SEED, round, edits, results, all: all.ok ? all.value.edits_applied : all.failure.code })
    break
  }
  t.pass('all rounds')
  t.end()
})

t.test('goes on after an edit of hundreds of thousands of places', { skip: ONLY_CI }, t => {
  const many = lines(3000, () => '\n') + 'a'.repeat(300_000) + lines(10, () => '\r\n')
  const rest = Array.from({ length: 12 }, (_, i): TextEdit => ({
    old_text: `const item_${200 + i} = lookup(`,
    new_text: `const thing_${i} = lookup(`
  }))
  const planned = planTextEdits(
    Buffer.from(many),
    [
      ...rest.slice(0, 3),
      { old_text: 'a', new_text: 'bc', replace_all: true },
      ...rest.slice(3).map(edit => ({ ...edit, old_text: edit.old_text.replaceAll('a', 'bc') }))
    ],
    { line_endings: 'adapt', max_result_size: 1 << 24 }
  )
  t.match(planned.ok ? planned.value.edits_applied.map(one => one.occurrences_replaced) : planned.failure, [
    1,
    1,
    1,
    300_000 + 3010,
    1,
    1,
    1,
    1,
    1,
    1,
    1,
    1,
    1
  ])
  const expected = rest
    .reduce((text, edit, i) => (i < 3 ? text.replace(edit.old_text, edit.new_text) : text), many)
    .replaceAll('a', 'bc')
  const result = rest
    .slice(3)
    .reduce((text, edit) => text.replace(edit.old_text.replaceAll('a', 'bc'), edit.new_text), expected)
  if (planned.ok) t.ok(Buffer.concat(planned.value.pieces).equals(Buffer.from(result)))
  t.end()
})

t.test('takes no longer for strings of one hash than for others', t => {
  const crafted = collidingTexts((hash, byte) => (Math.imul(hash ^ byte, 0x01000193) + 0x1f3d5b79) | 0, 0, 10)
  const timed = (texts: readonly string[]): number => {
    const keys = texts.map(text => Buffer.from(`${text}...`))
    const bytes = Buffer.concat(Array<Buffer>(20_000).fill(Buffer.concat([keys.at(-1)!, Buffer.from('\n')])))
    let found = 0
    const before = process.cpuUsage()
    new GramFilter(keys).scan(bytes, (key, at) => {
      if (key === keys.length - 1 && at % 64 === 0) found++
    })
    t.equal(found, 20_000)
    return process.cpuUsage(before).user
  }
  const ordinary = timed(crafted.map((text, i) => text.slice(8) + String(i).padStart(8)))
  const same = timed(crafted)
  // Comparing each place with all of them would take a hundred times as long.
  t.ok(same < 20 * Math.max(ordinary, 10_000), `${ordinary} and ${same} µs`)
  t.end()
})

t.test('takes no longer for grams whose hashes end alike than for others', t => {
  const mixed = (sum: number): number => Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
  const endOf = (key: Buffer): number => {
    const hash = mixed(Math.imul(key.readInt32LE(), 0x9e3779b1))
    return (hash ^ (hash >>> 13)) & 2047
  }
  const digits = (n: number): Buffer =>
    Buffer.from([n, n / 64, n / 64 ** 2, n / 64 ** 3].map(digit => 48 + (Math.floor(digit) % 64)))
  const crafted: Buffer[] = []
  for (let n = 0; crafted.length < 1000; n++) if (endOf(digits(n)) === 7) crafted.push(digits(n))
  const timed = (keys: readonly Buffer[]): number => {
    const bytes = Buffer.concat(Array<Buffer>(300_000).fill(keys.at(-1)!))
    let found = 0
    const before = process.cpuUsage()
    new GramFilter(keys).scan(bytes, (_, at) => {
      if (at % 4 === 0) found++
    })
    t.equal(found, 300_000)
    return process.cpuUsage(before).user
  }
  const ordinary = timed(crafted.map((_, i) => digits(i * 7919)))
  const alike = timed(crafted)
  t.ok(alike < 10 * Math.max(ordinary, 10_000), `${ordinary} and ${alike} µs`)
  t.end()
})
