// Lines that stand for lines left out: "...", "// ... existing code ...".
//
// There are two expressions because a wrong guess costs differently. In old_text it costs a search, so any line that
// may be a placeholder counts. In new_text it costs a false warning, so only lines that are hardly ever real text
// count.

/** UTF-16 units of the longest line that can be a placeholder. */
const LONGEST = 200

const DOTS = String.raw`(?:\.{3,}|…|\[\.{3}\])`

const POSSIBLE_DOTS = String.raw`(?:\.{3}|…)`
const POSSIBLE_OPEN = String.raw`(?:\/\/+|#+|--|%|;|\*|<!--|\/\*|\{\/\*|"|')`
const POSSIBLE_CLOSE = String.raw`(?:-->|\*\/|\*\/\}|"|')`
const POSSIBLE_WORDS = '(?:rest of|existing|remaining|other|unchanged|omitted|same as|previous|more)'
const ANY_TEXT = '[^(){};=]{0,60}?'

/** Dots, or words that describe what is left out, alone or in a comment. */
const POSSIBLE = new RegExp(
  String.raw`^\s*(?:${POSSIBLE_OPEN}\s*)?` +
    String.raw`(?:${DOTS}|${POSSIBLE_DOTS}?\s*${POSSIBLE_WORDS}\b${ANY_TEXT}${POSSIBLE_DOTS}?` +
    String.raw`|${POSSIBLE_DOTS}${ANY_TEXT}${POSSIBLE_DOTS}?)\s*${POSSIBLE_CLOSE}?\s*$`,
  'i'
)

const OPEN = String.raw`(?://+|#+|--|%|;|<!--|/\*+|\{/\*)`
const CLOSE = String.raw`(?:-->|\*/\}?)?`
const THINGS =
  '(?:code|file|function|method|class|implementation|logic|imports|methods|functions|content|component|body|lines|' +
  'styles|props|tests|rules|markup|jsx)'
const LEFT_OUT =
  String.raw`(?:(?:the )?(?:rest|remainder)(?: of)?|existing|remaining|previous|other|unchanged|omitted|same as|` +
  String.raw`no changes?|keep|snip)\b`
const REST =
  String.raw`rest(?: of (?:the |your |this )?(?:\w+ )?\w+)? (?:is |are )?` +
  '(?:unchanged|omitted|(?:remains?|stays?) (?:the same|unchanged|as is))'
const PHRASE =
  String.raw`(?:the )?(?:${REST}|(?:rest|remainder) of (?:the |your |this )?(?:\w+ )?${THINGS}|` +
  String.raw`(?:existing|remaining|previous|unchanged) (?:\w+ )?${THINGS}|` +
  String.raw`(?:code |lines |content )?(?:unchanged|omitted)|same as (?:before|above)|no changes?)` +
  String.raw`(?: (?:here|goes here|remains?|stays?|is|are|unchanged|omitted|the same|as (?:is|before)|for brevity))*`

/** Dots alone; a phrase in brackets; in a comment: dots alone, dots with words that describe what is left out, or a whole phrase. */
const CERTAIN = [
  new RegExp(`^${DOTS}$`),
  new RegExp(String.raw`^\[${PHRASE}\.?\]$`, 'i'),
  new RegExp(
    String.raw`^${OPEN}\s*(?:${DOTS}|${DOTS}\s*\(?${LEFT_OUT}[^;{}=]{0,60}|` +
      String.raw`\(?${LEFT_OUT}[^;{}=]{0,60}${DOTS}|\(?${PHRASE}\)?\.?)\s*${CLOSE}$`,
    'i'
  )
]

/** Whether a line may stand for lines left out. */
export const isPlaceholder = (line: string): boolean => line.length <= LONGEST && POSSIBLE.test(line)

/** Whether a trimmed line can hardly be anything but a placeholder. */
export const isCertainPlaceholder = (line: string): boolean =>
  line.length <= LONGEST && CERTAIN.some(pattern => pattern.test(line))
