// Other formats of an edit, found in old_text or new_text: a diff hunk, SEARCH/REPLACE markers, tags such as <old_str>.

/** Which text of an edit: the one to find, or its replacement. */
export type EditSide = 'old' | 'new'

/** What a text in one of these formats says. */
export interface Sides {
  /** The text to find, and its replacement; undefined if the format doesn't give it. */
  old?: string
  new?: string
  /** It gives both. */
  isWhole: boolean
  /** It has several edits; `old` and `new` are those of the first. */
  isOneOfSeveral: boolean
}

const FILE_NAMES = /^(?:diff --git .*\n)?(?:index .*\n)?--- .*\n\+\+\+ .*\n/
const HUNK = /^@@(?: .*)?$/
const DIFF_FENCE = /^```diff\n([^]*?)\n```\s*$/
const NO_NEWLINE = /^\\ No newline/

/**
 * The two sides of a diff with `\n` breaks: one with a line `@@ … @@`; or one without, where lines begin with `-` and
 * with `+`, or all with `-` or a space (see `areRemoved`), or, in new_text, with `+` or a space. Undefined for any
 * other text.
 */
export function sidesOfDiff(text: string, side: EditSide): Sides | undefined {
  const hunks = text.replace(DIFF_FENCE, '$1').replace(FILE_NAMES, '').split('\n')
  const at = hunks.findIndex(line => HUNK.test(line))
  if (at !== -1 && hunks.slice(0, at).some(line => line.trim() !== '')) return undefined
  const next = hunks.findIndex((line, i) => i > at && HUNK.test(line))
  const lines = hunks.slice(at + 1, next === -1 ? hunks.length : next).filter(line => !NO_NEWLINE.test(line))
  const [removed, added] = [lines.filter(line => line.startsWith('-')), lines.filter(line => line.startsWith('+'))]
  if (removed.length + added.length === 0) return undefined
  // A model that leaves out the space before one context line leaves it out before all.
  const isMarked = lines.every(line => line === '' || /^[-+ ]/.test(line))
  const isBoth = removed.length > 0 && added.length > 0
  const isOne = isMarked && (added.length > 0 ? side === 'new' : areRemoved(removed, lines))
  if (at === -1 && !isBoth && !isOne) return undefined
  const part = (own: '-' | '+', other: '-' | '+'): string =>
    lines
      .filter(line => !line.startsWith(other))
      .map(line => (line.startsWith(own) || isMarked ? line.slice(1) : line))
      .join('\n')
  return { old: part('-', '+'), new: part('+', '-'), isWhole: added.length > 0, isOneOfSeveral: next !== -1 }
}

/** Whether lines with `-` are removed ones, not a list, comments (`--`) or parts of lines (`-right: 0`). */
const areRemoved = (removed: readonly string[], lines: readonly string[]): boolean =>
  !removed.every(line => /^- \S/.test(line)) &&
  !removed.some(line => line.startsWith('--')) &&
  (lines.filter(line => line !== '').length > 1 || /^-\s/.test(removed[0]!))

const OPENING = /^[<-]{3,} ?(?:SEARCH|ORIGINAL)>?$/
const DIVIDER = /^={3,}$/
const CLOSING = /^[>+]{3,} ?(?:REPLACE|UPDATED)>?$/
const NAMES = '(?:str|string|text)'
const TAGGED = new RegExp(String.raw`<(old|new)_${NAMES}>\n?([^]*?)\n?</\1_${NAMES}>`, 'g')
const OPENING_TAG = new RegExp(String.raw`^\s*<(?:old|new)_${NAMES}>\n?`)
const CLOSING_TAG = new RegExp(String.raw`\n?</(?:old|new)_${NAMES}>\s*$`)

/** What each of these begins or ends with: a quick test that few lines pass. */
const MAY_BE_MARKER = /^[<>+-]|>$/

/** Whether a trimmed line is such a marker, or begins or ends with such a tag. */
export const isEditMarker = (line: string): boolean =>
  MAY_BE_MARKER.test(line) &&
  (OPENING.test(line) || CLOSING.test(line) || OPENING_TAG.test(line) || CLOSING_TAG.test(line))

