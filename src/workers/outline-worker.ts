// The worker thread of outline.ts: reads grammars when they are first needed. Does not know more than one file at a
// time.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Language as Grammar, Parser, Query } from 'web-tree-sitter'
import { CODE } from '../engine/outline/languages.ts'
import { markdownOutline } from '../engine/outline/markdown.ts'
import type { Outline } from '../engine/outline/outline.ts'
import { sourceOf, symbolsOf, type Captured, type Node } from '../engine/outline/symbols.ts'
import { bufferOf, serve } from './thread.ts'
import type { OutlineJob } from './outline.ts'

const GRAMMARS = join(dirname(createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm/package.json')), 'wasm')

interface Tools {
  parser: Parser
  query: Query
}
const tools = new Map<string, Promise<Tools>>()

async function load(language: string): Promise<Tools> {
  const { grammar, query } = CODE[language]!
  await Parser.init()
  const loaded = await Grammar.load(join(GRAMMARS, `tree-sitter-${grammar}.wasm`))
  return { parser: new Parser().setLanguage(loaded), query: new Query(loaded, query) }
}

async function codeOutline(bytes: Buffer, language: string): Promise<Outline> {
  if (!tools.has(language)) tools.set(language, load(language))
  const { parser, query } = await tools.get(language)!
  const source = sourceOf(bytes)
  const tree = parser.parse(source)!
  try {
    return symbolsOf(
      bytes,
      source,
      tree.rootNode as unknown as Node,
      query.matches(tree.rootNode) as unknown as Captured[],
      CODE[language]!
    )
  } finally {
    tree.delete()
  }
}

serve(async ({ bytes, language }: OutlineJob) => {
  const buffer = bufferOf(bytes)
  return {
    result: language === 'markdown' ? markdownOutline(buffer) : await codeOutline(buffer, language),
    transfer: []
  }
})
