// Assembles the history of one root in a folder from its parts. Does not know the root's files, HTTP or locks.
import { mkdirSync, statSync } from 'node:fs'
import { AgeClock } from './files/age-clock.ts'
import type { History, HistoryOptions } from './api.ts'
import { codeOf } from '../error-code.ts'
import { Blobs } from './blobs.ts'
import { Copies } from './copies.ts'
import { SegmentAppender } from './files/appender.ts'
import { BlobFiles } from './files/blob-files.ts'
import { CopyFiles } from './files/copy-files.ts'
import { SegmentFiles } from './files/segment-files.ts'
import { keptFiles, sweptFiles } from './files/kept-files.ts'
import { LogHistory } from './log-history.ts'

/** Opens the history; reads only the last ids. Throws the system's error if the folder can't be made or read. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { folder, nonce, isAlive, stayAlive, report } = options
  makeFolder(folder)
  let started: Promise<void> | undefined
  const history = new LogHistory(options, ({ limits, ids, saw, sawIndex, wrote }) => {
    const segments = new SegmentFiles({ ...options, limits, ids, saw, sawIndex })
    const blobs = new BlobFiles(options)
    const copies = new CopyFiles(options)
    // Beside the folder, as everything in the folder is part of the history.
    const clock = new AgeClock(`${folder}.time`, report)
    const appender = new SegmentAppender({
      folder,
      nonce,
      isAlive,
      stayAlive,
      report,
      limit: limits.segment,
      written: (segment, offset, lines) => segments.written(segment, offset, lines),
      closed: (segment, isWhole) => {
        segments.closed(segment, isWhole)
        options.grown?.()
      }
    })
    started = segments.start()
    return {
      segments,
      blobs: new Blobs({ places: blobs, report }),
      copies: new Copies({ places: copies, wrote, report, limits }),
      appender,
      late: 0,
      kept: keptFiles({ folder, blobs, copies, clock, report, drop: segment => segments.drop(segment) }),
      swept: sweptFiles(folder),
      now: () => clock.now()
    }
  })
  await started
  return history
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}
