// The text for a model whose edit was made for another state of the file: what it would do to this one. Does not know
// why an edit can't be made.
import type { EditFailure } from '../edit-failure.ts'
import { type Fitting, placed, whereItFits } from '../problems/stale-file.ts'
import type { StaleFile } from '../../../workspace/failure.ts'
import { counted } from '../phrases.ts'
import { again, againAt, type Brief, type FailedCall, inspect, pathOf, toRead } from './call.ts'
import { preview } from './layout.ts'

/** `explain`: the text of an edit that can't be made; undefined where `detail` says it, as here. */
export function staleFile(
  { reason, expected_hash, now }: StaleFile,
  call: FailedCall,
  explain: (failure: EditFailure, call: FailedCall) => Brief | undefined
): Brief | undefined {
  const { file_hash, shown, naming, made } = call
  const whole = { path: pathOf(call) }
  if (reason === 'changed_meanwhile') {
    const what = `${shown} was changed by another program during the edit; nothing was written`
    return { what, next: inspect(call, whole) }
  }
  if (reason === 'overwritten') {
    const what = `another program wrote ${shown} at the same moment; whether your edit is in it is not known`
    return { what, next: inspect(call, whole) }
  }
  const since = naming.takes('expected_hash') ? `its hash was ${expected_hash}` : 'it was read'
  const changed = `${shown} has changed since ${since}`
  if (now === undefined || file_hash === undefined) {
    return { what: `${changed}; nothing was written`, next: toRead(call, 'Read it again, then decide', whole) }
  }
  const renewed: FailedCall = { ...call, made: { ...made, arguments: { ...made.arguments, expected_hash: file_hash } } }
  if (!now.fits) {
    const inner = explain(now.failure, renewed)
    return inner && { ...inner, what: `${changed}, and the edit does not fit it: ${inner.what}` }
  }
  if (now.unchecked === 'file') {
    return {
      what: `${changed}; nothing was written`,
      next: toRead(call, 'Read it before you replace all of it', whole)
    }
  }
  return { ...fitting(now, changed, renewed, file_hash), lines: preview(now.file_preview) }
}

/** `call` has the hash of now. */
function fitting(now: Fitting, changed: string, call: FailedCall, file_hash: string): Brief {
  const { places, total, unchecked, moved } = now
  const where = total === 0 ? '' : ` ${places.length === 1 ? placed(places[0]!) : `at ${counted(total, 'place')}`}`
  const sendIt = call.naming.takes('expected_hash') ? 'send it with this file_hash' : 'send it again'
  const ifMeant = (what: string, wrong: string): string[] => [
    `If ${what} you mean, ${sendIt}; if not, correct ${wrong} first.`
  ]
  switch (unchecked) {
    case 'changed_lines':
      return {
        what: `${changed}, also at the place of your edit; nothing was written`,
        next: [`Correct your edit by what is${whereItFits(now)} now, and ${sendIt}.`]
      }
    case 'lines':
      return {
        what: `${changed}; nothing was written, and line numbers may have moved: your edit would apply${where} now`,
        next: ifMeant('these are the lines', 'the numbers')
      }
    case 'occurrence':
      return {
        what: `${changed}; nothing was written, and matches may have come and gone: your edit would apply${where} now`,
        next: ifMeant('that is the match', 'its number')
      }
  }
  if (moved !== undefined) {
    const unmoved =
      moved.length === 1
        ? `the place of your edit is unchanged, but is${where} now`
        : 'the places of your edits are unchanged, but have other line numbers now'
    return { what: `${changed}; nothing was written: ${unmoved}`, next: againAt(call, moved, file_hash) }
  }
  return {
    what: `${changed}; nothing was written, but your edit still fits${where}`,
    next: again(call, { expected_hash: file_hash }, 'If that is what you mean')
  }
}
