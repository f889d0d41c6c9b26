// After a crash: whether the changes that a server had written down took place. Does not know who asks.
import { lstatSync } from 'node:fs'
import type { History } from '../../history/api.ts'
import type { Settlement, Stored } from '../../history/record.ts'
import type { Result } from '../../result.ts'
import { quietly } from '../errno.ts'
import type { FileFailure } from '../failure.ts'
import type { Lock } from '../locks/lock.ts'
import { split } from '../root/path.ts'
import type { Root } from '../root/pin.ts'
import { scanPinned, untouched } from '../scan.ts'
import { chainOf } from './chain.ts'

export interface Settling {
  history: History
  root: Root
  acquire(realPath: Buffer): Promise<Result<Lock, FileFailure>>
}

/**
 * Says what became of the change, under its file's lock, and writes it down for everybody. uncertain, and not written
 * down, where the lock can't be had or the file can't be read.
 */
export async function settle({ history, root, acquire }: Settling, { record }: Stored): Promise<Settlement> {
  const lock = await acquire(record.path)
  if (!lock.ok) return 'uncertain'
  try {
    await history.refresh(lock.value.alone)
    const now = await history.byId(record.edit_id)
    if (now === null) return 'uncertain'
    if (now.settled !== null) return now.settled
    const settlement = await lookAt(root, history, record)
    if (settlement !== null) history.settle(record.edit_id, settlement)
    return settlement ?? 'uncertain'
  } finally {
    await lock.value.release()
  }
}

/** Settles all changes of servers that are gone. Those whose file is locked are left for the next time. */
export async function settleAll(settling: Settling): Promise<void> {
  for (const stored of await settling.history.unsettled()) await settle(settling, stored)
}

async function lookAt(root: Root, history: History, record: Stored['record']): Promise<Settlement | null> {
  if (record.temp !== undefined && isThere(root, record.path, record.temp)) return 'void'
  const present = await digestAt(root, record.path)
  if (present === undefined) return null
  const { records } = await history.ofPath(record.path)
  const isThis = ({ edit_id }: { edit_id: string }): boolean => edit_id === record.edit_id
  // Its server may have said it just now.
  const said = records.find(stored => isThis(stored.record))?.settled
  return said ?? chainOf(records, present).settled.find(isThis)?.settlement ?? null
}

function isThere(root: Root, path: Buffer, temp: string): boolean {
  let there = false
  quietly(() => {
    const folder = root.openFolder(split(path).folder)
    try {
      there = lstatSync(folder.at(temp), { throwIfNoEntry: false }) !== undefined
    } finally {
      folder.close()
    }
  })
  return there
}

/** The SHA-256 of the file, null where there is none, undefined where it can't be read. */
async function digestAt(root: Root, path: Buffer): Promise<string | null | undefined> {
  const pinned = root.pin(path)
  if (!pinned.ok) return pinned.failure.code === 'MISSING' ? null : undefined
  const pin = pinned.value
  try {
    // A link, or something that isn't a file, has come to where it was.
    if (!pin.relative.equals(path) || !pin.stat.isFile()) return null
    const read = await scanPinned(pin, Infinity, untouched)
    return read.ok ? read.value.digest : undefined
  } finally {
    pin.close()
  }
}
