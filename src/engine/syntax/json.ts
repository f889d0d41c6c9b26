// The syntax of JSON, and of JSON with comments. Does not know files.
import { printParseErrorCode, visit, type ParseError } from 'jsonc-parser'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/** The first fault of a text; null where there is none. `comments`: these and trailing commas are allowed. */
export function jsonFault(source: string, { comments }: { comments: boolean }): SyntaxFault | null {
  let fault: SyntaxFault | null = null
  visit(
    source,
    {
      onError(error, _offset, _length, line, character) {
        fault ??= faultAt(source, line + 1, character + 1, reasonOf(error))
      }
    },
    { disallowComments: !comments, allowTrailingComma: comments, allowEmptyContent: true }
  )
  return fault
}

/** The parser's name of an error as words: `comma expected`. */
const reasonOf = (error: ParseError['error']): string =>
  printParseErrorCode(error)
    .replace(/(?<=.)[A-Z]/g, letter => ` ${letter}`)
    .toLowerCase()
