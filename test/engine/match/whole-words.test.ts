// Whole words against ripgrep's --word-regexp, byte for byte, in random texts with letters of many scripts and bytes that
// aren't UTF-8.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import t, { type Test } from 'tap'
import { locate, Needle } from '../../../src/engine/match/locate.ts'
import { breakStyleOf } from '../../../src/engine/text/eol.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { testFolder } from '../../folder.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const FILES = 200
/** Letters, marks, digits and punctuation of one to four bytes, joiners, and what is no part of a word. */
const CHARACTERS = [
  'a',
  'b',
  '_',
  '9',
  'é',
  'é',
  '字',
  '𝔘',
  '²',
  '٣',
  '‿',
  '\u200d',
  '\u200b',
  'ª',
  '€',
  '😀',
  '\ufeff'
]
const BREAKS = [' ', '-', '.', '\n', '\r\n', '\t']

const ours = (bytes: Buffer, needle: string) => {
  const { matches } = locate(new Text([bytes]), new Needle(needle, true), 'adapt', breakStyleOf(bytes).ending)
  return matches.slice(0, matches.count).map(({ start, end }) => [start, end])
}

interface Said {
  type: string
  data: { path: { text: string }; absolute_offset: number; submatches: { start: number; end: number }[] }
}

/** The places that ripgrep finds, by file. */
function theirs(folder: string, needle: string): Map<string, number[][]> {
  const args = ['--no-config', '--json', '--text', '--encoding', 'none', '-F', '-w', '-e', needle, folder]
  let out = ''
  try {
    out = execFileSync(rgPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  } catch (error) {
    // It found nothing.
    if ((error as { status: number }).status !== 1) throw error
  }
  const found = new Map<string, number[][]>()
  for (const line of out.split('\n').filter(text => text !== '')) {
    const { type, data } = JSON.parse(line) as Said
    if (type !== 'match') continue
    const { path, absolute_offset: at, submatches } = data
    const places = found.get(path.text) ?? []
    found.set(path.text, [...places, ...submatches.map(({ start, end }) => [at + start, at + end])])
  }
  return found
}

function randomBytes(random: Random): Buffer {
  const bytes = Buffer.from(random.text([...CHARACTERS, 'a', 'ab', ...BREAKS], 40))
  if (random.chance(30)) {
    for (let i = 0; i < 3 && bytes.length > 0; i++) {
      bytes[random.int(bytes.length)] = random.pick([0xff, 0xc3, 0xe5, 0x80])
    }
  }
  return bytes
}

t.test('finds the whole words that ripgrep finds', t => {
  for (let round = 0; round < often(200, 10, 3); round++) {
    const random = new Random(SEED * 70_001 + round)
    const folder = testFolder(t)
    const needle = random.pick(['a', 'ab', 'a b', '-a', 'a.', '.', 'é', '字', `${random.pick(CHARACTERS)}a`, 'a-a'])
    const files = Array.from({ length: FILES }, (_, i): [string, Buffer] => [join(folder, `${i}`), randomBytes(random)])
    for (const [path, bytes] of files) writeFileSync(path, bytes)
    const expected = theirs(folder, needle)
    for (const [path, bytes] of files) {
      const found = ours(bytes, needle)
      if (JSON.stringify(found) === JSON.stringify(expected.get(path) ?? [])) continue
      t.fail(
        JSON.stringify({
          seed: SEED,
          round,
          needle,
          bytes: bytes.toString('hex'),
          found,
          expected: expected.get(path) ?? []
        })
      )
      return t.end()
    }
  }
  t.pass('all rounds')
  t.end()
})

const check = (t: Test, text: string | Buffer, needle: string, starts: number[]) => {
  const found = ours(Buffer.from(text), needle)
  t.strictSame(
    found.map(([start]) => start),
    starts,
    `${JSON.stringify(needle)} in ${JSON.stringify(text)}`
  )
}

t.test('ends a word at white space, punctuation and the ends of the text', t => {
  check(t, 'a ab a, _a a', 'a', [0, 5, 11])
  check(t, 'x+ y +y', '+', [])
  check(t, 'one\r\ntwo one\r\ntwos', 'one\ntwo', [0])
  // In mixed breaks too.
  check(t, 'one\ntwo one\r\ntwos\none\r\ntwo', 'one\ntwo', [0, 18])
  t.end()
})
