// build.js, on a small project: when it builds, when it leaves dist/ alone, and what it says if it can't build.
// runs in .ci/run
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ONLY_LONG } from './often.ts'
import { uncounted } from './running.ts'

const HOME = join(import.meta.dirname, '..')
const COPIED = ['build.js', 'tsconfig.json', 'tsconfig.build.json', 'page/review/tsconfig.json']

/** The module that says which languages are parsed. */
const CODE = (...grammars: string[]) =>
  `export const CODE = ${JSON.stringify(Object.fromEntries(grammars.map(grammar => [grammar, { grammar }])))}\n`

/** Loads one module at once, and another one if it has an argument. */
const SERVER = `import { first } from './first.ts'
console.log(process.argv[2] === undefined ? first : (await import('./late.ts')).late)
`

/** A project with a server and a few modules, one of a page and a parsed language; `installed`: with the compiler. */
function project(t: Test, { installed = true } = {}) {
  const made = inFolder(emptyFolder(t))
  const { at } = made
  for (const name of ['src/engine/outline', 'src/workers', 'page/review']) mkdirSync(at(name), { recursive: true })
  writeFileSync(at('package.json'), '{ "type": "module" }')
  writeFileSync(at('src/one.ts'), 'export const one: number = 1\n')
  writeFileSync(at('src/two.ts'), "export * from './one.ts'\n")
  writeFileSync(at('src/first.ts'), "export const first: string = 'first'\n")
  writeFileSync(at('src/late.ts'), 'export const late: string = import.meta.url\n')
  writeFileSync(at('src/server.ts'), SERVER)
  for (const name of ['worker', 'parse-worker']) writeFileSync(at(`src/workers/${name}.ts`), "import '../first.ts'\n")
  writeFileSync(at('src/engine/outline/languages.ts'), CODE('css'))
  writeFileSync(at('page/review/title.ts'), "export const title: string = 'page'\n")
  writeFileSync(at('page/review/main.ts'), "import { title } from './title.ts'\ndocument.title = title\n")
  for (const name of COPIED) copyFileSync(join(HOME, name), at(name))
  if (installed) symlinkSync(join(HOME, 'node_modules'), at('node_modules'))
  return made
}

/** Elsewhere: below this project its compiler would be found. */
function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'editd-build-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

function inFolder(folder: string) {
  const at = (name: string) => join(folder, name)
  return {
    folder,
    at,
    built: (name: string) => readFileSync(at(`dist/src/${name}.js`), 'utf8'),
    build: (...flags: string[]) => {
      const command = uncounted(process.execPath, [at('build.js'), ...flags])
      const { status, stdout, stderr } = spawnSync(...command, { encoding: 'utf8' })
      return { status, output: stdout + stderr }
    }
  }
}

/** Built once, as that takes seconds; each test gets a copy of it. */
const template = project(t)
if (ONLY_LONG === false) t.strictSame(template.build(), { status: 0, output: '' })

