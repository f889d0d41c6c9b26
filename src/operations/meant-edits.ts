// Finds the edits that a request names by id and, for an undo or redo, the files they are in. Does not know what is
// done with them.
import { MAX_FOLDER_FILES } from '../../schemas/delete.ts'
import { editIdsOf, type Selection } from '../engine/undo/change.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Author, EditRecord, FileHistory, HistoryQuery, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import type {
  EditsVerb,
  EditSwept,
  FieldFault,
  FixedFault,
  HistoryFailure,
  OperationFailure,
  SweptSelector
} from './operation.ts'
import { findByIds, pathOf } from './past-edits.ts'
import type { Chosen, FileToUndo } from './undo-file.ts'

export type MeantFailure = HistoryFailure | OperationFailure | FileFailure

/** How many files one request may change: those of a folder that was moved, by both of their paths. */
const MAX_FILES = 2 * MAX_FOLDER_FILES

/** The named edits; HISTORY_GONE if one isn't kept any more, NOTHING_TO_UNDO if one isn't known. */
export async function namedEdits(
  workspace: Workspace,
  verb: EditsVerb,
  named: readonly Selection[]
): Promise<Result<PastEdit[], HistoryFailure | FileFailure>> {
  const ids = named.map(({ edit_id }) => edit_id)
  const found = await findByIds(workspace, ids)
  if (!found.ok) return found
  const { edits, swept, unknown: edit_ids, oldest_kept_at } = found.value
  if (swept.length > 0) {
    return fail({ code: 'HISTORY_GONE', reason: 'swept', edit_ids: swept, to: verb, oldest_kept_at })
  }
  if (edit_ids.length === 0) return ok(edits)
  return fail({ code: 'NOTHING_TO_UNDO', verb, reason: 'unknown', edit_ids, oldest_kept_at })
}

/** Why a file seems not to have this edit: HISTORY_GONE if it isn't kept any more; else null. */
export async function sweptEdit(
  workspace: Workspace,
  edit_id: string,
  to: EditSwept['to']
): Promise<{ ok: false; failure: EditSwept | FileFailure } | null> {
  const found = await findByIds(workspace, [edit_id])
  if (!found.ok) return found
  const { swept, oldest_kept_at } = found.value
  if (swept.length === 0) return null
  return fail({ code: 'HISTORY_GONE', reason: 'swept', edit_ids: swept, to, oldest_kept_at })
}

/**
 * HISTORY_GONE if the history has none of the requested edits, and has removed edits that may have been among them;
 * else null.
 */
export async function allSwept(
  workspace: Workspace,
  query: Omit<HistoryQuery, 'limit'>,
  of: SweptSelector,
  to: EditsVerb
): Promise<{ ok: false; failure: EditSwept | FileFailure } | null> {
  const found = await workspace.history({ ...query, limit: 1 })
  if (!found.ok) return found
  const { edits, oldest_kept_at } = found.value
  if (edits.length > 0) return null
  const swept = await workspace.hasSwept(of.selector === 'batch_id' ? of.name : undefined)
  if (!swept.ok) return swept
  if (!swept.value) return null
  return fail({ code: 'HISTORY_GONE', reason: 'swept', edit_ids: [], of, to, oldest_kept_at })
}

/** The selectors of a request that don't name edits. */
export const selectorsIn = (
  given: Partial<Record<Exclude<SweptSelector['selector'], 'caller'>, string | undefined>>
): Extract<SweptSelector, { selector: keyof typeof given }>[] =>
  (Object.keys(given) as (keyof typeof given)[]).flatMap(selector => {
    const name = given[selector]
    return name === undefined ? [] : [{ selector, name }]
  })

export function callerOf({ token, agent = token }: Author): SweptSelector {
  return { selector: 'caller', name: agent }
}

/** The selectors that name edits by their ids. */
interface IdSelectors {
  edit_id?: string
  change_indexes?: readonly number[]
  edit_ids?: readonly string[]
  changes?: readonly Selection[]
}

/** An edit that a request names, or some of its changes. `at`: JSON pointer to the change indexes. */
export interface NamedSelection extends Selection {
  at?: string
}

/** What a request names by ids; undefined if it has another selector, or none. */
export function namedIn({ edit_id, change_indexes, edit_ids, changes }: IdSelectors): NamedSelection[] | undefined {
  if (edit_id !== undefined) {
    return [{ edit_id, ...(change_indexes !== undefined && { change_indexes, at: '/change_indexes' }) }]
  }
  if (edit_ids !== undefined) return edit_ids.map(id => ({ edit_id: id }))
  return changes?.map((change, i) => ({ ...change, at: `/changes/${i}/change_indexes` }))
}

/** What is wrong with the selectors: only one may be given, and `change_indexes` only with one edit. */
export function selectorFault<Name extends string>(
  request: Partial<Record<Name | 'edit_id' | 'change_indexes', unknown>>,
  selectors: readonly Name[]
): { pointer: string; reason: FixedFault } | null {
  const [, second] = selectors.filter(name => request[name] !== undefined)
  if (second !== undefined) return { pointer: `/${second}`, reason: 'several_selectors' }
  if (request.change_indexes !== undefined && request.edit_id === undefined) {
    return { pointer: '/change_indexes', reason: 'needs_edit_id' }
  }
  return null
}

