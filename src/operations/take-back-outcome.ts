// What /undo and /redo answer, of one file and of all. Does not know how files are changed.
import { fileWithoutTexts, outcomeOf } from './change.ts'
import { hashesOf } from './file-hash.ts'
import type { TakeBackOutcome, TakenBackFile } from './operation.ts'
import type { FileTakenBack, TakeBackRequest, TakenBackOutcome } from './take-back-file.ts'

/** `left`: edits that were left in files of which nothing was changed. */
export function outcomeOfAll(
  request: TakeBackRequest,
  all: readonly FileTakenBack[],
  left: readonly string[]
): TakeBackOutcome {
  const results = all.map(done => outcomeOfFile(request, done))
  const { sha256 } = results.length === 1 ? results[0]! : {}
  const ids = (of: (done: FileTakenBack) => readonly string[]) => [...new Set(all.flatMap(of))]
  return {
    dry_run: request.dry_run ?? false,
    results,
    toggled: ids(({ description }) => description.toggled),
    skipped: [...new Set([...ids(({ description }) => description.skipped), ...left])],
    sha256
  }
}

function outcomeOfFile(request: TakeBackRequest, done: FileTakenBack): TakenBackFile {
  const { removes, toggled } = done.description
  const { created: _, ...outcome } = outcomeOf({ ...request, path: done.path }, done, {})
  if (removes !== true) {
    const isNew = 'created' in done && done.created
    return { ...outcome, ...(isNew && { created: true as const }), edit_ids: toggled }
  }
  const { new_hash: _hash, file_hash: _short, sha256, ...gone } = outcome
  // Before it is removed, it is as it was.
  return { ...gone, ...(gone.dry_run && hashesOf(sha256)), removed: true, edit_ids: toggled }
}

/** The answer without what the files hold. */
export const outcomeWithoutTexts = ({ operation, outcome }: TakenBackOutcome): TakenBackOutcome => {
  const results = outcome.results.map((file): TakenBackFile => {
    const { edit_ids, created, removed, ...others } = file
    return {
      ...fileWithoutTexts(others),
      edit_ids,
      created,
      removed
    }
  })
  return { operation, outcome: { ...outcome, results } }
}
