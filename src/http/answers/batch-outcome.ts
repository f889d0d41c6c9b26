// The sentences about what a batch or a patch did. Does not know problems.
import type { BatchOutcome, ChangedOutcome, PatchedFile, PatchOutcome } from '../../operations/operation.ts'
import { capital, counted, listed } from './phrases.ts'

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
  const moved = movesLines(made) ? '; where several change one file, line numbers are those right after each' : ''
  return `${whole}${moved}${dry_run ? '; nothing was written' : ''}.`
}

/** What a patch can do to a file. */
const VERBS = ['create', 'update', 'delete', 'move'] as const

/** `Updated 2 files, deleted 1 file.` */
export function patchMessage({ dry_run, results }: PatchOutcome): string {
  const made = results.filter(({ outcome }) => outcome.changed)
  if (made.length === 0) {
    const what = results.length > 1 ? 'The files already have' : 'The file already has'
    return `${what} exactly this content; nothing was written.`
  }
  const counts = VERBS.flatMap(verb => {
    const count = made.filter(({ operation }) => operation === verb).length
    return count === 0 ? [] : [`${dry_run ? verb : `${verb}d`} ${counted(count, 'file')}`]
  })
  return dry_run ? `Would ${listed(counts)}; nothing was written.` : `${capital(listed(counts))}.`
}

/** What a patch did to one file. `changed`: the sentence about its changed text or its creation. */
export function patchedMessage({ operation, moved_from, outcome }: PatchedFile, changed: string): string {
  const { path, dry_run, changes } = outcome
  const [would, end] = dry_run ? ['Would ', '; nothing was written.'] : ['', '.']
  if (operation === 'delete') return capital(`${would}delete${dry_run ? '' : 'd'} ${path}${end}`)
  if (operation !== 'move') return changed
  const moved = capital(`${would}move${dry_run ? '' : 'd'} ${moved_from} to ${path}`)
  return changes.length > 0 ? `${moved}. ${changed}` : `${moved}${end}`
}

const fileOf = ({ outcome: { path, resolved_path = path } }: ChangedOutcome): string => resolved_path

/** Whether the file's bytes after the whole batch differ from those before it. */
const isDifferent = ({ outcome: { hash_before, new_hash, file_hash } }: ChangedOutcome): boolean =>
  hash_before !== (new_hash ?? file_hash)

/** Whether several operations changed the same file, so that line numbers in earlier results may be outdated. */
const movesLines = (made: readonly ChangedOutcome[]): boolean => new Set(made.map(fileOf)).size < made.length
