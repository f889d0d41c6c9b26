// Lets every Node that tap starts run TypeScript: blanks out a file's types once, and keeps what is left by the hash of
// the file. Lines and columns stay, so there are no source maps to read. Does not know any test.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'

const KEPT = new URL('../node_modules/.cache/editd/', import.meta.url)
const HOOKS = '?hooks'

// The same file is what --import runs in each thread, and what Node then loads into its thread for hooks.
if (!import.meta.url.endsWith(HOOKS)) register(import.meta.url + HOOKS)

/** A hook of Node: how a module is loaded. */
export async function load(url, context, next) {
  if (!/^file:.*\.ts$/.test(url) || url.includes('/node_modules/')) return next(url, context)
  return { format: 'module', source: await withoutTypes(readFileSync(new URL(url), 'utf8'), url), shortCircuit: true }
}

async function withoutTypes(text, url) {
  const kept = new URL(`${createHash('sha256').update(text).digest('hex')}.js`, KEPT)
  try {
    return readFileSync(kept, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  // Only now: it brings the compiler along.
  const { default: blank } = await import('ts-blank-space')
  const source = blank(text, node => {
    throw new Error(`${url}: only types can be taken out, and this is none: ${node.getText()}`)
  })
  mkdirSync(KEPT, { recursive: true })
  const temp = new URL(randomUUID(), KEPT)
  writeFileSync(temp, source)
  renameSync(temp, kept)
  return source
}
