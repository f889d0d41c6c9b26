// The planner of /create: a whole content in place of what is there, which is nothing for a new file. Knows no files.
import { fail, ok, type Result } from '../result.ts'
import { cautionsOf } from './caution.ts'
import { Draft } from './draft.ts'
import type { ResultTooLarge } from './failure.ts'
import type { Plan } from './plan.ts'

/** Plans to replace the whole text by `content`, byte for byte as given. Fails if that has more than `max_result_size` bytes. */
export function planNewContent (original: Buffer, content: string, options: { max_result_size: number }): Result<Plan, ResultTooLarge> {
  const insert = Buffer.from(content)
  if (insert.length > options.max_result_size) {
    return fail({ code: 'RESULT_TOO_LARGE', what: 'bytes', edit_index: 0, total_edits: 1, limit: options.max_result_size, actual: insert.length })
  }
  const draft = new Draft(original)
  const operation = original.length === 0 ? 'insert' : insert.length === 0 ? 'delete' : 'replace'
  if (original.length + insert.length > 0) draft.replace([{ edit_index: 0, operation, start: 0, end: original.length, insert }])
  const splices = draft.splices()
  return ok({ splices, pieces: splices.apply(original), placements: draft.placed(), edits_applied: [], left_alone: [], cautions: cautionsOf(content, original, 0) })
}
