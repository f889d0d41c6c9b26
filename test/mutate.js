// Breaks random lines of the product, one at a time, and prints which of them `npm test` finds:
// `node test/mutate.js [COUNT]`. To be run in a separate clone: it changes sources, and restores them.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const HOME = fileURLToPath(new URL('..', import.meta.url))
const COUNT = Number(process.argv[2] ?? 20)
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** The path of a change, the log, and the answers. */
const FOLDERS = [
  'src/engine/edit',
  'src/engine/plan',
  'src/engine/undo',
  'src/operations',
  'src/workspace',
  'src/folder',
  'src/recording',
  'src/change',
  'src/log',
  'src/http/answers'
]
/** Ways to break a line that mostly leave a valid program. */
const MUTATIONS = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ < /, ' <= '],
  [/ > /, ' >= '],
  [/ <= /, ' < '],
  [/ >= /, ' > '],
  [/ && /, ' || '],
  [/ \|\| /, ' && '],
  [/ \+ 1\b/, ' + 2'],
  [/ - 1\b/, ' - 0'],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/\bif \((.+)\) (return|continue|throw)/, 'if (!($1)) $2'],
  [/^(\s+)await ([a-z].*\))$/, '$1void 0'],
  [/^(\s+)(?!return|throw|await|const|let|super)([a-zA-Z#.]+\(.*\))$/, '$1void 0']
]

/** The first test file that fails; null: none does. */
function failing(paths) {
  const { status, stdout } = spawnSync(process.execPath, ['test/run.js', ...paths], {
    cwd: HOME,
    env: { ...process.env, BAIL: '1' },
    encoding: 'utf8'
  })
  return status === 0 ? null : (/^failed: (.+)$/m.exec(stdout)?.[1] ?? '')
}

let state = SEED
/** Numbers below `n`, the same for each seed (mulberry32). */
function random(n) {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) % n
}

const files = FOLDERS.flatMap(folder =>
  readdirSync(`${HOME}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => `${folder}/${name}`)
).sort()
const code = /^\s+(?!\/\/|\*|\/\*|import |export type|type |interface )/
const isType = line => /^\s*(readonly )?[\w?]+\??: [^=]+$/.test(line) || /^\s*\|/.test(line)
const places = files.flatMap(file =>
  readFileSync(HOME + file, 'utf8')
    .split('\n')
    .flatMap((line, i) =>
      code.test(line) && !isType(line) && MUTATIONS.some(([from]) => from.test(line)) ? [{ file, i, line }] : []
    )
)
process.stdout.write(`seed ${SEED}, ${places.length} lines to choose from\n`)
let found = 0
for (let n = 0; n < COUNT; n++) {
  const { file, i, line } = places[random(places.length)]
  const fitting = MUTATIONS.filter(([from]) => from.test(line))
  const [from, to] = fitting[random(fitting.length)]
  const text = readFileSync(HOME + file, 'utf8')
  const broken = line.replace(from, to)
  writeFileSync(HOME + file, text.split('\n').with(i, broken).join('\n'))
  try {
    // Without checking types: this measures the tests.
    const built = spawnSync(process.execPath, ['build.js', '--no-check'], { cwd: HOME })
    // Runs the tests of the same folder first, which find most.
    const beside = file.replace(/^src/, 'test').replace(/\/[^/]+$/, '')
    const failed = built.status === 0 ? (failing([beside]) ?? failing([])) : ''
    const isFound = failed !== null
    if (isFound) found++
    const by = failed ?? ''
    process.stdout.write(`${isFound ? 'found ' : 'MISSED'} ${file}:${i + 1} ${broken.trim()} ${by}\n`)
  } finally {
    writeFileSync(HOME + file, text)
  }
}
process.stdout.write(`${found} of ${COUNT} found\n`)
