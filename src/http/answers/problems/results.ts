// Why the result of an edit is refused: its size, its syntax, its encoding. Also the warning for broken syntax that is
// written all the same.
import type { ResultTooLarge } from '../../../engine/failure.ts'
import type { SyntaxFault } from '../../../engine/outline/syntax-errors.ts'
import type { SyntaxReport } from '../../../operations/syntax-guard.ts'
import { type CallSyntax, undoneWith } from '../call-names.ts'
import { ofEdit, position } from '../edits-of-request.ts'
import { counted, encodingShown, NOTHING_WRITTEN, quote, sentences } from '../phrases.ts'
import type { ProblemEntries, FailedRequest } from './entry.ts'

export const RESULTS = {
  RESULT_TOO_LARGE: {
    kind: [422, 'Result is too large', 'change_request'],
    about: 'read_file',
    detail: (failure, request) => ({
      detail: ofEdit(failure, resultTooLarge(failure, request)),
      members: { ...position(failure), limit: failure.limit, actual: failure.actual }
    }),
    example: {
      code: 'RESULT_TOO_LARGE',
      what: 'bytes',
      edit_index: 0,
      total_edits: 1,
      limit: 100_000_000,
      actual: 130_000_000
    }
  },
  SYNTAX_ERROR: {
    kind: [422, 'Result has a syntax error', 'change_request'],
    detail: ({ fault, is_new }, { shown, naming }) => ({
      detail: sentences(
        is_new
          ? `${shown} would have a syntax error ${placeOf(fault)}.`
          : `This edit would leave ${shown} with a syntax error that it does not have now, ${placeOf(fault)}.`,
        NOTHING_WRITTEN,
        `Correct the text that you put in${naming.takes('syntax') ? ', or send syntax "warn" to write it anyway' : ''}.`
      ),
      members: { syntax_error_lines: [fault.line] }
    }),
    example: {
      code: 'SYNTAX_ERROR',
      fault: { line: 12, column: 17, text: 'const total = 1 +', reason: 'identifier is missing' },
      is_new: false
    }
  },
  UNENCODABLE_TEXT: {
    kind: [422, 'Text does not fit the encoding', 'change_request'],
    detail: (failure, { shown }) => ({
      detail:
        failure.mark === undefined
          ? sentences(
              ...whyUnencodable(failure.encoding, failure.character, shown),
              NOTHING_WRITTEN,
              ...insteadOf(failure.character)
            )
          : sentences(
              `${shown} is ${encodingShown(failure.encoding)}, and this edit would let it begin with the bytes`,
              `${failure.mark === 'utf-16le' ? 'FF FE' : 'FE FF'}, which mark a file as ${encodingShown(failure.mark)}.`,
              NOTHING_WRITTEN,
              'Let it begin with something else, or convert the file to UTF-8 first with another tool.'
            )
    }),
    example: { code: 'UNENCODABLE_TEXT', encoding: 'windows-1252', character: '✓' }
  }
} satisfies Partial<ProblemEntries>

const resultTooLarge = ({ what, limit, actual }: ResultTooLarge, { shown, naming }: FailedRequest): string =>
  what === 'bytes'
    ? sentences(
        `${shown} would have ${counted(actual, 'byte')}; the limit is ${limit}.`,
        'Send less text; only the operator can raise the limit, with --max-file-size.'
      )
    : sentences(
        `${counted(actual, 'place')} would be replaced; the limit for one request is ${limit}.`,
        `Send an ${naming.field('old_text')} that matches fewer places.`
      )

/** The warning for a change that was made, or would be (`dry_run`). `field`: the field that holds the inserted text. */
export function syntaxWarning(
  report: SyntaxReport,
  {
    dry_run,
    field,
    edit_id,
    naming
  }: { dry_run: boolean; field: string; edit_id: string | undefined; naming: CallSyntax }
): string {
  if ('unchecked' in report) return `The syntax was not checked: ${WHY_UNCHECKED[report.unchecked]}.`
  const has = dry_run ? 'would have' : 'has'
  return sentences(
    report.is_new
      ? `The file ${has} a syntax error ${placeOf(report.fault)}.`
      : `After this edit the file ${has} a syntax error that it did not have before, ${placeOf(report.fault)}.`,
    `Check ${field}.`,
    edit_id === undefined ? '' : undoneWith(naming, 'To take the edit back', { edit_ids: [edit_id] })
  )
}

const WHY_UNCHECKED: Record<Extract<SyntaxReport, { unchecked: string }>['unchecked'], string> = {
  no_language: 'there is no check for such a file',
  errors_before: 'the file had syntax errors already',
  template: 'the file looks like a template',
  too_large: 'the file is larger than 1 MiB',
  too_slow: 'it took too long',
  too_much_memory: 'parsing it takes too much memory',
  busy: 'too many files are being checked at the same time',
  parser_failed: 'the parser failed'
}

/** `at line 3, column 5: "foo(bar" () is missing)`; `from line 3, column 5, to line 9: "foo(bar"`. */
function placeOf({ line, column, end_line, text, reason }: SyntaxFault): string {
  const place = `line ${line}, column ${column}`
  const shown = text === '' ? '' : `: ${quote(text)}`
  const why = reason === undefined ? '' : ` (${reason})`
  return `${end_line === undefined ? `at ${place}` : `from ${place}, to line ${end_line}`}${shown}${why}`
}

function whyUnencodable(encoding: string, character: string, shown: string): string[] {
  if (character === '\ufeff') {
    return [
      `${shown} is ${encodingShown(encoding)}, which is known only by its byte-order mark, and this edit removes the mark.`
    ]
  }
  return encoding === 'unknown-8bit'
    ? [`${shown} is not UTF-8, and its encoding is not known, so ${quote(character)} can't be written into it.`]
    : [`${shown} seems to be ${encodingShown(encoding)}, which has no ${quote(character)}.`]
}

const insteadOf = (character: string): string[] =>
  character === '\ufeff'
    ? ['Leave the mark where it is.']
    : [
        'Write it in ASCII (in source code an escape such as \\u00e9),',
        'or convert the file to UTF-8 first with another tool.'
      ]
