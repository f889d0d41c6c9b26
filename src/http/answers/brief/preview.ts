// The lines of a file that a failure shows, with their numbers in the file also where some are left out. Does not know
// what failed.
import { markOf } from '../../../engine/explain/preview.ts'
import type { FilePreview, SimilarContent } from '../../../engine/failure.ts'
import type { NumberedLine } from '../../../engine/report/changed-lines.ts'
import { CUT_MARK } from '../../../engine/text/encoding.ts'
import { splitAtBreaks } from '../../../engine/text/lines.ts'
import { numbered } from './text.ts'

/** The lines of a preview with their numbers. `similar`: what it leaves to this is put back. */
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

/** Lines `first` to `last`, of which the middle may be cut out, with their numbers. */
export const excerptNumbered = (content: string, first: number, last: number): string =>
  numbered(withNumbers(splitAtBreaks(content), first, last))

const numberedFrom = (lines: readonly string[], first: number): NumberedLine[] =>
  lines.map((text, i) => ({ line_number: first + i, text }))

/** Lines `first` to `last`, as far as they are there: the one that is cut holds the end of another, further down. */
function withNumbers(lines: readonly string[], first: number, last: number): NumberedLine[] {
  const left = last - first + 1 - lines.length
  const at = left > 0 ? lines.findIndex(line => CUT_MARK.test(line)) : -1
  if (at === -1) return numberedFrom(lines.slice(0, last - first + 1), first)
  const [head, tail] = lines[at]!.split(CUT_MARK)
  return [
    ...numberedFrom([...lines.slice(0, at), `${head}…`], first),
    ...numberedFrom([`…${tail}`, ...lines.slice(at + 1)], first + at + left)
  ]
}
