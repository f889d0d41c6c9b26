// Builds dist/ from src/, routes/ and schemas/ where it isn't what these say: before each start and test, and when npm
// installs or packs the project. Compares contents, so a switch of branches or a copy is seen as what it is. Does not
// know what the sources do.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HOME = import.meta.dirname
const FOLDERS = ['src', 'routes', 'schemas']
/** What decides about the result besides the sources; the lock stands for the compiler. */
const SETTINGS = ['build.js', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
/** Of the last build that succeeded: the digests of what went in and what came out. */
const STAMP = join(HOME, 'dist/build.json')
/** What the compiler remembers of its last run. */
const MEMORY = join(HOME, 'dist/build.tsbuildinfo')

/** The files below the folders, sorted. */
function filesIn(home, ending) {
  return FOLDERS.flatMap(folder => {
    const path = join(home, folder)
    if (!existsSync(path)) return []
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
    return names.filter(name => name.endsWith(ending)).map(name => join(folder, name))
  }).sort()
}

function digest(home, names) {
  const hash = createHash('sha256')
  for (const name of names) {
    const content = existsSync(join(home, name)) ? readFileSync(join(home, name)) : ''
    hash.update(`${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

const inputs = () => digest(HOME, [...SETTINGS, ...filesIn(HOME, '.ts')])
const outputs = () =>
  digest(join(HOME, 'dist'), [...filesIn(join(HOME, 'dist'), '.js'), ...filesIn(join(HOME, 'dist'), '.map')])

function lastBuild() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'))
  } catch {
    return {}
  }
}

/** Where the compiler is; undefined: it isn't installed. */
function compiler() {
  try {
    return fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
  } catch {
    return undefined
  }
}

/** Runs the compiler; returns its exit status. */
function build(tsc, isIntact) {
  if (!isIntact) {
    // The compiler doesn't look at what it wrote, only at what it remembers.
    for (const path of [...FOLDERS.map(name => join(HOME, 'dist', name)), MEMORY]) {
      rmSync(path, { recursive: true, force: true })
    }
  }
  const sources = new Set(filesIn(HOME, '.ts').map(name => name.slice(0, -'.ts'.length)))
  for (const ending of ['.js', '.js.map']) {
    for (const name of filesIn(join(HOME, 'dist'), ending)) {
      if (!sources.has(name.slice(0, -ending.length))) rmSync(join(HOME, 'dist', name))
    }
  }
  const args = [tsc, '-p', 'tsconfig.build.json', '--incremental', '--tsBuildInfoFile', MEMORY]
  return spawnSync(process.execPath, args, { cwd: HOME, stdio: 'inherit' }).status ?? 1
}

const before = inputs()
const last = lastBuild()
const isIntact = last.outputs === outputs()
if (last.inputs !== before || !isIntact) {
  const tsc = compiler()
  if (tsc === undefined) {
    process.stderr.write('dist/ has to be built, but the compiler is not installed: run npm ci, without --omit=dev.\n')
    process.exitCode = 1
  } else {
    process.exitCode = build(tsc, isIntact)
    if (process.exitCode === 0) writeFileSync(STAMP, `${JSON.stringify({ inputs: before, outputs: outputs() })}\n`)
  }
}
