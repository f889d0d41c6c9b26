// How calls and fields are named to a model that has no editing tool but apply_patch. Does not know what is answered.
import type { CallSyntax } from '../answers/call-names.ts'

/** It has one call, the patch itself, and reads files by tools that aren't ours. */
export const BY_PATCH: CallSyntax = {
  edit: 'apply_patch',
  create: 'apply_patch',
  inspectWith: () => undefined,
  field: name => (name === 'old_text' ? 'the old lines' : 'the new lines'),
  takes: () => false,
  write: () => undefined,
  pathShown: path => path
}
