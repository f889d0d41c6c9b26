// Why nothing was taken back or made again, and what to do next. Does not know statuses.
import type { ConflictOnWire, Problem, SuggestedFix } from '../../../../schemas/problem.ts'
import { MAX_EDIT_IDS } from '../../../../schemas/undo.ts'
import { editIdsOf } from '../../../engine/history/change.ts'
import type {
  ConflictAt,
  EditSwept,
  HistoryFailure,
  LastEdit,
  Removal,
  SweptSelector,
  TakeBackVerb,
  TextsGone
} from '../../../operations/operation.ts'
import { type CallSyntax, pathShown } from '../call-names.ts'
import { sentences, NOTHING_WRITTEN, capital, counted, cut, listed, quote, span } from '../phrases.ts'
import type { Descriptions, ProblemParts } from './entry.ts'
import { editsNamed, NAMED } from '../history-outcome.ts'

type Of<C extends HistoryFailure['code']> = Extract<HistoryFailure, { code: C }>

export const TAKE_BACK_FAILURES: Descriptions<Of<'UNDO_CONFLICT' | 'NOTHING_TO_UNDO'>> = {
  UNDO_CONFLICT: (failure, { path, naming }) => ({
    detail: sentences(inTheWay(failure, naming), NOTHING_WRITTEN, waysOn(failure, naming)),
    members: { ...conflictsOf(failure), suggested_fixes: fixesOf(failure, path, naming) }
  }),
  NOTHING_TO_UNDO: (failure, { naming }) => ({
    detail: sentences(whyNothing(failure, naming), NOTHING_WRITTEN),
    members: {
      ...(failure.edit_ids.length > 0 && { edit_ids: failure.edit_ids.slice(0, MAX_EDIT_IDS) }),
      ...('oldest_kept_at' in failure &&
        failure.oldest_kept_at !== undefined && { oldest_kept_at: timeOf(failure.oldest_kept_at) }),
      ...(failure.conflicts !== undefined && conflictsOf({ ...failure, conflicts: failure.conflicts })),
      ...nextCall(failure, naming)
    }
  })
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

const reach = (oldest_kept_at?: number): string =>
  oldest_kept_at === undefined ? 'The history is empty.' : `The history goes back to ${timeOf(oldest_kept_at)}.`

/** What an undo does, and what a redo does. */
const CAN_T: Record<TakeBackVerb, string> = { undo: "can't be taken back", redo: "can't be made again" }

/** The first conflict in words, and how many there are. */
export function inTheWay({ verb, conflicts, more_conflicts = 0 }: Of<'UNDO_CONFLICT'>, naming: CallSyntax): string {
  const [first] = conflicts
  if (first === undefined) return `The edits ${CAN_T[verb]}.`
  const count = conflicts.length + more_conflicts
  const more = count === 1 ? '' : ` There are ${count} conflicts in all.`
  return `Edit ${first.edit_id} ${CAN_T[verb]}: ${whatStands(first, naming)}.${more}`
}

function whatStands(conflict: ConflictAt, naming: CallSyntax): string {
  const { kind, by, path: named, start_line, end_line, replaced, removal } = conflict
  const path = cut(pathShown(naming, named), 200)
  if (replaced === true) {
    return `it changed an earlier ${path}, which another file has replaced since`
  }
  const where = `${end_line < start_line ? `line ${start_line}` : span([start_line, end_line])} of ${path}`
  const later = by === undefined ? 'another program' : `the later edit ${by}`
  switch (kind) {
    case 'overlap':
      return `${later} changed the same text (${where})`
    case 'same_line':
      return `${later} changed the same line (${where})`
    case 'outside':
      return `another program changed the same text since (${by === undefined ? '' : `${by}, `}${where})`
    case 'removed':
      return removal === undefined ? `${path} is gone` : `${path} is gone: ${howRemoved(by!, removal, naming)}`
  }
}

/** What removed a file, as a sentence without its period. */
export function howRemoved(
  by: string,
  { operation, moved_to }: Pick<Removal, 'operation' | 'moved_to'>,
  naming: CallSyntax
): string {
  const to = moved_to === undefined ? '' : cut(pathShown(naming, moved_to), 200)
  if (operation === 'undo') return `undo ${by} ${to === '' ? 'removed it' : `moved it back to ${to}`}`
  const did = to === '' ? 'deleted it' : `moved it to ${to}`
  return `${operation} ${by} ${did}${operation === 'redo' ? ' again' : ''}`
}

/** The call that brings the first file back that is gone, if it is known how and the caller can send it. */
export function bringingBack(
  { conflicts }: Of<'UNDO_CONFLICT'>,
  naming: CallSyntax
): { verb: TakeBackVerb; name: string; arguments: Record<string, unknown> } | undefined {
  const back = conflicts.find(({ removal }) => removal !== undefined)?.removal?.back
  const name = back && naming[back.verb]
  if (back === undefined || name === undefined) return undefined
  const { verb, edit_id } = back
  // The definition of the tool that undoes has no edit_id.
  return { verb, name, arguments: verb === 'undo' ? { edit_ids: [edit_id] } : { edit_id } }
}

/**
 * The later edits that can be taken back with those of an undo, and the arguments of the call that does it; undefined:
 * none can, or they are more than a request takes.
 */
export function withLater({
  edit_ids,
  together = []
}: Of<'UNDO_CONFLICT'>): { later: string[]; selector: object } | undefined {
  if (together.length === 0 || together.length > MAX_EDIT_IDS) return undefined
  const later = editIdsOf(together).filter(id => !edit_ids.includes(id))
  const isWhole = together.every(({ change_indexes }) => change_indexes === undefined)
  return { later, selector: isWhole ? { edit_ids: editIdsOf(together) } : { changes: together } }
}

function waysOn(failure: Of<'UNDO_CONFLICT'>, naming: CallSyntax): string {
  const { verb, conflicts } = failure
  const later = withLater(failure)?.later ?? []
  const others = later.length === 0 ? '' : `take back ${editsNamed(later)} too`
  const skip = verb === 'undo' ? ', or send on_conflict "skip" to leave what is in conflict' : ''
  if (conflicts.some(({ replaced }) => replaced)) {
    return others === ''
      ? `Change the file as it is now, with ${naming.edit}${skip}.`
      : `If that is what you mean, ${others}${skip}. suggested_fixes has the call.`
  }
  const back = bringingBack(failure, naming)
  if (back !== undefined) {
    return `To bring the file back first, call ${back.name} with ${JSON.stringify(back.arguments)}.`
  }
  if (conflicts.some(({ kind }) => kind === 'removed')) {
    return conflicts.some(({ removal }) => removal !== undefined)
      ? ''
      : `If the file should be there, make it again with ${naming.create}.`
  }
  if (verb === 'redo') return `Edit the lines in question with ${naming.edit}, as suggested_fixes has it.`
  const first = others === '' ? 'edit the lines in question' : others
  return `If that is what you mean, ${first}${skip}. suggested_fixes has the calls.`
}

/** The edits that put back, or in, the text of a conflict; each once. */
export const restoringEdits = (
  conflicts: readonly ConflictAt[]
): { path: string; edit: NonNullable<ConflictAt['restores']>; start_line: number }[] => {
  const seen = new Set<string>()
  return conflicts.flatMap(({ path, restores: edit, start_line }) => {
    const key = JSON.stringify([path, edit])
    if (edit === undefined || seen.has(key)) return []
    seen.add(key)
    return [{ path, edit, start_line }]
  })
}

function fixesOf(failure: Of<'UNDO_CONFLICT'>, path: string, naming: CallSyntax): SuggestedFix[] {
  const { verb, conflicts } = failure
  const fixes: SuggestedFix[] = []
  const back = bringingBack(failure, naming)
  if (back !== undefined) {
    fixes.push({
      type: back.verb === 'undo' ? 'USE_UNDO' : 'USE_REDO',
      suggestion: 'Bring the file back, then send this request again.',
      call: { name: back.name, arguments: back.arguments }
    })
  }
  const all = withLater(failure)
  if (all !== undefined && naming.undo !== undefined) {
    fixes.push({
      type: 'UNDO_LATER_TOO',
      suggestion: `Take back the later ${all.later.length === 1 ? 'edit' : 'edits'} too: this call is ready to send.`,
      call: { name: naming.undo, arguments: all.selector }
    })
  }
  for (const { path: where, edit, start_line } of restoringEdits(conflicts)) {
    const by = 'old_text' in edit ? naming.edit : naming.edit_lines
    if (where !== path || by === undefined) continue
    fixes.push({
      type: 'RESTORE_TEXT',
      suggestion:
        `Give line ${start_line} the text that it would have ${verb === 'undo' ? 'without' : 'with'} these edits: ` +
        `this edit for ${by} is ready to send. ` +
        'It changes what the later edit wrote.',
      edit
    })
  }
  return fixes
}

function conflictsOf({
  conflicts,
  more_conflicts = 0
}: Pick<Of<'UNDO_CONFLICT'>, 'conflicts' | 'more_conflicts'>): Partial<Problem> {
  return {
    conflicts: conflicts.map(onWire),
    ...(more_conflicts > 0 && { more_conflicts })
  }
}

function onWire({
  path,
  edit_id,
  change_index,
  by,
  kind,
  start_line,
  end_line,
  current_text,
  would_restore,
  lossy
}: ConflictAt): ConflictOnWire {
  const at = { path, edit_id, change_index, by, kind }
  if (kind === 'removed') return at
  return { ...at, start_line, end_line, current_text, would_restore, lossy }
}

/** Why there is nothing to do, in words. */
function whyNothing(failure: Of<'NOTHING_TO_UNDO'>, naming: CallSyntax): string {
  const { verb, edit_ids } = failure
  const [id = ''] = edit_ids
  switch (failure.reason) {
    case 'unknown': {
      return sentences(
        `There is no ${edit_ids.length === 1 ? 'edit' : 'such edit'} ${listed(edit_ids.slice(0, 10), 'or')}.`,
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
        : `${capitalEdits(edit_ids)} ${edit_ids.length === 1 ? 'stands' : 'stand'}: there is nothing to make again.`
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
        verb === 'undo' ? `No edit of yours (${who}) stands.` : `No undo of yours (${who}) is left to make again.`,
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
    case 'same_state':
      return 'The file has that content already.'
    case 'all_in_conflict': {
      const done = verb === 'undo' ? 'taken back' : 'made again'
      return sentences(
        `Later changes stand in the way of all that was to be ${done}.`,
        'Send the same without on_conflict to get the calls that go on.'
      )
    }
  }
}

/** One of the last edits: the arguments that take it back, and what it changed. */
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

/** Characters of a text that an edit removed or added. */
const SHOWN = 40

const idsOf = (edit_ids: readonly string[]): string =>
  edit_ids.length <= NAMED ? edit_ids.join(', ') : `${edit_ids[0]} and ${counted(edit_ids.length - 1, 'more edit')}`

const editsListed = ({ history }: CallSyntax): string => (history === undefined ? '' : `${history} lists the edits.`)

const redoWith = ({ redo }: CallSyntax, to: string, what = ''): string =>
  redo === undefined ? '' : `${to}, call ${redo}${what}.`

/** How /redo is told what an undo was. */
const wayOf = ({ edit_ids: [id], batch_id }: { edit_ids: readonly string[]; batch_id?: string }): string =>
  batch_id === undefined ? `edit_id ${id}` : `batch_id ${batch_id}`

const are = (ids: readonly string[]): string => (ids.length === 1 ? 'is' : 'are')
const it = (ids: readonly string[]): string => (ids.length === 1 ? 'it' : 'them')
const capitalEdits = (ids: readonly string[]): string =>
  ids.length > NAMED ? `All ${counted(ids.length, 'edit')}` : capital(editsNamed(ids))

/** The call that does what was meant, if there is one. */
function nextCall(failure: Of<'NOTHING_TO_UNDO'>, naming: CallSyntax): Partial<Problem> {
  if (failure.reason === 'several_clients') return { suggested_fixes: callsFor(failure, naming) }
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

/** For each edit the call that takes it back or, of an undo, that makes again what it took back; if it can be sent. */
function callsFor(
  { verb, last }: Extract<Of<'NOTHING_TO_UNDO'>, { reason: 'several_clients' }>,
  { [verb]: name }: CallSyntax
): SuggestedFix[] {
  const [type, what] = verb === 'undo' ? (['USE_UNDO', 'edit'] as const) : (['USE_REDO', 'undo'] as const)
  return last.flatMap(({ edit_ids, is_own }) => {
    if (name === undefined || edit_ids.length > MAX_EDIT_IDS) return []
    const suggestion = `If you mean this ${what}, by ${is_own ? 'this' : 'another'} client, send this call.`
    return [{ type, suggestion, call: { name, arguments: { edit_ids: [...edit_ids] } } }]
  })
}

const BY_AN_EDIT = 'change the file by an edit instead.'

/** Of what texts are missing for, and what can be done all the same. */
export function noTexts({ reason, edit_ids, asked, unrecorded }: TextsGone): string {
  const known = reason === 'no_texts' ? 'not kept, or not any more' : undefined
  if (asked === undefined) {
    return sentences(
      known === undefined
        ? `What is recorded of ${editsNamed(edit_ids)} does not fit the file as it is, so it is not known what to put back.`
        : `The texts of ${editsNamed(edit_ids)} are ${known}, so it is not known what to put back.`,
      NOTHING_WRITTEN,
      `C${BY_AN_EDIT.slice(1)}`
    )
  }
  const { to } = asked
  const can_t = whatCan_t(to, editsNamed(asked.edit_ids), asked.edit_ids.length > 0)
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
    `For what was before, ${BY_AN_EDIT}`
  )
}

type Asked = NonNullable<TextsGone['asked']>

/** What can't be done: with `what`, the edits in question, if there are any. */
function whatCan_t(to: Asked['to'], what: string, hasEdits: boolean): string {
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

/** What is said of edits that were removed as they were too old, or too many. */
export function sweptEdits({ edit_ids, of, to, oldest_kept_at }: EditSwept): ProblemParts {
  const isToChange = to === 'undo' || to === 'redo'
  return {
    detail: sentences(
      of === undefined ? `${capitalEdits(edit_ids)} ${are(edit_ids)} not kept any more.` : noneKept(of),
      reach(oldest_kept_at),
      to === 'blame' ? '' : NOTHING_WRITTEN,
      isToChange ? `For what was before, ${BY_AN_EDIT}` : ''
    ),
    members: {
      ...(edit_ids.length > 0 && { edit_ids: edit_ids.slice(0, MAX_EDIT_IDS) }),
      ...(oldest_kept_at !== undefined && { oldest_kept_at: timeOf(oldest_kept_at) })
    }
  }
}

/** Only a batch is known to have had edits. */
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

/** A link where a file was. */
export const linkNow = (leads_to: string, shown: string): ProblemParts => ({
  detail: sentences(
    `${shown} is now, or lies behind, a symbolic link to ${cut(leads_to, 200)}; ` +
      'the edit was made to the file that was there.',
    NOTHING_WRITTEN,
    'Put the file back in its place, or change it by an edit.'
  )
})
