// The planner of /create: replaces the whole content, which is empty for a new file.
import { fail, ok, type Result } from '../../result.ts'
import { warningsOfNewText } from '../edit/new-text-warnings.ts'
import { PieceTable } from '../edit/piece-table.ts'
import type { ResultTooLarge } from '../failure.ts'
import { utf16Of } from '../text/codec.ts'
import { BreakFinder, breakStyleOf, type LineEndings } from '../text/eol.ts'
import { LineIndex } from '../text/line-index.ts'
import { Text } from '../text/text.ts'
import type { Plan } from '../edit/plan.ts'

/**
 * Plans to replace the whole text by `content`, in UTF-8; with the line breaks of the text, if `line_endings` is
 * `adapt` and the text has any. Fails if the result has more than `max_result_size` bytes.
 */
export function planFileContent(
  original: Buffer,
  content: string,
  options: { line_endings?: LineEndings; max_result_size: number }
): Result<Plan, ResultTooLarge> {
  const insert = Buffer.from(options.line_endings === 'adapt' ? adapted(content, original) : content)
  if (insert.length > options.max_result_size) {
    return fail({
      code: 'RESULT_TOO_LARGE',
      what: 'bytes',
      edit_index: 0,
      total_edits: 1,
      limit: options.max_result_size,
      actual: insert.length
    })
  }
  const draft = new PieceTable(original)
  const operation = original.length === 0 ? 'insert' : insert.length === 0 ? 'delete' : 'replace'
  if (original.length + insert.length > 0) {
    draft.replace([{ edit_index: 0, operation, start: 0, end: original.length, insert }])
  }
  const splices = draft.splices()
  return ok({
    splices,
    line_index: new LineIndex(original),
    pieces: splices.apply(original),
    placements: draft.placed(),
    edits_applied: [],
    left_alone: [],
    newTextWarnings: warningsOfNewText(content, original, 0)
  })
}

function adapted(content: string, original: Buffer): string {
  const utf16 = utf16Of(original)
  const text = utf16 === null ? original : Buffer.from(utf16.decode(original))
  const style = breakStyleOf(text)
  if (style.ending === 'none') return content
  return new BreakFinder(new Text([text]), style).adapt(content, { start: 0, end: text.length })
}
