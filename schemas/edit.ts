// What POST /edit accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { named, ref, requestPath, madeOnce } from './common.ts'
import { changeFields, lineEndings, onStale } from './change-fields.ts'

const oldText = Type.String({
  minLength: 1,
  description:
    'The exact text to replace, copied from the file: every space, tab and line break counts. ' +
    'It must match exactly once, unless occurrences, replace_all or occurrence says otherwise.'
})
const newText = Type.String({
  description: 'The replacement, taken literally. An empty string deletes exactly the matched text.'
})
const selectors = {
  occurrences: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The exact number of matches you expect (default: 1); all are replaced. ' +
        'Prefer more context in old_text to a count.'
    })
  ),
  replace_all: Type.Optional(
    Type.Boolean({ description: 'true: replace every match, however many there are (at least one).' })
  ),
  occurrence: Type.Optional(
    Type.Unsafe<'first' | 'last' | 'all' | number>({
      anyOf: [
        { type: 'string', enum: ['first', 'last', 'all'] },
        { type: 'integer', minimum: 1 }
      ],
      description: 'Which of several matches to replace: first, last, all, or its number, counted from 1.'
    })
  )
}

/** What adapting line breaks means for this operation. */
export const ADAPTED =
  'a line break in old_text matches any kind, and new_text is written with the line breaks of the file'

export const TextEdit = named('TextEdit', 'One replacement of exact text.', {
  old_text: oldText,
  new_text: newText,
  ...selectors
})

/** The request of /edit; `edits_max` bounds its edits. */
export const editRequest = madeOnce((edits_max: number) =>
  named(
    'EditRequest',
    'Replace exact text in one file: either old_text and new_text here, or several such edits in edits.',
    {
      path: requestPath,
      old_text: Type.Optional(oldText),
      new_text: Type.Optional(newText),
      ...selectors,
      edits: Type.Optional(
        Type.Array(ref(TextEdit), {
          minItems: 1,
          maxItems: edits_max,
          description:
            'Several edits of this file, applied in order, each to the result of those before it; all or nothing. ' +
            'Not together with old_text at the top level.'
        })
      ),
      ...changeFields,
      ...onStale,
      line_endings: lineEndings(ADAPTED)
    }
  )
)

export type EditRequest = Static<ReturnType<typeof editRequest>>
