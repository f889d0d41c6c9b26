// Makes the outline of a text, by parsers. Does not know jobs.
import { CODE } from '../engine/outline/languages.ts'
import { markdownOutline } from '../engine/outline/markdown.ts'
import type { Node } from '../engine/outline/node.ts'
import type { Lines, Outline } from '../engine/outline/outline.ts'
import { stringLines } from '../engine/outline/string-lines.ts'
import { sourceOf, symbolsOf, type Captured } from '../engine/outline/symbols.ts'
import { withTree } from './grammars.ts'

/**
 * The outline of a text without NUL in one of the languages of `OUTLINED`. `strings_in`: lines of code; the outline
 * says of each whether it begins inside a string.
 */
export async function parse(bytes: Buffer, language: string, strings_in?: Lines): Promise<Outline> {
  if (language === 'markdown') return markdownOutline(bytes)
  const source = sourceOf(bytes)
  const known = CODE[language]!
  return withTree(source, language, (tree, query): Outline => {
    const root = tree as unknown as Node
    const outline = symbolsOf(bytes, source, root, query().matches(tree) as unknown as Captured[], known)
    return strings_in === undefined ? outline : { ...outline, string_lines: stringLines(root, known, strings_in) }
  })
}
