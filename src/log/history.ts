// The history of one root in a folder: puts its parts together. Does not know the root's files, HTTP or locks.
import { mkdirSync, statSync } from 'node:fs'
import { AgeClock } from './files/age-clock.ts'
import type { History, HistoryOptions } from './api.ts'
import { codeOf } from '../error-code.ts'
import { Blobs } from './blobs.ts'
import { Copies } from './copies.ts'
import { CopyFiles } from './files/copy-files.ts'
import { forgetPath } from './forget.ts'
import { LogHistory } from './log-history.ts'
import { Segments } from './segments.ts'
import { sweepHistory } from './sweep.ts'
import { sweptFiles } from './swept.ts'
import { Writer } from './writer.ts'

/** In ms: a segment that was begun earlier is ended by the sweep, so that what is old in it can be removed. */
const LONGEST = 24 * 60 * 60 * 1000

/** Reads nothing but the last ids. Throws the system's error if the folder can't be made or read. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  const { folder, nonce, isAlive, stayAlive, report } = options
  makeFolder(folder)
  let started: Promise<void> | undefined
  const history = new LogHistory(options, ({ limits, ids, saw, sawIndex, lost, wrote }) => {
    const segments = new Segments({ ...options, limits, ids, saw, sawIndex })
    const blobs = new Blobs(options)
    const files = new CopyFiles(options)
    // Beside the folder: what is in that is the history.
    const clock = new AgeClock(`${folder}.time`, report)
    const copies = new Copies({ places: files, wrote, report, limits })
    const writer = new Writer({
      folder,
      nonce,
      isAlive,
      stayAlive,
      report,
      limit: limits.segment,
      written: (segment, offset, lines) => segments.written(segment, offset, lines),
      lost,
      closed: (segment, isWhole) => {
        segments.closed(segment, isWhole)
        options.grown?.()
      }
    })
    started = segments.start()
    return {
      segments,
      blobs,
      copies,
      writer,
      forget: async (path, reading) => {
        await copies.remove(path)
        return forgetPath(path, { segments, blobs, reading })
      },
      sweep: async retention => {
        await writer.rotate(LONGEST)
        await segments.idle()
        return sweepHistory(retention, { segments, blobs, copies: files, clock, report })
      },
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
