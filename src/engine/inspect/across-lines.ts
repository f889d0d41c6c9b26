// Whether an expression is meant to match across lines, which it never does: it is matched against one line at a time.
// Only approximates the syntax of expressions.

/** Quoted text, an escaped character, a class of characters, flags, or any other character. */
const PARTS = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\(\?[imsU-]+[:)]|[^]/g
/** Any character including line breaks, as other dialects write it. */
const ANYTHING = /^\[(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\]$/

/** Whether an expression contains a line break, or a construct meant to match line breaks too. */
export const isForSeveralLines = (expression: string): boolean => expression.match(PARTS)?.some(spansLines) === true

function spansLines(part: string): boolean {
  if (part.startsWith('(?')) return /^[^-]*s/.test(part)
  if (part.startsWith('[')) return /^\[(?:\\[nr]|[\r\n])+\]$/.test(part) || ANYTHING.test(part)
  return /[\r\n]/.test(part) || /^\\[nr]$/.test(part)
}
