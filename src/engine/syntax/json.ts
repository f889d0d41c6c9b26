// The syntax of JSON, and of JSON with comments.
import { printParseErrorCode, visit, type ParseError } from 'jsonc-parser'
import { faultAt, type SyntaxFault } from '../outline/syntax-errors.ts'

/** The first fault of a text; null if there is none. `comments`: allows comments and trailing commas. */
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

/** The parser's error name in words: `comma expected`. */
const reasonOf = (error: ParseError['error']): string =>
  printParseErrorCode(error)
    .replace(/(?<=.)[A-Z]/g, letter => ` ${letter}`)
    .toLowerCase()
