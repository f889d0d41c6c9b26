// Writes a file in place where a rename would lose its owner or mount; saves the old bytes first, and restores them
// after a crash. Does not know plans or policy.
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs'
import { fail, ok, type Result } from '../../result.ts'
import { KEPT_MODE, lossesOf, type Change } from './commit.ts'
import { codeOf, failureOf, quietly, Raced } from '../../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../../workspace/failure.ts'
import type { Journal, JournalledFile, JournalRecord, Report, Saved } from './journal.ts'
import type { Lock } from '../../workspace/queue.ts'
import type { Locks } from '../locks/lock.ts'
import { objectLock } from '../locks/names.ts'
import { syncFile } from '../sync.ts'
import { digestOf } from '../../workspace/content.ts'
import { readWhole, takesWrites, writeAll, type Snapshot } from '../snapshot.ts'
import { same, type Pin, type Root } from '../root/pin.ts'

export interface InPlaceContext {
  root: Root
  journal: Journal
  durability: 'full' | 'fast'
  lock: Lock
  locks: Pick<Locks, 'acquire'>
  report: Report
}

interface InPlaceRecovery extends Omit<InPlaceContext, 'lock'> {
  /** Whether the batch with this id is still to be recovered. */
  hasBatch(id: string): boolean
}

const HALF_WRITTEN = 'The file is left half written; its old bytes are in the journal.'

/**
 * Writes the result through the pinned file itself. Returns warnings.
 * Failures: STALE_FILE, FILE_LOCKED, PERMISSION_DENIED (several_names: another name may lie outside the root or be
 * protected). Throws the system's error with the old bytes restored; if even that fails, an error that maps to no
 * failure, and the old bytes stay in the journal for the next holder of the lock.
 */
export async function writeInPlace(
  context: InPlaceContext,
  change: Change
): Promise<Result<FileWarning[], FileFailure>> {
  const written = await beginInPlace(context, change)
  if (!written.ok) return written
  await written.value.finish()
  return ok(lossesOf(change.pin, 'in_place'))
}

/** A file written in place, its old bytes still in the journal. Call exactly one of these, once. */
export interface InPlaceWrite {
  finish(): Promise<void>
  /** Keeps the old bytes in the journal for the recovery. */
  leave(): Promise<void>
  /** Restores the old bytes. Throws if it can't; then they stay in the journal. */
  restore(): Promise<void>
}

/** Writes the file in place, but not for good: the result decides. `batch`: the batch that it is part of. */
export async function beginInPlace(
  context: InPlaceContext,
  { pin, snapshot, pieces, size, digest, record }: Change,
  batch?: string
): Promise<Result<InPlaceWrite, FileFailure>> {
  const { durability } = context
  if (hasSeveralNames(pin)) return fail({ code: 'PERMISSION_DENIED', reason: 'several_names' })
  const object = await context.locks.acquire(objectLock(pin.stat))
  if (!object.ok) return object
  let fd: number
  try {
    fd = pin.open(constants.O_RDWR)
  } catch (error) {
    await object.value.release()
    throw error
  }
  const file = new FileInPlace(fd, snapshot.bytes.length)
  let saved: Saved | null = null
  const end = async (): Promise<void> => {
    // A record that stays blocks the file for everybody.
    saved?.drop()
    quietly(() => closeSync(fd))
    await object.value.release()
  }
  const leave = (): Promise<void> => {
    saved?.leave()
    saved = null
    return end()
  }
  const restore = async (): Promise<void> => {
    try {
      await file.put([snapshot.bytes], snapshot.bytes.length, durability)
      await end()
    } catch (problem) {
      await leave()
      context.report({ event: 'left_half_written', path: pin.relative.toString(), reason: codeOf(problem) })
      throw new Error(HALF_WRITTEN, { cause: problem })
    }
  }
  let isStarted = false
  try {
    await context.root.disk.call(() => takesWrites(fd))
    saved = await context.journal.save(pin, snapshot, await digest, batch)
    await record()
    const refusal = refusalNow([context.lock, object.value], pin, snapshot)
    if (refusal !== null) return fail(refusal)
    isStarted = true
    try {
      await file.put(pieces, size, durability)
    } catch (error) {
      await restore()
      throw error
    }
  } finally {
    if (!isStarted) await end()
  }
  const finish = (): Promise<void> => {
    // The kernel has cleared the set-id bits already, except for root.
    if (lossesOf(pin, 'in_place').length > 0) quietly(() => fchmodSync(fd, Number(pin.stat.mode) & KEPT_MODE))
    return end()
  }
  return ok({ finish, leave, restore })
}

