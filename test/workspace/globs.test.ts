// Compares which paths globs take with ripgrep's own answer, on files of random names.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import t from 'tap'
import { pathFilter } from '../../src/workspace/globs.ts'
import { testFolder } from '../folder.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'

/** The files that globs take, as the walk over a bucket's keys decides: no folder above one is left out. */
function taken(include: readonly string[], exclude: readonly string[], files: readonly string[]): string[] | null {
  const filter = pathFilter(include, exclude)
  if (!filter.ok) return null
  return files.filter(file => {
    const names = file.split('/')
    return names.every((_, i) => filter.value(Buffer.from(names.slice(0, i + 1).join('/')), i < names.length - 1))
  })
}

const NAMES = [
  'a',
  'b',
  'ab',
  '.a',
  'a.ts',
  'b.ts',
  'é',
  '{a',
  'a,b',
  '(a)',
  '[a]',
  '!a',
  '#a',
  'a\\',
  'A',
  'a-b',
  'a b'
]
const PARTS = [
  'a',
  'b',
  '*',
  '**',
  '?',
  '/',
  '/',
  '{',
  ',',
  '}',
  '[',
  ']',
  '!',
  '-',
  '^',
  '.ts',
  'é',
  '\\',
  '(',
  '#',
  ' ',
  '.'
]
const PATHS = [
  'a',
  'b',
  'src',
  'src/*',
  'src/**',
  '**/b',
  '*.ts',
  '/a',
  'a/',
  '{a,b}',
  '{src,a}/**',
  'src/{a,b}/*.ts',
  '!a',
  '[!a]*',
  '[a-b]*'
]

function randomFiles(random: Random): string[] {
  const files = new Set<string>()
  for (let i = 0; i < 30; i++) {
    files.add(Array.from({ length: 1 + random.int(4) }, () => random.pick(NAMES)).join('/'))
  }
  // A name is a file or a folder.
  return [...files].filter(file => ![...files].some(other => other.startsWith(`${file}/`))).sort()
}

t.test('take the files that ripgrep takes, and refuse the globs that it refuses', async t => {
  const random = new Random(SEED)
  const top = testFolder(t)
  const counts = { taken: 0, left: 0, refused: 0 }
  for (let round = 0; round < often(60, 8, 3); round++) {
    const files = randomFiles(random)
    const root = join(top, String(round))
    for (const file of files) {
      mkdirSync(join(root, dirname(file)), { recursive: true })
      writeFileSync(join(root, file), '')
    }
    for (let i = 0; i < 40; i++) {
      const globs = () =>
        Array.from({ length: random.int(3) }, () =>
          random.chance(30) ? random.pick(PATHS) : (random.chance(10) ? '!' : '') + random.text(PARTS, 7)
        )
      const [include, exclude] = [globs(), globs()]
      const flags = [
        ...include.map(glob => `--glob=${glob.replace(/^#/, '\\#')}`),
        ...exclude.map(glob => `--glob=!${glob}`)
      ]
      const found = spawnSync(rgPath, ['--no-config', '--no-ignore', '--hidden', '--files', '--null', ...flags], {
        cwd: root,
        encoding: 'utf8'
      })
      const expected = found.stderr === '' ? found.stdout.split('\0').slice(0, -1).sort() : null
      const mine = taken(include, exclude, files)
      if (expected === null) counts.refused++
      else {
        counts.taken += expected.length
        counts.left += files.length - expected.length
      }
      if (JSON.stringify(mine) !== JSON.stringify(expected)) {
        return t.strictSame(
          mine,
          expected,
          `seed ${random.seed}, ${JSON.stringify({ include, exclude, files })}, ${found.stderr}`
        )
      }
    }
  }
  for (const count of Object.values(counts)) t.ok(count > 0)
})

t.test('say what is wrong with a glob', async t => {
  const check = (glob: string, message: string | RegExp) =>
    t.match(pathFilter([glob], []), { ok: false, failure: { message } }, glob.slice(0, 20))
  check('{a', 'it has a { without a }; write [{] for the character')
  check('a}', 'it has a } without a {; write [}] for the character')
  check('[a', 'it has a [ without a ]; write [[] for the character')
  check('[b-a]', 'its range b-a is empty')
  check('a\\', 'it ends in a \\ that escapes nothing')
  check(`${'{a,'.repeat(1100)}b${'}c'.repeat(1100)}`, 'expression nests too deeply')
})
