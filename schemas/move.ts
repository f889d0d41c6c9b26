// What POST /move accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { callerFields, changeFields, keyField } from './change-fields.ts'
import { named, requestPath } from './common.ts'

export const MoveRequestSchema = named('MoveRequest', 'Move or rename a file, or a directory with all its files.', {
  path: { ...requestPath, description: 'The file or directory, relative to the workspace root.' },
  to: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'Its new path, with its name, where nothing may be yet.'
  }),
  create_parents: Type.Optional(
    Type.Boolean({ description: 'Whether to create missing directories (default: true).' })
  ),
  expected_hash: changeFields.expected_hash,
  dry_run: changeFields.dry_run,
  ...callerFields,
  ...keyField
})

export type MoveRequest = Static<typeof MoveRequestSchema>
