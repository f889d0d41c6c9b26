// Completes or takes back what dead servers left half done: batches first, then writes in place. Does not know when it
// runs.
import type { BatchRecords } from './commit/batch-record.ts'
import { recoverInPlace } from './commit/in-place.ts'
import { recoverBatch, type BatchRecovery } from './commit/recover-batch.ts'
import { codeOf } from '../workspace/errno.ts'
import { batchLock } from './locks/names.ts'
import type { FileId } from './root/pin.ts'

export interface Recovery extends BatchRecovery {
  batches: BatchRecords
}

/**
 * `only`: just this file, whose lock we have; `object`: its identity if known, as it may have other names. False: a
 * server that may live hasn't finished with it. With `only`, throws the system's error.
 */
export async function recover(context: Recovery, only?: Buffer, object?: FileId): Promise<boolean> {
  const { journal, batches, locks } = context
  // The usual case.
  if (!journal.mayHold(null)) return true
  if (!(await recoverBatches(context, only)) && only !== undefined) return false
  return recoverInPlace(
    { ...context, hasBatch: id => batches.has(id) },
    async (relative, work) => {
      if (only !== undefined) {
        await work()
        return true
      }
      const lock = await locks.acquire(relative)
      if (!lock.ok) return false
      try {
        await work()
      } finally {
        await lock.value.release()
      }
      return true
    },
    only && { path: only, object }
  )
}

async function recoverBatches(context: Recovery, only?: Buffer): Promise<boolean> {
  const { batches, report, locks } = context
  const { left, others } = await batches.left(report, only)
  let isDone = !others
  for (const batch of left) {
    // Holders of different members' locks must not recover it at once.
    const lock = await locks.acquire(batchLock(batch.id))
    try {
      const now = lock.ok ? batch.now() : batch
      if (!lock.ok) isDone = false
      else if (now !== null) isDone = (await recoverBatch(context, now)) && isDone
    } catch (error) {
      if (only !== undefined) throw error
      // One batch that can't be recovered must not block the others.
      report({ event: 'batch_unrecovered', outcome: `failed: ${codeOf(error)}` })
    } finally {
      if (lock.ok) await lock.value.release()
    }
  }
  return isDone
}