/** Null: the locks are still ours, and the file is the one that was read. */
export function refusalNow(locks: readonly Lock[], pin: Pin, snapshot: Snapshot): FileFailure | null {
  if (locks.some(lock => !lock.held())) return { code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 }
  return pin.inPlace() && snapshot.unchanged() ? null : { code: 'STALE_FILE', reason: 'changed_meanwhile' }
}

/** Whether writing to the file also changes it under other names, which can't all be known. */
export const hasSeveralNames = ({ stat }: Pin): boolean => stat.nlink > 1n

/** A file that is open for reading and writing; other programs may append to it at any moment. */
class FileInPlace {
  readonly #fd: number
  /** In bytes, without what others appended. */
  #length: number
  constructor(fd: number, length: number) {
    this.#fd = fd
    this.#length = length
  }

  /** Replaces the content with pieces of `size` bytes; what others append meanwhile comes after them. */
  async put(pieces: readonly Buffer[], size: number, durability: 'full' | 'fast'): Promise<void> {
    // First, so that nothing is appended where these bytes go.
    if (size > this.#length) this.#resize(size)
    await writeAll(this.#fd, pieces, size)
    if (size < this.#length) this.#resize(size)
    if (durability === 'full') await syncFile(this.#fd)
  }

  /** Makes our content end at `size`, followed by what was appended; in one tick. */
  #resize(size: number): void {
    let appended = Buffer.alloc(0)
    // Repeat until there is no more: what is appended between the last look and the cut is lost.
    for (let end; (end = fstatSync(this.#fd).size) > this.#length + appended.length;) {
      appended = Buffer.alloc(end - this.#length)
      readSync(this.#fd, appended, 0, appended.length, this.#length)
    }
    ftruncateSync(this.#fd, size)
    for (let at = 0; at < appended.length;) at += writeSync(this.#fd, appended, at, appended.length - at, size + at)
    this.#length = size
  }
}

/** How the recovery of a record ended. Records that are `left` are tried again. */
type Outcome = { done: string; kept?: string } | { given_up: string; kept?: string } | { left: string; error?: unknown }

/**
 * Takes back what dead owners left half written, and drops the records of what they finished.
 * `guard` runs the work on one file (its path below the root) under its lock, and is false if the lock can't be
 * acquired; then the record stays.
 * `only`: just this file, by its path below the root or by its identity; throws if it may be half written and can't be
 * recovered now. False if a server that isn't known to be dead has begun to write one of these files in place: if it
 * was only suspended, it will continue, whatever locks others have.
 */
export async function recoverInPlace(
  context: InPlaceRecovery,
  guard: (relative: Buffer, work: () => Promise<void>) => Promise<boolean>,
  only?: JournalledFile
): Promise<boolean> {
  const { ofTheDead, others } = await context.journal.records(context.report, only)
  let isBatchLeft = false
  for (const record of ofTheDead) {
    // The recovery of its batch decides about it.
    if (record.batch !== undefined && context.hasBatch(record.batch)) {
      isBatchLeft = true
      continue
    }
    let outcome: Outcome | null = { left: 'file_locked' }
    try {
      await guard(record.relative, async () => {
        outcome = record.exists() ? await recover(context, record) : null
      })
    } catch (error) {
      // One file that can't be recovered must not block the others.
      outcome = { left: `failed: ${codeOf(error)}`, error }
    }
    tell(context.report, record, outcome)
    if (only !== undefined) throwIfLeft(outcome)
  }
  return !others && !isBatchLeft
}

/** What a file must hold after the recovery: its old content, its new content, or either. */
type Aim = 'old' | 'new' | 'either'

/**
 * Recovers the files that a batch wrote in place, while nobody else works on them: they get their old bytes back, or
 * are complete (`new`) and their records are dropped. False: one can't be recovered now.
 */
export async function recoverBatchInPlace(
  context: Omit<InPlaceContext, 'lock'>,
  batch: string,
  aim: Exclude<Aim, 'either'>
): Promise<boolean> {
  const { ofTheDead } = await context.journal.records(context.report)
  let isDone = true
  for (const record of ofTheDead.filter(record => record.batch === batch)) {
    let outcome: Outcome
    try {
      outcome = await recover(context, record, aim)
    } catch (error) {
      outcome = { left: `failed: ${codeOf(error)}`, error }
    }
    tell(context.report, record, outcome)
    if ('left' in outcome) isDone = false
  }
  return isDone
}

function tell(report: Report, { relative }: JournalRecord, outcome: Outcome | null): void {
  if (outcome === null) return
  const kept = 'kept' in outcome && { kept: outcome.kept }
  const [event, what] =
    'done' in outcome
      ? ['journal_recovered', outcome.done]
      : ['journal_unrecovered', 'left' in outcome ? outcome.left : outcome.given_up]
  report({ event, path: relative.toString(), outcome: what, ...kept })
}

function throwIfLeft(outcome: Outcome | null): void {
  if (outcome === null || !('left' in outcome)) return
  if (failureOf(outcome.error)?.code === 'NOT_READY') throw outcome.error
  throw 'error' in outcome ? new Error(HALF_WRITTEN, { cause: outcome.error }) : new Raced(outcome.left)
}

/** Call it under the file's lock. */
async function recover(
  context: Pick<InPlaceContext, 'root' | 'durability' | 'locks'>,
  record: JournalRecord,
  aim: Aim = 'either'
): Promise<Outcome> {
  const object = await context.locks.acquire(objectLock(record))
  if (!object.ok) return { left: 'file_locked' }
  try {
    // Another server may have dealt with it under another of its names.
    return record.exists() ? await recoverObject(context, record, aim) : { done: 'nothing_to_do' }
  } finally {
    await object.value.release()
  }
}

async function recoverObject(
  { root, durability }: Pick<InPlaceContext, 'root' | 'durability'>,
  record: JournalRecord,
  aim: Aim
): Promise<Outcome> {
  const pinned = root.pin(record.relative)
  if (!pinned.ok) {
    if (pinned.failure.code !== 'MISSING') return { left: `failed: ${pinned.failure.code}` }
    record.drop()
    return { given_up: 'file_gone' }
  }
  const pin = pinned.value
  try {
    const reborn = record.born !== 0n && record.born !== pin.stat.birthtimeNs
    if (!same(pin.stat, record) || reborn || !pin.stat.isFile()) {
      record.drop()
      return { given_up: 'another_file' }
    }
    // It was to be removed, not written to.
    if (record.new === record.old) {
      record.drop()
      return { done: 'nothing_to_do' }
    }
    const read = await readWhole(pin, Infinity)
    if (!read.ok) return { left: 'file_changing' }
    const snapshot = read.value
    try {
      const isOld = snapshot.digest === record.old && aim !== 'new'
      if (isOld || (snapshot.digest === record.new && aim !== 'old')) {
        record.drop()
        return { done: 'nothing_to_do' }
      }
      // Another program has written to it since, and may have repaired it.
      if (aim === 'new' || Number(snapshot.stat.mtimeNs / 1_000_000n) > record.until) {
        return { given_up: 'changed_since', kept: record.putAside() }
      }
      const old = record.bytes()
      if (old === null || (await digestOf([old], old.length)) !== record.old) {
        return { given_up: 'copy_damaged', kept: record.putAside() }
      }
      const fd = pin.open(constants.O_RDWR)
      try {
        const kept = await record.keep(snapshot.bytes)
        if (!snapshot.unchanged()) {
          kept.drop()
          return { left: 'file_changing' }
        }
        await new FileInPlace(fd, snapshot.bytes.length).put([old], old.length, durability)
        record.drop()
        return { done: 'restored', kept: kept.name }
      } finally {
        closeSync(fd)
      }
    } finally {
      snapshot.close()
    }
  } finally {
    pin.close()
  }
}
