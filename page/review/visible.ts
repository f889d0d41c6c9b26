// Which characters of a text are invisible, or change how others are shown, and their codes. Does not know the DOM.

/** A part of a text, or one hidden character with its `code`. */
interface Piece {
  text: string
  code?: true
}

/**
 * Controls, formatting (bidi, zero width, tags), unpaired surrogates, separators of lines and paragraphs, and ignorable
 * characters. Not the selector that turns a sign into an emoji; the caller decides about tabs.
 */
const HIDDEN = /(?!\t|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const HIDDEN_OR_TAB = new RegExp(`\\t|${HIDDEN.source}`, 'gu')

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The code of a character that can't be seen. */
export const codeOf = (character: string): string =>
  SHORT[character] ?? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** The text in pieces; `one_line`: tabs count as hidden too, as in a name. */
export function piecesOf(text: string, one_line = false): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: character, index } of text.matchAll(one_line ? HIDDEN_OR_TAB : HIDDEN)) {
    if (index > end) pieces.push({ text: text.slice(end, index) })
    pieces.push({ text: codeOf(character), code: true })
    end = index + character.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}

/** The text on one line, with hidden characters as codes: for names that aren't elements, such as that of a button. */
export const plain = (text: string): string =>
  piecesOf(text, true)
    .map(({ text, code }) => (code === true ? `[${text}]` : text))
    .join('')
