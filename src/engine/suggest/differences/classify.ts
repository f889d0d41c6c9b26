// How old_text and the region found differ, as types that an answer shows, and the one cause that a sentence names.
// Does not know sentences.
import { type EightBitEncoding, excerpt } from '../../text/encoding.ts'
import { withLf, withoutLastLf } from '../../text/lines.ts'
import type { OldText, Reading } from '../readings.ts'
import { hunksOf, type WordHunk, type DifferenceKind } from './hunks.ts'
import { FORMS, othersOf, type OtherDifferences } from './others.ts'

type DifferenceType =
  | 'whitespace'
  | 'case'
  | 'punctuation'
  | 'content'
  | 'line_endings'
  | 'quotes'
  | 'unicode'
  | 'escape'
  | 'line_number_prefix'
  | 'indentation'

export interface Difference {
  type: DifferenceType
  expected: string
  found: string
}

export type CauseType =
  | 'indentation'
  | 'tabs'
  | 'trailing_space'
  | 'blank_lines'
  | 'spacing'
  | 'line_endings'
  | 'final_newline'
  | 'byte_order_mark'
  | 'encoding'
  | 'quotes'
  | 'dashes'
  | 'nbsp'
  | 'invisible'
  | 'unicode_form'
  | 'html_entities'
  | 'over_escaped'
  | 'line_numbers'
  | 'elided'
  | 'markdown_fence'
  | 'diff_hunk'
  | 'edit_markers'
  | 'case'
  | 'punctuation'
  | 'typo'
  | 'word'
  | 'renamed'
  | 'lines_dropped'
  | 'lines_added'
  | 'comment'
  | 'stale'
  | 'joined_or_split'
  | 'long_line_part'
  | 'near_duplicate'
  | 'never_there'

/**
 * Why old_text isn't there, with the pieces of old_text and of the file that show it. `others`: the differences that
 * the cause doesn't cover; absent if there are none.
 */
export interface Cause {
  type: CauseType
  expected?: string
  found?: string
  others?: OtherDifferences
  /** For indentation: the file has `by` signs more (or fewer, below 0) before `lines` of `total` lines. */
  shift?: { by: number; sign: 'tab' | 'space'; lines: number; total: number }
}

/** The differences between a region and old_text. */
interface Classified {
  /** The first twenty, in the order of the text; a difference that repeats at several places is listed once. */
  differences: Difference[]
  /** How many more there are; absent if there are none. */
  more_differences?: number
  cause: Cause
}

/** Up to this many differing words, each counts as a slip; with more, the file has changed. */
const MOST_WORDS = 2
/** Most differences to show (the first), and about how many UTF-16 units of each; and of a cause. */
const MOST_SHOWN = 20
const SHOWN_LENGTH = 80
const CAUSE_LENGTH = 240
/** The longest line to show whole instead of the pieces of it that differ, in UTF-16 units. Chosen. */
const WHOLE_LINE = 90

const READ: Record<Exclude<Reading, 'as_sent'>, { type: DifferenceType; cause: CauseType }> = {
  line_numbers: { type: 'line_number_prefix', cause: 'line_numbers' },
  escapes: { type: 'escape', cause: 'over_escaped' },
  unescaped: { type: 'escape', cause: 'over_escaped' },
  entities: { type: 'escape', cause: 'html_entities' },
  fence: { type: 'content', cause: 'markdown_fence' },
  diff: { type: 'content', cause: 'diff_hunk' },
  markers: { type: 'content', cause: 'edit_markers' }
}

/** The example of a text without the backslashes that the file has. */
const LACKS_ESCAPES = { expected: '', found: '\\' }

const TYPE: Record<DifferenceKind, DifferenceType> = {
  indentation: 'indentation',
  tabs: 'indentation',
  trailing_space: 'whitespace',
  final_newline: 'whitespace',
  blank_lines: 'whitespace',
  spacing: 'whitespace',
  joined_or_split: 'whitespace',
  nbsp: 'unicode',
  invisible: 'unicode',
  unicode_form: 'unicode',
  case: 'case',
  quotes: 'quotes',
  dashes: 'punctuation',
  html_entities: 'escape',
  over_escaped: 'escape',
  punctuation: 'punctuation',
  typo: 'content',
  word: 'content',
  renamed: 'content',
  comment: 'content',
  lines_dropped: 'content',
  lines_added: 'content',
  content: 'content'
}

interface Sought {
  /** Old_text as sent. */
  sent: string
  /** The reading of it that was found. */
  old: OldText
  /** Its middle is left out. */
  elided: boolean
  /** The region is a part of a very long line. */
  inLongLine: boolean
  /** The encoding that the region seems to have, if it isn't UTF-8. */
  encoding?: EightBitEncoding
}

