// Lets every Node that tap starts run TypeScript: replaces types by blanks, and caches the result by the hash of the
// file. Lines and columns stay the same, so no source maps are needed. Does not know any test.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'

const CACHE = new URL('../node_modules/.cache/editd/', import.meta.url)
const HOOKS = '?hooks'

// --import runs this file in each thread, and Node then loads it once more into its thread for hooks.
if (!import.meta.url.endsWith(HOOKS)) register(import.meta.url + HOOKS)

/** Node's hook for loading a module. */
export async function load(url, context, next) {
  if (!/^file:.*\.ts$/.test(url) || url.includes('/node_modules/')) return next(url, context)
  return { format: 'module', source: await withoutTypes(readFileSync(new URL(url), 'utf8'), url), shortCircuit: true }
}

async function withoutTypes(text, url) {
  const cached = new URL(`${createHash('sha256').update(text).digest('hex')}.js`, CACHE)
  try {
    return readFileSync(cached, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  // Imported only here, because it loads the compiler.
  const { default: blank } = await import('ts-blank-space')
  const source = blank(text, node => {
    throw new Error(`${url}: this can't be removed as a type: ${node.getText()}`)
  })
  mkdirSync(CACHE, { recursive: true })
  const temp = new URL(randomUUID(), CACHE)
  writeFileSync(temp, source)
  renameSync(temp, cached)
  return source
}
