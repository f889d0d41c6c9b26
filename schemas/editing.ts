// The fields that every editing operation takes. Knows only the wire format.
import { Type } from 'typebox'
import { hash, word } from './common.ts'

export const editingFields = {
  expected_hash: Type.Optional(
    hash(
      'The file_hash of your last answer about this file. If the file has changed since, nothing is written and the answer is STALE_FILE.'
    )
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'true: compute and check everything, write nothing (false if left out).' })
  ),
  show_diff: Type.Optional(
    Type.Boolean({ description: 'true: add a unified diff to the answer (false if left out).' })
  ),
  max_diff_lines: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'A longer diff is cut (100 if left out).' })
  ),
  context_lines: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 20, description: 'Unchanged lines shown around each change (3 if left out).' })
  )
}

/** `adapt`: what that means for the operation's own texts. */
export const lineEndings = (adapt: string) =>
  Type.Optional(
    word(
      ['adapt', 'exact'],
      `adapt (if left out): ${adapt}; where the file mixes them, with that of the line on which the change starts. exact: bytes as given (a break that the service adds is the file's).`
    )
  )
