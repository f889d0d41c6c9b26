// Which characters of a text can't be seen, or change how others are shown, and what stands for them. Does not know the
// DOM.

/** A part of a text as it is, or one hidden character: `code` says which. */
export interface Piece {
  text: string
  code?: true
}

/**
 * Controls, formatting (bidi, zero width, tags), surrogates without their other half, separators of lines and
 * paragraphs, and what has no shape. Not the selector that makes an emoji of a sign; a tab is left to the caller.
 */
const HIDDEN = /(?!\t|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const HIDDEN_OR_TAB = new RegExp(`\\t|${HIDDEN.source}`, 'gu')

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const codeOf = (character: string): string =>
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

/** The text on one line, with its hidden characters as codes: for names that are no elements, as of a button. */
export const plain = (text: string): string =>
  piecesOf(text, true)
    .map(({ text, code }) => (code === true ? `[${text}]` : text))
    .join('')
