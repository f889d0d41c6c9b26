// What is installed to run the service: the packages named here, used by the source, under licences that ask for no
// more than naming their authors.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

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
  '@vscode/tree-sitter-wasm',
  'ajv',
  'diff',
  'fastest-levenshtein',
  'fastify',
  'jsonc-parser',
  'markdown-it',
  'pino',
  'proper-lockfile',
  're2js',
  'smol-toml',
  'web-tree-sitter',
  'yaml'
]

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

const read = <T>(...path: string[]) => JSON.parse(readFileSync(join(HOME, ...path), 'utf8')) as T

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
        /(?:\bfrom |\bimport |\bimport\(|\)\.resolve\()'((?:@[^/' ]+\/)?[^/'.\s][^/'\s]*)/g
      )) {
        if (!name.startsWith('node:')) used.add(name)
      }
    }
  }
  t.strictSame([...used].sort(), RUNTIME)
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
