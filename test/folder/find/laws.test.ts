// Finding in random trees against ripgrep alone: the same files and places; in a folder, for a limited caller and page
// by page, a part of them. `npm test -- test/folder/find/laws.test.ts --rounds N` for more.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import t from 'tap'
import type { FindQuery } from '../../../src/workspace/api.ts'
import { limitPolicy, makePolicy } from '../../../src/workspace/policy.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { found, seeker, textOf, type Match } from '../support/finding.ts'
import { makeFolders, onLinux, removeFolders } from '../support/open.ts'

const ROUNDS = Number(process.env.LONG_ROUNDS ?? often(2000, 60, 8))
const NAMES = ['a', 'ab', 'b', 'lib', 'a-b', 'é', '.x', 'x[1]', 'out', '#c', 'B']
const ENDINGS = ['', '.ts', '.log', '.md']
const WORDS = ['foo', 'bar', 'Foo', 'fooBar', ' ', ' ', '(', '.', 'é', '\n', '\n', '\n', '\r\n', '\r', 'x']
const IGNORED = ['*.log', 'out', '/a', 'b/', '!a.log', 'lib/*.md', '/lib/out', '!out', '*.ts', 'a-b/**', '#c', '.x']
const GLOBS = ['*.ts', 'lib/**', '*.{md,log}', '/a', '**/b/*', 'x[[]1]', '!*.md', '#c', '.x', 'a/*']
const PATTERNS = ['foo', 'o', 'foo\nbar', 'Foo', '(', 'é', 'x ', '\n', 'o\nf', 'o.']
const EXPRESSIONS = ['^foo', 'o+$', '[a-f]oo\\b', '^', '\\s+', '(?i)FOO', '^$', '.*', 'b|r', 'é|x', '[^o]+']
const PATHS = ['a/**', 'lib', '*/b/**', '**/*.ts', 'a-b/a', '**/out', '*.md', 'é/**']

/** Folders and files of a random tree. */
function makeTree(random: Random, root: string): { files: string[]; folders: string[] } {
  const [files, folders] = [new Set<string>(), new Set<string>()]
  for (let i = random.int(30); i >= 0; i--) {
    const names = Array.from({ length: random.int(3) }, () => random.pick(NAMES))
    const path = [...names, random.pick(NAMES) + random.pick(ENDINGS)].join('/')
    if (folders.has(path) || names.some((_, at) => files.has(names.slice(0, at + 1).join('/')))) continue
    files.add(path)
    for (const at of names.keys()) folders.add(names.slice(0, at + 1).join('/'))
    mkdirSync(dirname(join(root, path)), { recursive: true })
    const text = random.text(WORDS, 40)
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
    const [mark, nul] = [random.chance(10) ? '\ufeff' : '', random.chance(5) ? '\0' : '']
    writeFileSync(join(root, path), random.chance(10) ? utf16 : mark + text + nul)
  }
  for (const folder of ['', ...folders]) {
    for (const name of ['.gitignore', '.ignore', '.rgignore']) {
      if (!random.chance(name === '.gitignore' ? 30 : 8)) continue
      files.add(join(folder, name))
      writeFileSync(join(root, folder, name), Array.from({ length: 2 }, () => random.pick(IGNORED)).join('\n') + '\n')
    }
  }
  return { files: [...files], folders: [...folders] }
}

/** Places in a file, as `start-end`. */
type Places = Record<string, string[]>

interface Line {
  type: string
  data: {
    path: { text: string }
    absolute_offset: number
    binary_offset: number | null
    submatches: { start: number; end: number }[]
  }
}

/** What ripgrep alone writes in the root. */
function ripgrep(root: string, { include = [], exclude = [], ignored }: Partial<FindQuery>, more: string[]): string {
  const args = ['--no-config', '--hidden', '--no-require-git', '--no-ignore-global', '--no-ignore-exclude', '--binary']
  args.push(ignored === true ? '--no-ignore' : '--no-ignore-parent')
  args.push(...include.map(glob => `--glob=${glob.startsWith('#') ? '\\' : ''}${glob}`))
  args.push(...exclude.map(glob => `--glob=!${glob}`), ...more, './')
  return spawnSync(rgPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e9 }).stdout
}

/** The places that it finds, and the files among those with them that are binary. */
function placesIn(stdout: string): { places: Places; binary: Set<string> } {
  const places: Places = {}
  const binary = new Set<string>()
  for (const line of stdout.split('\n').filter(line => line !== '')) {
    const { type, data } = JSON.parse(line) as Line
    const path = type === 'summary' ? '' : data.path.text.slice(2)
    if (type === 'match') {
      const here = data.submatches.map(
        ({ start, end }) => `${data.absolute_offset + start}-${data.absolute_offset + end}`
      )
      // It says that some empty last lines match, but not where.
      if (here.length > 0) (places[path] ??= []).push(...here)
    }
    if (type === 'end' && data.binary_offset !== null) binary.add(path)
  }
  for (const path of binary) delete places[path]
  return { places, binary }
}

