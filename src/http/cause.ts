// Why old_text wasn't found, one sentence for each cause. Knows no statuses and no fixes.
import type { Cause, CauseType } from '../engine/suggest/classify.ts'
import { quote } from './quote.ts'

type Says = (expected: string, found: string) => string

const SENTENCES: Record<CauseType, Says> = {
  indentation: (expected, found) => `the file indents them with ${indent(found)}, old_text with ${indent(expected)}`,
  tabs: (expected, found) => `the file indents with ${indent(found)}, old_text with ${indent(expected)}`,
  trailing_space: (expected, found) => /\s$/.test(found) ? 'the file has white space at the end of a line that old_text leaves out' : 'old_text has white space at the end of a line that the file doesn\'t have',
  blank_lines: () => 'the blank lines differ',
  spacing: (expected, found) => `the file has ${found} with its own spacing, old_text ${expected}`,
  line_endings: (expected, found) => `the file ends lines with ${found}, old_text with ${expected}, and line_endings is "exact"`,
  quotes: (expected, found) => `the file has the quotes of ${found}, old_text those of ${expected}`,
  dashes: (expected, found) => `the file has ${found}, old_text has another dash or sign: ${expected}`,
  nbsp: () => 'one of them has a no-break or other special space where the other has a plain one',
  unicode_form: (expected, found) => `the letters of ${found} look the same but are composed otherwise (NFC and NFD)`,
  html_entities: () => 'old_text has HTML entities (&lt;, &amp; and the like) where the file has other text; write signs as the file has them',
  over_escaped: () => 'old_text is escaped once too often or once too few; a line break is one real line break, quotes and backslashes are as in the file',
  line_numbers: () => 'old_text has line numbers at the start of its lines that are not in the file; leave them out of old_text and new_text',
  elided: () => 'old_text leaves out the middle; it has to hold every line that is replaced',
  markdown_fence: () => 'old_text has a Markdown fence (```) around it that is not in the file; leave it out of old_text and new_text',
  case: (expected, found) => `the file has ${found}, old_text ${expected}: capitals and small letters differ`,
  punctuation: (expected, found) => `the file has ${found} where old_text has ${expected}`,
  typo: (expected, found) => `the file has ${found}, old_text ${expected}`,
  renamed: (expected, found) => `the file has the name ${found}, old_text ${expected}`,
  lines_dropped: (expected, found) => `old_text leaves out ${found}`,
  lines_added: expected => `old_text has ${expected}, which is not there`,
  comment: (expected, found) => isNothing(found) ? `old_text has the comment ${expected}, which is not there` : `the file has the comment ${found}, which old_text leaves out`,
  stale: (expected, found) => isNothing(found) ? `the file has changed, or was remembered wrongly: ${expected} is not there` : isNothing(expected) ? `the file has changed, or was remembered wrongly: ${found} is there too` : `the file has changed, or was remembered wrongly: it has ${found} where old_text has ${expected}`,
  joined_or_split: () => 'the lines are broken at other places',
  long_line_part: (expected, found) => `in that part of a very long line, the file has ${found} where old_text has ${expected}`,
  near_duplicate: () => 'more than one place is as likely',
  never_there: () => 'nothing in the file is like it'
}

/** What the file and old_text disagree in: half a sentence. */
export const whyMissed = ({ type, expected = '', found = '' }: Cause): string =>
  SENTENCES[type](shown(type, expected), shown(type, found))

/** Indentation is told in words, all else as it stands. */
const shown = (type: CauseType, piece: string): string =>
  type === 'indentation' || type === 'tabs' || type === 'trailing_space' ? piece : quote(piece, 60)

const isNothing = (quoted: string): boolean => quoted === '""'

/** `2 tabs`, `4 spaces`, `nothing`: the white space that a piece begins with. */
function indent (piece: string): string {
  const blank = /^[^\S\n]*/.exec(piece)![0]
  const tabs = blank.split('\t').length - 1
  const others = blank.length - tabs
  const count = (n: number, noun: string) => n === 0 ? [] : [`${n} ${noun}${n === 1 ? '' : 's'}`]
  return [...count(tabs, 'tab'), ...count(others, 'space')].join(' and ') || 'nothing'
}
