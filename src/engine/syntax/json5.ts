// The syntax of JSON5.
import JSON5 from 'json5'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/**
 * What the parser throws: line and column, in UTF-16 units from 1, of the character that can't stand there. For a line
 * break: the line after it, and 0.
 */
type Json5Error = SyntaxError & { lineNumber: number; columnNumber: number }

/** The first fault of a text; null if there is none. */
export function json5Fault(source: string): SyntaxFault | null {
  try {
    JSON5.parse(source)
    return null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const { message, lineNumber, columnNumber } = error as Json5Error
    const reason = message.replace(/^JSON5: /, '').replace(/ at \d+:\d+$/, '')
    const line = columnNumber === 0 ? lineNumber - 1 : lineNumber
    const column = columnNumber === 0 ? source.split('\n')[line - 1]!.length + 1 : columnNumber
    return faultAt(source, line, column, reason)
  }
}
