// What a file holds, wherever it is: its digest, and whether it is what another one holds. Does not know files.
import { createHash, hash, type Hash } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { joinInto } from '../engine/text/join-into.ts'

/**
 * Bytes up to which reading, hashing and writing are synchronous; more of them would hold up other requests. Chosen,
 * not measured.
 */
export const SYNC_IO_BYTES = 1024 * 1024
/** How often a file is read that keeps changing while it is read. Chosen, not measured. */
export const ATTEMPTS = 3
/** Bytes up to which pieces are copied together to be hashed. Chosen, not measured. */
const COPIED_BYTES = 64 * 1024

/** The whole new text, in pieces: their sum is `size` bytes. */
export interface Content {
  pieces: readonly Buffer[]
  size: number
}

/** The hash of the first `at` bytes of a text, to be copied and continued. */
export interface HashCheckpoint {
  at: number
  hash: Hash
}

/**
 * SHA-256 of pieces of `total` bytes, 64 hex digits. Lets other requests run while it hashes much. Where the first
 * piece is the beginning of `original`, what `marks` say of that isn't hashed again.
 */
export async function digestOf(
  pieces: readonly Buffer[],
  total: number,
  original?: Buffer,
  marks: readonly HashCheckpoint[] = []
): Promise<string> {
  // One call for a copy costs less than a call for each piece.
  if (total <= COPIED_BYTES) return hash('sha256', joinInto(COPY, pieces), 'hex')
  const shared = original === undefined ? 0 : sharedStart(pieces, original)
  const mark = marks.findLast(({ at }) => at <= shared)
  const running = mark?.hash.copy() ?? createHash('sha256')
  let skip = mark?.at ?? 0
  for (const piece of pieces) {
    await addTo(running, piece.subarray(skip))
    skip = Math.max(0, skip - piece.length)
  }
  return running.digest('hex')
}

/** Shared, as what is copied here is hashed in the same tick. */
const COPY = Buffer.allocUnsafeSlow(COPIED_BYTES)

/** How many bytes at the start of `pieces` are those of `original`, being the same memory. */
function sharedStart([first]: readonly Buffer[], original: Buffer): number {
  return first !== undefined && first.buffer === original.buffer && first.byteOffset === original.byteOffset
    ? Math.min(first.length, original.length)
    : 0
}

/** Whether pieces of `total` bytes are what `original` holds. Compares only what isn't the same memory. */
export function areSame(pieces: readonly Buffer[], total: number, original: Buffer): boolean {
  if (total !== original.length) return false
  let start = 0
  return pieces.every(piece => {
    const there = original.subarray(start, (start += piece.length))
    return (piece.buffer === there.buffer && piece.byteOffset === there.byteOffset) || piece.equals(there)
  })
}

/** Hashes bytes too, and lets other requests run while they are many. */
export async function addTo(running: Hash, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += SYNC_IO_BYTES) {
    const part = bytes.subarray(start, start + SYNC_IO_BYTES)
    running.update(part)
    if (part.length === SYNC_IO_BYTES) await yieldToOthers()
  }
}

/**
 * Waits for both, also where one fails; then throws what it failed with. So a failure has somebody who hears of it, and
 * nothing goes on with a descriptor or a buffer that is given back.
 */
export async function bothDone<A, B>(a: A | Promise<A>, b: B | Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}
