// After a miss of a whole symbol that can't be mended by a ready edit: the call that replaces the symbol by its
// name. Does not know how the text was searched for.
import type { NoMatch } from '../engine/failure.ts'
import { fail } from '../result.ts'
import type { Outliner } from '../workers/outline.ts'
import type { Planner } from '../workspace/api.ts'
import { outlined } from './outlining.ts'

/**
 * `planner`, whose NO_MATCH also names the symbol that stands where old_text, a whole block, was meant: none where
 * there is a fix with a `new_text`, where the parser has no place left, or where the bytes have moved to a thread
 * (large files, long searches).
 */
export const withSectionFix =
  <T, F extends { code: string }>(outliner: Outliner, planner: Planner<T, F>): Planner<T, F> =>
  async (original, file) => {
    const planned = await planner(original, file)
    if (planned.ok || !isNoMatch(planned.failure)) return planned
    const { failure } = planned
    const isReady = failure.fixes.some(({ edit }) => edit?.new_text !== undefined)
    if (failure.block === undefined || isReady || outliner.full || original.length === 0) return planned
    const { block: lines } = failure
    const path = file.resolved_path ?? file.path
    const section = await outlined(path, original, 'code', language => outliner.symbolOn(original, language, lines))
    if (!section.ok || section.value === null) return planned
    const fix = { type: 'USE_SECTION' as const, lines, section: section.value }
    return fail({ ...failure, fixes: failure.fixes.toSpliced(-1, 0, fix) })
  }

const isNoMatch = <F extends { code: string }>(failure: F): failure is F & NoMatch => failure.code === 'NO_MATCH'
