// What tests of the history share: folders, an open history, records. Does not know any test.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { codeOf } from '../../../src/error-code.ts'
import type { History, HistoryLimits, HistoryOptions } from '../../../src/log/api.ts'
import { openHistory } from '../../../src/log/folder-log.ts'
import type { EditRecord } from '../../../src/log/record.ts'

/** Where histories are opened: in a folder or in a bucket. */
export interface AnyPlace {
  events: { event: string; [key: string]: unknown }[]
  /** Nonces of servers that have ended, or that others believe to have ended; a running one removes itself on notice. */
  gone: Set<string>
  /** How often such a server will still find itself alive, as if others had given it up just after its check. */
  late: Map<string, number>
  /** Opens the history of another server. */
  open(options?: AnyOptions): Promise<History>
}

export type AnyOptions = Partial<Pick<HistoryOptions, 'nonce' | 'level' | 'isPrivate'>> & {
  limits?: Partial<HistoryLimits>
}

/** What is opened is closed when the test ends. */
export type MakePlace = (t: Test) => AnyPlace | Promise<AnyPlace>

export interface Place extends AnyPlace {
  folder: string
  /** Closes what was opened, and removes it, before the test ends. */
  clear(): Promise<void>
  open(options?: Partial<Omit<HistoryOptions, 'limits'>> & { limits?: Partial<HistoryLimits> }): Promise<History>
}

/** Opens the history in a folder as the server with this nonce. By default all others are alive. */
export const openAs = (nonce: string, folder: string, options: Partial<HistoryOptions> = {}): Promise<History> =>
  openHistory({
    folder,
    nonce,
    level: 'full',
    isPrivate: () => false,
    isAlive: async () => true,
    stayAlive: () => 0,
    report: () => {},
    ...options
  })

/** Makes a temporary folder for a history. When the test ends, the histories are closed and the folder is removed. */
export function makePlace(t: { teardown(work: () => unknown): void }, folder?: string): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-history-')))
  const opened: History[] = []
  const clear = async (): Promise<void> => {
    for (const history of opened.splice(0)) await history.close()
    rmSync(base, { recursive: true, force: true })
  }
  t.teardown(clear)
  const place: Place = {
    clear,
    folder: folder ?? join(base, 'history'),
    events: [],
    gone: new Set(),
    late: new Map(),
    open: async options => {
      const nonce = options?.nonce ?? randomBytes(6).toString('hex')
      let returns = 0
      const history = await openAs(nonce, place.folder, {
        isAlive: async nonce => !place.gone.has(nonce),
        stayAlive: () => {
          const late = place.late.get(nonce) ?? 0
          place.late.set(nonce, late - 1)
          return late <= 0 && place.gone.delete(nonce) ? ++returns : returns
        },
        report: event => place.events.push(event),
        ...options
      })
      opened.push(history)
      return history
    }
  }
  return place
}

/** Puts a file in the place of this folder. Returns what undoes that. */
export function breakFolder(folder: string): () => void {
  renameSync(folder, `${folder}.away`)
  writeFileSync(folder, '')
  return () => {
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
  }
}

/** False: a process can take all its descriptors; else why not. */
export const NO_PRLIMIT = spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit, to take all descriptors'

/** Sets the most descriptors of this process; `limit` as in prlimit(1). */
const allow = (limit: string) => execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${limit}:`])

/** Takes all descriptors of this process. Returns what releases them. */
export function takeDescriptors(): () => void {
  const [, before = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
  const taken: number[] = []
  // The default limit may be a million.
  allow('500')
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if (codeOf(error) !== 'EMFILE') throw error
  }
  return () => {
    for (const fd of taken) closeSync(fd)
    allow(before)
  }
}

export const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** The record of an edit that inserts `text` at the start of `path`. */
export function recordOf(
  history: Pick<History, 'nextId'>,
  path: string,
  text = 'text\n',
  more: Partial<EditRecord> = {}
): EditRecord {
  return {
    edit_id: history.nextId(),
    operation: 'edit',
    at: Date.now(),
    path: Buffer.from(path),
    hash_before: hashOf(''),
    hash_after: hashOf(text),
    size_before: 0,
    size_after: Buffer.byteLength(text),
    lines_added: 1,
    lines_removed: 0,
    splices: [{ start: 0, old: Buffer.alloc(0), insert: Buffer.from(text) }],
    places: [
      {
        start_line: 1,
        new_start_line: 1,
        lines_removed: 0,
        lines_added: 1,
        before: Buffer.alloc(0),
        after: Buffer.alloc(0)
      }
    ],
    ...more
  }
}

export const DURABLE = { durable: true }
export const FAST = { durable: false }

/** Appends and settles records, one after the other; returns them. */
export async function write(history: History, records: readonly EditRecord[]): Promise<readonly EditRecord[]> {
  for (const record of records) {
    await history.append(record, FAST)
    history.settle(record.edit_id, 'done')
  }
  await history.flush()
  return records
}