/** Groups of kinds that one sentence covers, wherever they occur. */
const SPOKEN_OF: readonly (readonly DifferenceKind[])[] = [
  ['indentation', 'tabs'],
  ...(
    [
      'html_entities',
      'over_escaped',
      'nbsp',
      'quotes',
      'dashes',
      'case',
      'joined_or_split',
      'spacing',
      'blank_lines',
      'trailing_space'
    ] as const
  ).map(kind => [kind])
]

/** The differences between the text sought and the text found (long pieces cut), and their cause. */
export function classify(sought: Sought, found: string): Classified {
  const classified = classifyText(sought, found)
  const { encoding, old } = sought
  if (encoding === undefined) return classified
  // No old_text can match such bytes, so the encoding is the cause whatever else differs.
  const differences = classified.differences.filter(({ type }) => type !== 'line_endings')
  const others = allHunks(old.source, withLf(found)).filter(hunk => !NOT_ASCII.test(hunk.found))
  const letter = encoding === 'latin-1' ? NOT_ASCII.exec(found)![0] : ''
  const isSent = letter !== '' && old.source.includes(letter)
  return {
    ...classified,
    differences: [...(isSent ? [{ type: 'unicode' as const, expected: letter, found: '\ufffd' }] : []), ...differences],
    cause: { type: 'encoding', found: letter, ...besides(others) }
  }
}

const NOT_ASCII = /[^\0-\x7f]/

function classifyText({ sent, old, elided, inLongLine }: Sought, found: string): Classified {
  const there = withLf(found)
  if (elided) {
    return { differences: [{ type: 'content', ...pieces(old.source, there) }], cause: { type: 'elided' } }
  }
  const plain = withLf(sent)
  const all = allHunks(old.source, there)
  const allAsSent = old.reading === 'as_sent' ? all : allHunks(plain, there)
  const [hunks, asSent] = [distinct(all), distinct(allAsSent)]
  // Name a reading only if it leaves fewer differences than the text as sent.
  const read = old.reading === 'as_sent' || hunks.length >= asSent.length ? undefined : READ[old.reading]
  if (read !== undefined) {
    const prefix = { type: read.type, ...pieces(firstLine(sent), firstLine(old.source)) }
    const example =
      old.reading === 'entities' ? addedEntity(plain, there) : old.reading === 'unescaped' ? LACKS_ESCAPES : {}
    return {
      ...shown([prefix, ...differencesOf(hunks)]),
      cause: { type: read.cause, ...example, ...besides(all) }
    }
  }
  if (asSent.length > 0) {
    return { ...shown(differencesOf(asSent)), cause: causeOf(asSent, allAsSent, plain, there, inLongLine) }
  }
  if (plain.startsWith('\ufeff')) {
    const mark = pieces(firstLine(sent), firstLine(found))
    return { differences: [{ type: 'unicode', ...mark }], cause: { type: 'byte_order_mark' } }
  }
  const breaks = pieces(breakOf(sent), breakOf(found))
  return { differences: [{ type: 'line_endings', ...breaks }], cause: { type: 'line_endings', ...breaks } }
}

/** The differences; a final break counts if only old_text has it, not if only the region has it. */
function allHunks(source: string, there: string): WordHunk[] {
  if (source.endsWith('\n') === there.endsWith('\n')) return hunksOf(source, there)
  if (there.endsWith('\n')) return hunksOf(`${source}\n`, there)
  const ended = withoutLastLf(source)
  const line = ended.slice(ended.lastIndexOf('\n') + 1)
  return [...hunksOf(ended, there), { kind: 'final_newline', expected: `${line}\n`, found: line, lines: [] }]
}

const keyOf = ({ kind, expected, found }: WordHunk): string => JSON.stringify([kind, expected, found])

/** The first hunk of each kind and text. */
function distinct(hunks: readonly WordHunk[]): WordHunk[] {
  const seen = new Map<string, WordHunk>()
  for (const hunk of hunks) if (!seen.has(keyOf(hunk))) seen.set(keyOf(hunk), hunk)
  return [...seen.values()]
}

const differencesOf = (hunks: readonly WordHunk[]): Difference[] =>
  hunks.map(hunk => ({ type: TYPE[hunk.kind], ...pieces(hunk.expected, hunk.found) }))

const shown = (differences: readonly Difference[]): Omit<Classified, 'cause'> => ({
  differences: differences.slice(0, MOST_SHOWN),
  ...more(differences.length - MOST_SHOWN)
})

const more = (count: number): { more_differences?: number } => (count > 0 ? { more_differences: count } : {})

