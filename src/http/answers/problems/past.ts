// Why something that needs the history can't be done: answering a repeated request, continuing from a cursor, undo or
// redo. Conflicts with later changes are in undo-conflict.ts.
import type { Problem, SuggestedFix } from '../../../../schemas/problem.ts'
import { MAX_EDIT_IDS } from '../../../../schemas/undo.ts'
import type { EditSwept, LastEdit, SweptSelector, TextsGone } from '../../../operations/operation.ts'
import type { Failure } from '../../request-failure.ts'
import { type CallSyntax, pathShown } from '../call-names.ts'
import { editsNamed, NAMED } from '../history-outcome.ts'
import { capital, counted, cut, listed, NOTHING_WRITTEN, quote, sentences } from '../phrases.ts'
import { type ProblemEntries, type FailureOf, type ProblemParts, retryAfter, sendAgain } from './entry.ts'
import { CAN_T, conflictsOf, UNDO_CONFLICT } from './undo-conflict.ts'

export const PAST = {
  IDEMPOTENCY_KEY_REUSED: {
    kind: [422, 'Idempotency key was used before', 'change_request'],
    detail: ({ reason }) => OF_KEY[reason],
    example: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'another_request' }
  },
  REQUEST_IN_FLIGHT: {
    kind: [409, 'Request is still running', 'after_delay'],
    detail: ({ retry_after }) => ({
      detail: sentences(
        'A request with this idempotency_key is still being carried out; nothing more was done.',
        `${sendAgain(retry_after)} Its answer is then that of the first.`
      ),
      headers: retryAfter(retry_after)
    }),
    example: { code: 'REQUEST_IN_FLIGHT', retry_after: 1 }
  },
  HISTORY_GONE: {
    kind: [410, 'No history', 'change_request'],
    detail: (failure, { naming }) => {
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
    },
    example: { code: 'HISTORY_GONE', reason: 'off', keyed: true }
  },
  CURSOR_GONE: {
    kind: [410, 'Cursor is too old', 'change_request'],
    detail: (_failure, { naming }) =>
      sentences(
        'What was changed after this cursor is no longer kept in full.',
        'To go on, leave the cursor out (after, or the header Last-Event-ID)' +
          (naming.history === undefined ? '.' : `; then ask ${naming.history} what was changed before that.`)
      ),
    example: { code: 'CURSOR_GONE' }
  },
  UNDO_CONFLICT,
  NOTHING_TO_UNDO: {
    kind: [422, 'Nothing to undo', 'change_request'],
    about: 'read_file',
    detail: (failure, { naming }) => ({
      detail: sentences(whyNothing(failure, naming), NOTHING_WRITTEN),
      members: {
        ...(failure.edit_ids.length > 0 && { edit_ids: failure.edit_ids.slice(0, MAX_EDIT_IDS) }),
        ...('oldest_kept_at' in failure &&
          failure.oldest_kept_at !== undefined && { oldest_kept_at: timeOf(failure.oldest_kept_at) }),
        ...(failure.conflicts !== undefined && conflictsOf({ ...failure, conflicts: failure.conflicts })),
        ...nextCall(failure, naming)
      }
    }),
    example: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: ['01KASMCX2G0000000000000000'], reason: 'done_already' }
  }
} satisfies Partial<ProblemEntries>

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
    'been changed since, so nobody can tell whether that request was carried out; nothing was done now.',
    'Read the file, and send what is still missing with a new key.'
  ),
  damaged: sentences(
    'What was recorded of the first request with this idempotency_key is damaged, so nobody can tell whether that',
    'request was carried out; nothing was done now. Read the file, and send what is still missing with a new key.'
  )
}

const BY_AN_EDIT = 'To get the text that you want, edit the file instead.'

/** What can't be done because texts are missing, and what can still be done. */
function noTexts({ reason, edit_ids, goal, unrecorded }: TextsGone): string {
  const known = reason === 'no_texts' ? 'not kept, or not any more' : undefined
  if (goal === undefined) {
    return sentences(
      known === undefined
        ? `What is recorded of ${editsNamed(edit_ids)} does not fit the file as it is, so it is not known what to put back.`
        : `The texts of ${editsNamed(edit_ids)} are ${known}, so it is not known what to put back.`,
      NOTHING_WRITTEN,
      BY_AN_EDIT
    )
  }
  const { to } = goal
  const can_t = whatCan_t(to, editsNamed(goal.edit_ids), goal.edit_ids.length > 0)
  const others = editsNamed(edit_ids)
  const gap = 'the file was changed since by another program, or by a server without a history, and it is not known how'
  const misfit = `what is recorded of ${others} does not fit the file as it is`
  const why = [
    ...(edit_ids.length === 0
      ? []
      : [known === undefined ? misfit : `that needs the texts of ${others}, which are ${known}`]),
    ...(unrecorded === true ? [gap] : [])
  ]
  if (to === 'pending' || to === 'blame') return `${can_t}: ${why.join('; and ')}.`
  const last = edit_ids.at(-1)
  const from =
    last === undefined || unrecorded === true ? 'Only what was edited after that' : `Only what was edited after ${last}`
  return sentences(
    `${can_t}: ${why.join('; and ')}.`,
    NOTHING_WRITTEN,
    known === undefined ? '' : `${from} can be taken back.`,
    BY_AN_EDIT
  )
}

