// The packages installed to run the service: exactly those named here, used by the source, with licences that ask for
// no more than naming their authors.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { ONLY_CI } from './often.ts'
import { CODE } from '../src/engine/outline/languages.ts'
import { testFolder } from './folder.ts'
import { BARE_COMMAND, run, UNBUNDLED_COMMAND, UNCOUNTED } from './running.ts'

const HOME = join(import.meta.dirname, '..')

/**
 * Older versions of what swagger-ui and fastify need: dependencies of the newest ask for Node 22. Not overrides, which
 * npm ignores where editd itself is a dependency.
 */
const PINNED = ['@fastify/static', 'light-my-request']
const RUNTIME = [
  '@fastify/cors',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@modelcontextprotocol/server',
  '@vscode/ripgrep',
  'ajv',
  'diff',
  'fastest-levenshtein',
  'fastify',
  'iconv-lite',
  'jose',
  'json5',
  'jsonc-parser',
  'markdown-it',
  'pino',
  'proper-lockfile',
  're2js',
  'smol-toml',
  'yaml'
]
/** Only who serves a bucket installs it: 25 MB. Without it, a server says so. */
const LATER = '@aws-sdk/client-s3'
/** The build copies files of these into dist/, and so into the package: NOTICES.md has to name each. */
const COPIED = ['@vscode/tree-sitter-wasm', 'web-tree-sitter']

const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Unlicense'
])

interface Manifest {
  license?: string
  dependencies: Record<string, string>
}
interface Lock {
  packages: Record<string, { license?: string; dev?: boolean }>
}

const read = <T>(...path: string[]) => JSON.parse(readFileSync(resolve(HOME, ...path), 'utf8')) as T

t.strictSame(
  Object.keys(read<Manifest>('package.json').dependencies),
  [...RUNTIME, ...PINNED].sort(),
  'depends on these packages and no others'
)

t.test('uses each of them, and nothing that is not among them', async t => {
  const used = new Set<string>()
  for (const folder of ['src', 'routes', 'schemas']) {
    for (const file of readdirSync(join(HOME, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue
      // Types aren't there when it runs.
      const text = readFileSync(join(HOME, folder, file), 'utf8').replaceAll(/^import type .*$/gm, '')
      for (const [, name = ''] of text.matchAll(
        /(?:\bfrom |\bimport |\bimport\(|\)\.resolve\(|\bmeta\.resolve\()'((?:@[^/' ]+\/)?[^/'.\s][^/'\s]*)/g
      )) {
        // `#` is what package.json says that it is: files of dist/ and page/.
        if (!name.startsWith('node:') && !name.startsWith('#')) used.add(name)
      }
    }
  }
  t.strictSame([...used].sort(), [LATER, ...RUNTIME])
})

t.test('brings along only packages under permissive licences', async t => {
  // What the lock doesn't mark as for development is what `npm ci --omit=dev` installs.
  const runtime = Object.entries(read<Lock>('package-lock.json').packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true
  )
  t.ok(runtime.length >= RUNTIME.length)
  for (const [path, { license: locked = 'no licence' }] of runtime) {
    // A package for another system may be absent.
    const licence = existsSync(join(HOME, path)) ? read<Manifest>(path, 'package.json').license : locked
    if (licence === locked && LICENCES.has(licence)) continue
    t.fail(`${path} is under ${JSON.stringify(licence)}, in the lock ${locked}`)
  }
})

t.test('names whose files are copied into the package, under a licence that allows it', async t => {
  const notices = readFileSync(join(HOME, 'NOTICES.md'), 'utf8')
  const grammars = [...new Set(Object.values(CODE).map(({ grammar }) => `${grammar}.wasm.br`))]
  const runtime = ['web-tree-sitter.js', 'web-tree-sitter.wasm']
  const copied = readdirSync(join(HOME, 'dist/grammars'))
  t.strictSame(copied.sort(), [...grammars, ...runtime].sort())
  t.strictSame(
    copied.filter(name => !notices.includes(`\`dist/grammars/${name}\``)),
    []
  )
  const { packages } = read<Lock>('package-lock.json')
  for (const name of COPIED) {
    t.match(notices, `[${name}]`)
    t.match(packages[`node_modules/${name}`], { dev: true, license: 'MIT' })
    const holder = /Copyright \(c\) .*/.exec(readFileSync(join(HOME, 'node_modules', name, 'LICENSE'), 'utf8'))?.[0]
    t.match(notices, holder)
  }
})

t.test('loads only what most servers need when it starts', { skip: ONLY_CI }, async t => {
  const folder = testFolder(t, { root: {}, bundled: {}, modules: {} })
  /** The URLs of the files that it has loaded: with this, Node names them when it ends. */
  const loadedBy = async (command: readonly string[], coverage: string) => {
    const named = [...UNCOUNTED, `NODE_V8_COVERAGE=${coverage}`, ...command.slice(UNCOUNTED.length)]
    const server = await run(named, join(folder, 'root'), join(folder, 'state'), [])
    t.equal(await server.stop(), 0)
    return readdirSync(coverage).flatMap(name =>
      read<{ result: { url: string }[] }>(coverage, name).result.map(({ url }) => url)
    )
  }
  const bundled = await loadedBy(BARE_COMMAND, join(folder, 'bundled'))
  const modules = await loadedBy(UNBUNDLED_COMMAND, join(folder, 'modules'))
  for (const loaded of [bundled, modules]) {
    t.strictSame(
      RUNTIME.filter(name => loaded.some(url => url.includes(`/node_modules/${name}/`))),
      // Only the path of ripgrep is read: it says whether files can be found.
      ['@vscode/ripgrep', 'ajv', 'diff', 'fastest-levenshtein', 'fastify', 'pino', 'proper-lockfile']
    )
  }
  // Of what is read where it is needed.
  const late = [
    /^bucket\//,
    /^engine\/inspect\/search\.js$/,
    /^engine\/outline\/languages/,
    /^http\/tools\/mcp\.js$/,
    /^metrics\/(?!registry)/,
    /^object-store\/(?!address)/,
    /^stdio/
  ]
  const own = modules.flatMap(url => url.split('/dist/src/')[1] ?? [])
  t.ok(own.includes('server.js'))
  t.strictSame(
    own.filter(path => late.some(pattern => pattern.test(path))),
    []
  )
  // What is bundled has a tenth as many files, and still those of its own for what is read late.
  const files = bundled.flatMap(url => url.split('/dist/')[1] ?? []).filter(path => /^(server|chunks)/.test(path))
  t.ok(files.includes('server.js'))
  t.ok(files.length < own.length / 10, `${files.length} instead of ${own.length} files`)
  const chunks = readdirSync(join(HOME, 'dist/chunks')).map(name => `chunks/${name}`)
  for (const name of ['BucketWorkspace', 'S3Requests', 'StdioTransport']) {
    const holders = chunks.filter(path => readFileSync(join(HOME, 'dist', path), 'utf8').includes(`class ${name} `))
    t.equal(holders.length, 1, name)
    t.notOk(files.includes(holders[0]!), name)
  }
})
