// The entry point of the threads that parse: they answer questions about outlines, and check syntax. An outline never
// leaves its thread, since it may have a million items. Does not know more than one job at a time.
import { CODE } from '../engine/outline/languages.ts'
import type { Node } from '../engine/outline/node.ts'
import { sourceOf } from '../engine/outline/symbols.ts'
import { firstFault, type SyntaxFault } from '../engine/outline/syntax-errors.ts'
import { definitionsOf, outlineEntryOf, symbolOn } from '../engine/outline/target.ts'
import { planSection } from '../engine/plan/plan-section.ts'
import { dataFault } from '../engine/syntax/data.ts'
import { newFault, type SyntaxCheck } from '../engine/syntax/new-fault.ts'
import { fail, ok } from '../result.ts'
import { withTree } from './grammars.ts'
import type {
  DefinitionsJob,
  ItemsJob,
  OutlineJob,
  OutlineResults,
  SectionJob,
  SymbolJob,
  Unparsed
} from './outline.ts'
import { parse } from './parse.ts'
import type { SyntaxJob } from './syntax.ts'
import { bufferOf, serve } from './thread.ts'

async function itemsOf({ bytes, language, start, end }: ItemsJob): Promise<OutlineResults['items']> {
  const outline = await parse(bufferOf(bytes), language)
  const { items } = outline
  return {
    items: items.slice(start, end).map(outlineEntryOf),
    total: items.length,
    syntax_error_lines: outline.type === 'code' ? outline.syntax_error_lines : []
  }
}

async function definitionsIn({ bytes, language, symbol }: DefinitionsJob): Promise<OutlineResults['definitions']> {
  const outline = await parse(bufferOf(bytes), language)
  return outline.type === 'code' ? definitionsOf(outline, symbol) : []
}

async function symbolOf({ bytes, language, lines }: SymbolJob): Promise<OutlineResults['symbol']> {
  const outline = await parse(bufferOf(bytes), language)
  return outline.type === 'code' ? symbolOn(outline, lines) : null
}

function sectionOf(
  { bytes, language, request, limit }: SectionJob,
  again: () => void
): Promise<OutlineResults['section']> {
  return planSection<Unparsed>(bufferOf(bytes), request, async (text, strings_in) => {
    if (text.length > limit) return fail({ reason: 'too_large', limit, actual: text.length })
    again()
    return ok(await parse(text, language, strings_in))
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

function run(job: OutlineJob | SyntaxJob, again: () => void): Promise<unknown> {
  switch (job.type) {
    case 'items':
      return itemsOf(job)
    case 'definitions':
      return definitionsIn(job)
    case 'symbol':
      return symbolOf(job)
    case 'section':
      return sectionOf(job, again)
    case 'syntax':
      return checkOf(job)
  }
}

serve(async (job: OutlineJob | SyntaxJob, again) => ({ result: await run(job, again), transfer: [] }))
