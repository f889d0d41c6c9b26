// What POST /delete accepts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { changeFields } from './change-fields.ts'
import { named, requestPath } from './common.ts'

/** The most files of a folder that one request deletes or moves. */
export const MAX_FOLDER_FILES = 1000

/** Nothing is left whose syntax could be checked, or around which lines could be shown. */
const { context_lines: _context, syntax: _syntax, ...fields } = changeFields

export const DeleteRequestSchema = named('DeleteRequest', 'Delete a file, or a directory with all its files.', {
  path: { ...requestPath, description: 'The file or directory, relative to the workspace root.' },
  recursive: Type.Optional(
    Type.Boolean({
      description: `true: path may be a directory, with at most ${MAX_FOLDER_FILES} files (default: false).`
    })
  ),
  ...fields
})

export type DeleteRequest = Static<typeof DeleteRequestSchema>
