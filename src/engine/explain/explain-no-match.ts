// The facts of an edit whose old_text isn't there: what was meant, why it wasn't found, which edits would work. Does
// not know sentences.
import { fail, ok, type Result } from '../../result.ts'
import type { TextEdit } from '../edit/request.ts'
import { decode, excerpt } from '../text/encoding.ts'
import { contextFixes, isSmall, linesOf, previewOf, type FailedEdit, SEARCH_LENGTH, undoneBy } from './explain.ts'
import type { EditFix, Fix, NoMatch } from '../failure.ts'
import type { LineEndings } from '../text/eol.ts'
import { ANY_BREAK, lineFrom, lineNumbers } from '../text/lines.ts'
import { locate, type Match, needleOf } from '../match/locate.ts'
import { missingTokens } from './missing-tokens.ts'
import { MEDIUM, similarContent } from './similar-content.ts'
import type { Cause } from '../suggest/classify.ts'
import { merge, type MergeConflict } from '../suggest/merge.ts'
import { MARGIN, suggest, type Suggestions } from '../suggest/suggest.ts'
import { Text } from '../text/text.ts'

const MOST_LINES = 1000
const MOST_DUPLICATES = 3

/** `old_text` is nowhere in the text that the edits before this one give. */
export function explainNoMatch(failed: FailedEdit): NoMatch {
  const { draft, edit, edit_index, total_edits } = failed
  const text = draft.searchable()
  const original = new Text([draft.original])
  const suggestions = suggest(text.slice(0, text.length), edit.old_text)
  const { candidates, truncated } = suggestions
  const applied = alreadyApplied(failed, text)
  const undone = undoneBy(failed, original)
  const similar_content = similarContent(text, suggestions, region => linesOf(draft, original, region))
  const missing = missingTokens(text, edit.old_text)
  const fixes: Fix[] = []
  fixes.push(...editsFor(failed, text, original, suggestions))
  if (applied !== undefined) fixes.push({ type: 'ALREADY_APPLIED', lines: [applied, applied] })
  const place =
    candidates[0] !== undefined
      ? draft.originOf(candidates[0].start, candidates[0].end)
      : applied !== undefined
        ? lineRange(original, applied)
        : undefined
  const preview = previewOf(original, place)
  const [best] = similar_content
  // What is read can be sent as it is; the preview shows what is around it.
  const lines: [number, number] =
    best === undefined ? [preview.preview_start_line, preview.preview_end_line] : [best.line_number, best.end_line]
  fixes.push({ type: 'READ_FILE', ...(preview.total_lines > 0 && { lines }) })
  return {
    code: 'NO_MATCH',
    edit_index,
    total_edits,
    search_text: excerpt(edit.old_text, SEARCH_LENGTH),
    similar_content,
    fixes,
    file_preview: preview,
    cause: causeOf(suggestions),
    ...(missing.length > 0 && { missing_tokens: missing }),
    ...(applied !== undefined && { already_applied: true, applied_line: applied }),
    ...(undone !== undefined && { undone_by_edit: undone }),
    ...(truncated && { suggestions_truncated: true })
  }
}

function causeOf({ candidates: [best], margin }: Suggestions): Cause {
  if (best === undefined) return { type: 'never_there' }
  return margin < MARGIN ? { type: 'near_duplicate' } : best.cause
}

/**
 * Edits that work when sent: the exact text of the one region that was meant; or, for each of several that are as
 * likely, its text with the least context.
 */
function editsFor(
  { draft, edit, line_endings, ending }: FailedEdit,
  text: Text,
  original: Text,
  { candidates, margin }: Suggestions
): EditFix[] {
  const fixes: EditFix[] = []
  const placed = new Set<number>()
  for (const { start, end, score, read } of margin < MARGIN ? candidates : candidates.slice(0, 1)) {
    if (score < MEDIUM || placed.has(start)) continue
    const { text: content, lossy } = decode(text.slice(start, end))
    // What the edit would have written is not to be edited again.
    if (lossy || content.trim() === edit.new_text.trim()) continue
    const merged = replacementFor(edit, read, content, line_endings)
    const unmerged = merged.ok ? {} : { conflict: merged.failure }
    const new_text = merged.ok ? merged.value : undefined
    const found = locate(text, needleOf(content), line_endings, ending)
    if (found.all.count === 1 && margin >= MARGIN) {
      fixes.push({
        type: 'USE_EXACT_TEXT',
        lines: linesOf(draft, original, { start, end }),
        edit: { old_text: content, ...(new_text !== undefined && { new_text }) },
        ...unmerged
      })
      continue
    }
    const duplicates = found.all.slice(0, MOST_DUPLICATES).filter(match => !placed.has(match.start))
    for (const match of duplicates) placed.add(match.start)
    fixes.push(
      ...contextFixes({ draft, line_endings, found, edit: new_text === undefined ? {} : { new_text } }, duplicates).map(
        fix => ({ ...fix, ...unmerged })
      )
    )
  }
  return fixes.filter(isSmall).slice(0, MOST_DUPLICATES)
}

/**
 * What the edit makes of the region `found`, with the line breaks that it has to be sent with. `read` takes away what was
 * added to both texts by mistake.
 */
function replacementFor(
  { old_text, new_text }: TextEdit,
  read: (text: string) => string | null,
  found: string,
  lineEndings: LineEndings
): Result<string, MergeConflict> {
  const plain = (text: string): string => text.replace(ANY_BREAK, '\n')
  const [base, mine] = [read(plain(old_text.replace(/^\ufeff/, ''))), read(plain(new_text))]
  if (base === null || mine === null) return fail({ reason: 'added' })
  const merged = merge(base, mine, plain(found))
  if (!merged.ok || lineEndings === 'adapt') return merged
  // It is written as sent, so it needs the line breaks of the place, if they are all of one kind.
  const [kind = '\n', ...others] = new Set(found.match(ANY_BREAK))
  return others.length === 0 ? ok(merged.value.replaceAll('\n', kind)) : fail({ reason: 'spacing' })
}

/** The original's 1-based line where `new_text` stands as a word of its own, if it does. */
function alreadyApplied({ draft, edit, line_endings, ending }: FailedEdit, text: Text): number | undefined {
  if (edit.new_text.trim() === '') return undefined
  const { matches } = locate(text, needleOf(edit.new_text), line_endings, ending)
  for (const { start, end } of matches.slice(0, MOST_LINES)) {
    const cutsStart = isWordByte(text.byteAt(start)) && isWordByte(text.byteAt(start - 1))
    const cutsEnd = isWordByte(text.byteAt(end - 1)) && isWordByte(text.byteAt(end))
    if (cutsStart || cutsEnd) continue
    const { start: at, inserted_by_edit } = draft.originOf(start, end)
    // What this request itself has put there doesn't count.
    if (inserted_by_edit === undefined) return lineNumbers(new Text([draft.original]), [at]).lines[0]!
  }
  return undefined
}

/** Letters, digits, underscore and all that isn't ASCII. */
const isWordByte = (byte: number): boolean =>
  byte >= 128 || byte === 95 || (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122)

/** The bytes of 1-based `line`. */
function lineRange(text: Text, line: number): Match {
  let { start, end, next } = lineFrom(text, 0)
  for (let number = 1; number < line; number++) ({ start, end, next } = lineFrom(text, next))
  return { start, end }
}
