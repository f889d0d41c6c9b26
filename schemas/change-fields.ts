// The fields that every operation that changes a file takes. Knows only the wire format.
import { Type } from './type.ts'
import { hash, word } from './common.ts'

export const changeFields = {
  expected_hash: Type.Optional(
    hash(
      'The file_hash from your last answer about this file. If the file has changed since, ' +
        'nothing is written and the answer is STALE_FILE.'
    )
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'true: compute and check everything but write nothing (default: false).' })
  ),
  show_diff: Type.Optional(Type.Boolean({ description: 'true: add a unified diff to the answer (default: false).' })),
  max_diff_lines: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'A longer diff is cut (default: 100).' })
  ),
  context_lines: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 20, description: 'Unchanged lines shown around each change (default: 3).' })
  ),
  syntax: Type.Optional(
    word(['ignore', 'warn', 'refuse'], "If the edit breaks the file's syntax: ignore it, warn, or refuse.")
  )
}

/** `adapt` is what adapting means for the texts of the operation. */
export const lineEndings = (adapt: string) =>
  Type.Optional(
    word(
      ['adapt', 'exact'],
      `adapt (default): ${adapt}; where the file mixes them, with that of the line on which the change starts. ` +
        "exact: the bytes as given; a line break that editd adds is still the file's."
    )
  )
