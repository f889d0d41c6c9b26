// Why what needs the history can't be done: to tell a request that is sent again, to take back what was done. Does not
// know statuses or files.
import { MAX_EDIT_IDS } from '../../../../schemas/undo.ts'
import type { Failure } from '../../failure.ts'
import { sentences } from '../phrases.ts'
import { type Descriptions, retryAfter, sendAgain } from './entry.ts'
import { noTexts, sweptEdits, TAKE_BACK_FAILURES } from './undo-conflict.ts'

type HistoryCode =
  'IDEMPOTENCY_KEY_REUSED' | 'REQUEST_IN_FLIGHT' | 'HISTORY_GONE' | 'CURSOR_GONE' | 'UNDO_CONFLICT' | 'NOTHING_TO_UNDO'

const OF_KEY: Record<Extract<Failure, { code: 'IDEMPOTENCY_KEY_REUSED' }>['reason'], string> = {
  another_request: sentences(
    'Another request was carried out under this idempotency_key; nothing was done.',
    'To ask for something new, send it with a new key.',
    'To get the answer of that request again, send exactly its fields.'
  ),
  forgotten: sentences(
    'The first request with this idempotency_key was carried out, but its answer was removed (editd forget);',
    'nothing was done now. Read the file to see what is there.'
  ),
  uncertain: sentences(
    'The server was stopped while it carried out the first request with this idempotency_key, and the file has',
    'been changed since, so that nobody can tell whether that request was carried out; nothing was done now.',
    'Read the file, and send what is still missing with a new key.'
  ),
  damaged: sentences(
    'What was recorded of the first request with this idempotency_key is damaged, so that nobody can tell whether that',
    'request was carried out; nothing was done now. Read the file, and send what is still missing with a new key.'
  )
}

export const HISTORY_FAILURES: Descriptions<Extract<Failure, { code: HistoryCode }>> = {
  IDEMPOTENCY_KEY_REUSED: ({ reason }) => OF_KEY[reason],
  REQUEST_IN_FLIGHT: ({ retry_after }) => ({
    detail: sentences(
      'A request with this idempotency_key is still being carried out; nothing more was done.',
      `${sendAgain(retry_after)} It is then answered with what came of the first.`
    ),
    headers: retryAfter(retry_after)
  }),
  ...TAKE_BACK_FAILURES,
  CURSOR_GONE: (_failure, { naming }) =>
    sentences(
      'What was changed after this cursor is no longer kept in full.',
      'To go on, leave the cursor out (after, or the header Last-Event-ID)' +
        (naming.history === undefined ? '.' : `; then ask ${naming.history} what was changed before that.`)
    ),
  HISTORY_GONE: (failure, { naming }) => {
    if (failure.reason === 'swept') return sweptEdits(failure)
    if ('edit_ids' in failure) {
      const { edit_ids } = failure
      return {
        detail: noTexts(failure),
        ...(edit_ids.length > 0 && { members: { edit_ids: edit_ids.slice(0, MAX_EDIT_IDS) } })
      }
    }
    return 'keyed' in failure
      ? sentences(
          'This server keeps no history (--history off), so it could not tell whether this idempotency_key was used',
          'before; nothing was done.',
          naming.takes('expected_hash')
            ? 'Leave the key out; with expected_hash, an edit that is sent again is refused instead of made twice.'
            : 'Leave the key out.'
        )
      : 'This server keeps no history (--history off), so no change can be listed or taken back.'
  }
}
