// The sentences about what /replace did, or would do. Does not know problems.
import type { Outcome, ReplaceOutcome } from '../../operations/operation.ts'
import { counted, listed, sentences } from './phrases.ts'

type Replaced = Extract<Outcome, { operation: 'replace' }>

/** What was replaced, in one sentence, and what to send to replace it if nothing was written. */
export function replaceMessage({ outcome, is_count }: Replaced): string {
  const { dry_run, occurrences, results } = outcome
  const inFiles = `${counted(occurrences, 'occurrence')} in ${counted(results.length, 'file')}`
  if (!results.some(({ outcome }) => outcome.changed)) {
    return `${inFiles}: the files already have exactly the content that this leads to; nothing was written.`
  }
  if (!dry_run) return sentences(`Replaced ${inFiles}.`, notSearched(outcome))
  return sentences(
    `Would replace ${inFiles}; nothing was written.`,
    `To replace them, send the same request with occurrences ${occurrences}${is_count === true ? '' : ', without dry_run'}.`,
    notSearched(outcome)
  )
}

/** The files that may hold the text and were left as they are; empty if there are none. */
export function notSearched({ skipped }: Pick<ReplaceOutcome, 'skipped'>): string {
  const { too_large, unreadable } = skipped
  const all = [
    ...(too_large > 0 ? [`${counted(too_large, 'file')} over the size limit, or with too long a line`] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'file')} that can't be read`] : [])
  ]
  return all.length === 0 ? '' : `Not searched: ${listed(all)}.`
}
