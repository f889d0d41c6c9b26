// What is a word and what is a token of a text, for `match`. Does not know languages.

/** One letter of a word, or of a number, in a pattern. */
export const LETTER = String.raw`[\p{L}\p{M}\p{N}_$]`
/** A word or a number: letters, digits, `_` and `$`. */
export const WORD = new RegExp(`${LETTER}+`, 'gu')
/** A word or a number, or one sign. */
export const TOKEN = new RegExp(String.raw`${LETTER}+|\S`, 'gu')
/** The same without backslashes, of which escaping adds or takes away some. */
export const TOKEN_BUT_BACKSLASH = new RegExp(String.raw`${LETTER}+|[^\s\\]`, 'gu')
/** A word or a number, or one sign, where `_` and `$` are signs: `$name` has the word `name`. */
export const TOKEN_OF_LETTERS = /[\p{L}\p{M}\p{N}]+|\S/gu
/** What is sought of a word: 3 to 32 letters and digits, of a longer one part by part. */
export const WORD_PART = /[\p{L}\p{N}]{3,32}/gu
