// Whether an edit was already applied: its new_text is in the file. Does not know sentences.
import type { PieceTable } from '../edit/piece-table.ts'
import type { TextEdit } from '../edit/request.ts'
import { locate, type Match, Needle } from '../match/locate.ts'
import { FORMS } from '../suggest/differences/others.ts'
import { type Candidate, MARGIN, type Suggestions } from '../suggest/suggest.ts'
import { decode } from '../text/encoding.ts'
import type { LineEndings } from '../text/eol.ts'
import { type LineEnding, withLf } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { TOKEN } from '../text/words.ts'

/** Most places of new_text to check, the first. */
const MOST_PLACES = 1000
/** Bytes to check before and after a place: a longer line says nothing about what begins or ends there. */
const REACH = 200
/** A text with fewer characters and fewer tokens than these says no more than a common word. */
const LEAST_LENGTH = 8
const LEAST_TOKENS = 3

/** What may precede a line, or a statement or an item in one; and what may follow it. */
const BEFORE = /(?:^|[\n\r([{,;:=>])[ \t]*$/
const AFTER = /^[ \t]*(?:$|[\n\r)\]},;]|\/\/|\/\*|#|--)/
/** The start of a line; and what may follow a statement that begins there. After a comma in the line it continues. */
const LINE_START = /(?:^|[\n\r])[ \t]*$/
const STATEMENT_END = /^[ \t]*(?:[;}]|[)\],]*[ \t]*(?:$|[\n\r;}]|\/\/|\/\*|#|--))/
/** What follows it in the same line if that closes a bracket that it opens, or separates the items in that bracket. */
const IN_BRACKETS = /^[ \t]*[)\]},]/

/** The text that an edit changes, and how line breaks match there. */
export interface Searched {
  draft: PieceTable
  line_endings: LineEndings
  /** How the original's lines end. */
  ending: LineEnding
}

/**
/**
 * Where new_text already is, if the edit would be applied a second time at `match`, the only match of its old_text:
 * new_text holds old_text and more, and is around the match in the file as it was before this request. Undefined
 * otherwise, or if the edit would add only white space, or if `occurrence` or `replace_all` shows that it is intended.
 */
export function repeatedAt({ draft, line_endings, ending }: Searched, edit: TextEdit, match: Match): Match | undefined {
  if (edit.replace_all === true || edit.occurrence !== undefined || !adds(edit)) return undefined
  const text = draft.searchable()
  // A break may take two bytes where new_text has one.
  const most = 2 * Buffer.byteLength(edit.new_text) + 2
  const from = Math.max(0, match.start - most)
  const around = new Text([text.slice(from, Math.min(text.length, match.end + most))])
  const { all } = locate(around, new Needle(edit.new_text), line_endings, ending)
  return all
    .slice(0, all.count)
    .map(({ start, end }) => ({ start: from + start, end: from + end }))
    .find(({ start, end }) => start <= match.start && end >= match.end && isOriginal(draft, { start, end }))
}

/**
 * How many of these places of old_text, which are in order and don't overlap, are inside new_text already; 0 if
 * new_text doesn't hold old_text and more than white space.
 */
export function repeatedAmong(
  text: Text,
  edit: Pick<TextEdit, 'old_text' | 'new_text'>,
  places: readonly Match[],
  ending: LineEnding
): number {
  if (!adds(edit)) return 0
  const { all } = locate(text, new Needle(edit.new_text), 'adapt', ending)
  let at = 0
  return places.filter(({ start, end }) => {
    while (at < all.count && all.at(at).end < end) at++
    return at < all.count && all.at(at).start <= start
  }).length
}

/** Whether new_text is old_text with more than white space before or after it. */
function adds({ old_text, new_text }: Pick<TextEdit, 'old_text' | 'new_text'>): boolean {
  const before = withLf(old_text)
  const after = withLf(new_text)
  const at = after.indexOf(before)
  return at !== -1 && `${after.slice(0, at)}${after.slice(at + before.length)}`.trim() !== ''
}

