// Who is told of the change of one file before it is made, and what came of it: the history and the audit. No file gets
// its content, or is removed, before `announce` has resolved; of a batch, `announceAll`.
import type { AuditedCall, AuditedChange } from '../audit/audit.ts'
import type { ChangeOptions, CommonOptions } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { BatchRecorder } from '../recording/batch-recorder.ts'
import { lineCounts, type ComingChange, type FileBefore, type FileRecorder } from '../recording/recorder.ts'
import { bothDone } from '../workspace/content.ts'

/** Those that are told of the change of one file. */
export interface Listeners {
  file: Pick<FileBefore, 'bytes'>
  /** Null: no history is kept. */
  recorder: FileRecorder | null
  /** Undefined: there is no audit. */
  audited: AuditedChange | undefined
}

/** The call that a change is part of; where nobody says which, one of nobody known. */
export const auditedBy = (
  { options }: { options: Pick<CommonOptions, 'audit'> },
  { audit }: Pick<ChangeOptions<unknown>, 'audit'>
): AuditedCall | undefined => audit ?? options.audit?.call()

/** Why no change can be made as long as it is so: what must be written of it can't be. `degraded`: of the history. */
export function notWritableDown(
  { history, audit }: Pick<CommonOptions, 'history' | 'audit'>,
  degraded: boolean
): FileFailure | null {
  if (history === 'required' && degraded) return { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
  return audit?.required === true && audit.failing
    ? { code: 'NOT_READY', reason: 'audit_unwritable', retry_after: 5 }
    : null
}

/** Throws where the change must not be made: as `FileRecorder.record`, and AuditUnwritable. */
export function announce(listeners: Listeners, change: ComingChange): Promise<void> | undefined {
  const { recorder, audited } = listeners
  return audited === undefined ? recorder?.record(change) : announceAudited(listeners, audited, change)
}

async function announceAudited(
  { file, recorder }: Listeners,
  audited: AuditedChange,
  change: ComingChange
): Promise<void> {
  const edit_id = await recorder?.prepare()
  await bothDone(recorder?.record(change), audited.intend({ hash_after: change.digest, edit_id }))
  audited.count(recorder?.lineCounts ?? lineCounts(file.bytes(), change.planned))
}

/** The same of a batch, one entry for each file. `origin` and `outcome` are those of all. */
export async function announceAll(
  recorder: BatchRecorder,
  listeners: readonly Listeners[],
  changes: readonly Omit<ComingChange, 'origin' | 'outcome'>[],
  {
    batch_id,
    edit_ids,
    outcome
  }: {
    batch_id: string | undefined
    edit_ids: readonly (string | undefined)[]
    outcome: (texts: boolean) => unknown
  }
): Promise<void> {
  const intended = Promise.allSettled(
    listeners.map(({ audited }, i) =>
      audited?.intend({ hash_after: changes[i]!.digest, edit_id: edit_ids[i], batch_id })
    )
  )
  const [, lines] = await bothDone(recorder.record(changes, outcome), intended)
  const failed = lines.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  for (const [i, { file, recorder: own, audited }] of listeners.entries()) {
    audited?.count(own?.lineCounts ?? lineCounts(file.bytes(), changes[i]!.planned))
  }
}

/** The file got its content, or is gone. The history is told apart: it keeps the content too. */
export const auditDone = ({ recorder, audited }: Listeners): void => audited?.done(recorder?.edit_id)

/** It did not, and won't. */
export function notDone({ recorder, audited }: Listeners): void {
  recorder?.notDone()
  audited?.notDone()
}
