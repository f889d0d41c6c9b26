// The answers of /undo and /redo, for one file and for all. Does not know how files are changed.
import { fileWithoutTexts, outcomeOf, outcomeOfRemoved } from './file-operation.ts'
import type { UndoOutcome, UndoneFile } from './operation.ts'
import type { FileUndone, UndoFields, UndoCallOutcome } from './undo-file.ts'

/** `left`: edits that were left alone in files in which nothing was changed. */
export function outcomeOfAll(request: UndoFields, all: readonly FileUndone[], left: readonly string[]): UndoOutcome {
  const results = all.map(done => outcomeOfFile(request, done))
  const { sha256 } = results.length === 1 ? results[0]! : {}
  const ids = (of: (done: FileUndone) => readonly string[]) => [...new Set(all.flatMap(of))]
  return {
    dry_run: request.dry_run ?? false,
    results,
    toggled: ids(({ description }) => description.toggled),
    skipped: [...new Set([...ids(({ description }) => description.skipped), ...left])],
    sha256
  }
}

function outcomeOfFile(request: UndoFields, done: FileUndone): UndoneFile {
  const { removes, toggled: edit_ids } = done.description
  if (removes === true) return { ...outcomeOfRemoved(request, done), created: undefined, removed: true, edit_ids }
  const isNew = done.created === true
  return { ...outcomeOf(request, done), created: isNew ? true : undefined, edit_ids }
}

/** The answer without text of the files. */
export const outcomeWithoutTexts = ({ operation, outcome }: UndoCallOutcome): UndoCallOutcome => {
  const results = outcome.results.map((file): UndoneFile => {
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
