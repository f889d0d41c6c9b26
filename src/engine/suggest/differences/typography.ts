// Signs that can be written in several ways: quotation marks and dashes.

/** Every sign that stands for a quotation mark, but for `"`. */
const QUOTES = /[\u2018-\u201f\u2032\u2033\u00ab\u00bb\u00b4`']/g
/** Every sign that stands for a single dash, hyphen or minus, but for `-`. */
export const DASHES = /[\u2010-\u2015\u2212]/g

/** A text with `"` for each quotation mark. */
export const plainQuotes = (text: string): string => text.replace(QUOTES, '"')

/** A text with `-` for each dash. */
export const plainDashes = (text: string): string => text.replace(DASHES, '-')
