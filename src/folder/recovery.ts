// Completes or takes back what dead servers left half done: batches first, then writes in place. Does not know when it
// is looked for.
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
 * `only`: of this file, whose lock we have; `object`: what it is, if it is known, which may have another name. False: a server that may live hasn't finished with it. Throws, of one file,
 * the system's error.
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
    // Two who hold the locks of different members must not recover it at once.
    const lock = await locks.acquire(batchLock(batch.id))
    try {
      const now = lock.ok ? batch.now() : batch
      if (!lock.ok) isDone = false
      else if (now !== null) isDone = (await recoverBatch(context, now)) && isDone
    } catch (error) {
      if (only !== undefined) throw error
      // One that can't be helped must not keep the others waiting.
      report({ event: 'batch_unrecovered', outcome: `failed: ${codeOf(error)}` })
    } finally {
      if (lock.ok) await lock.value.release()
    }
  }
  return isDone
}
