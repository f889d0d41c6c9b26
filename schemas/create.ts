// What POST /create takes. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { hash, named, requestPath } from './common.ts'
import { editingFields } from './editing.ts'

export const CreateRequestSchema = named('CreateRequest', 'Make a new file with this content.', {
  path: requestPath,
  content: Type.String({
    description:
      'The whole content, written exactly as given. End it with a line break unless the file must not have one.'
  }),
  create_parents: Type.Optional(Type.Boolean({ description: 'Whether missing folders are made (true if left out).' })),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'true: replace the file if it exists; needs expected_hash (false if left out).' })
  ),
  ...editingFields,
  expected_hash: Type.Optional(hash('With overwrite: the file_hash of the file to replace, from an answer about it.'))
})

export type CreateRequest = Static<typeof CreateRequestSchema>
