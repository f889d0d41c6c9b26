// Why old_text wasn't found, one sentence for each cause. Does not know statuses or fixes.
import type { Cause, CauseType } from '../../engine/suggest/classify.ts'
import { quote } from './phrases.ts'

/** `it`: the field that was sent. */
type Says = (expected: string, found: string, it: string) => string

const SENTENCES: Record<CauseType, Says> = {
  indentation: (expected, found, it) => `the file indents them with ${indent(found)}, ${it} with ${indent(expected)}`,
  tabs: (expected, found, it) => `the file indents with ${indent(found)}, ${it} with ${indent(expected)}`,
  trailing_space: (expected, found, it) =>
    /\s$/.test(found)
      ? `the file has white space at the end of a line that ${it} leaves out`
      : `${it} has white space at the end of a line that the file doesn't have`,
  blank_lines: () => 'the blank lines differ',
  spacing: (expected, found, it) => `the spacing differs (the file has ${found}, ${it} ${expected})`,
  line_endings: (expected, found, it) =>
    `the file ends lines with ${found}, ${it} with ${expected}, and line_endings is "exact"`,
  quotes: (expected, found, it) => `the quotation marks differ (the file has ${found}, ${it} ${expected})`,
  dashes: (expected, found, it) => `dashes or symbols differ (the file has ${found}, ${it} ${expected})`,
  nbsp: () => 'one of them has a no-break space or other special space where the other has a plain space',
  unicode_form: (expected, found) => `${found} looks the same but is composed differently (NFC and NFD)`,
  html_entities: (_expected, _found, it) =>
    `${it} has HTML entities (&lt;, &amp; and so on) where the file has other text; write characters as the file has them`,
  over_escaped: (expected, found, it) =>
    `${it} ${backslashes(expected) < backslashes(found) ? 'lacks escapes that the file has' : 'is escaped once too often'}; ` +
    'a line break is one real line break, quotes and backslashes are as in the file',
  line_numbers: (_expected, _found, it) =>
    `${it} has line numbers at the start of its lines that are not in the file; leave them out of ${it} and new_text`,
  elided: (_expected, _found, it) => `${it} leaves out the middle; it must contain every line that is replaced`,
  markdown_fence: (_expected, _found, it) =>
    `${it} has a Markdown fence (\`\`\`) around it that is not in the file; leave it out of ${it} and new_text`,
  case: (expected, found, it) => `letter case differs (the file has ${found}, ${it} ${expected})`,
  punctuation: (expected, found, it) => `the file has ${found} where ${it} has ${expected}`,
  typo: (expected, found, it) => `the file has ${found}, ${it} ${expected}`,
  renamed: (expected, found, it) => `the file has the name ${found}, ${it} ${expected}`,
  lines_dropped: (expected, found, it) => `${it} leaves out ${found}`,
  lines_added: (expected, _found, it) => `${it} has ${expected}, which is not there`,
  comment: (expected, found, it) =>
    isNothing(found)
      ? `${it} has the comment ${expected}, which is not there`
      : `the file has the comment ${found}, which ${it} leaves out`,
  stale: (expected, found, it) =>
    isNothing(found)
      ? `the file has changed, or was remembered wrongly: ${expected} is not there`
      : isNothing(expected)
        ? `the file has changed, or was remembered wrongly: ${found} is there too`
        : `the file has changed, or was remembered wrongly: it has ${found} where ${it} has ${expected}`,
  joined_or_split: () => 'the lines are broken at different places',
  long_line_part: (expected, found, it) =>
    `in that part of a very long line, the file has ${found} where ${it} has ${expected}`,
  near_duplicate: () => 'several places are equally likely',
  never_there: () => 'nothing in the file is similar'
}

/** What the file and the text that was sent for it disagree in: half a sentence. `it`: the field that was sent. */
export const whyMissed = ({ type, expected = '', found = '' }: Cause, it = 'old_text'): string =>
  SENTENCES[type](shown(type, expected), shown(type, found), it)

/** Indentation is told in words, all else as it stands. */
const shown = (type: CauseType, piece: string): string =>
  type === 'indentation' || type === 'tabs' || type === 'trailing_space' ? piece : quote(piece, 60)

const backslashes = (quoted: string): number => quoted.split('\\\\').length

const isNothing = (quoted: string): boolean => quoted === '""'

/** `2 tabs`, `4 spaces`, `nothing`: the white space that a piece begins with. */
function indent(piece: string): string {
  const blank = /^[^\S\n]*/.exec(piece)![0]
  const tabs = blank.split('\t').length - 1
  const others = blank.length - tabs
  const count = (n: number, noun: string) => (n === 0 ? [] : [`${n} ${noun}${n === 1 ? '' : 's'}`])
  return [...count(tabs, 'tab'), ...count(others, 'space')].join(' and ') || 'nothing'
}
