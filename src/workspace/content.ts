// A file's content, in any store: its digest, and comparing it. Does not know files.
import { createHash, hash, type Hash } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { joinInto } from '../engine/text/join-into.ts'

/**
 * Up to this many bytes, reading, hashing and writing are synchronous; more would hold up other requests. Chosen, not
 * measured.
 */
export const SYNC_IO_BYTES = 1024 * 1024
/** How often to read a file that keeps changing while it is read. Chosen, not measured. */
export const ATTEMPTS = 3
/** Up to this many bytes, pieces are copied together to be hashed. Chosen, not measured. */
const COPIED_BYTES = 64 * 1024

/** The whole new text, in pieces with a total of `size` bytes. */
export interface Content {
  pieces: readonly Buffer[]
  size: number
}

/** The hash state after the first `at` bytes of a text, to be copied and continued. */
export interface HashCheckpoint {
  at: number
  hash: Hash
}

/**
 * SHA-256 of pieces with a total of `total` bytes, 64 hex digits. Yields to other requests when there is much to hash.
 * If the first piece is the beginning of `original`, the part that `marks` cover isn't hashed again.
 */
export async function digestOf(
  pieces: readonly Buffer[],
  total: number,
  original?: Buffer,
  marks: readonly HashCheckpoint[] = []
): Promise<string> {
  // Copying and one call cost less than a call for each piece.
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

/** Shared: what is copied here is hashed in the same tick. */
const COPY = Buffer.allocUnsafeSlow(COPIED_BYTES)

/** How many bytes at the start of `pieces` share memory with the start of `original`. */
function sharedStart([first]: readonly Buffer[], original: Buffer): number {
  return first !== undefined && first.buffer === original.buffer && first.byteOffset === original.byteOffset
    ? Math.min(first.length, original.length)
    : 0
}

/** Whether pieces with a total of `total` bytes equal `original`. Compares only what doesn't share its memory. */
export function areSame(pieces: readonly Buffer[], total: number, original: Buffer): boolean {
  if (total !== original.length) return false
  let start = 0
  return pieces.every(piece => {
    const there = original.subarray(start, (start += piece.length))
    return (piece.buffer === there.buffer && piece.byteOffset === there.byteOffset) || piece.equals(there)
  })
}

/** Adds bytes to a hash, yielding to other requests when there are many. */
export async function addTo(running: Hash, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += SYNC_IO_BYTES) {
    const part = bytes.subarray(start, start + SYNC_IO_BYTES)
    running.update(part)
    if (part.length === SYNC_IO_BYTES) await yieldToOthers()
  }
}

/**
 * Waits for both, even if one fails; then throws that failure. So no rejection goes unhandled, and neither goes on
 * using a descriptor or a buffer that was given back.
 */
export async function bothDone<A, B>(a: A | Promise<A>, b: B | Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b])
  return Promise.all([a, b])
}
