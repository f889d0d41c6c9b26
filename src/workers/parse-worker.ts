// The entry point of the threads that parse: outlines, and checks of syntax. Does not know more than one job at a time.
import { CODE } from '../engine/outline/languages.ts'
import { markdownOutline } from '../engine/outline/markdown.ts'
import type { Node } from '../engine/outline/node.ts'
import type { Outline } from '../engine/outline/outline.ts'
import { stringLines } from '../engine/outline/string-lines.ts'
import { sourceOf, symbolsOf, type Captured } from '../engine/outline/symbols.ts'
import { firstFault, type SyntaxFault } from '../engine/outline/syntax-errors.ts'
import { dataFault } from '../engine/syntax/data.ts'
import { newFault, type SyntaxCheck } from '../engine/syntax/new-fault.ts'
import { withTree } from './grammars.ts'
import type { OutlineJob } from './outline.ts'
import type { SyntaxJob } from './syntax.ts'
import { bufferOf, serve } from './thread.ts'

async function outlineOf({ bytes, language, strings_in }: OutlineJob): Promise<Outline> {
  const buffer = bufferOf(bytes)
  if (language === 'markdown') return markdownOutline(buffer)
  const source = sourceOf(buffer)
  const known = CODE[language]!
  return withTree(source, language, (tree, query): Outline => {
    const root = tree as unknown as Node
    const outline = symbolsOf(buffer, source, root, query().matches(tree) as unknown as Captured[], known)
    return strings_in === undefined ? outline : { ...outline, string_lines: stringLines(root, known, strings_in) }
  })
}

async function faultOf(source: string, language: string): Promise<SyntaxFault | null> {
  const fault = await dataFault(source, language)
  if (fault !== undefined) return fault
  return withTree(source, language, root => firstFault(root as unknown as Node, source, CODE[language]!))
}

function checkOf({ after, before, language }: SyntaxJob): Promise<SyntaxCheck> {
  const textOf = (bytes: Uint8Array): string => sourceOf(bufferOf(bytes))
  return newFault({ after: textOf(after), before: before === null ? null : textOf(before) }, language, faultOf)
}

serve(async (job: OutlineJob | SyntaxJob) => ({
  result: await (job.type === 'outline' ? outlineOf(job) : checkOf(job)),
  transfer: []
}))
