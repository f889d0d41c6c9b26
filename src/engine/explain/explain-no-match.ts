// The facts about an edit whose old_text isn't there: what was meant, why it wasn't found, which edits would work. Does
// not know sentences.
import { fail, ok, type Result } from '../../result.ts'
import type { TextEdit } from '../edit/request.ts'
import { decode, excerpt, isUnsendable } from '../text/encoding.ts'
import { findApplied, repeatedAt } from './already-applied.ts'
import { asInFile, contextFixes, isSmall, linesOf, type FailedEdit, SEARCH_LENGTH, undoneBy } from './explain.ts'
import type { EditFix, Fix, NoMatch } from '../failure.ts'
import { ANY_BREAK, withLf } from '../text/lines.ts'
import { locate, Needle } from '../match/locate.ts'
import { missingTokens } from './missing-tokens.ts'
import { previewOf } from './preview.ts'
import { MEDIUM, similarContent } from './similar-content.ts'
import type { Cause } from '../suggest/differences/classify.ts'
import { merge, type MergeConflict, MOST_EDITS } from '../suggest/merge.ts'
import type { OldText } from '../suggest/readings.ts'
import { inSameLines } from '../suggest/same-lines.ts'
import { type Candidate, MARGIN, suggest, type Suggestions } from '../suggest/suggest.ts'
import { Text } from '../text/text.ts'

/** `old_text` is nowhere in the text that the edits before this one produce. */
export function explainNoMatch(failed: FailedEdit): NoMatch {
  const { draft, line_index, edit, edit_index, total_edits } = failed
  const text = draft.searchable()
  const original = new Text([draft.original])
  const suggestions = suggest(text.slice(0, text.length), edit.old_text)
  const { candidates, truncated } = suggestions
  const undone = undoneBy(failed, original)
  const applied = undone === undefined ? findApplied(failed, edit, text, suggestions) : undefined
  // If the edit was already applied, suggest no other place for it.
  const surely = applied?.surely === true
  const similar_content = surely ? [] : similarContent(text, suggestions, region => linesOf(failed, region))
  const missing = missingTokens(text, edit.old_text)
  const rebased = undone === undefined ? undefined : afterEarlierEdits(failed, text, original)
  const edits = rebased ?? (surely ? [] : editsFor(failed, text, suggestions))
  const fixes: Fix[] = [...edits]
  const applied_lines = applied && linesOf(failed, applied.place)
  if (applied_lines !== undefined) fixes.push({ type: 'ALREADY_APPLIED', lines: applied_lines })
  const place = surely ? applied.place : (candidates[0] ?? applied?.place)
  // The edits before this one may have changed what similar_content shows.
  const isShown = failed.edit_index === 0 && place === candidates[0]
  const preview = previewOf(draft.original, line_index, place && draft.originOf(place.start, place.end), isShown)
  const [best] = similar_content
  // The caller can send what it reads as it is; the preview shows the lines around.
  const lines: [number, number] =
    best === undefined ? [preview.preview_start_line, preview.preview_end_line] : [best.line_number, best.end_line]
  fixes.push({ type: 'READ_FILE', ...(preview.total_lines > 0 && { lines }), ...(best?.lossy && { lossy: true }) })
  return {
    code: 'NO_MATCH',
    edit_index,
    total_edits,
    search_text: excerpt(edit.old_text, SEARCH_LENGTH),
    similar_content,
    fixes,
    file_preview: preview,
    ...(best !== undefined && candidates[0]!.isBlock && { block: [best.line_number, best.end_line] }),
    ...(best !== undefined && rebased === undefined && whyUnmade(failed, text, candidates[0]!, edits)),
    cause:
      best === undefined && isUnsendable(edit.old_text, draft.original)
        ? { type: 'encoding' }
        : surely
          ? { type: 'never_there' }
          : causeOf(suggestions),
    ...(missing.length > 0 && { missing_tokens: missing }),
    ...(applied_lines !== undefined && {
      applied_lines,
      resent: { old_text: edit.old_text, new_text: edit.new_text, lines: applied_lines }
    }),
    ...(undone !== undefined && { undone_by_edit: undone }),
    ...(truncated && { suggestions_truncated: true })
  }
}

function causeOf({ candidates: [best, another], margin, name: expected }: Suggestions): Cause {
  if (best === undefined) return { type: 'never_there' }
  // A place that is too different to be shown isn't mentioned.
  if (margin >= MARGIN || another === undefined) return best.cause
  return { type: 'near_duplicate', expected }
}

