// What looks like a slip in a text to be put in: a placeholder for lines left out, line numbers copied along. Knows no answers.
import { excerpt } from './encoding.ts'
import { splitAtBreaks } from './lines.ts'
import { withoutLineNumbers } from './suggest/line-numbers.ts'

/** Something to look at again. `line`: 1-based, in the new text; `text`: that line, cut. */
export interface Caution { edit_index: number, type: 'placeholder' | 'line_numbers', line: number, text: string }

const SHOWN = 80
/** UTF-16 units of a line that may be a placeholder. */
const LONGEST = 200

const DOTS = String.raw`(?:\.{3,}|…|\[\.{3}\])`
const THINGS = 'code|file|function|method|class|implementation|logic|imports|methods|functions|content|component|body|lines|styles|props|tests|rules|markup|jsx'
const LEFT_OUT = String.raw`(?:(?:the )?(?:rest|remainder)(?: of)?|existing|remaining|previous|other|unchanged|omitted|same as|no changes?|keep|snip)\b`
const SAID = String.raw`(?:the )?(?:(?:rest|remainder) of (?:the |your |this )?(?:\w+ )?(?:${THINGS})|(?:existing|remaining|previous|unchanged) (?:\w+ )?(?:${THINGS})|(?:code |lines |content )?(?:unchanged|omitted)|same as (?:before|above)|no changes?)(?: (?:here|goes here|remains?|stays?|is|are|unchanged|omitted|the same|as (?:is|before)|for brevity))*`
const OPEN = String.raw`(?://+|#+|--|%|;|<!--|/\*+|\{/\*)`
const CLOSE = String.raw`(?:-->|\*/\}?)?`

/** Dots alone; in a comment dots alone, dots with words for what is left out, or such words by themselves. */
const PLACEHOLDERS = [
  new RegExp(String.raw`^${DOTS}$`),
  new RegExp(String.raw`^${OPEN}\s*(?:${DOTS}|${DOTS}\s*\(?${LEFT_OUT}[^;{}=]{0,60}|\(?${LEFT_OUT}[^;{}=]{0,60}${DOTS}|\(?${SAID}\)?\.?)\s*${CLOSE}$`, 'i')
]

/**
 * What of `put` looks like a slip and isn't so in `replaced`: the first line that stands for others ("// ... existing
 * code ..."), and numbers before at least two lines. At most one of each kind; linear in both texts. `replaced` is asked
 * only where something was found.
 */
export function cautionsOf (put: string, replaced: () => string, edit_index: number): Caution[] {
  const lines = splitAtBreaks(put)
  const placeholders = [...lines.keys()].filter(i => isPlaceholder(lines[i]!.trim()) && !isEmptyBody(lines, i))
  const numbered = isNumbered(lines)
  if (placeholders.length === 0 && !numbered) return []
  const before = splitAtBreaks(replaced())
  const known = new Set(before.map(line => line.trim()))
  const caution = (type: Caution['type'], at: number): Caution => ({ edit_index, type, line: at + 1, text: excerpt(lines[at]!.trim(), SHOWN) })
  const placeholder = placeholders.find(i => !known.has(lines[i]!.trim()))
  return [
    ...placeholder === undefined ? [] : [caution('placeholder', placeholder)],
    ...numbered && !isNumbered(before) ? [caution('line_numbers', lines.findIndex(line => line.trim() !== ''))] : []
  ]
}

const isPlaceholder = (line: string): boolean => line.length <= LONGEST && PLACEHOLDERS.some(pattern => pattern.test(line))

/** Three dots after a colon are Python's way to write an empty body. */
function isEmptyBody (lines: readonly string[], at: number): boolean {
  return lines[at]!.trim() === '...' && lines.slice(0, at).findLast(line => line.trim() !== '')?.trimEnd().endsWith(':') === true
}

function isNumbered (lines: readonly string[]): boolean {
  return lines.filter(line => line.trim() !== '').length > 1 && withoutLineNumbers(lines.join('\n')) !== undefined
}
