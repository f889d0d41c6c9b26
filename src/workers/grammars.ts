// The grammars of code, each read when it is first needed, in a worker thread. Does not know jobs.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { workerData } from 'node:worker_threads'
import { brotliDecompress } from 'node:zlib'
import type * as TreeSitter from 'web-tree-sitter'
import { CODE } from '../engine/outline/languages.ts'
import { type ParseMemory, PARSING_MEMORY } from './parse-memory.ts'

// What build.js has put into dist/, so that the packages themselves aren't needed where editd is installed.
const RUNTIME = import.meta.resolve('#grammars/web-tree-sitter.js')
const treeSitter = (await import(RUNTIME)) as typeof TreeSitter
const decompress = promisify(brotliDecompress)

// Node has it; its types are those of browsers.
declare const WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object }

const PAGE = 64 * 1024
/** What the runtime begins with, in pages. */
const FIRST_PAGES = 512
let ready: Promise<void> | undefined
/** Where a tree takes more memory, the runtime is aborted, and with it the thread: `isOutOfMemory`. */
const start = (trees: number): Promise<void> =>
  treeSitter.Parser.init({
    wasmMemory: new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: trees / PAGE }),
    // The error says so.
    printErr: () => {}
  })

interface Tools {
  parser: TreeSitter.Parser
  /** What is a definition; made when it is first asked for. */
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

/** What `use` makes of the tree of a text in a language of code, which exists as long as that runs. */
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
