// Reads a whole file for some work, within the memory that large files may take together. Does not know the work.
import { fail } from '../result.ts'
import type { WorkspaceOptions } from '../workspace/api.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult } from '../workspace/results.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Pin } from './root/pin.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'
import { readWhole, type Snapshot } from './text-file.ts'

/**
 * Does the work on what a pinned file holds; then the snapshot is closed, and its memory given back. Failures: those of
 * `readWhole`; NOT_READY where there was no memory for it in time.
 */
export async function withSnapshot<T, F>(
  { options, buffers, recorder }: { options: WorkspaceOptions; buffers: BufferPool; recorder: Recorder },
  pin: Pin,
  work: (snapshot: Snapshot) => Promise<FileResult<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  const size = Number(pin.stat.size)
  // One that is too large isn't read at all.
  const isFree = size <= SYNC_IO_BYTES || size > options.maxFileSize
  const release = isFree ? nothing : await buffers.take(size, options.lockTimeout)
  if (release === null) return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
  try {
    const known = recorder.lastContent(pin.relative)
    const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size), known)
    if (!read.ok) return read
    const snapshot = read.value
    options.meter?.read(snapshot.bytes.length)
    try {
      return await work(snapshot)
    } finally {
      snapshot.close()
      buffers.reuse(snapshot.bytes)
    }
  } finally {
    release()
  }
}

const nothing = (): void => {}
