// The grammars of code, each read when it is first needed, in a worker thread. Does not know jobs.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Language as Grammar, Parser, Query, type Tree } from 'web-tree-sitter'
import { CODE } from '../engine/outline/languages.ts'

const GRAMMARS = join(dirname(createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm/package.json')), 'wasm')

interface Tools {
  parser: Parser
  /** What is a definition; made when it is first asked for. */
  query: () => Query
}
const tools = new Map<string, Promise<Tools>>()

async function load(language: string): Promise<Tools> {
  const { grammar, query } = CODE[language]!
  await Parser.init()
  const loaded = await Grammar.load(join(GRAMMARS, `tree-sitter-${grammar}.wasm`))
  let made: Query | undefined
  return { parser: new Parser().setLanguage(loaded), query: () => (made ??= new Query(loaded, query)) }
}

/** What `use` makes of the tree of a text in a language of code, which exists as long as that runs. */
export async function withTree<R>(
  source: string,
  language: string,
  use: (root: Tree['rootNode'], query: Tools['query']) => R
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
