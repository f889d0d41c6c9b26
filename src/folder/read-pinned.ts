// Reads whole files into the memory that large files share. Does not know what is done with them.
import { fail, type Result } from '../result.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { WorkspaceOptions } from '../workspace/api.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FailedOne } from '../workspace/results.ts'
import type { Pin } from './root/pin.ts'
import { readWhole, type Snapshot } from './snapshot.ts'

export interface FileReadContext {
  options: WorkspaceOptions
  buffers: BufferPool
  recorder: Recorder
}

/**
 * Acquires the memory for all of these files together; null in `pins`: a path without a file. Adds a callback that
 * releases it to `taken`. Failures, of the first large file: FILE_TOO_LARGE if no request may have that much; NOT_READY
 * if it wasn't free in time.
 */
export async function takeMemory(
  { buffers, options }: FileReadContext,
  pins: readonly (Pin | null)[],
  taken: (() => void)[]
): Promise<FailedOne<FileFailure> | null> {
  const sizes = pins.map(pin => Number(pin?.stat.size ?? 0))
  // A file over the size limit isn't read at all.
  const isLarge = (size: number): boolean => size > SYNC_IO_BYTES && size <= options.maxFileSize
  const at = sizes.findIndex(isLarge)
  if (at === -1) return null
  const actual = sizes.filter(isLarge).reduce((sum, size) => sum + size, 0)
  if (actual > buffers.size) {
    return { ...fail({ code: 'FILE_TOO_LARGE', limit: buffers.size, actual, together: true }), at }
  }
  const release = await buffers.take(actual, options.lockTimeout)
  if (release === null) return { ...fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 }), at }
  taken.push(release)
  return null
}

/** Reads a file after `takeMemory`; adds a callback that closes it to `taken`. Failures and errors: see `readWhole`. */
export async function readPinned(
  { options, buffers, recorder }: FileReadContext,
  pin: Pin,
  taken: (() => void)[]
): Promise<Result<Snapshot, FileFailure>> {
  const known = recorder.lastContent(pin.relative)
  const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size), known)
  if (!read.ok) return read
  const snapshot = read.value
  options.meter?.read(snapshot.bytes.length)
  taken.push(() => {
    snapshot.close()
    buffers.reuse(snapshot.bytes)
  })
  return read
}
