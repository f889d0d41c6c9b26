// The parts of an answer as text: numbered lines, items of an outline, calls to send, the hash. Does not know failures
// or outcomes.
import type { OutlineEntry } from '../../../engine/failure.ts'
import type { NumberedLine } from '../../../engine/report/changed-lines.ts'
import { splitAtBreaks } from '../../../engine/text/lines.ts'
import type { CallSyntax } from '../call-names.ts'
import { qualifiedName } from '../phrases.ts'

/** Parts of an answer below each other; empty ones are left out. */
export const below = (...parts: (string | undefined)[]): string =>
  parts.filter(part => part !== undefined && part !== '').join('\n')

/** The lines of a content that begins with line `first`, of which the last may have its line break. */
export function linesOf(content: string, first: number): NumberedLine[] {
  const lines = splitAtBreaks(content)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines.map((text, i) => ({ line_number: first + i, text }))
}

/**
 * Lines with their numbers, as inspect_file numbers them; `…` stands where some are left out. `width`: of a number, with
 * the blanks before it.
 */
export const numbered = (lines: readonly NumberedLine[], width = 0): string =>
  lines
    .map(({ line_number, text }, i) => {
      const gap = i > 0 && line_number > lines[i - 1]!.line_number + 1 ? '…\n' : ''
      return `${gap}${String(line_number).padStart(width)}\t${text}`
    })
    .join('\n')

/** The hash of a file, for callers who can send it. */
export const hashLine = (file_hash: string | undefined, naming: CallSyntax): string =>
  file_hash === undefined || !naming.takes('expected_hash') ? '' : `file_hash: ${file_hash}`

/** Items of an outline, a line each: `12-40⇥method Parser.parse`. */
export const outlineLines = (items: readonly OutlineEntry[]): string =>
  items.map(item => `${item.start_line}-${item.end_line}\t${itemNamed(item)}`).join('\n')

function itemNamed(item: OutlineEntry): string {
  const { kind, name = '', level = 1, language } = item
  if (kind === 'heading') return `${'#'.repeat(level)} ${name}`
  if (kind === 'code_block') return language === undefined ? 'code block' : `code block ${language}`
  if (kind === 'front_matter') return 'front matter'
  return `${kind} ${qualifiedName(item)}`
}
