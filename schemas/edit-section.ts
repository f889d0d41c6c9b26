// What POST /edit-section accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { line, named, requestPath, word } from './common.ts'
import { changeFields, lineEndings, onStale } from './change-fields.ts'

const name = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })

export const EditSectionRequestSchema = named(
  'EditSectionRequest',
  'Change one section or code block of a Markdown document, or one symbol of a source file. ' +
    'Give exactly one of heading, code_block and symbol.',
  {
    path: requestPath,
    action: word(
      ['replace', 'delete', 'append', 'prepend', 'insert_before', 'insert_after'],
      'replace, delete: the content of the target. append, prepend: put new_text inside it, at its end or start. ' +
        'insert_before, insert_after: put new_text next to it.'
    ),
    new_text: Type.Optional(
      Type.String({
        description:
          'The text to put in, taken literally; required except for delete. ' +
          'The blank lines around it and the indentation of a symbol are adjusted for you; ' +
          'lines that begin inside a string stay as sent.'
      })
    ),
    heading: Type.Optional(
      name(
        'The section with this heading: its text as in the document, with or without its # marks (Setup, ## Setup), ' +
          'or a path (Guide > Setup).'
      )
    ),
    code_block: Type.Optional(
      Type.Object(
        {
          index: Type.Optional(line('Which of the matching blocks, counted from 1.')),
          language: Type.Optional(name('The language on its fence, such as js.')),
          under_heading: Type.Optional(name('Only blocks in the section with this heading, written as in heading.'))
        },
        { additionalProperties: false, description: 'The code block that matches everything given here.' }
      )
    ),
    symbol: Type.Optional(name('The definition with this name or path, such as Parser or Parser.parse.')),
    at_line: Type.Optional(line('If several targets match, take the one that contains this line.')),
    include_heading: Type.Optional(
      Type.Boolean({
        description:
          'With action replace: true also replaces the heading line, or the fences of the code block ' +
          '(default: they stay, unless new_text begins with them).'
      })
    ),
    include_comment: Type.Optional(
      Type.Boolean({
        description:
          'With action replace or delete: whether the doc comment of the symbol goes too ' +
          '(default: deleted with it; replaced only if new_text begins with it).'
      })
    ),
    ...changeFields,
    ...onStale,
    line_endings: lineEndings('new_text is written with the line breaks of the file')
  }
)

export type EditSectionRequest = Static<typeof EditSectionRequestSchema>