type Goal = NonNullable<TextsGone['goal']>

/** What can't be done. `what`: the edits in question; `hasEdits`: whether there are any. */
function whatCan_t(to: Goal['to'], what: string, hasEdits: boolean): string {
  switch (to) {
    case 'state_after':
      return `The state after ${what} can't be brought back`
    case 'pending':
      return "What is pending can't be shown line by line"
    case 'blame':
      return `Who wrote the lines${hasEdits ? `, as they were after ${what},` : ''} can't be told`
    default:
      return `${capital(what)} ${CAN_T[to]}`
  }
}

/** The problem of edits that were removed because they were too old or too many. */
function sweptEdits({ edit_ids, of, to, oldest_kept_at }: EditSwept): ProblemParts {
  const isToChange = to === 'undo' || to === 'redo'
  return {
    detail: sentences(
      of === undefined ? `${capitalEdits(edit_ids)} ${are(edit_ids)} not kept any more.` : noneKept(of),
      reach(oldest_kept_at),
      to === 'blame' ? '' : NOTHING_WRITTEN,
      isToChange ? BY_AN_EDIT : ''
    ),
    members: {
      ...(edit_ids.length > 0 && { edit_ids: edit_ids.slice(0, MAX_EDIT_IDS) }),
      ...(oldest_kept_at !== undefined && { oldest_kept_at: timeOf(oldest_kept_at) })
    }
  }
}

