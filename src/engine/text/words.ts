// What is a word and what is a token of a text, for `match`. Does not know languages.

/** A word or a number: letters, digits, `_` and `$`. */
export const WORD = /[\p{L}\p{M}\p{N}_$]+/gu
/** A word or a number, or one sign. */
export const TOKEN = /[\p{L}\p{M}\p{N}_$]+|\S/gu
/** The same without backslashes, of which escaping adds or takes away some. */
export const TOKEN_BUT_BACKSLASH = /[\p{L}\p{M}\p{N}_$]+|[^\s\\]/gu
