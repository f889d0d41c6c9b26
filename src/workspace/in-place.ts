// Writes a file in place where a rename can't keep what it is; the old bytes are saved first. Knows no plans and no policy.
import { closeSync, constants, fchmodSync, fsync, ftruncateSync } from 'node:fs'
import { promisify } from 'node:util'
import { fail, ok, type Result } from '../result.ts'
import { KEPT_MODE, lossesOf, type Change } from './commit.ts'
import { codeOf, quietly } from './errno.ts'
import type { FileFailure } from './failure.ts'
import type { Journal } from './journal.ts'
import { digestOf, readWhole, writeAll } from './text-file.ts'
import { same, type Root } from './pin.ts'

export interface InPlaceContext {
  root: Root
  journal: Journal
  durability: 'full' | 'fast'
  /** Whether the lock is still ours; synchronous. */
  held: () => boolean
}

const fsyncLater = promisify(fsync)

/**
 * Writes the result through the pinned file itself. Answers warnings as sentences.
 * Failures: STALE_FILE, FILE_LOCKED (lost). Throws the system's error, the old bytes restored; where even that fails they stay in the journal for the next start.
 */
export async function writeInPlace (context: InPlaceContext, { pin, snapshot, pieces, size, digest }: Change): Promise<Result<string[], FileFailure>> {
  const fd = pin.open(constants.O_WRONLY)
  try {
    const saved = await context.journal.save(pin, snapshot, digest)
    if (!context.held() || !pin.inPlace() || !snapshot.unchanged()) {
      saved.drop()
      return context.held() ? fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' }) : fail({ code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 })
    }
    try {
      await put(fd, pieces, size, context.durability)
    } catch (error) {
      await put(fd, [snapshot.bytes], snapshot.bytes.length, context.durability)
      saved.drop()
      throw error
    }
    saved.drop()
    // The kernel has dropped them already, but for root.
    if (lossesOf(pin, 'in_place').length > 0) quietly(() => fchmodSync(fd, Number(pin.stat.mode) & KEPT_MODE))
    return ok(lossesOf(pin, 'in_place'))
  } finally { quietly(() => closeSync(fd)) }
}

async function put (fd: number, pieces: readonly Buffer[], size: number, durability: 'full' | 'fast'): Promise<void> {
  await writeAll(fd, pieces, size)
  ftruncateSync(fd, size)
  if (durability === 'full') await fsyncLater(fd)
}

/**
 * Takes back what dead owners left half written, and forgets what they finished. `only`: just the file at this path below the root.
 * `guard` runs the work on one file (its path below the root) under its lock, and is false if the lock can't be had; then the record stays.
 */
export async function recoverInPlace (context: Omit<InPlaceContext, 'held'>, guard: (relative: Buffer, work: () => Promise<void>) => Promise<boolean>, report: (event: { event: string, [key: string]: unknown }) => void, only?: Buffer): Promise<void> {
  for (const record of context.journal.ofTheDead()) {
    if (only !== undefined && !record.relative.equals(only)) continue
    const is = (outcome: string): void => report({ event: 'journal_recovered', path: record.relative.toString(), outcome })
    const pinned = context.root.pin(record.relative)
    if (!pinned.ok) {
      is('file_gone')
      continue
    }
    const pin = pinned.value
    try {
      const reborn = record.born !== 0n && record.born !== pin.stat.birthtimeNs
      if (!same(pin.stat, record) || reborn || !pin.stat.isFile()) {
        is('another_file')
        continue
      }
      const done = await guard(record.relative, async () => {
        const snapshot = await readWhole(pin, Infinity)
        if (!snapshot.ok) return is('file_changing')
        snapshot.value.close()
        if (snapshot.value.digest === record.new || snapshot.value.digest === record.old) {
          record.drop()
          return is('nothing_to_do')
        }
        const old = record.bytes()
        if (old === null || await digestOf([old], old.length) !== record.old) return is('copy_damaged')
        const fd = pin.open(constants.O_WRONLY)
        try { await put(fd, [old], old.length, context.durability) } finally { closeSync(fd) }
        record.drop()
        is('restored')
      })
      if (!done) is('file_locked')
    } catch (error) {
      // One file that can't be helped must not keep the others waiting.
      is(`failed: ${codeOf(error)}`)
    } finally { pin.close() }
  }
}
