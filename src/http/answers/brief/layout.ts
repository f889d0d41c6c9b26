// The parts of an answer as text: numbered lines (also those of failures), outline items, the hash. Does not know
// failures or outcomes.
import { markOf } from '../../../engine/explain/preview.ts'
import type { FilePreview, OutlineEntry, SimilarContent } from '../../../engine/failure.ts'
import type { NumberedLine } from '../../../engine/report/changed-lines.ts'
import { CUT_MARK } from '../../../engine/text/encoding.ts'
import { splitAtBreaks } from '../../../engine/text/lines.ts'
import type { CallSyntax } from '../call-names.ts'
import { counted, qualifiedName, sentences } from '../phrases.ts'

/** Joins parts of an answer as lines; omits empty ones. */
export const below = (...parts: (string | undefined)[]): string =>
  parts.filter(part => part !== undefined && part !== '').join('\n')

/** UTF-16 units of what one answer says of many files: about 2,000 tokens. Chosen. */
const FILES_LENGTH = 5000

/**
 * What is said of many files, as far as it fits; of each only the head if the rest would take the place of other files,
 * unless the rest was asked for.
 */
export function manyFiles(files: readonly { head: string; rest: string; asked?: boolean | undefined }[]): string {
  const blocks: string[] = []
  let length = 0
  for (const { head, rest, asked = false } of files) {
    const whole = below(head, rest)
    const shown = length + whole.length > FILES_LENGTH / 2 && !asked ? head : whole
    length += shown.length
    if (blocks.length > 0 && length > FILES_LENGTH) break
    blocks.push(shown)
  }
  const more = files.length - blocks.length
  return below(...blocks, more === 0 ? '' : `${counted(more, 'more file')} not shown.`)
}

/** The lines of a content that begins at line `first`; its last line may end with a line break. */
export function linesOf(content: string, first: number): NumberedLine[] {
  const lines = splitAtBreaks(content)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return numberedFrom(lines, first)
}

/**
 * Lines with their numbers, formatted as inspect_file does; `…` marks omitted lines. `width`: of a number, padded with
 * blanks in front.
 */
export const numbered = (lines: readonly NumberedLine[], width = 0): string =>
  lines
    .map(({ line_number, text }, i) => {
      const gap = i > 0 && line_number > lines[i - 1]!.line_number + 1 ? '…\n' : ''
      return `${gap}${String(line_number).padStart(width)}\t${text}`
    })
    .join('\n')

/** The changed lines, and how many places are left out. */
export const linesChanged = (
  { changed_lines, more_places = 0 }: { changed_lines: readonly NumberedLine[]; more_places?: number | undefined },
  width?: number
): string =>
  below(numbered(changed_lines, width), more_places === 0 ? '' : `${counted(more_places, 'more place')} not shown.`)

/** The line with a file's hash and, after a change, its id, for callers who can send them. */
export const hashLine = (file_hash: string | undefined, naming: CallSyntax, edit_id?: string): string =>
  sentences(
    file_hash === undefined || !naming.takes('expected_hash') ? '' : `file_hash: ${file_hash}`,
    edit_id === undefined || naming.undo === undefined ? '' : `edit_id: ${edit_id}`
  )

/** Outline items, one per line: `12-40⇥method Parser.parse`. */
export const outlineLines = (items: readonly OutlineEntry[]): string =>
  items.map(item => `${item.start_line}-${item.end_line}\t${itemNamed(item)}`).join('\n')

function itemNamed(item: OutlineEntry): string {
  const { kind, name = '', level = 1, language } = item
  if (kind === 'heading') return `${'#'.repeat(level)} ${name}`
  if (kind === 'code_block') return language === undefined ? 'code block' : `code block ${language}`
  if (kind === 'front_matter') return 'front matter'
  return `${kind} ${qualifiedName(item)}`
}

/** The numbered lines of a preview. If it leaves out the highlighted lines, takes them from `similar`. */
export function preview(
  { content, preview_start_line, preview_end_line, highlights: [place] }: FilePreview,
  similar?: Pick<SimilarContent, 'content'>
): string {
  const lines = splitAtBreaks(content)
  if (place !== undefined && similar !== undefined) {
    const { start_line, end_line } = place
    const at = start_line - preview_start_line
    if (lines[at] === markOf(start_line, end_line)) {
      return numbered([
        ...numberedFrom(lines.slice(0, at), preview_start_line),
        ...withNumbers(splitAtBreaks(similar.content), start_line, end_line),
        ...numberedFrom(lines.slice(at + 1), end_line + 1)
      ])
    }
  }
  return numbered(withNumbers(lines, preview_start_line, preview_end_line))
}

/** Lines `first` to `last` with their numbers; the middle may be cut out. */
export const excerptNumbered = (content: string, first: number, last: number): string =>
  numbered(withNumbers(splitAtBreaks(content), first, last))

const numberedFrom = (lines: readonly string[], first: number): NumberedLine[] =>
  lines.map((text, i) => ({ line_number: first + i, text }))

/**
 * Lines `first` to `last` with their numbers, as far as they are present. The line with the mark of a cut also holds
 * the end of a later line, or no part of a line.
 */
function withNumbers(lines: readonly string[], first: number, last: number): NumberedLine[] {
  const left = last - first + 1 - lines.length
  const at = left > 0 ? lines.findIndex(line => CUT_MARK.test(line)) : -1
  if (at === -1) return numberedFrom(lines.slice(0, last - first + 1), first)
  const [head, tail] = lines[at]!.split(CUT_MARK)
  return [
    ...numberedFrom([...lines.slice(0, at), ...(head === '' ? [] : [`${head}…`])], first),
    ...numberedFrom(
      [...(tail === '' ? [] : [`…${tail}`]), ...lines.slice(at + 1)],
      first + at + left + (tail === '' ? 1 : 0)
    )
  ]
}