/** An example of an entity that the file has less often. */
function addedEntity(sent: string, there: string): { expected?: string } {
  const entities = sent.match(/&(?:lt|gt|amp|quot|#0?39|apos|nbsp);/g) ?? []
  const added = entities.find(entity => sent.split(entity).length > there.split(entity).length)
  return added === undefined ? {} : { expected: added }
}

function besides(others: readonly WordHunk[], named?: WordHunk): Pick<Cause, 'others'> {
  const found = othersOf(others, named)
  if (found === undefined) return {}
  return {
    others: { ...found, ...(found.only && { only: pieces(found.only.expected.trim(), found.only.found.trim()) }) }
  }
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0]!
const breakOf = (text: string): string => /\r\n?|\n/.exec(text)?.[0] ?? ''
const pieces = (expected: string, found: string, length = SHOWN_LENGTH) => ({
  expected: excerpt(expected, length),
  found: excerpt(found, length)
})

/** The cause of the differences; one that doesn't change the words is the cause only if there is nothing else. */
function causeOf(
  hunks: readonly WordHunk[],
  all: readonly WordHunk[],
  source: string,
  there: string,
  inLongLine: boolean
): Cause {
  const words = hunks.filter(({ kind }) => !(FORMS as readonly DifferenceKind[]).includes(kind))
  const named = words[0] ?? FORMS.flatMap(form => hunks.find(({ kind }) => kind === form) ?? [])[0]!
  const { kind } = named
  const spoken = SPOKEN_OF.find(kinds => kinds.includes(kind)) ?? []
  const others = all.filter(hunk => keyOf(hunk) !== keyOf(named) && !spoken.includes(hunk.kind))
  const cause = (type: CauseType, { expected, found }: Pick<WordHunk, 'expected' | 'found'>): Cause => ({
    type,
    ...pieces(expected, found, CAUSE_LENGTH),
    ...besides(others, named)
  })
  if (words.length === 0) {
    return { ...cause(kind as CauseType, named), ...(kind === 'indentation' && shiftOf(all, source)) }
  }
  const isSame = kind !== 'content' && words.every(other => other.kind === kind)
  const isSlip = words.length <= MOST_WORDS && words.every(isWord)
  if (isSlip || (isSame && (kind === 'typo' || !isWord(named)))) {
    return cause(kind as CauseType, onlyOne(named))
  }
  if (inLongLine) return cause('long_line_part', onlyOne(named))
  const isHere = ({ line }: WordHunk): boolean => line?.[0] === named.line![0] || line?.[1] === named.line![1]
  const isOneOfSeveral = named.line !== undefined && others.some(isHere)
  const lines = isOneOfSeveral ? wholeLines(named.line!, source, there) : undefined
  if (lines === undefined) return cause('stale', onlyOne(named))
  return {
    type: 'stale',
    ...lines,
    ...besides(
      others.filter(other => !isHere(other)),
      named
    )
  }
}

/** The lines that a difference is in, if both are short; pieces of them say less. */
function wholeLines(
  line: Required<WordHunk>['line'],
  source: string,
  there: string
): Pick<WordHunk, 'expected' | 'found'> | undefined {
  const [expected, found] = [source, there].map((text, i) => text.split('\n')[line[i]!]!.trim()) as [string, string]
  const isShort = [expected, found].every(({ length }) => length > 0 && length <= WHOLE_LINE)
  return isShort ? { expected, found } : undefined
}

/** The pieces of a difference; a piece that only one text has without the white space around it. */
const onlyOne = ({ expected, found }: WordHunk): Pick<WordHunk, 'expected' | 'found'> =>
  expected === '' || found === '' ? { expected: expected.trim(), found: found.trim() } : { expected, found }

/** By how much the file indents lines of `source` more, if that is the same for each of them; `source` has several. */
function shiftOf(all: readonly WordHunk[], source: string): Pick<Cause, 'shift'> {
  const total = source.split('\n').filter(line => line.trim() !== '').length
  const indents = all
    .filter(({ kind }) => kind === 'indentation' || kind === 'tabs')
    .map(({ expected, found }) => ({ own: INDENT.exec(expected)![0], there: INDENT.exec(found)![0] }))
  const [first] = indents
  const by = first!.there.length - first!.own.length
  const isSame = indents.every(({ own, there }) => there.length - own.length === by)
  const signs = new Set(indents.map(({ own, there }) => own + there).join(''))
  if (total < 2 || !isSame || signs.size > 1) return {}
  return { shift: { by, sign: signs.has('\t') ? 'tab' : 'space', lines: indents.length, total } }
}

const INDENT = /^[^\S\n]*/

const isWord = ({ kind }: WordHunk): boolean => kind === 'typo' || kind === 'word' || kind === 'renamed'
