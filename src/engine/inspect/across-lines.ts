// Whether an expression is meant to match across lines, which it never does: it gets one line at a time. Does not know
// the syntax of expressions in full.

/** Quoted text, an escaped character, a class of characters, flags, or any other character. */
const PARTS = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\(\?[imsU-]+[:)]|[^]/g
/** Any character, line breaks too, as it is written in other dialects. */
const ANYTHING = /^\[(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\]$/

/** Whether it holds a line break, or what is written so that it matches line breaks too. */
export const isForSeveralLines = (expression: string): boolean => expression.match(PARTS)?.some(spansLines) === true

function spansLines(part: string): boolean {
  if (part.startsWith('(?')) return /^[^-]*s/.test(part)
  if (part.startsWith('[')) return /^\[(?:\\[nr]|[\r\n])+\]$/.test(part) || ANYTHING.test(part)
  return /[\r\n]/.test(part) || /^\\[nr]$/.test(part)
}
