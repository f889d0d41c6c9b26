// What POST /changes accepts and answers, and what GET /events sends. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { answeredPath, byDiscriminator, count, lossy, named, ref, word } from './common.ts'
import { editFacts } from './history.ts'

/** The longest wait, in milliseconds; then the most changes in one answer, and the default. */
const MAX_WAIT = 30_000
const MAX_CHANGES = 200
export const DEFAULT_CHANGES = 50

const cursor = (description: string) => Type.String({ minLength: 1, maxLength: 12_000, description })

export const ChangesRequestSchema = named(
  'ChangesRequest',
  'Ask what was changed after a cursor, and wait for it where nothing was.',
  {
    after: Type.Optional(cursor('The next_after of the last answer; left out: from now on.')),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT,
        description: 'Milliseconds to wait if nothing was changed yet (default: 0).'
      })
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_CHANGES,
        description: `Changes to tell at most (default: ${DEFAULT_CHANGES}).`
      })
    ),
    path: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Only changes of this file, relative to the root.' })
    ),
    under: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Only of files in this directory or below it.' })
    )
  }
)

const EditTold = named('EditTold', 'A file was changed.', {
  type: word(['edit'], 'A change of one file.'),
  edit_id: editFacts.edit_id,
  operation: editFacts.operation,
  at: editFacts.at,
  path: answeredPath,
  lossy: Type.Optional(lossy),
  token: editFacts.token,
  agent: editFacts.agent,
  session: editFacts.session,
  reason: editFacts.reason,
  batch_id: editFacts.batch_id,
  file_hash: editFacts.file_hash,
  lines_added: count('Lines added.'),
  lines_removed: count('Lines removed.'),
  state: word(
    ['applied', 'uncertain'],
    'applied: it was made. uncertain: the server stopped while it was written, and the file has changed since.'
  ),
  undoes: editFacts.undoes
})

const ReviewTold = named('ReviewTold', 'A person gave a verdict on changes of one file.', {
  type: word(['review'], 'A verdict.'),
  at: Type.String({ description: 'When it was given, in UTC.' }),
  path: answeredPath,
  lossy: Type.Optional(lossy),
  token: editFacts.token,
  agent: Type.Optional(Type.String({ description: 'By whom, as the caller said.' })),
  session: Type.Optional(Type.String({ description: 'In which session, as the caller said.' })),
  verdict: word(['kept', 'pending'], 'kept: the changes are kept. pending: they are to be looked at again.'),
  edit_ids: Type.Array(Type.String(), { description: 'The edits whose changes it is about.' })
})

const CHANGE_TOLD = byDiscriminator('ToldChange', 'A change of a file, or a verdict.', 'type', {
  edit: EditTold,
  review: ReviewTold
})

export const ChangesResultSchema = named('ChangesResult', 'What was changed, in order.', {
  message: Type.String({ description: 'How much was changed, in one sentence.' }),
  changes: Type.Array(ref(CHANGE_TOLD.union), { maxItems: MAX_CHANGES, description: 'The changes, oldest first.' }),
  next_after: cursor('Send it as after to go on.'),
  timed_out: Type.Boolean({ description: 'true: it waited for wait_ms, and nothing was changed.' }),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const CHANGES_COMPONENTS = [...CHANGE_TOLD.members, CHANGE_TOLD.union, ChangesResultSchema]
export type ChangesRequest = Static<typeof ChangesRequestSchema>
export type ChangeTold = Static<typeof EditTold> | Static<typeof ReviewTold>
export type ChangesResult = Omit<Static<typeof ChangesResultSchema>, 'changes'> & { changes: ChangeTold[] }
