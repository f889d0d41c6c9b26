// Builds dist/ from src/, routes/ and schemas/, dist/page-modules/ from page/review/, and dist/grammars/ from packages,
// and bundles what a server and the page run, if anything is out of date: before each start and test, and when npm
// installs or packs the project. It compares contents, so it works after a switch of branches or a copy. With
// --no-check, it removes types without checking them, in a third of the time, for those who only want to run it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const HOME = import.meta.dirname
const UNCHECKED = process.argv.includes('--no-check') ? ['--noCheck'] : []
/**
 * The projects to compile. `folders`: each with its target. `stamp` of the last successful build: the digests of inputs
 * and outputs. `memory`: the file in which the compiler remembers its last run.
 */
const PROJECTS = [
  {
    config: 'tsconfig.build.json',
    folders: { src: 'dist/src', routes: 'dist/routes', schemas: 'dist/schemas' },
    stamp: join(HOME, 'dist/build.json'),
    memory: join(HOME, 'dist/build.tsbuildinfo')
  },
  {
    config: 'page/review/tsconfig.json',
    folders: { 'page/review': 'dist/page-modules' },
    stamp: join(HOME, 'dist/build.page.json'),
    memory: join(HOME, 'dist/build.page.tsbuildinfo')
  }
]
/** The parsers of source code: their target, and the built module that lists the languages. */
const GRAMMARS = {
  folder: 'dist/grammars',
  languages: 'dist/src/engine/outline/languages',
  stamp: join(HOME, 'dist/build.grammars.json')
}
/**
 * What a server runs, in a few files instead of one for each module: it starts in two thirds of the time
 * (bench/README.md). Code that only some servers load has files of its own. And what the page runs, in one file: a
 * browser asks for it once. `made`: what the bundle consists of, files and folders.
 */
const BUNDLES = [
  {
    from: ['dist/src', 'dist/routes', 'dist/schemas'],
    entries: {
      server: 'dist/src/server.js',
      'workers/worker': 'dist/src/workers/worker.js',
      'workers/parse-worker': 'dist/src/workers/parse-worker.js'
    },
    into: 'dist',
    made: ['dist/server.js', 'dist/chunks', 'dist/workers'],
    stamp: join(HOME, 'dist/build.bundle.json')
  },
  {
    from: ['dist/page-modules'],
    entries: { main: 'dist/page-modules/main.js' },
    into: 'dist/page',
    made: ['dist/page'],
    stamp: join(HOME, 'dist/build.page-bundle.json')
  }
]
/** What decides about the result besides the sources; the lock stands for the compiler. */
const SETTINGS = ['build.js', 'package-lock.json', 'tsconfig.json']

/** The files below folders, sorted. */
function filesIn(folders, ending) {
  return folders
    .flatMap(folder => {
      const path = join(HOME, folder)
      if (!existsSync(path)) return []
      const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
      return names.filter(name => name.endsWith(ending)).map(name => join(folder, name))
    })
    .sort()
}

