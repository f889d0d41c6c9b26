// Why edits can't be undone or redone: later changes conflict. Shows the first conflict, and the calls that resolve it.
import type { ConflictOnWire, Problem, SuggestedFix } from '../../../../schemas/problem.ts'
import { MAX_EDIT_IDS } from '../../../../schemas/undo.ts'
import { editIdsOf } from '../../../engine/undo/change.ts'
import type { ConflictAt, Removal, Removals, UndoVerb } from '../../../operations/operation.ts'
import { type Brief, CALLS_LENGTH, type FailedCall, toRead } from '../brief/call.ts'
import { BY_TOOL, type CallSyntax, pathShown, using } from '../call-names.ts'
import { editsNamed } from '../history-outcome.ts'
import { cut, listed, NOTHING_WRITTEN, sentences, span } from '../phrases.ts'
import type { ProblemEntry, FailureOf } from './entry.ts'

export const UNDO_CONFLICT: ProblemEntry<FailureOf<'UNDO_CONFLICT'>> = {
  kind: [409, 'Later changes stand in the way', 'change_request'],
  about: 'read_file',
  detail: (failure, { path, naming }) => ({
    detail: sentences(inTheWay(failure, naming), NOTHING_WRITTEN, waysOn(failure, naming)),
    members: { ...conflictsOf(failure), suggested_fixes: fixesOf(failure, path, naming) }
  }),
  brief: briefConflict,
  example: {
    code: 'UNDO_CONFLICT',
    verb: 'undo',
    edit_ids: ['01KASMCX2G0000000000000000'],
    together: [{ edit_id: '01KASMCX2G0000000000000000' }, { edit_id: '01KASMD3QY0000000000000000' }],
    conflicts: [
      {
        path: 'src/app.ts',
        edit_id: '01KASMCX2G0000000000000000',
        change_index: 0,
        by: '01KASMD3QY0000000000000000',
        kind: 'overlap',
        start_line: 12,
        end_line: 12,
        current_text: 'const port = 9091\n',
        would_restore: 'const port = 8080\n',
        restores: { old_text: 'const port = 9091\n', new_text: 'const port = 8080\n' }
      }
    ]
  }
}

/** The failure of an undo, and of a redo, in words. */
export const CAN_T: Record<UndoVerb, string> = { undo: "can't be taken back", redo: "can't be made again" }

/** The first conflict in words, and the number of conflicts. */
function inTheWay({ verb, conflicts, more_conflicts = 0 }: FailureOf<'UNDO_CONFLICT'>, naming: CallSyntax): string {
  const [first] = conflicts
  if (first === undefined) return `The edits ${CAN_T[verb]}.`
  const count = conflicts.length + more_conflicts
  const more = count === 1 ? '' : ` There are ${count} conflicts in all.`
  return `Edit ${first.edit_id} ${CAN_T[verb]}: ${conflictText(first, naming)}.${more}`
}

function conflictText(conflict: ConflictAt, naming: CallSyntax): string {
  const { kind, by, path: named, start_line, end_line, replaced, removals } = conflict
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
      return removals === undefined ? `${path} is gone` : `${path} is gone: ${howAllRemoved(removals, naming)}`
  }
}

/** How a file was removed and, if it was moved, what happened to it then, as a sentence without its period. */
export const howAllRemoved = (removals: Removals, naming: CallSyntax): string =>
  listed(removals.map(({ by, ...removal }) => howRemoved(by, removal, naming)))

/** How a file was removed, as a sentence without its period. */
function howRemoved(
  by: string,
  { operation, moved_to }: Pick<Removal, 'operation' | 'moved_to'>,
  naming: CallSyntax
): string {
  const to = moved_to === undefined ? '' : cut(pathShown(naming, moved_to), 200)
  if (operation === 'undo') return `undo ${by} ${to === '' ? 'removed it' : `moved it back to ${to}`}`
  const did = to === '' ? 'deleted it' : `moved it to ${to}`
  return `${operation} ${by} ${did}${operation === 'redo' ? ' again' : ''}`
}

const removalsOf = ({ conflicts }: FailureOf<'UNDO_CONFLICT'>): Removals | undefined =>
  conflicts.find(({ removals }) => removals !== undefined)?.removals

/**
 * The call that restores the first removed file, if that is known and the caller can send it. If one call can't undo
 * all moves, it is the call for the last one.
 */
function bringingBack(
  failure: FailureOf<'UNDO_CONFLICT'>,
  naming: CallSyntax
): { verb: UndoVerb; name: string; arguments: Record<string, unknown> } | undefined {
  const steps = (removalsOf(failure) ?? []).map(({ back }) => back).reverse()
  const [last] = steps
  const name = last && naming[last.verb]
  if (last === undefined || name === undefined) return undefined
  const { verb, edit_id } = last
  if (verb === 'redo') return { verb, name, arguments: { edit_id } }
  // The undo tool's definition has no edit_id.
  const whole = steps.every(step => step.verb === verb) ? steps : [last]
  return { verb, name, arguments: { edit_ids: whole.map(({ edit_id }) => edit_id) } }
}

