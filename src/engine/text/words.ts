// Patterns for words and tokens of a text, for `match`.

/** One letter of a word, or of a number, in a pattern. */
export const LETTER = String.raw`[\p{L}\p{M}\p{N}_$]`
/** A word or a number: letters, digits, `_` and `$`. */
export const WORD = new RegExp(`${LETTER}+`, 'gu')
/** A word or a number, or one sign. */
export const TOKEN = new RegExp(String.raw`${LETTER}+|\S`, 'gu')
/** Like `TOKEN`, without backslashes, because escaping adds or removes some. */
export const TOKEN_BUT_BACKSLASH = new RegExp(String.raw`${LETTER}+|[^\s\\]`, 'gu')
/** A word or a number, or one sign, where `_` and `$` are signs: `$name` has the word `name`. */
export const TOKEN_OF_LETTERS = /[\p{L}\p{M}\p{N}]+|\S/gu
/** The parts of a word to search for: 3 to 32 letters and digits each; a longer word gives several. */
export const WORD_PART = /[\p{L}\p{N}]{3,32}/gu
