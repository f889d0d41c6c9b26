// How old_text and the region found differ, in types an answer shows, and the one cause that a sentence names. Does not
// know sentences.
import { excerpt } from '../text/encoding.ts'
import { hunksOf, type Hunk, type DifferenceKind } from './hunks.ts'
import type { OldText, Reading } from './readings.ts'

export type DifferenceType =
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

export const CAUSES = [
  'indentation',
  'tabs',
  'trailing_space',
  'blank_lines',
  'spacing',
  'line_endings',
  'quotes',
  'dashes',
  'nbsp',
  'unicode_form',
  'html_entities',
  'over_escaped',
  'line_numbers',
  'elided',
  'markdown_fence',
  'case',
  'punctuation',
  'typo',
  'renamed',
  'lines_dropped',
  'lines_added',
  'comment',
  'stale',
  'joined_or_split',
  'long_line_part',
  'near_duplicate',
  'never_there'
] as const
export type CauseType = (typeof CAUSES)[number]

/** Why old_text isn't there: the piece of it and that of the file that show it. */
export interface Cause {
  type: CauseType
  expected?: string
  found?: string
}

/** Differences that are shown, the first, and about how many UTF-16 units of each. */
const MOST_SHOWN = 5
const SHOWN_LENGTH = 80

const READ: Record<Exclude<Reading, 'as_sent'>, { type: DifferenceType; cause: CauseType }> = {
  line_numbers: { type: 'line_number_prefix', cause: 'line_numbers' },
  escapes: { type: 'escape', cause: 'over_escaped' },
  entities: { type: 'escape', cause: 'html_entities' },
  fence: { type: 'content', cause: 'markdown_fence' }
}

const TYPE: Record<DifferenceKind, DifferenceType> = {
  indentation: 'indentation',
  tabs: 'indentation',
  trailing_space: 'whitespace',
  blank_lines: 'whitespace',
  spacing: 'whitespace',
  joined_or_split: 'whitespace',
  nbsp: 'unicode',
  unicode_form: 'unicode',
  case: 'case',
  quotes: 'quotes',
  dashes: 'punctuation',
  html_entities: 'escape',
  over_escaped: 'escape',
  punctuation: 'punctuation',
  typo: 'content',
  renamed: 'content',
  comment: 'content',
  lines_dropped: 'content',
  lines_added: 'content',
  content: 'content'
}

/** Kinds that leave the words as they are; of several, the first names the cause. */
export const FORMS = [
  'html_entities',
  'over_escaped',
  'unicode_form',
  'nbsp',
  'quotes',
  'dashes',
  'case',
  'punctuation',
  'joined_or_split',
  'tabs',
  'indentation',
  'spacing',
  'blank_lines',
  'trailing_space'
] as const satisfies readonly DifferenceKind[]

export interface Sought {
  /** As it was sent. */
  sent: string
  /** The reading of it that was found. */
  old: OldText
  /** Its middle is left out. */
  elided: boolean
  /** The region is a part of a very long line. */
  inLongLine: boolean
}

/**
 * The differences (at most five, in order, long pieces cut) between what was sought and what was found, and their
 * cause.
 */
export function classify(
  { sent, old, elided, inLongLine }: Sought,
  found: string
): { differences: Difference[]; cause: Cause } {
  const read = old.reading === 'as_sent' ? undefined : READ[old.reading]
  const prefix = read && { type: read.type, ...pieces(firstLine(sent), firstLine(old.source)) }
  const there = found.replace(/\r\n?/g, '\n')
  // A region that begins or ends without the break that old_text has isn't another text.
  const expected =
    old.source.endsWith('\n') === there.endsWith('\n')
      ? old.source
      : there.endsWith('\n')
        ? `${old.source}\n`
        : old.source.replace(/\n+$/, '')
  const hunks = elided ? [] : hunksOf(expected, there)
  const breaks = !elided && hunks.length === 0 && read === undefined
  const differences = [
    ...(prefix === undefined ? [] : [prefix]),
    ...(elided ? [{ type: 'content' as const, ...pieces(expected, there) }] : []),
    ...(breaks ? [{ type: 'line_endings' as const, ...pieces(breakOf(sent), breakOf(found)) }] : []),
    ...hunks.map(hunk => ({ type: TYPE[hunk.kind], ...pieces(hunk.expected, hunk.found) }))
  ].slice(0, MOST_SHOWN)
  const cause = elided
    ? { type: 'elided' as const }
    : read !== undefined
      ? { type: read.cause }
      : breaks
        ? { type: 'line_endings' as const, ...pieces(breakOf(sent), breakOf(found)) }
        : causeOf(hunks, inLongLine)
  return { differences, cause }
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0]!
const breakOf = (text: string): string => /\r\n?|\n/.exec(text)?.[0] ?? ''
const pieces = (expected: string, found: string) => ({
  expected: excerpt(expected, SHOWN_LENGTH),
  found: excerpt(found, SHOWN_LENGTH)
})

function causeOf(hunks: readonly Hunk[], inLongLine: boolean): Cause {
  const cause = (type: CauseType, { expected, found }: Hunk): Cause => ({ type, ...pieces(expected, found) })
  const words = hunks.filter(({ kind }) => !(FORMS as readonly DifferenceKind[]).includes(kind))
  const [first] = words
  if (first === undefined) {
    const type = FORMS.find(form => hunks.some(({ kind }) => kind === form))!
    return cause(
      type,
      hunks.find(({ kind }) => kind === type)!
    )
  }
  const { kind } = first
  const same = words.every(
    other =>
      other.kind === kind && (kind !== 'renamed' || (other.expected === first.expected && other.found === first.found))
  )
  const bare = ({ expected, found }: Hunk): Hunk => ({ kind, expected: expected.trim(), found: found.trim() })
  if (same && kind !== 'content') {
    return cause(
      kind as CauseType,
      kind === 'comment' || kind === 'lines_dropped' || kind === 'lines_added' ? bare(first) : first
    )
  }
  if (
    words.every(other => other.kind === 'typo' || other.kind === 'renamed') &&
    new Set(words.map(({ expected }) => expected)).size <= 2
  ) {
    return cause('renamed', first)
  }
  return cause(inLongLine ? 'long_line_part' : 'stale', first)
}
