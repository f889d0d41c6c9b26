// What is said of a change that breaks the syntax of a file: a problem where it was refused, else a warning. Does not
// know statuses.
import type { BrokenSyntax } from '../../../engine/failure.ts'
import type { SyntaxFault } from '../../../engine/outline/syntax-errors.ts'
import type { SyntaxReport } from '../../../operations/syntax-guard.ts'
import { sentences, NOTHING_WRITTEN, quote } from '../phrases.ts'
import type { Descriptions } from './entry.ts'

export const SYNTAX_FAILURES: Descriptions<BrokenSyntax> = {
  SYNTAX_ERROR: ({ fault, is_new }, { shown, naming }) => ({
    detail: sentences(
      is_new
        ? `${shown} would have a syntax error ${placeOf(fault)}.`
        : `This edit would leave ${shown} with a syntax error that it does not have now, ${placeOf(fault)}.`,
      NOTHING_WRITTEN,
      `Correct the text that you put in${naming.takes('syntax') ? ', or send syntax "warn" to write it anyway' : ''}.`
    ),
    members: { syntax_error_lines: [fault.line] }
  })
}

/** The warning of a change that was made, or would be (`dry_run`); `field` holds the text that was put in. */
export function syntaxWarning(report: SyntaxReport, { dry_run, field }: { dry_run: boolean; field: string }): string {
  if ('unchecked' in report) return `The syntax was not checked: ${WHY_UNCHECKED[report.unchecked]}.`
  const has = dry_run ? 'would have' : 'has'
  return sentences(
    report.is_new
      ? `The file ${has} a syntax error ${placeOf(report.fault)}.`
      : `After this edit the file ${has} a syntax error that it did not have before, ${placeOf(report.fault)}.`,
    `Check ${field}.`
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
