// Lets every Node that tap starts run TypeScript: replaces types by blanks, and caches the result by the hash of the
// file. Lines and columns stay the same, so no source maps are needed. Does not know any test.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import module from 'node:module'

const CACHE = new URL('../node_modules/.cache/editd/', import.meta.url)
const HOOKS = '?hooks'
const [major, minor] = process.versions.node.split('.').map(Number)
// Synchronous hooks save half a second in a test that loads the server (Node 22 and 24). Below tap, only on versions of
// Node on which tap uses them too.
const hasHooksInThread =
  major > 24 ||
  (major === 24 && minor >= 13) ||
  (module.registerHooks !== undefined && process.env._TAPJS_PROCESSINFO_CWD_ === undefined)

// --import runs this file in each thread, and Node then loads it once more into its thread for hooks.
if (hasHooksInThread) module.registerHooks({ load })
else if (!import.meta.url.endsWith(HOOKS)) module.register(import.meta.url + HOOKS)

/** Node's hook for loading a module; in the same thread it must not return a promise. */
export function load(url, context, next) {
  if (!/^file:.*\.ts$/.test(url) || url.includes('/node_modules/')) return next(url, context)
  const text = readFileSync(new URL(url), 'utf8')
  const cached = new URL(`${createHash('sha256').update(text).digest('hex')}.js`, CACHE)
  const loaded = source => ({ format: 'module', source, shortCircuit: true })
  try {
    return loaded(readFileSync(cached, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  // Loaded only here, because it loads the compiler.
  if (hasHooksInThread) {
    const { default: blank } = module.createRequire(import.meta.url)('ts-blank-space')
    return loaded(withoutTypes(blank, text, url, cached))
  }
  return import('ts-blank-space').then(({ default: blank }) => loaded(withoutTypes(blank, text, url, cached)))
}

function withoutTypes(blank, text, url, cached) {
  const source = blank(text, node => {
    throw new Error(`${url}: this can't be removed as a type: ${node.getText()}`)
  })
  mkdirSync(CACHE, { recursive: true })
  const temp = new URL(randomUUID(), CACHE)
  writeFileSync(temp, source)
  renameSync(temp, cached)
  return source
}