/** Whether a range of the current text is unchanged from the original. */
function isOriginal(draft: PieceTable, { start, end }: Match): boolean {
  const origin = draft.originOf(start, end)
  return (
    origin.inserted_by_edit === undefined &&
    origin.end - origin.start === end - start &&
    draft.searchable().holds(draft.original.subarray(origin.start, origin.end), start)
  )
}

/** Where new_text is though old_text isn't. `surely`: the edit was certainly applied, so suggest no other. */
interface Applied {
  /** In the current text. */
  place: Match
  surely: boolean
}

/**
 * For an edit without a match: where its new_text is in the file as it was, as whole lines, or as a statement or an
 * item in one. Undefined if it isn't there, or is too short to mean anything. The edit was surely applied if new_text
 * is there once, or in the region that old_text resembles most, unless that region has old_text in another form. The
 * text that a deletion leaves was there before it too, so it proves nothing if that region has more.
 */
export function findApplied(
  { draft, line_endings, ending }: Searched,
  { old_text, new_text }: TextEdit,
  text: Text,
  { candidates: [best], margin }: Suggestions
): Applied | undefined {
  if (!saysEnough(new_text)) return undefined
  const left = withLf(new_text).trim()
  const isDeletion = withLf(old_text).includes(left)
  if (isDeletion && best !== undefined && !left.includes(textOf(text, best).trim())) return undefined
  const { matches } = locate(text, new Needle(new_text), line_endings, ending)
  const whole = matches.slice(0, MOST_PLACES).filter(match => isWhole(text, match) && isOriginal(draft, match))
  const meant = margin >= MARGIN ? whole.find(match => best !== undefined && touches(match, best)) : undefined
  const place = meant ?? whole[0]
  if (place === undefined) return undefined
  const isElsewhere = best !== undefined && (FORMS as readonly string[]).includes(best.cause.type)
  return { place, surely: meant !== undefined || (whole.length === 1 && matches.count === 1 && !isElsewhere) }
}

const textOf = (text: Text, { start, end }: Candidate): string => withLf(decode(text.slice(start, end)).text)

const touches = ({ start, end }: Match, region: Candidate): boolean => start < region.end && end > region.start

function saysEnough(text: string): boolean {
  const tokens = text.match(TOKEN) ?? []
  const length = tokens.reduce((sum, token) => sum + token.length, 0)
  return tokens.some(token => /[\p{L}\p{N}]/u.test(token)) && (length >= LEAST_LENGTH || tokens.length >= LEAST_TOKENS)
}

/** Whether a place, apart from white space around it, is whole lines, statements or items. */
function isWhole(text: Text, { start, end }: Match): boolean {
  const within = text.slice(start, end).toString('latin1')
  const first = start + within.length - within.trimStart().length
  const last = end - (within.length - within.trimEnd().length)
  const before = text.slice(Math.max(0, first - REACH), first).toString('latin1')
  const after = text.slice(last, Math.min(text.length, last + REACH)).toString('latin1')
  // The bytes checked need not begin at the start of a line.
  const [head, tail] = [first > REACH ? `.${before}` : before, last + REACH < text.length ? `${after}.` : after]
  const { unopened, unclosed } = bracketsOf(within)
  const beginsLine = LINE_START.test(head)
  return (
    BEFORE.test(head) &&
    (beginsLine ? STATEMENT_END : AFTER).test(tail) &&
    (beginsLine || unopened === 0) &&
    (unclosed === 0 || !IN_BRACKETS.test(tail))
  )
}

/** How many brackets a text closes without opening them, and how many it leaves open. Ignores strings. */
function bracketsOf(text: string): { unopened: number; unclosed: number } {
  let [unopened, unclosed] = [0, 0]
  for (const sign of text) {
    if ('([{'.includes(sign)) unclosed++
    else if (!')]}'.includes(sign)) continue
    else if (unclosed > 0) unclosed--
    else unopened++
  }
  return { unopened, unclosed }
}
