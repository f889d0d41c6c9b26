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
  if (now === undefined) {
    return {
      detail: sentences(
        changed,
        NOTHING_WRITTEN,
        `Read the file again, check that your edit still applies, and send it${sendsHash ? withHash : ' again'}.`
      ),
      members: { ...members, suggested_fixes: [readFile(request)] }
    }
  }
  if (now.fits) {
    const { file_preview } = now
    return {
      detail: sentences(
        changed,
        NOTHING_WRITTEN,
        `Your edit would still apply${whereItFits(now)}; file_preview shows what is there now.`,
        `If that is what you mean, send it${sendsHash ? withHash : ' again'}.`
      ),
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

function whereItFits({ places, total }: Extract<CurrentOutcome, { fits: true }>): string {
  if (total === 0) return ''
  const named = places.map(lines => (lines[1] < lines[0] ? `before line ${lines[0]}` : `at ${span(lines)}`))
  const more = total > places.length ? ` and at ${counted(total - places.length, 'more place')}` : ''
  return ` ${listed([...new Set(named)])}${more}`
}
