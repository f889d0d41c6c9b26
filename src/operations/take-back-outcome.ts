// The answers of /undo and /redo, for one file and for all. Does not know how files are changed.
import { fileWithoutTexts, outcomeOf, outcomeOfRemoved } from './file-operation.ts'
import type { TakeBackOutcome, TakenBackFile } from './operation.ts'
import type { FileTakenBack, TakeBackRequest, TakenBackOutcome } from './take-back-file.ts'

/** `left`: edits that were left alone in files in which nothing was changed. */
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
  const { removes, toggled: edit_ids } = done.description
  if (removes === true) return { ...outcomeOfRemoved(request, done), created: undefined, removed: true, edit_ids }
  const isNew = done.created === true
  return { ...outcomeOf(request, done), created: isNew ? true : undefined, edit_ids }
}

/** The answer without text of the files. */
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
