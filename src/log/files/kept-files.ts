// The parts of a history in a folder that its sweep can remove. Does not decide what is removed, or when.
import { constants } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import { indexedBy, indexName } from '../segment-name.ts'
import type { Segment } from '../segment.ts'
import type { Kept, KeptPlaces, KeptRemoval } from '../sweep.ts'
import { markSwept, type SweptNames } from '../swept.ts'
import type { AgeClock } from './age-clock.ts'
import type { BlobFiles } from './blob-files.ts'
import type { CopyFiles } from './copy-files.ts'
import { closeFile, look, MODE, namesIn, NEW, openFile, remove } from './files.ts'

interface KeptFilesOptions {
  /** The folder of the segments. */
  folder: string
  blobs: BlobFiles
  copies: CopyFiles
  clock: AgeClock
  /** Called when a segment was removed. */
  drop(segment: Segment): void
  report: HistoryOptions['report']
}

/** In ms: older temp files were left by a server that was killed. */
const LEFT = 60 * 60 * 1000

export function keptFiles({ folder, blobs, copies, clock, drop, report }: KeptFilesOptions): KeptPlaces {
  const failed = (error: unknown) => report({ event: 'history_sweep_failed', code: codeOf(error) })
  return {
    segment: async segment => {
      const [path, index] = [join(folder, segment.name), join(folder, indexName(segment.name))]
      const [stats, indexStats] = await Promise.all([look(path), look(index)])
      return (
        stats && {
          size: stats.size + (indexStats?.size ?? 0),
          at: stats.mtimeMs,
          remove: async () => {
            // Without this mark, its edits seem never to have existed; but freeing disk space matters more.
            await markSwept(sweptFiles(folder), segment.overview?.highest ?? '').catch(failed)
            const removal = await removed(path)
            await remove(index)
            if (removal !== 'needed') drop(segment)
            return removal
          }
        }
      )
    },
    blobs: () =>
      filesIn(blobs.folder, clock.now(), async (name, at) => {
        if (await blobs.restore(name)) return null
        // It has a newer time now: a new record needs it.
        const isAsOld = async (going: string) => ((await look(going))?.mtimeMs ?? 0) <= at
        const path = join(blobs.folder, name)
        return async () => ((await blobs.removeIf(name, isAsOld)) ? 'removed' : isThere(path))
      }),
    copies: () => filesIn(copies.folder, clock.now(), async name => () => removed(join(copies.folder, name))),
    tidy: async () => {
      clock.keep()
      for (const name of await namesIn(folder)) {
        const path = join(folder, name)
        const segment = indexedBy(name)
        if (name.endsWith('.tmp')) await removeLeft(path, clock.now())
        else if (segment !== null && (await look(join(folder, segment))) === null) await remove(path)
      }
    }
  }
}

export const sweptFiles = (folder: string): SweptNames => ({
  names: () => namesIn(folder),
  add: async name => closeFile(await openFile(join(folder, name), constants.O_WRONLY | NEW, MODE)),
  remove: name => remove(join(folder, name))
})

const isThere = async (path: string): Promise<KeptRemoval> => ((await look(path)) === null ? 'gone' : 'needed')

const removed = async (path: string): Promise<KeptRemoval> => ((await remove(path)) ? 'removed' : isThere(path))

async function filesIn(
  folder: string,
  now: number,
  removal: (name: string, at: number) => Promise<Kept['remove']>
): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const stats = await look(path)
    if (stats === null) continue
    const { size, mtimeMs: at } = stats
    if (!name.endsWith('.tmp')) kept.push({ size, at, remove: await removal(name, at) })
    // A newer one is being written.
    else if (!(await removeLeft(path, now))) kept.push({ size, at, remove: null })
  }
  return kept
}

async function removeLeft(path: string, now: number): Promise<boolean> {
  const stats = await look(path)
  return stats !== null && stats.mtimeMs < now - LEFT && remove(path)
}