/** What ends a model's turn, or a patch, on a line of its own. */
const END_OF_TURN = /^(?:<\|(?:im_end|im_start|endoftext|eot_id|end_of_text)\|>|\*\*\* (?:Begin|End) Patch)$/

/** Tags of a tool call, as the last thing in a text. */
const CALL_TAGS = /<\/((?:antml:)?(?:content|invoke|parameter|function_calls|file_text))>$/

/**
 * The index of the first of these trimmed lines that belongs to the call by which a text was sent, not to the text: the
 * end of a turn or patch, or a closing tag at the end of the text that nothing there opens. -1: there is none.
 */
export function leakedLine(lines: readonly string[]): number {
  const ended = lines.findIndex(line => END_OF_TURN.test(line))
  if (ended !== -1) return ended
  const last = lines.findLastIndex(line => line !== '')
  const tag = last === -1 ? undefined : CALL_TAGS.exec(lines[last]!)?.[1]
  return tag === undefined || lines.some(line => line.includes(`<${tag}`)) ? -1 : last
}

/** Whether a trimmed line is the header of a hunk, with its line numbers. */
export const isHunkHeader = (line: string): boolean => /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(line)

/** The text between SEARCH/REPLACE markers, or between tags; undefined if there are none, or there is text outside. */
export const sidesOfMarked = (text: string): Sides | undefined => sidesOfBlock(text.split('\n')) ?? sidesOfTags(text)

function sidesOfBlock(lines: readonly string[]): Sides | undefined {
  const find = (marker: RegExp, from: number) => lines.findIndex((line, i) => i >= from && marker.test(line.trim()))
  const opening = find(OPENING, 0)
  const closing = find(CLOSING, 0)
  if (opening === -1 && closing === -1) return undefined
  const end = closing === -1 ? lines.length : closing
  const next = find(OPENING, end)
  const outside = [...lines.slice(0, Math.max(0, opening)), ...lines.slice(end + 1, next === -1 ? lines.length : next)]
  if (end < opening || outside.some(line => line.trim() !== '')) return undefined
  const divider = find(DIVIDER, opening + 1)
  const isDivided = divider !== -1 && divider < end
  const part = (from: number, to: number): string => lines.slice(from, to).join('\n')
  const first = part(opening + 1, isDivided ? divider : end)
  const second = isDivided ? part(divider + 1, end) : opening === -1 ? first : undefined
  return {
    old: first,
    new: second,
    isWhole: isDivided && opening !== -1 && closing !== -1,
    isOneOfSeveral: next !== -1
  }
}

function sidesOfTags(text: string): Sides | undefined {
  const tagged = [...text.matchAll(TAGGED)]
  if (tagged.length === 0) {
    const bare = text.replace(OPENING_TAG, '').replace(CLOSING_TAG, '')
    return bare === text ? undefined : { old: bare, new: bare, isWhole: false, isOneOfSeveral: false }
  }
  if (text.replace(TAGGED, '').trim() !== '') return undefined
  const [olds, news] = ['old', 'new'].map(name => tagged.flatMap(([, tag, body]) => (tag === name ? [body!] : [])))
  return {
    ...(olds!.length > 0 && { old: olds![0]! }),
    ...(news!.length > 0 && { new: news![0]! }),
    isWhole: olds!.length > 0 && news!.length > 0,
    isOneOfSeveral: olds!.length > 1 || news!.length > 1
  }
}

/**
 * The replacement that `newText` was meant to be, given the sides found in old_text. Null if that isn't clear, for
 * instance because the two disagree or there are several edits.
 */
export function newSide(
  sidesOf: (text: string, side: EditSide) => Sides | undefined,
  old: Sides,
  newText: string
): string | null {
  const own = sidesOf(newText, 'new')
  const text = own === undefined ? newText : own.new
  if (text === undefined || own?.isOneOfSeveral === true || old.isOneOfSeveral) return null
  // Diff lines that are only removed say nothing about the replacement: they may as well be a list.
  if (own !== undefined && sidesOf === sidesOfDiff && !own.isWhole && !newText.startsWith('@@')) return null
  return old.isWhole && text.trim() !== old.new?.trim() ? null : text
}
