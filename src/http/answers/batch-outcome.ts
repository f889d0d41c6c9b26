// The sentence of what a batch did. Does not know problems.
import type { BatchOutcome, ChangedOutcome } from '../../operations/operation.ts'
import { counted } from './phrases.ts'

export function batchMessage({ dry_run, results }: BatchOutcome): string {
  const made = results.filter(({ outcome }) => outcome.changed)
  const files = new Set(made.filter(isDifferent).map(fileOf)).size
  if (files === 0) {
    const what = results.length > 1 ? 'these operations lead' : 'this operation leads'
    return `The files already have exactly the content that ${what} to; nothing was written.`
  }
  const all = counted(results.length, 'operation')
  const which = made.length === results.length ? all : `${made.length} of ${all}`
  const whole = `${which} ${dry_run ? 'would change' : 'changed'} ${counted(files, 'file')}`
  const moved = movesLines(made)
    ? '; where several change one file, the line numbers in changes are those right after each'
    : ''
  return `${whole}${moved}${dry_run ? '; nothing was written' : ''}.`
}

const fileOf = ({ outcome: { path, resolved_path = path } }: ChangedOutcome): string => resolved_path

/** Whether the file has other bytes after the whole batch than before it. */
const isDifferent = ({ outcome: { hash_before, new_hash, file_hash } }: ChangedOutcome): boolean =>
  hash_before !== (new_hash ?? file_hash)

/** Whether one of them changes a file after another has told of its lines. */
const movesLines = (made: readonly ChangedOutcome[]): boolean => new Set(made.map(fileOf)).size < made.length
