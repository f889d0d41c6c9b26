// The syntax of TOML.
import { parse, TomlError } from 'smol-toml'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/** The first fault of a text; null if there is none. */
export function tomlFault(source: string): SyntaxFault | null {
  try {
    parse(source)
    return null
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // The lines after the first only show the place.
    const reason = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '')
    return faultAt(source, error.line, error.column, reason)
  }
}