/** Says that no matching edit is kept. Only for a batch is it known that it had edits. */
function noneKept({ selector, name }: SweptSelector): string {
  if (selector === 'batch_id') return `No edit of batch ${name} is kept any more.`
  const whose = {
    session: () => `of session ${quote(name ?? '', 200)}`,
    agent: () => `of agent ${quote(name ?? '', 200)}`,
    path: () => 'of this file',
    under: () => 'below this folder',
    caller: () => `of yours (${name === undefined ? 'a caller who gave no name' : JSON.stringify(name)})`
  }[selector]()
  return `The history has no edit ${whose}; if there was one, it is not kept any more.`
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

const reach = (oldest_kept_at?: number): string =>
  oldest_kept_at === undefined ? 'The history is empty.' : `The history goes back to ${timeOf(oldest_kept_at)}.`

/** Why there is nothing to undo or redo, in words. */
function whyNothing(failure: FailureOf<'NOTHING_TO_UNDO'>, naming: CallSyntax): string {
  const { verb, edit_ids } = failure
  const [id = ''] = edit_ids
  switch (failure.reason) {
    case 'unknown': {
      return sentences(
        `There is no edit ${listed(edit_ids.slice(0, 10), 'or')}.`,
        reach(failure.oldest_kept_at),
        editsListed(naming)
      )
    }
    case 'not_of_file':
      return sentences(
        `The file has no edit ${listed(edit_ids)}.`,
        naming.history === undefined ? '' : `${naming.history} with its path lists those that it has.`
      )
    case 'file_removed':
      return sentences(
        `The file is not there: undo ${id} took back its creation.`,
        redoWith(naming, 'To bring it back', ` with edit_id ${id}`)
      )
    case 'done_already':
      return verb === 'undo'
        ? sentences(
            `${capitalEdits(edit_ids)} ${are(edit_ids)} undone already.`,
            redoWith(naming, `To make ${it(edit_ids)} again`)
          )
        : `${capitalEdits(edit_ids)} ${are(edit_ids)} applied: there is nothing to make again.`
    case 'half_of_move':
      return sentences(
        `Edit ${id} is half of a move, and the other half is not in the history that you see.`,
        `A move is ${verb === 'undo' ? 'taken back' : 'made again'} whole, or not at all.`
      )
    case 'is_undo':
      return sentences(
        `${failure.batch_id === undefined ? id : `Batch ${failure.batch_id}`} is an undo of ${editsNamed(failure.undoes)}.`,
        redoWith(naming, `To make ${it(failure.undoes)} again`, ` with ${wayOf(failure)}`)
      )
    case 'none':
      return sentences(
        verb === 'undo' ? 'No matching edit is left to take back.' : 'No matching edit is known.',
        editsListed(naming)
      )
    case 'none_of_caller': {
      const { token, agent = token } = failure
      const who = agent === undefined ? 'a caller who gave no name' : JSON.stringify(agent)
      return sentences(
        `No ${verb === 'undo' ? 'edit' : 'undo'} of yours (${who}) is left to ${verb === 'undo' ? 'take back' : 'make again'}.`,
        naming.history === undefined ? '' : `Send the edit_id of the one that you mean; ${naming.history} lists them.`
      )
    }
    case 'several_clients': {
      const [did, what] = verb === 'undo' ? ['edited', 'edit'] : ['took edits back', 'undo']
      const call = naming[failure.verb]
      return sentences(
        `Several clients ${did} ${failure.token === undefined ? 'here' : 'with this token'} within the last hour, and ` +
          `this call names no agent or session: it is not known whose last ${what} is meant.`,
        `The last ${what}s: ${failure.last.map(edit => lastEdit(edit, naming)).join('; ')}.`,
        call === undefined ? '' : `Call ${call} with the edit_ids of the one that you mean.`
      )
    }
    case 'same_result': {
      const call = naming[failure.verb]
      return sentences(
        'Several edits that are applied have left a text with this hash, so it is not known which one is meant:',
        `${failure.last.map(edit => lastEdit(edit, naming)).join('; ')}.`,
        call === undefined ? '' : `Call ${call} with the edit_ids of the one that you mean.`
      )
    }
    case 'same_state':
      return 'The file has that content already.'
    case 'all_in_conflict': {
      const done = verb === 'undo' ? 'taken back' : 'made again'
      return sentences(
        `Later changes stand in the way of all that was to be ${done}.`,
        'Send the same request without on_conflict: its answer has the calls to send next.'
      )
    }
  }
}

/** One of the last edits: its ids, and what it changed. */
function lastEdit(
  { edit_ids, path, lines_added, lines_removed, is_own, change }: LastEdit,
  naming: CallSyntax
): string {
  const where = cut(pathShown(naming, path), 200)
  const more = edit_ids.length === 1 ? '' : ` and ${counted(edit_ids.length - 1, 'more file')}`
  const what =
    change === null
      ? `+${lines_added} −${lines_removed} lines`
      : `line ${change.line}, ${quote(change.removed, SHOWN)} became ${quote(change.added, SHOWN)}`
  return `${idsOf(edit_ids)} (${where}${more}: ${what}; ${is_own ? 'by this client' : 'by another client'})`
}

/** The most UTF-16 units shown of a text that an edit removed or added. */
const SHOWN = 40

const idsOf = (edit_ids: readonly string[]): string =>
  edit_ids.length <= NAMED ? edit_ids.join(', ') : `${edit_ids[0]} and ${counted(edit_ids.length - 1, 'more edit')}`

const editsListed = ({ history }: CallSyntax): string => (history === undefined ? '' : `${history} lists the edits.`)

const redoWith = ({ redo }: CallSyntax, to: string, what = ''): string =>
  redo === undefined ? '' : `${to}, call ${redo}${what}.`

/** How to identify an undo to /redo. */
const wayOf = ({ edit_ids: [id], batch_id }: { edit_ids: readonly string[]; batch_id?: string }): string =>
  batch_id === undefined ? `edit_id ${id}` : `batch_id ${batch_id}`

const are = (ids: readonly string[]): string => (ids.length === 1 ? 'is' : 'are')

const it = (ids: readonly string[]): string => (ids.length === 1 ? 'it' : 'them')

const capitalEdits = (ids: readonly string[]): string =>
  ids.length > NAMED ? `All ${counted(ids.length, 'edit')}` : capital(editsNamed(ids))

/** The call that does what was probably meant, if there is one. */
function nextCall(failure: FailureOf<'NOTHING_TO_UNDO'>, naming: CallSyntax): Partial<Problem> {
  if ('last' in failure) return { suggested_fixes: callsFor(failure, naming) }
  const [edit_id, ...others] = failure.edit_ids
  const batch_id = 'batch_id' in failure ? failure.batch_id : undefined
  const meant = batch_id !== undefined ? { batch_id } : edit_id !== undefined && others.length === 0 && { edit_id }
  if (
    meant === false ||
    naming.redo === undefined ||
    failure.verb === 'redo' ||
    !['is_undo', 'done_already', 'file_removed'].includes(failure.reason)
  ) {
    return {}
  }
  const what = { is_undo: 'what it took back', file_removed: 'the file' }[failure.reason as string] ?? 'it'
  const suggestion = `If you want ${what} again, send this call.`
  return { suggested_fixes: [{ type: 'USE_REDO', suggestion, call: { name: naming.redo, arguments: meant } }] }
}

/**
 * For each edit the call that undoes it; for each undo the call that redoes what it undid. Omits calls that can't be
 * sent.
 */
function callsFor(
  { verb, last }: Extract<FailureOf<'NOTHING_TO_UNDO'>, { last: readonly LastEdit[] }>,
  { [verb]: name }: CallSyntax
): SuggestedFix[] {
  const [type, what] = verb === 'undo' ? (['USE_UNDO', 'edit'] as const) : (['USE_REDO', 'undo'] as const)
  return last.flatMap(({ edit_ids, is_own }) => {
    if (name === undefined || edit_ids.length > MAX_EDIT_IDS) return []
    const suggestion = `If you mean this ${what}, by ${is_own ? 'this' : 'another'} client, send this call.`
    return [{ type, suggestion, call: { name, arguments: { edit_ids: [...edit_ids] } } }]
  })
}
