// Which scope a call needs, and which edits belong to its token. Knows neither tokens nor sentences. Without a subject
// there is no access file, and nothing is refused here.
import { reaches, type Scope } from '../../schemas/access.ts'
import type { Selection } from '../engine/undo/change.ts'
import { fail, type Result } from '../result.ts'
import type { ChangeOptions, ChangeRecord } from '../workspace/api.ts'
import type { Callable, ForbiddenScope, Subject } from './operation.ts'

/** What is known about a call before anything is looked up. */
type CallKind = Pick<Callable, 'effect' | 'needs'>

/** The scope that a request needs. A dry run counts as a read, since it changes nothing. */
export function scopeNeededBy({ effect, needs = 'edit' }: CallKind, { dry_run }: { dry_run?: boolean }): Scope {
  return effect === 'looks' || effect === 'computes' || dry_run === true ? 'read' : needs
}

/** Why this token may not send this request; null if it may. */
export function refusalOfCall(
  operation: CallKind,
  request: { dry_run?: boolean },
  subject: Subject | undefined
): ForbiddenScope | null {
  return refusal(subject, scopeNeededBy(operation, request), 'operation')
}

/** Why this token may not delete a file or move it away; null if it may. */
export const refusalToDelete = (subject: Subject | undefined): ForbiddenScope | null =>
  refusal(subject, 'review', 'delete')

/** Whether a change may remove files: with a token, its scope decides and not the server's setting. */
export const mayDelete = (subject: Subject | undefined): Pick<ChangeOptions<unknown>, 'may_delete'> =>
  subject === undefined ? {} : { may_delete: reaches(subject.scope, 'review') }

/** The name of the token, if it may undo only what was made with it. */
export const onlyOwnOf = (subject: Subject | undefined): { token?: string } =>
  subject === undefined || reaches(subject.scope, 'review') ? {} : { token: subject.name }

type MadeRecord = Pick<ChangeRecord, 'edit_id' | 'token' | 'toggles'>

/** Fails if one of these records wasn't made with this token; a record made without any token counts as another's. */
export function othersIn(
  records: readonly Pick<MadeRecord, 'token'>[],
  subject: Subject | undefined
): Result<never, ForbiddenScope> | null {
  const { token } = onlyOwnOf(subject)
  const isOthers = token !== undefined && records.some(record => record.token !== token)
  const refused = isOthers ? refusal(subject, 'review', 'others_edits') : null
  return refused && fail(refused)
}

/**
 * Fails if toggling these edits would undo another's work: one of the edits is another's, or another undid what would
 * be redone. `records`: all records of the file, oldest first.
 */
export function othersAmong(
  toggled: readonly Selection[],
  records: readonly MadeRecord[],
  subject: Subject | undefined
): Result<never, ForbiddenScope> | null {
  const { token } = onlyOwnOf(subject)
  if (token === undefined) return null
  const known = new Map(records.map(record => [record.edit_id, record]))
  const made = toggled.map(({ edit_id }) => known.get(edit_id) ?? {})
  const undoers = toggled.flatMap(selection => undoersOf(selection, records))
  return othersIn([...made, ...undoers], subject)
}

/** The records that last toggled the undone changes of an edit. */
function undoersOf({ edit_id, change_indexes }: Selection, records: readonly MadeRecord[]): MadeRecord[] {
  const of = records.flatMap(by =>
    (by.toggles ?? []).filter(toggle => toggle.edit_id === edit_id).map(toggle => ({ by, only: toggle.change_indexes }))
  )
  // Changes that no record names one by one were toggled only with the whole edit.
  const indexes = change_indexes ?? [...new Set(of.flatMap(({ only = [] }) => only)), null]
  return indexes.flatMap(index => {
    const by = of.filter(({ only }) => only === undefined || (index !== null && only.includes(index)))
    return by.length % 2 === 1 ? [by.at(-1)!.by] : []
  })
}

function refusal(subject: Subject | undefined, needs: Scope, what: ForbiddenScope['for']): ForbiddenScope | null {
  if (subject === undefined || subject.scope === 'review' || reaches(subject.scope, needs)) return null
  return { code: 'FORBIDDEN_SCOPE', needs, has: subject.scope, for: what }
}
