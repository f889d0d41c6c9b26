// Hints for fields that the definitions of several tools share. Does not know any operation.

export const PATH_HINT = 'Relative to the workspace root.'

/** Hints for the fields that every change takes. */
export const CHANGE_HINTS = {
  path: PATH_HINT,
  expected_hash: 'file_hash from your last answer about the file.',
  dry_run: 'true: only show what would change.'
}
