// The planner of /create: replaces the whole content, which is empty for a new file. Does not know files.
import { fail, ok, type Result } from '../../result.ts'
import { warningsOfNewText } from '../edit/new-text-warnings.ts'
import { PieceTable } from '../edit/piece-table.ts'
import type { ResultTooLarge } from '../failure.ts'
import { LineIndex } from '../text/line-index.ts'
import type { Plan } from '../edit/plan.ts'

/**
 * Plans to replace the whole text by `content`, byte for byte. Fails if that has more than `max_result_size` bytes.
 */
export function planFileContent(
  original: Buffer,
  content: string,
  options: { max_result_size: number }
): Result<Plan, ResultTooLarge> {
  const insert = Buffer.from(content)
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