/**
 * The later edits that can be undone together with those of an undo, and the arguments of the call that does it.
 * Undefined if there are none, or more than a request may name.
 */
function withLater({
  edit_ids,
  together = []
}: FailureOf<'UNDO_CONFLICT'>): { later: string[]; selector: object } | undefined {
  if (together.length === 0 || together.length > MAX_EDIT_IDS) return undefined
  const later = editIdsOf(together).filter(id => !edit_ids.includes(id))
  const isWhole = together.every(({ change_indexes }) => change_indexes === undefined)
  return { later, selector: isWhole ? { edit_ids: editIdsOf(together) } : { changes: together } }
}

function waysOn(failure: FailureOf<'UNDO_CONFLICT'>, naming: CallSyntax): string {
  const { verb, conflicts } = failure
  const later = withLater(failure)?.later ?? []
  const others = later.length === 0 ? '' : `take back ${editsNamed(later)} too`
  const skip = verb === 'undo' ? ', or send on_conflict "skip" to leave what is in conflict' : ''
  if (conflicts.some(({ replaced }) => replaced)) {
    return others === ''
      ? `Change the file as it is now${naming.edit === undefined ? '' : `, with ${naming.edit}`}${skip}.`
      : `If that is what you mean, ${others}${skip}. suggested_fixes has the call.`
  }
  const back = bringingBack(failure, naming)
  if (back !== undefined) {
    const now_at = removalsOf(failure)?.at(-1)?.moved_to
    return sentences(
      `To bring the file back first, call ${back.name} with ${JSON.stringify(back.arguments)}.`,
      now_at === undefined ? '' : using(`Or change ${cut(pathShown(naming, now_at), 200)} with`, naming.edit)
    )
  }
  if (conflicts.some(({ kind }) => kind === 'removed')) {
    return removalsOf(failure) !== undefined
      ? ''
      : using('If the file should be there, make it again with', naming.create)
  }
  if (verb === 'redo') return using('Edit the lines in question with', naming.edit, ', as suggested_fixes has it')
  const first = others === '' ? 'edit the lines in question' : others
  return `If that is what you mean, ${first}${skip}. suggested_fixes has the calls.`
}

/** The edits that restore the text of a conflict, without duplicates. */
const restoringEdits = (
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

function fixesOf(failure: FailureOf<'UNDO_CONFLICT'>, path: string, naming: CallSyntax): SuggestedFix[] {
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

export function conflictsOf({
  conflicts,
  more_conflicts = 0
}: Pick<FailureOf<'UNDO_CONFLICT'>, 'conflicts' | 'more_conflicts'>): Partial<Problem> {
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

/** The most calls that restore a text. */
const MOST_EDITS = 2

function briefConflict(failure: FailureOf<'UNDO_CONFLICT'>, call: FailedCall): Brief | undefined {
  const { made, naming } = call
  const { verb, conflicts } = failure
  const isReplaced = conflicts.some(({ replaced }) => replaced)
  const back = isReplaced ? undefined : bringingBack(failure, naming)
  const bring = back && naming.write(BY_TOOL[back.verb], back.arguments, made)
  if (bring !== undefined) {
    return { what: inTheWay(failure, naming), next: ['To bring the file back first, send:', bring] }
  }
  const all = withLater(failure)
  // `detail` says what else can be done.
  if (isReplaced ? all === undefined : conflicts.some(({ kind }) => kind === 'removed')) return undefined
  const which = all?.later.length === 1 ? 'edit' : 'edits'
  const undo = all && naming.write(BY_TOOL.undo, all.selector, made)
  const next = undo === undefined ? [] : [`To take back the later ${which} too, send:`, undo]
  const texts = restoringEdits(conflicts).slice(0, MOST_EDITS)
  for (const { path, edit } of texts) {
    const restoring = naming.write('old_text' in edit ? BY_TOOL.edit : BY_TOOL.edit_lines, { path, ...edit }, made)
    if (restoring === undefined || restoring.length > CALLS_LENGTH) continue
    const what = verb === 'undo' ? 'put back only the text' : 'put in only the text'
    next.push(`To ${what}, over the later edit, send:`, restoring)
  }
  return { what: inTheWay(failure, naming), next: next.length > 0 ? next : lookAt(conflicts[0], call) }
}

/** The call that reads the lines in question, if no call restores anything. */
function lookAt(conflict: ConflictAt | undefined, call: FailedCall): string[] {
  if (conflict === undefined) return []
  const { path, start_line, end_line } = conflict
  const lines = { path, start_line, end_line: Math.max(start_line, end_line) }
  return toRead(call, 'Read the lines in question, then edit them', lines)
}
