// Compares the ranges of matches with those that ripgrep reports.
import { spawnSync } from 'node:child_process'
import { rgPath } from '@vscode/ripgrep'
import t from 'tap'
import { MOST_RANGES, searchRanges, type RangesRequest } from '../../../src/engine/inspect/search-ranges.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const request = (text: string, given: Partial<RangesRequest> = {}): RangesRequest => ({
  text,
  regex: false,
  ignore_case: false,
  whole_word: false,
  ...given
})

function rangesIn(text: string | Buffer, wanted: RangesRequest, stop = () => false): number[][] | null {
  const { ranges } = searchRanges(Buffer.from(text), wanted, stop)
  return ranges && Array.from({ length: ranges.length / 2 }, (_, i) => [ranges[2 * i]!, ranges[2 * i + 1]!])
}

/** The ranges that ripgrep finds. */
function rangesOf(text: Buffer, { text: pattern, regex, ignore_case, whole_word }: RangesRequest): number[][] {
  const flags = ['--no-config', '--json', '--encoding=none', '--text']
  if (!regex) flags.push('--fixed-strings')
  if (ignore_case) flags.push('--ignore-case')
  if (whole_word) flags.push('--word-regexp')
  const { stdout } = spawnSync(rgPath, [...flags, `--regexp=${pattern}`, '-'], { input: text, encoding: 'utf8' })
  return stdout.split('\n').flatMap(line => {
    const { type, data } = JSON.parse(line || '{}') as {
      type?: string
      data: { absolute_offset: number; submatches: { start: number; end: number }[] }
    }
    if (type !== 'match') return []
    return data.submatches.map(({ start, end }) => [data.absolute_offset + start, data.absolute_offset + end])
  })
}

const LETTERS = ['a', 'a', 'b', 'A', 'B', '_', '-', ' ', '.', 'é', 'É', 'ß', '字', '😀', '𝒜', 'ё', 'Ё', '1', '\u0301']
const REGEXES = ['a', 'b+', 'a|ab', 'ab|a', '[ab]+', '-a', 'a-', '^a', 'a$', '.b', '[^a]b', 'é|É', 'a.', '(?i)b', '\\.']

t.test('finds the ranges that ripgrep finds', async t => {
  const random = new Random(SEED)
  let found = 0
  for (let round = 0; round < often(5000, 300, 100); round++) {
    const text = Buffer.from(random.text([...LETTERS, '\n'], 60))
    const regex = random.chance(50)
    const pattern = regex
      ? random.pick(REGEXES) + (random.chance(30) ? random.pick(REGEXES) : '')
      : random.text(LETTERS, 3)
    if (pattern === '') continue
    const wanted = request(pattern, { regex, ignore_case: random.chance(40), whole_word: random.chance(40) })
    const expected = rangesOf(text, wanted)
    found += expected.length
    const mine = rangesIn(text, wanted)
    if (JSON.stringify(mine) === JSON.stringify(expected)) continue
    return t.strictSame(mine, expected, `seed ${random.seed}, ${JSON.stringify({ text: text.toString(), wanted })}`)
  }
  t.ok(found > 0)
})

t.test('counts an empty match once, on a line without others', async t => {
  t.strictSame(rangesIn('b\naa\r\nba', request('a*', { regex: true })), [
    [0, 0],
    [2, 4],
    [7, 8]
  ])
  t.strictSame(rangesIn('\ufeffé\n', request('$', { regex: true })), [[5, 5]])
})

t.test('finds a text over several lines, whatever their breaks', async t => {
  t.strictSame(rangesIn('a\r\nb a\r\nbc', request('a\nb')), [
    [0, 4],
    [5, 9]
  ])
  t.strictSame(rangesIn('a\r\nb a\r\nbc', request('a\nb', { whole_word: true })), [[0, 4]])
})

t.test('ends at its bounds', async t => {
  t.equal(rangesIn('a'.repeat(MOST_RANGES + 1), request('a')), null)
  t.equal(rangesIn('a'.repeat(MOST_RANGES + 1), request('a', { ignore_case: true })), null)
  const stopped = (text: string, regex: string) =>
    searchRanges(Buffer.from(text), request(regex, { regex: true }), () => true)
  t.match(stopped('a a', 'a'), { isStopped: true })
  t.match(stopped('\n'.repeat(2000), 'a'), { isStopped: true })
})