function digest(names) {
  const hash = createHash('sha256')
  for (const name of names) {
    const content = existsSync(join(HOME, name)) ? readFileSync(join(HOME, name)) : ''
    hash.update(`${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

const inputsOf = ({ config, folders }) => digest([...SETTINGS, config, ...filesIn(Object.keys(folders), '.ts')])
const outputsOf = ({ folders }) =>
  digest([...filesIn(Object.values(folders), '.js'), ...filesIn(Object.values(folders), '.map')])

function lastBuild({ stamp }) {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'))
  } catch {
    return {}
  }
}

/** Makes the outputs, unless they and the inputs are unchanged since the last time. Both are digests. */
async function unlessMade({ stamp, inputs, outputs }, make) {
  const last = lastBuild({ stamp })
  if (last.inputs === inputs && last.outputs === outputs()) return
  await make()
  writeFileSync(stamp, `${JSON.stringify({ inputs, outputs: outputs() })}\n`)
}

/** The path of the compiler; undefined: it isn't installed. */
function compiler() {
  try {
    return fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
  } catch {
    return undefined
  }
}

/** Runs the compiler; returns its exit status. */
function build({ config, folders, memory }, tsc, isIntact) {
  if (!isIntact) {
    // The compiler doesn't check its outputs, only its memory.
    for (const path of [...Object.values(folders).map(name => join(HOME, name)), memory]) {
      rmSync(path, { recursive: true, force: true })
    }
  }
  for (const [source, built] of Object.entries(folders)) {
    const made = new Set(
      filesIn([source], '.ts').map(name => join(built, relative(source, name)).slice(0, -'.ts'.length))
    )
    for (const ending of ['.js', '.js.map']) {
      for (const name of filesIn([built], ending)) {
        if (!made.has(name.slice(0, -ending.length))) rmSync(join(HOME, name))
      }
    }
  }
  const args = [tsc, '-p', config, '--incremental', '--tsBuildInfoFile', memory, ...UNCHECKED]
  return spawnSync(process.execPath, args, { cwd: HOME, stdio: 'inherit' }).status ?? 1
}

/**
 * Copies the runtime of the parsers, and compresses the grammars: they take a fifteenth of the size of their packages.
 * The lock stands for these packages.
 */
async function copyGrammars({ folder, languages }) {
  const target = join(HOME, folder)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  for (const name of ['web-tree-sitter.js', 'web-tree-sitter.wasm']) {
    copyFileSync(join(HOME, 'node_modules/web-tree-sitter', name), join(target, name))
  }
  const { CODE } = await import(pathToFileURL(join(HOME, `${languages}.js`)))
  for (const grammar of new Set(Object.values(CODE).map(language => language.grammar))) {
    const bytes = readFileSync(join(HOME, `node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`))
    // The highest quality takes ten times as long and saves a tenth.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    writeFileSync(join(target, `${grammar}.wasm.br`), brotliCompressSync(bytes, { params }))
  }
}

/** Packages aren't bundled, but loaded from node_modules. */
async function bundle({ entries, into, made: before }) {
  for (const name of before) rmSync(join(HOME, name), { recursive: true, force: true })
  const { rollup } = await import('@rollup/wasm-node')
  const made = await rollup({
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(HOME, path)])),
    external: name => !name.startsWith('.') && !isAbsolute(name),
    onwarn: ({ code, message }) => {
      // The compiler's helper for `using` looks for an older one in `this`, which no module has.
      if (code !== 'THIS_IS_UNDEFINED') throw new Error(message)
    },
    preserveEntrySignatures: false,
    // Keep all modules: only the number of files matters, and looking for unused code takes a second.
    treeshake: false
  })
  await made.write({
    dir: join(HOME, into),
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    hoistTransitiveImports: false
  })
  await made.close()
}

for (const project of PROJECTS) {
  const inputs = inputsOf(project)
  const last = lastBuild(project)
  const isIntact = last.outputs === outputsOf(project)
  if (last.inputs === inputs && isIntact) continue
  const tsc = compiler()
  if (tsc === undefined) {
    process.stderr.write('dist/ has to be built, but the compiler is not installed: run npm ci, without --omit=dev.\n')
    process.exitCode = 1
    break
  }
  const status = build(project, tsc, isIntact)
  if (status === 0) writeFileSync(project.stamp, `${JSON.stringify({ inputs, outputs: outputsOf(project) })}\n`)
  else process.exitCode = status
}
if (process.exitCode === undefined) {
  for (const each of BUNDLES) {
    const { from, made, stamp } = each
    await unlessMade(
      {
        stamp,
        inputs: digest([...SETTINGS, ...filesIn(from, '.js')]),
        outputs: () => digest(made.flatMap(name => (name.endsWith('.js') ? [name] : filesIn([name], '.js'))))
      },
      () => bundle(each)
    )
  }
  const { languages, folder } = GRAMMARS
  await unlessMade(
    {
      stamp: GRAMMARS.stamp,
      inputs: digest([...SETTINGS, `${languages}.js`, ...filesIn([languages], '.js')]),
      outputs: () => digest(filesIn([folder], ''))
    },
    () => copyGrammars(GRAMMARS)
  )
}
