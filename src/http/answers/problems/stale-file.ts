// The problem of a file that has changed since it was read: says what the edit would do to it now.
import type { SuggestedFix } from '../../../../schemas/problem.ts'
import type { LineRange } from '../../../engine/edit/request.ts'
import type { FittingEdit } from '../../../engine/failure.ts'
import type { StaleFile } from '../../../workspace/failure.ts'
import { again, againAt, type Brief, type FailedCall, inspect, pathOf, toRead } from '../brief/call.ts'
import { preview } from '../brief/layout.ts'
import type { CallSyntax } from '../call-names.ts'
import { othersNamed } from '../other-changes.ts'
import { counted, listed, NOTHING_WRITTEN, placed, sentences } from '../phrases.ts'
import { readFile, readPreview } from '../suggested-fixes.ts'
import { type ProblemEntry, entryOf, type FailedRequest, type FailureOf, partsOf, type ProblemParts } from './entry.ts'
import { RANGES } from './ranges.ts'
import { RESULTS } from './results.ts'
import { SECTIONS } from './sections.ts'
import { TEXT } from './text.ts'

/** The entries for an edit that can't be made to the current file either. */
const EDITS = { ...TEXT, ...RANGES, ...SECTIONS, ...RESULTS }

export const STALE_FILE: ProblemEntry<FailureOf<'STALE_FILE'>> = {
  kind: [409, 'File has changed', 'after_read'],
  about: 'read_file',
  detail: staleFile,
  brief: briefStale,
  example: { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '9f86d081884c7d65' }
}

function staleFile(
  { reason, expected_hash, now, since, hash_required }: StaleFile,
  request: FailedRequest
): ProblemParts {
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
    ? `${shown} has changed: its hash is ${hashNow}not ${expected_hash}${changedBy(since)}.`
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
      detail: sentences(changed, NOTHING_WRITTEN, ...whatItDoes(now, asHash, { naming, hash_required })),
      members: { ...members, suggested_fixes, file_preview }
    }
  }
  const { detail, members: more } = partsOf(entryOf(EDITS, now.failure).detail(now.failure, request))
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

/** What the edit would do now, and how to send it. `asHash`: how to send the hash; empty if the caller can't. */
function whatItDoes(
  now: FittingEdit,
  asHash: readonly string[],
  { naming, hash_required }: { naming: CallSyntax; hash_required: true | undefined }
): string[] {
  const { unchecked, moved, exact } = now
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
        exact === true && hash_required !== true && asHash.length > 0
          ? NO_HASH_NEEDED
          : `If that is what you mean, ${sendIt}.`
      ]
  }
}

/** For an edit that states the text that it replaces: on a busy file, the next hash would be out of date again. */
const NO_HASH_NEEDED = 'It states the text that it replaces, so send it again without expected_hash.'

/** What was changed since, in brackets. */
const changedBy = (since: StaleFile['since']): string => {
  const named = since === undefined ? '' : othersNamed(since)
  return named === '' ? '' : ` (changed by ${named})`
}

/** The current line numbers of each edit. */
const adjustLines = (moved: readonly LineRange[], naming: CallSyntax): SuggestedFix[] =>
  moved.map(({ start_line, end_line }, i) => ({
    type: 'ADJUST_LINES',
    suggestion:
      `${moved.length === 1 ? 'Your edit' : `Edit ${i + 1}`} is ${placed([start_line, end_line])} now: ` +
      `send these numbers with your ${naming.field('new_text')}.`,
    edit: { start_line, end_line }
  }))

/** ` at line 3 and before line 9`; empty if no place is known. */
function whereItFits({ places, total }: FittingEdit): string {
  if (total === 0) return ''
  const named = places.map(placed)
  const more = total > places.length ? ` and at ${counted(total - places.length, 'more place')}` : ''
  return ` ${listed([...new Set(named)])}${more}`
}

const NUMBERS_ALONE = 'The edit has neither expected_hash nor expected_text, and you have not read'

/** For an edit of lines that are named by number alone, of a file that its caller hasn't read as it is. */
export function needsVersion(now: FittingEdit, request: FailedRequest): ProblemParts {
  const { shown, file_hash } = request
  const { file_preview } = now
  return {
    detail: sentences(
      `${NUMBERS_ALONE} ${shown} as it is now.`,
      NOTHING_WRITTEN,
      `It would apply${whereItFits(now)}; file_preview shows what is there.`,
      `If these are the lines you mean, send it with expected_hash "${file_hash}"; if not, correct the numbers first.`
    ),
    members: { suggested_fixes: [readPreview(request, file_preview)], file_preview }
  }
}

export const briefNeedsVersion = (now: FittingEdit, call: FailedCall): Brief => ({
  what: `${NUMBERS_ALONE} ${call.shown} as it is now; nothing was written`,
  next: again(call, { expected_hash: call.file_hash! }, 'If these are the lines you mean'),
  lines: preview(now.file_preview)
})

function briefStale(
  { reason, expected_hash, now, since: changes, hash_required }: StaleFile,
  call: FailedCall
): Brief | undefined {
  const { file_hash, shown, naming, made } = call
  // It may be another than the one sent: in a directory, or where a batch moves the file from.
  const whole = { path: call.path ?? pathOf(call) }
  if (reason === 'changed_meanwhile') {
    const what = `${shown} was changed by another program during the edit; nothing was written`
    return { what, next: inspect(call, whole) }
  }
  if (reason === 'overwritten') {
    const what = `another program wrote ${shown} at the same moment; whether your edit is in it is not known`
    return { what, next: inspect(call, whole) }
  }
  const since = naming.takes('expected_hash') ? `its hash was ${expected_hash}` : 'it was read'
  const changed = `${shown} has changed since ${since}${changedBy(changes)}`
  if (now === undefined || file_hash === undefined) {
    return { what: `${changed}; nothing was written`, next: toRead(call, 'Read it again, then decide', whole) }
  }
  const renewed: FailedCall = { ...call, made: { ...made, arguments: { ...made.arguments, expected_hash: file_hash } } }
  if (!now.fits) {
    const inner = entryOf(EDITS, now.failure).brief?.(now.failure, renewed)
    return inner && { ...inner, what: `${changed}, and the edit does not fit it: ${inner.what}` }
  }
  if (now.unchecked === 'file') {
    return {
      what: `${changed}; nothing was written`,
      next: toRead(call, 'Read it before you replace all of it', whole)
    }
  }
  const isFree = now.exact === true && hash_required !== true && naming.takes('expected_hash')
  const brief = briefFitting(now, changed, renewed, file_hash)
  return { ...brief, ...(isFree && { next: [NO_HASH_NEEDED] }), lines: preview(now.file_preview) }
}

/** `call` already has the current hash. */
function briefFitting(now: FittingEdit, changed: string, call: FailedCall, file_hash: string): Brief {
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