/** The places found, without a mark at the start of the text, as ripgrep counts them. */
const placesOf = (files: { path: string; value: Match[] }[], marked: (path: string) => boolean): Places =>
  Object.fromEntries(
    files.map(({ path, value }) => {
      const mark = marked(path) ? 3 : 0
      return [path, value.map(({ start, end }) => `${start - mark}-${end - mark}`)]
    })
  )

const where = (places: Places, isIn: (path: string) => boolean): Places =>
  Object.fromEntries(Object.entries(places).filter(([path]) => isIn(path)))

/** In the order of a walk. */
const byPath = (paths: string[]): string[] => {
  const key = (path: string): Buffer => Buffer.from(path.replaceAll('/', '\0'))
  return paths.sort((a, b) => key(a).compare(key(b)))
}

t.test(`finds what ripgrep finds, in ${ROUNDS} random trees`, async t => {
  for (let seed = SEED; seed < SEED + ROUNDS; seed++) {
    const random = new Random(seed)
    const folders = makeFolders()
    const { files, folders: inside } = makeTree(random, folders.root)
    const workspace = seeker(folders.root, { confinement: random.chance(80) && onLinux ? 'proc' : 'portable' })
    try {
      const regex = random.chance(50)
      const [ignore_case, whole_word] = [random.chance(30), random.chance(20)]
      const pattern = random.pick(regex ? EXPRESSIONS : PATTERNS)
      const globs = (percent: number) => (random.chance(percent) ? [random.pick(GLOBS)] : [])
      const query = {
        text: textOf(pattern, { regex, ignore_case, whole_word }),
        include: globs(30),
        exclude: globs(30),
        ignored: random.chance(20)
      }
      const options = [...(ignore_case ? ['-i'] : []), ...(whole_word ? ['-w'] : [])]
      const isOverLines = !regex && /[\r\n]/.test(pattern)
      const over = pattern.replace(/[.(]/g, '\\$&').replaceAll('\n', '(?:\\r\\n|\\n|\\r)')
      const how = regex ? ['--crlf', '-e', pattern] : isOverLines ? ['-U', '-e', over] : ['-F', '-e', pattern]
      const expected = placesIn(ripgrep(folders.root, query, ['--json', ...options, ...how]))
      const marked = (path: string): boolean =>
        /^(fffe|efbbbf)/.test(readFileSync(join(folders.root, path)).subarray(0, 3).toString('hex'))

      const all = await found(workspace, query)
      const told = `SEED=${seed}: ${JSON.stringify(query)}`
      const places = placesOf(all.files, marked)
      if (!t.strictSame(places, expected.places, told)) return
      t.strictSame(Object.keys(places), byPath(Object.keys(places)), told)
      t.equal(all.total_files, all.files.length)
      t.equal(all.total_matches, Object.values(places).flat().length)
      t.equal(all.skipped.binary, expected.binary.size, told)

      const folder = random.pick(inside.length > 0 ? inside : ['.'])
      const isIn = (path: string): boolean => folder === '.' || path.startsWith(`${folder}/`)
      const below = await found(workspace, { ...query, path: folder })
      t.strictSame(placesOf(below.files, marked), where(places, isIn), `${told} in ${folder}`)
      t.equal(below.skipped.binary, [...expected.binary].filter(isIn).length, `${told} in ${folder}`)

      const paths = [random.pick(PATHS), random.pick(PATHS)]
      const policy = makePolicy({ protect: [], readProtect: [], allowExtensions: null, stateDir: Buffer.from('/x') })
      const { limit } = limitPolicy(policy, paths)
      const isAllowed = (path: string): boolean => limit!.allows('read', Buffer.from(path))
      const view = workspace.limitedTo(paths)
      const limited = await found(view, query)
      const seen = `${told} limited to ${paths.join(' ')}`
      t.strictSame(placesOf(limited.files, marked), where(places, isAllowed), seen)
      t.equal(limited.skipped.binary, [...expected.binary].filter(isAllowed).length, seen)
      t.ok(limited.searched_files <= files.filter(isAllowed).length, seen)

      const pages: string[] = []
      const max_files = 1 + random.int(3)
      for (let after: string | undefined, page = 0; page <= all.files.length; page++) {
        const part = await found(workspace, { ...query, max_files, ...(after !== undefined && { after }) })
        pages.push(...part.files.map(({ path }) => path))
        t.equal(part.total_files, all.total_files, told)
        t.equal(part.truncated, part.next_after === undefined ? undefined : 'limit', told)
        after = part.next_after
        if (after === undefined) break
      }
      t.strictSame(pages, Object.keys(places), told)

      const { text: _, ...byName } = query
      const listed = await found(workspace, byName)
      const names = ripgrep(folders.root, byName, ['--files', '--null']).split('\0').slice(0, -1)
      t.strictSame(
        listed.files.map(({ path }) => path),
        byPath(names.map(name => name.slice(2))),
        told
      )
    } finally {
      workspace.close()
      removeFolders(folders)
    }
  }
})
