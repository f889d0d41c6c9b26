// What is said of a file that has changed since it was read: what the edit would do to it now. Does not know statuses.
import type { CurrentOutcome } from '../../engine/failure.ts'
import type { StaleFile } from '../../workspace/failure.ts'
import { describeBy, sentences, type FailedRequest, NOTHING_WRITTEN, type ProblemParts } from './description.ts'
import { EDIT_FAILURES } from './edit-failure.ts'
import { counted, listed, span } from './phrases.ts'
import { readFile, readPreview } from './suggested-fixes.ts'

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
  const hashNow = file_hash === undefined ? '' : `${file_hash}, `
  const sendsHash = naming.takes('expected_hash')
  const changed = sendsHash
    ? `${shown} has changed: its hash is ${hashNow}not ${expected_hash}.`
    : `${shown} has changed since it was read.`
  const withHash = !sendsHash
    ? ''
    : file_hash === undefined
      ? ' with its file_hash as expected_hash'
      : ` with expected_hash "${file_hash}"`
  const members = { ...(expected_hash !== undefined && { expected_hash }) }
  const sendIt = `send it${sendsHash ? withHash : ' again'}`
  if (now === undefined || (now.fits && now.unchecked === 'file')) {
    const check =
      now === undefined ? 'check that your edit still applies' : 'check that you still want to replace all of it'
    return {
      detail: sentences(changed, NOTHING_WRITTEN, `Read the file again, ${check}, and ${sendIt}.`),
      members: { ...members, suggested_fixes: [readFile(request)] }
    }
  }
  if (now.fits) {
    const { file_preview, unchecked } = now
    const where = whereItFits(now)
    const said =
      unchecked === undefined
        ? [
            `Your edit would still apply${where}; file_preview shows what is there now.`,
            `If that is what you mean, ${sendIt}.`
          ]
        : [
            `Line numbers may have moved: your edit would apply${where} now; file_preview shows what is there.`,
            `If these are the lines you mean, ${sendIt}; if not, correct the numbers first.`
          ]
    return {
      detail: sentences(changed, NOTHING_WRITTEN, ...said),
      members: { ...members, suggested_fixes: [readPreview(request, file_preview)], file_preview }
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

/** Lines as a place; where the last one comes before the first, between two. */
export const placed = (lines: [number, number]): string =>
  lines[1] < lines[0] ? `before line ${lines[0]}` : `at ${span(lines)}`

function whereItFits({ places, total }: Extract<CurrentOutcome, { fits: true }>): string {
  if (total === 0) return ''
  const named = places.map(placed)
  const more = total > places.length ? ` and at ${counted(total - places.length, 'more place')}` : ''
  return ` ${listed([...new Set(named)])}${more}`
}
