// What POST /edit-lines accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { named, ref, requestPath, madeOnce } from './common.ts'
import { changeFields, lineEndings, onStale } from './change-fields.ts'

// No bounds: the answer to 0 or a number past the end says how many lines the file has.
const startLine = Type.Integer({
  description:
    'First line to replace, counted from 1 in the file before the request. total_lines + 1 appends to the file; ' +
    '-1 is the last line.'
})
const endLine = Type.Integer({
  description:
    'Last line to replace, inclusive; -1 is the last line of the file. ' +
    'start_line - 1 replaces nothing and inserts new_text before start_line.'
})
const newText = Type.String({
  description:
    'The lines to put in, taken literally, without line numbers. A missing last line break is added ' +
    'if a line follows. An empty string deletes the lines.'
})
const expectedText = Type.Optional(
  Type.String({
    description:
      'The current text of these lines, as you know it. If it differs, nothing is written ' +
      'and the answer shows what is there.'
  })
)

export const LineEdit = named('LineEdit', 'One replacement, insertion or deletion of whole lines.', {
  start_line: startLine,
  end_line: endLine,
  new_text: newText,
  expected_text: expectedText
})

/** The request of /edit-lines; `edits_max` bounds its edits. */
export const editLinesRequest = madeOnce((edits_max: number) =>
  named(
    'EditLinesRequest',
    'Change whole lines of one file: either start_line, end_line and new_text here, or several such edits in edits.',
    {
      path: requestPath,
      start_line: Type.Optional(startLine),
      end_line: Type.Optional(endLine),
      new_text: Type.Optional(newText),
      expected_text: expectedText,
      edits: Type.Optional(
        Type.Array(ref(LineEdit), {
          minItems: 1,
          maxItems: edits_max,
          description:
            'Several edits of this file, all or nothing. Line numbers refer to the file before the request; ' +
            'the ranges must not overlap. Not together with start_line at the top level.'
        })
      ),
      ...changeFields,
      ...onStale,
      line_endings: lineEndings('new_text is written with the line breaks of the file')
    }
  )
)

export type EditLinesRequest = Static<ReturnType<typeof editLinesRequest>>
