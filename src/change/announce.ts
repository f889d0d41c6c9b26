// Announces a change to the history and the audit before it is made, and reports how it ended. No file gets its
// content, or is removed, before `announce` has resolved.
import type { AuditedCall, AuditedChange } from '../audit/audit.ts'
import type { ChangeOptions, CommonOptions } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { lineCounts, type ComingChange, type FileBefore, type FileRecorder } from '../recording/recorder.ts'

/** The listeners for the change of one file. */
export interface Listeners {
  file: Pick<FileBefore, 'bytes'>
  /** Null: no history is kept. */
  recorder: FileRecorder | null
  /** Undefined: there is no audit. */
  audited: AuditedChange | undefined
}

/** The call that a change is part of; if the change names none, an anonymous one. */
export const auditedBy = (
  { options }: { options: Pick<CommonOptions, 'audit'> },
  { audit }: Pick<ChangeOptions<unknown>, 'audit'>
): AuditedCall | undefined => audit ?? options.audit?.call()

/** Why no change can be made at present: its record can't be written. `degraded`: whether the history is. */
export function notWritableDown(
  { history, audit }: Pick<CommonOptions, 'history' | 'audit'>,
  degraded: boolean
): FileFailure | null {
  if (history === 'required' && degraded) return { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
  return audit?.required === true && audit.failing
    ? { code: 'NOT_READY', reason: 'audit_unwritable', retry_after: 5 }
    : null
}

/**
 * Records the changes of files that are changed together: `changes` has one for each of `listeners`, all of one origin.
 * The last record keeps the answer to an idempotency key, so that it is kept only if all records are. Returns the
 * record ids. Throws if none of the changes may be made: what `FileRecorder.record` throws, and AuditUnwritable.
 */
export async function announce(
  listeners: readonly Listeners[],
  changes: readonly ComingChange[]
): Promise<readonly (string | undefined)[]> {
  const last = listeners.length - 1
  if (last > 0 || listeners[0]!.audited !== undefined) await announceAll(listeners, changes)
  else await listeners[0]!.recorder?.record(changes[0]!)
  return listeners.map(({ recorder }) => recorder?.edit_id)
}

async function announceAll(listeners: readonly Listeners[], changes: readonly ComingChange[]): Promise<void> {
  const ids: (string | undefined)[] = []
  for (const { recorder } of listeners) ids.push(await recorder?.prepare())
  const { key: _, ...keyless } = changes[0]!.origin
  const last = listeners.length - 1
  // Wait for all of them, even if one fails: no record may be written after its change was reported as not made.
  const written = await Promise.allSettled(
    listeners.flatMap(({ recorder, audited }, i) => {
      const change = changes[i]!
      return [
        recorder?.record(i === last ? change : { ...change, origin: keyless }),
        audited?.intend({ hash_after: change.digest, edit_id: ids[i], batch_id: keyless.batch_id })
      ]
    })
  )
  const failed = written.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  for (const [i, { file, recorder, audited }] of listeners.entries()) {
    audited?.count(recorder?.lineCounts ?? lineCounts(file.bytes(), changes[i]!.planned))
  }
}

/** The file got its content, or is gone. The history is notified separately, as it keeps the content too. */
export const auditDone = ({ recorder, audited }: Listeners): void => audited?.done(recorder?.edit_id)

/** The change was not made, and won't be. */
export function notDone({ recorder, audited }: Listeners): void {
  recorder?.notDone()
  audited?.notDone()
}
