// The fields that every operation that changes a file accepts: its options, who sends it, why, and under which
// idempotency key. Knows only the wire format.
import { Type } from './type.ts'
import { expectedHash, word } from './common.ts'

const label = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }))

/** The idempotency key, accepted by every operation that changes something. */
export const keyField = {
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A text of your own, such as a UUID: sent again under it, a request is done once, and answered as before. ' +
        'Or the header Idempotency-Key.'
    })
  )
}

/** Who makes a change, and why. */
export const callerFields = {
  agent: label('Who makes the change. Or the header Editd-Agent.'),
  session: label('In which session or task. Or the header Editd-Session.'),
  reason: label('Why, in a few words, for the history.')
}

/** Fields that don't affect what is done. The host sends them, so a model need not know them. */
export const CALL_FIELDS = ['agent', 'session', 'reason', 'idempotency_key'] as const
export type CallField = (typeof CALL_FIELDS)[number]

export const changeFields = {
  expected_hash: Type.Optional(
    expectedHash(
      'The file_hash from your last answer about this file. If it has changed since, ' +
        'nothing is written: STALE_FILE.'
    )
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'true: check everything, write nothing (default: false).' })),
  show_diff: Type.Optional(Type.Boolean({ description: 'true: add a unified diff to the answer (default: false).' })),
  max_diff_lines: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'A longer diff is cut (default: 100).' })
  ),
  context_lines: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 20, description: 'Lines shown around each change (default: 3).' })
  ),
  syntax: Type.Optional(
    word(['ignore', 'warn', 'refuse'], "If the edit breaks the file's syntax: ignore it, warn, or refuse.")
  ),
  ...callerFields,
  ...keyField
}

/** Whether an edit that expects another version of its file may be made where its lines are now. */
export const onStale = {
  on_stale: Type.Optional(
    word(
      ['refuse', 'rebase'],
      'If the file has changed since expected_hash: refuse (default of routes), or rebase (default of tools): plan the ' +
        'edit on that version, and make it if no line that it touches was changed since.'
    )
  )
}

/** `adapt`: what "adapt" means for the operation's texts. */
export const lineEndings = (adapt: string) =>
  Type.Optional(
    word(
      ['adapt', 'exact'],
      `adapt (default): ${adapt}; where the file mixes them, with that of the line on which the change starts. ` +
        "exact: the bytes as given; a line break that editd adds is still the file's."
    )
  )