/**
 * Edits that work when sent: with the exact text of the one region that was meant; or, for each of several equally
 * likely regions, in the order of the file, with its text and the least context. A region that isn't similar enough
 * gets one only if it has the changed lines as `old_text` has them, and the file has them just once.
 */
function editsFor(failed: FailedEdit, text: Text, { candidates, margin }: Suggestions): EditFix[] {
  const { draft, line_index, edit, line_endings, ending } = failed
  const isClear = margin >= MARGIN
  const fixes: EditFix[] = []
  for (const region of isClear ? candidates.slice(0, 1) : inOrder(candidates)) {
    const { start, end, score } = region
    const { text: content, lossy } = decode(text.slice(start, end))
    // Don't suggest to edit again what the edit would have written.
    if ((score < MEDIUM && !isClear) || lossy || content.trim() === edit.new_text.trim()) continue
    const merged = score < MEDIUM ? inUnlike(failed, text, region, content) : replacementFor(failed, region, content)
    if (merged === undefined) continue
    const unmerged = merged.ok ? {} : { conflict: merged.failure }
    const new_text = merged.ok ? asInFile(merged.value, failed) : undefined
    const found = locate(text, new Needle(content), line_endings, ending)
    if (found.all.count === 1 && isClear) {
      const lines = linesOf(failed, { start, end })
      const isRepeated = (fixed: TextEdit) => repeatedAt(failed, fixed, { start, end }) !== undefined
      if (new_text === undefined) {
        fixes.push({ type: 'USE_EXACT_TEXT', lines, edit: { old_text: content }, ...unmerged })
      } else if (!isRepeated({ old_text: content, new_text })) {
        fixes.push({ type: 'USE_EXACT_TEXT', lines, edit: { old_text: content, new_text } })
        fixes.push(...shortened(failed, text, { start, content, new_text }))
      }
      continue
    }
    // The same text elsewhere may be part of something else.
    fixes.push(
      ...contextFixes(
        { draft, line_index, line_endings, ending, found, edit: new_text === undefined ? {} : { new_text } },
        [{ start, end }]
      ).map(fix => ({ ...fix, ...unmerged }))
    )
  }
  return fixes.filter(isSmall)
}

/** The change made to a region that isn't similar enough; undefined if the place isn't certain even so. */
function inUnlike(
  { edit, line_endings, ending }: FailedEdit,
  text: Text,
  { read }: Candidate,
  content: string
): Result<string, MergeConflict> | undefined {
  const [base, mine] = bothRead(edit, read)
  if (base === null || mine === null || line_endings !== 'adapt') return undefined
  const isOnce = (lines: string): boolean => locate(text, new Needle(lines), line_endings, ending).all.count === 1
  const merged = inSameLines(base, mine, withLf(content), MOST_EDITS, isOnce)
  return merged === undefined ? undefined : ok(merged)
}

/** Why no edit has the change made to the likeliest region; empty if one has, or if that isn't the reason. */
function whyUnmade(
  failed: FailedEdit,
  text: Text,
  region: Candidate,
  edits: readonly EditFix[]
): { conflict?: MergeConflict } {
  const { text: content, lossy } = decode(text.slice(region.start, region.end))
  const [from, to] = linesOf(failed, region)
  const isEdited = edits.some(({ lines }) => lines !== undefined && lines[0] >= from && lines[1] <= to)
  if (isEdited || lossy || region.score >= MEDIUM || content.trim() === failed.edit.new_text.trim()) return {}
  const merged = replacementFor(failed, region, content)
  return { conflict: merged.ok ? { reason: 'uncertain' } : merged.failure }
}

const inOrder = (candidates: readonly Candidate[]): Candidate[] => candidates.toSorted((a, b) => a.start - b.start)

/**
 * The edit with the replacements of earlier edits made in its texts. If such a replacement reaches beyond `old_text`,
 * the edit does too. Empty if nothing is left of `old_text`, or of the change; undefined if `old_text` isn't exactly
 * once in the original.
 */
