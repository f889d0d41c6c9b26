// The grammars of code, each read when it is first needed, in a worker thread. Does not know jobs.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { workerData } from 'node:worker_threads'
import { brotliDecompress } from 'node:zlib'
import type * as TreeSitter from 'web-tree-sitter'
import { CODE } from '../engine/outline/languages.ts'
import { type ParseMemory, PARSING_MEMORY } from './parse-memory.ts'

// build.js has put these into dist/, so that an installed editd doesn't need the packages themselves.
const RUNTIME = import.meta.resolve('#grammars/web-tree-sitter.js')
const treeSitter = (await import(RUNTIME)) as typeof TreeSitter
const decompress = promisify(brotliDecompress)

// Node has it, but only the browser types declare it.
declare const WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object }

const PAGE = 64 * 1024
/** The runtime's memory at the start, in pages. */
const FIRST_PAGES = 512
let ready: Promise<void> | undefined
/** If a tree takes more memory, the runtime aborts and its thread ends: see `isOutOfMemory`. */
const start = (trees: number): Promise<void> =>
  treeSitter.Parser.init({
    wasmMemory: new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: trees / PAGE }),
    // The error has this message too.
    printErr: () => {}
  })

interface Tools {
  parser: TreeSitter.Parser
  /** The query that finds definitions; made when it is first needed. */
  query: () => TreeSitter.Query
}
const tools = new Map<string, Promise<Tools>>()

async function load(language: string): Promise<Tools> {
  const { grammar, query } = CODE[language]!
  await (ready ??= start((workerData as ParseMemory | null)?.trees ?? PARSING_MEMORY))
  const loaded = await treeSitter.Language.load(
    await decompress(await readFile(new URL(`${grammar}.wasm.br`, RUNTIME)))
  )
  let made: TreeSitter.Query | undefined
  return {
    parser: new treeSitter.Parser().setLanguage(loaded),
    query: () => (made ??= new treeSitter.Query(loaded, query))
  }
}

/** Runs `use` on the tree of a text in a language of code, and returns its result; the tree exists only during that. */
export async function withTree<R>(
  source: string,
  language: string,
  use: (root: TreeSitter.Node, query: Tools['query']) => R
): Promise<R> {
  if (!tools.has(language)) tools.set(language, load(language))
  const { parser, query } = await tools.get(language)!
  const tree = parser.parse(source)!
  try {
    return use(tree.rootNode, query)
  } finally {
    tree.delete()
  }
}