/**
 * An edit of one file that is meant, or some of its changes. `other_half`: if it is half of a move, the id of the other
 * half. `added`: the request means the other half, not this one.
 */
export interface Meant {
  path: string
  selection: NamedSelection
  other_half?: string
  added?: true
}

/**
 * What the named edits mean, given their records; a named undo or redo means the edits that it toggled. No changes can
 * be chosen from an undo or redo, since its changes come from several edits.
 */
export function meantBy(
  records: readonly EditRecord[],
  named: readonly NamedSelection[]
): Result<Meant[], OperationFailure> {
  const byId = new Map(records.map(record => [record.edit_id, record]))
  const meant: Meant[] = []
  for (const selection of named) {
    const record = byId.get(selection.edit_id)!
    if (selection.change_indexes === undefined) meant.push(...wholeEdits([record]))
    else if (record.toggles === undefined) meant.push({ path: pathOf(record), selection })
    else return fail({ code: 'INVALID_REQUEST', faults: [{ pointer: selection.at!, reason: 'changes_of_undo' }] })
  }
  return ok(meant)
}

/** All of these records; an undo or redo means everything that it toggled. */
export const wholeEdits = (records: readonly EditRecord[]): Meant[] =>
  records.flatMap(record => {
    const { edit_id, toggles = [{ edit_id }] } = record
    return toggles.map(selection => ({ path: pathOf(record), selection }))
  })

type GoalOf = (set: readonly Selection[]) => Chosen['goal']

/**
 * One entry per file; its selections are checked against its history under the lock. `expected_hash` belongs to the one
 * file that the request names.
 */
export function filesFor(
  meant: readonly Meant[],
  { expected_hash }: { expected_hash?: string },
  goalOf: GoalOf
): Result<FileToUndo[], MeantFailure> {
  const byPath = new Map<string, Meant[]>()
  for (const one of meant) {
    const others = byPath.get(one.path)
    if (others === undefined) byPath.set(one.path, [one])
    else others.push(one)
  }
  const named = new Set(meant.flatMap(({ path, added }) => (added === true ? [] : [path])))
  if (named.size > 1 && expected_hash !== undefined) {
    return fail({ code: 'INVALID_REQUEST', faults: [{ pointer: '/expected_hash', reason: 'several_files' }] })
  }
  if (byPath.size > MAX_FILES) {
    const fault = { pointer: '', reason: 'too_many_files', limit: MAX_FILES, actual: byPath.size } as const
    return fail({ code: 'INVALID_REQUEST', faults: [fault] })
  }
  return ok(
    [...byPath].map(([path, edits]) => ({
      ...fileFor(path, edits, goalOf),
      expected_hash: named.has(path) ? expected_hash : undefined
    }))
  )
}

function fileFor(path: string, meant: readonly Meant[], goalOf: GoalOf): FileToUndo {
  const set = meant.map(({ selection }) => selection)
  return {
    path,
    recorded: true,
    halves: new Map(
      meant.flatMap(({ selection, other_half }) => (other_half === undefined ? [] : [[selection.edit_id, other_half]]))
    ),
    choose: history => chosenFrom(history, set, goalOf(set.map(({ at: _, ...selection }) => selection))),
    without(edit_ids) {
      const rest = meant.filter(({ selection }) => !edit_ids.has(selection.edit_id))
      return rest.length === 0 ? null : { ...this, ...fileFor(path, rest, goalOf) }
    }
  }
}

/** The set, unless the texts of one of its edits aren't kept, or it names a change that the edit doesn't have. */
export function chosenFrom(
  { records }: Pick<FileHistory, 'records'>,
  set: readonly NamedSelection[],
  goal: Chosen['goal']
): Result<Chosen, HistoryFailure | OperationFailure> {
  const edit_ids = editIdsOf(set)
  const known = new Map(records.map(record => [record.edit_id, record]))
  const withoutTexts = edit_ids.filter(id => known.get(id)?.splices === null)
  if (withoutTexts.length > 0) return fail({ code: 'HISTORY_GONE', reason: 'no_texts', edit_ids: withoutTexts })
  for (const selection of set) {
    const fault = missingChange(selection, known.get(selection.edit_id)?.splices?.length)
    if (fault !== null) return fail({ code: 'INVALID_REQUEST', faults: [fault] })
  }
  return ok({ goal, edit_ids })
}

/** The first named change that the edit doesn't have; `total`: how many it has, undefined if unknown. */
export function missingChange(
  { change_indexes = [], at = '' }: NamedSelection,
  total: number | undefined
): (FieldFault & { reason: 'no_such_change' }) | null {
  const place = change_indexes.findIndex(index => total !== undefined && index >= total)
  if (total === undefined || place === -1) return null
  return { pointer: `${at}/${place}`, reason: 'no_such_change', index: change_indexes[place]!, total }
}