function afterEarlierEdits(failed: FailedEdit, text: Text, original: Text): EditFix[] | undefined {
  const { draft, line_index, edit, needle, line_endings, ending } = failed
  const { all } = locate(original, needle, line_endings, ending)
  if (all.count !== 1) return undefined
  const { start, end } = all.at(0)
  let [from, to] = [start, end]
  let before = 0
  let within = 0
  for (const splice of draft.splices().list) {
    const grows = splice.insert.length - (splice.end - splice.start)
    if (splice.end <= start) before += grows
    else if (splice.start < end) {
      from = Math.min(from, splice.start)
      to = Math.max(to, splice.end)
      within += grows
    }
  }
  const place = { start: from + before, end: to + before + within }
  const [above, below, now] = [
    decode(original.slice(from, start)),
    decode(original.slice(end, to)),
    decode(text.slice(place.start, place.end))
  ]
  if (above.lossy || below.lossy || now.lossy || now.text === '') return []
  const around = (own: string) => above.text + own + below.text
  const whole = { ...edit, old_text: around(edit.old_text), new_text: around(edit.new_text) }
  const merged = replacementFor({ edit: whole, line_endings }, { read: one => one }, now.text)
  if (merged.ok && merged.value === now.text) return []
  const found = locate(text, new Needle(now.text), line_endings, ending)
  const own: { new_text?: string } = merged.ok ? { new_text: asInFile(merged.value, failed) } : {}
  const fixes: { edit: EditFix['edit'] }[] =
    found.all.count === 1
      ? [{ edit: { old_text: now.text, ...own } }]
      : contextFixes({ draft, line_index, line_endings, ending, found, edit: own }, [place])
  const lines = linesOf(failed, place)
  const unmerged = merged.ok ? {} : { conflict: merged.failure }
  const short =
    own.new_text === undefined
      ? []
      : shortened(failed, text, { start: place.start, content: now.text, new_text: own.new_text })
  return [...fixes.map(({ edit }): EditFix => ({ type: 'USE_EXACT_TEXT', lines, edit, ...unmerged })), ...short].filter(
    isSmall
  )
}

/**
 * The edit of a region with only the lines around the change, and as many more as make them unique. Empty if that saves
 * little.
 */
function shortened(
  { draft, line_index, line_endings, ending }: FailedEdit,
  text: Text,
  { start, content, new_text }: { start: number; content: string; new_text: string }
): EditFix[] {
  const [was, is] = [linesWithBreaks(content), linesWithBreaks(new_text)]
  const isSame = (a: number, b: number): boolean => withLf(was.at(a)!) === withLf(is.at(b)!)
  const most = Math.min(was.length, is.length)
  let [head, tail] = [0, 0]
  while (head < most && isSame(head, head)) head++
  while (tail < most - head && isSame(-1 - tail, -1 - tail)) tail++
  // A blank line says nothing of the place; but where lines are only added, there must be a line to find.
  const isPlace = (at: number): boolean => head + tail === was.length || was.at(at)!.trim() !== ''
  const above = head > 0 && isPlace(head - 1) ? head - 1 : head
  const below = tail > 0 && isPlace(-tail) ? tail - 1 : tail
  if (above + below === 0) return []
  const part = (lines: readonly string[]): string =>
    lines
      .slice(above, lines.length - below)
      .join('')
      .replace(below === 0 ? '' : LAST_BREAK, '')
  const own = part(was)
  const from = start + Buffer.byteLength(was.slice(0, above).join(''))
  const match = { start: from, end: from + Buffer.byteLength(own) }
  const found = locate(text, new Needle(own), line_endings, ending)
  return contextFixes({ draft, line_index, line_endings, ending, found, edit: { new_text: part(is) } }, [match])
    .filter(({ edit }) => edit.old_text!.length <= SHORTER * content.length)
    .map(({ lines, edit }): EditFix => ({ type: 'USE_EXACT_TEXT', lines: lines!, edit }))
}

/** Most length of a shorter edit, as a share of the whole region's. Chosen: JSON answers have both. */
const SHORTER = 2 / 3
const LAST_BREAK = /(?:\r\n|\n|\r)$/

const linesWithBreaks = (text: string): string[] => text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []

/** `old_text` and `new_text` with `\n` breaks, without what was added to both by mistake; null where that isn't clear. */
const bothRead = ({ old_text, new_text }: TextEdit, read: OldText['read']): [string | null, string | null] => [
  read(withLf(old_text.replace(/^\ufeff/, '')), 'old'),
  read(withLf(new_text), 'new')
]

/**
 * What the edit makes of the region `found`, with the line breaks to send it with. `read` removes what was added to
 * both texts by mistake.
 */
function replacementFor(
  { edit, line_endings }: Pick<FailedEdit, 'edit' | 'line_endings'>,
  { read }: Pick<OldText, 'read'>,
  found: string
): Result<string, MergeConflict> {
  const [base, mine] = bothRead(edit, read)
  if (base === null || mine === null) return fail({ reason: 'added' })
  const merged = merge(base, mine, withLf(found))
  if (!merged.ok || line_endings === 'adapt') return merged
  // It is written as sent, so it needs the line breaks of the place, if they are all of one kind.
  const [kind = '\n', ...others] = new Set(found.match(ANY_BREAK))
  return others.length === 0 ? ok(merged.value.replaceAll('\n', kind)) : fail({ reason: 'spacing' })
}
