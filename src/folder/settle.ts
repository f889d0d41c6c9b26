// After a crash: determines whether the changes that a server had recorded happened. Does not know who asks.
import type { Audit } from '../audit/audit.ts'
import type { History } from '../log/api.ts'
import type { Settlement, Stored } from '../log/record.ts'
import type { Result } from '../result.ts'
import { codeOf, quietly } from '../workspace/errno.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Lock } from '../workspace/queue.ts'
import { split } from '../workspace/path.ts'
import { same, statAt, type Root } from './root/pin.ts'
import { digestAt } from './scan.ts'
import { chainOf, isTraceless } from '../recording/chain.ts'
import { isCopied } from '../recording/read-chain.ts'

export interface Settling {
  history: History
  root: Root
  acquire(realPath: Buffer): Promise<Result<Lock, FileFailure>>
  /**
   * Takes back what a dead server left half written of the file, whose lock we have. False: another may still write it.
   * Throws if it can't be recovered now.
   */
  recover(realPath: Buffer): Promise<boolean>
  report: (event: { event: string; [key: string]: unknown }) => void
  /** Receives what `settleAll` finds. */
  audit?: Audit | undefined
}

/**
 * Determines whether the change happened, under its file's lock, and records it for everybody. If the lock can't be
 * acquired or the file can't be read: uncertain, and not recorded. `onFound` receives what is recorded.
 */
export async function settle(
  settling: Settling,
  { record }: Stored,
  onFound: (settlement: Settlement) => void = () => {}
): Promise<Settlement> {
  const { history, root, acquire, recover, report } = settling
  if (isTraceless(record)) {
    history.settle(record.edit_id, 'done')
    return 'done'
  }
  const lock = await acquire(record.path)
  if (!lock.ok) return 'uncertain'
  try {
    if (!(await recover(record.path))) return 'uncertain'
    await history.refresh(lock.value.alone_since)
    const now = await history.byId(record.edit_id)
    if (now === null) return 'uncertain'
    if (now.settled !== null) return now.settled
    const settlement = await lookAt(root, history, record)
    if (settlement !== null) {
      history.settle(record.edit_id, settlement)
      onFound(settlement)
    }
    return settlement ?? 'uncertain'
  } catch (error) {
    // One file that can't be read must not block the others, or a server from starting.
    report({ event: 'settle_failed', path: record.path.toString(), reason: codeOf(error) })
    return 'uncertain'
  } finally {
    await lock.value.release()
  }
}

/** Settles all changes of servers that are gone. Changes of locked files are left for the next time. */
export async function settleAll(settling: Settling): Promise<void> {
  const { history, audit } = settling
  for (const stored of await history.unsettled()) {
    await settle(settling, stored, settlement => audit?.settled(stored.record, settlement))
  }
}

async function lookAt(root: Root, history: History, record: Stored['record']): Promise<Settlement | null> {
  if (record.temp !== undefined && isThere(root, record.path, record.temp)) return 'void'
  const present = await digestAt(root, record.path)
  if (!present.ok) return null
  const { records } = await history.ofPath(record.path)
  const isThis = ({ edit_id }: { edit_id: string }): boolean => edit_id === record.edit_id
  // Its server may have recorded it just now.
  const recorded = records.find(stored => isThis(stored.record))?.settled
  if (recorded) return recorded
  const settlement = chainOf(records, present.value).settled.find(isThis)?.settlement ?? null
  return settlement !== 'done' && (await isCopied(history, record)) ? 'done' : settlement
}

/** Whether only the temp file exists: the file itself may have both names for an instant. */
function isThere(root: Root, path: Buffer, temp: string): boolean {
  let there = false
  quietly(() => {
    const { folder: folderPath, leaf } = split(path)
    const folder = root.openFolder(folderPath)
    try {
      const [made, file] = [statAt(folder.at(temp)), statAt(folder.at(leaf))]
      there = made !== undefined && (file === undefined || !same(made, file))
    } finally {
      folder.close()
    }
  })
  return there
}
