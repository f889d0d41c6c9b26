// What is said of a file that has changed since it was read: what the edit would do to it now. Does not know statuses.
import type { SuggestedFix } from '../../../../schemas/problem.ts'
import type { LineRange } from '../../../engine/edit/request.ts'
import type { CurrentOutcome } from '../../../engine/failure.ts'
import type { StaleFile } from '../../../workspace/failure.ts'
import type { CallSyntax } from '../call-names.ts'
import { describeBy, type FailedRequest, type ProblemParts } from './entry.ts'
import { sentences, NOTHING_WRITTEN, counted, listed, span } from '../phrases.ts'
import { EDIT_FAILURES } from '../edit-failure.ts'
import { readFile, readPreview } from '../suggested-fixes.ts'

/** What of a stale edit would still be made. */
export type Fitting = Extract<CurrentOutcome, { fits: true }>

export function describeStaleFile({ reason, expected_hash, now }: StaleFile, request: FailedRequest): ProblemParts {
  const { shown, file_hash, naming } = request
  if (reason === 'changed_meanwhile') {
    return {
      detail: sentences(
        `${shown} was changed by another program while it was being edited.`,
        NOTHING_WRITTEN,
        'Read the file again, then decide.'
      ),
      members: { suggested_fixes: [readFile(request)] }
    }
  }
  if (reason === 'overwritten') {
    return {
      detail: sentences(
        `Another program wrote ${shown} at the same moment; whether your edit is in it is not known.`,
        'Read the file again, then decide.'
      ),
      members: { suggested_fixes: [readFile(request)] }
    }
  }
  const hashNow = file_hash === undefined ? '' : `${file_hash}, `
  const sendsHash = naming.takes('expected_hash')
  const changed = sendsHash
    ? `${shown} has changed: its hash is ${hashNow}not ${expected_hash}.`
    : `${shown} has changed since it was read.`
  const hash = file_hash === undefined ? 'its file_hash as expected_hash' : `expected_hash "${file_hash}"`
  const asHash = sendsHash ? [hash] : []
  const withHash = withAll(asHash)
  const members = { expected_hash }
  const sendIt = sendWith(asHash)
  if (now === undefined || (now.fits && now.unchecked === 'file')) {
    const check =
      now === undefined ? 'check that your edit still applies' : 'check that you still want to replace all of it'
    return {
      detail: sentences(changed, NOTHING_WRITTEN, `Read the file again, ${check}, and ${sendIt}.`),
      members: { ...members, suggested_fixes: [readFile(request)] }
    }
  }
  if (now.fits) {
    const { file_preview, moved } = now
    const suggested_fixes = moved === undefined ? [readPreview(request, file_preview)] : adjustLines(moved, naming)
    return {
      detail: sentences(changed, NOTHING_WRITTEN, ...whatItDoes(now, asHash, naming)),
      members: { ...members, suggested_fixes, file_preview }
    }
  }
  const { detail, members: more } = describeBy(EDIT_FAILURES, now.failure, request)
  if (more?.already_applied === true && (more.similar_content ?? []).length === 0) {
    return { detail: sentences(changed, detail), members: { ...more, ...members } }
  }
  return {
    detail: sentences(
      changed,
      `Your edit would fail on the current file too: ${detail}`,
      `Send the corrected edit${withHash}.`
    ),
    members: { ...more, ...members }
  }
}

const withAll = (fields: readonly string[]): string => (fields.length === 0 ? '' : ` with ${listed(fields)}`)
const sendWith = (fields: readonly string[]): string => `send it${withAll(fields) || ' again'}`

/** What the edit would do now, and what to do with it. `asHash`: how the hash is sent; empty where it can't be. */
function whatItDoes(now: Fitting, asHash: readonly string[], naming: CallSyntax): string[] {
  const { unchecked, moved } = now
  const where = whereItFits(now)
  const sendIt = sendWith(asHash)
  if (moved !== undefined) {
    const [{ start_line, end_line }, ...others] = moved as [LineRange, ...LineRange[]]
    if (others.length === 0) {
      const numbers = [`start_line ${start_line}`, `end_line ${end_line}`, ...asHash]
      const how = naming.takes('start_line') ? withAll(numbers) : ' for that place'
      return [
        `The place of your edit is unchanged, but is${where} now, as file_preview shows.`,
        `If you still mean it, send the edit${how}.`
      ]
    }
    return [
      `The places of your edits are unchanged, but are${where} now; file_preview shows the first.`,
      `If you still mean them, send the edits${withAll(['the line numbers in suggested_fixes', ...asHash])}.`
    ]
  }
  switch (unchecked) {
    case 'changed_lines':
      return [
        `The place of your edit was changed too: file_preview shows what is${where} now.`,
        `Correct your edit, and send it${withAll(asHash)}.`
      ]
    case 'lines':
      return [
        `Line numbers may have moved: your edit would apply${where} now; file_preview shows what is there.`,
        `If these are the lines you mean, ${sendIt}; if not, correct the numbers first.`
      ]
    case 'occurrence':
      return [
        `Matches may have come and gone: your edit would apply${where} now; file_preview shows what is there.`,
        `If that is the match you mean, ${sendIt}; if not, correct its number first.`
      ]
    default:
      return [
        `Your edit would still apply${where}; file_preview shows what is there now.`,
        `If that is what you mean, ${sendIt}.`
      ]
  }
}

/** The numbers that the lines of each edit have now. */
const adjustLines = (moved: readonly LineRange[], naming: CallSyntax): SuggestedFix[] =>
  moved.map(({ start_line, end_line }, i) => ({
    type: 'ADJUST_LINES',
    suggestion:
      `${moved.length === 1 ? 'Your edit' : `Edit ${i + 1}`} is ${placed([start_line, end_line])} now: ` +
      `send these numbers with your ${naming.field('new_text')}.`,
    edit: { start_line, end_line }
  }))

/** Lines as a place; where the last one comes before the first, between two. */
export const placed = (lines: [number, number]): string =>
  lines[1] < lines[0] ? `before line ${lines[0]}` : `at ${span(lines)}`

/** ` at line 3 and before line 9`; nothing where no place is known. */
export function whereItFits({ places, total }: Fitting): string {
  if (total === 0) return ''
  const named = places.map(placed)
  const more = total > places.length ? ` and at ${counted(total - places.length, 'more place')}` : ''
  return ` ${listed([...new Set(named)])}${more}`
}