function builtProject(t: Test) {
  const folder = emptyFolder(t)
  cpSync(template.folder, folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  return inFolder(folder)
}

t.test('builds what is not built, and nothing where nothing has changed', { skip: ONLY_LONG }, async t => {
  const { at, build, built } = builtProject(t)
  t.match(built('one'), 'export const one = 1;')
  t.strictSame(readdirSync(at('dist/page')), ['main.js'], 'the page is one file')
  t.match(readFileSync(at('dist/page/main.js'), 'utf8'), /const title = 'page';\n+document\.title = title;/)
  const files = [
    'src/one.js',
    'build.json',
    'server.js',
    'build.bundle.json',
    'page-modules/main.js',
    'build.page.json',
    'page/main.js',
    'build.page-bundle.json',
    'grammars/css.wasm.br',
    'build.grammars.json'
  ]
  const written = () => files.map(name => join('dist', name)).map(name => statSync(at(name)).mtimeMs)
  const before = written()
  utimesSync(at('src/one.ts'), new Date(), new Date())
  t.strictSame(build(), { status: 0, output: '' }, 'a newer time alone is no change')
  t.strictSame(written(), before)
})

t.test('sees what has changed by the content, whatever its time', { skip: ONLY_LONG }, async t => {
  const { at, build, built } = builtProject(t)
  writeFileSync(at('src/one.ts'), 'export const one: number = 2\n')
  utimesSync(at('src/one.ts'), new Date(0), new Date(0))
  writeFileSync(at('src/three.ts'), 'export const three = 3\n')
  rmSync(at('src/two.ts'))
  t.strictSame(build(), { status: 0, output: '' })
  t.match(built('one'), 'export const one = 2;')
  t.match(built('three'), 'export const three = 3;')
  for (const name of ['two.js', 'two.js.map']) t.notOk(existsSync(at(`dist/src/${name}`)), `${name} is removed`)
})

t.test('restores what was changed or removed in dist', { skip: ONLY_LONG }, async t => {
  const { at, build, built } = builtProject(t)
  rmSync(at('dist/src/two.js'))
  writeFileSync(at('dist/src/one.js'), 'throw new Error()\n')
  t.equal(build().status, 0)
  t.match(built('one'), 'export const one = 1;')
  t.match(built('two'), /export \* from ["']\.\/one\.js["']/)
})

t.test(
  'bundles what a server runs, and leaves a file of its own to what is loaded late',
  { skip: ONLY_LONG },
  async t => {
    const { folder, at, build } = builtProject(t)
    const run = (...args: string[]) =>
      spawnSync(...uncounted(process.execPath, [at('dist/server.js'), ...args]), { encoding: 'utf8' })
    t.equal(run().stdout, 'first\n')
    const late = () => run('late').stdout.trimEnd().split('/dist/').at(-1)!
    t.match(late(), /^chunks\/late-.*\.js$/)
    // In a place without the modules.
    for (const name of ['src', 'routes', 'schemas']) {
      rmSync(join(folder, 'dist', name), { recursive: true, force: true })
    }
    t.equal(run().stdout, 'first\n')
    t.strictSame(readdirSync(at('dist/workers')).sort(), ['parse-worker.js', 'worker.js'])

    const before = late()
    t.strictSame(build(), { status: 0, output: '' })
    t.equal(late(), before)
    writeFileSync(at('src/late.ts'), 'export const late: string = "changed " + import.meta.url\n')
    t.strictSame(build(), { status: 0, output: '' })
    t.not(late(), before)
    t.notOk(existsSync(at(`dist/${before}`)), 'the old one is removed')
    writeFileSync(at('dist/server.js'), 'throw new Error()\n')
    t.strictSame(build(), { status: 0, output: '' })
    t.equal(run().stdout, 'first\n')
  }
)

t.test('puts the parsers of the languages into dist, and restores them', { skip: ONLY_LONG }, async t => {
  const { at, build } = builtProject(t)
  const parsers = () => readdirSync(at('dist/grammars')).sort()
  const RUNTIME = ['web-tree-sitter.js', 'web-tree-sitter.wasm']
  t.strictSame(parsers(), ['css.wasm.br', ...RUNTIME])
  const original = readFileSync(join(HOME, 'node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-css.wasm'))
  const restored = () => t.ok(brotliDecompressSync(readFileSync(at('dist/grammars/css.wasm.br'))).equals(original))
  restored()
  writeFileSync(at('dist/grammars/css.wasm.br'), 'damaged')
  t.strictSame(build(), { status: 0, output: '' })
  restored()
  writeFileSync(at('src/engine/outline/languages.ts'), CODE('go', 'java'))
  t.strictSame(build(), { status: 0, output: '' })
  t.strictSame(parsers(), ['go.wasm.br', 'java.wasm.br', ...RUNTIME])
})

t.test('fails again until an error is mended', { skip: ONLY_LONG }, async t => {
  const { at, build } = builtProject(t)
  writeFileSync(at('src/one.ts'), "export const one: number = 'one'\n")
  for (const time of ['the first time', 'the second time']) {
    t.match(build(), { status: 2, output: /one\.ts.*error TS2322/ }, time)
  }
  writeFileSync(at('src/one.ts'), 'export const one: number = 1\n')
  t.strictSame(build(), { status: 0, output: '' })
})

t.test('checks no types where it is told not to, but what changes afterwards', { skip: ONLY_LONG }, async t => {
  const { at, build, built } = builtProject(t)
  writeFileSync(at('src/one.ts'), "export const one: number = 'one'\n")
  t.strictSame(build('--no-check'), { status: 0, output: '' })
  t.match(built('one'), "export const one = 'one';")
  writeFileSync(at('src/one.ts'), "export const one: number = 'two'\n")
  t.match(build(), { status: 2, output: /one\.ts.*error TS2322/ })
})

t.test('says what to do where the compiler is missing', { skip: ONLY_LONG }, async t => {
  const { build } = project(t, { installed: false })
  t.strictSame(build(), {
    status: 1,
    output: 'dist/ has to be built, but the compiler is not installed: run npm ci, without --omit=dev.\n'
  })
})
