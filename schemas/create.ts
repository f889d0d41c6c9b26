// What POST /create accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { expectedHash, named, requestPath } from './common.ts'
import { changeFields, lineEndings } from './change-fields.ts'

export const CreateRequestSchema = named('CreateRequest', 'Create a file with this content.', {
  path: requestPath,
  content: Type.String({
    description: 'The whole content, written as UTF-8. End it with a line break unless the file must not end with one.'
  }),
  create_parents: Type.Optional(
    Type.Boolean({ description: 'Whether to create missing directories (default: true).' })
  ),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'true: replace the file if it exists; needs expected_hash (default: false).' })
  ),
  literal_path: Type.Optional(
    Type.Boolean({
      description:
        'true: the name is meant as it is, though it looks like a URL, a Windows path or such (default: false).'
    })
  ),
  line_endings: lineEndings('With overwrite, content is written with the line breaks of the file'),
  ...changeFields,
  expected_hash: Type.Optional(
    expectedHash('With overwrite: the file_hash of the file to replace, from your last answer about it.')
  )
})

export type CreateRequest = Static<typeof CreateRequestSchema>
