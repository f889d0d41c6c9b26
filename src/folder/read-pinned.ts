// Reads whole files into the memory that large files may take together. Does not know what is done with them.
import { fail, type Result } from '../result.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { WorkspaceOptions } from '../workspace/api.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FailedOne } from '../workspace/results.ts'
import type { Pin } from './root/pin.ts'
import { readWhole, type Snapshot } from './text-file.ts'

export interface FileReadContext {
  options: WorkspaceOptions
  buffers: BufferPool
  recorder: Recorder
}

/**
 * Takes the memory for all of these files together; null: for a path at which nothing is. `taken` gets what gives it back.
 * Failures, of the first large one: FILE_TOO_LARGE where no request may have so much; NOT_READY where it wasn't free in
 * time.
 */
export async function takeMemory(
  { buffers, options }: FileReadContext,
  pins: readonly (Pin | null)[],
  taken: (() => void)[]
): Promise<FailedOne<FileFailure> | null> {
  const sizes = pins.map(pin => Number(pin?.stat.size ?? 0))
  // One that is larger than files may be isn't read at all.
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

/** Reads a file for which there is memory; `taken` gets what closes the snapshot. Failures and throws: as `readWhole`. */
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
