// A second process for the tests of batches: makes the batches that it receives, one JSON line each, and prints the
// result of each. Does not know any test.
import { createInterface } from 'node:readline'
import type { WorkspaceOptions } from '../../../src/workspace/api.ts'
import { append, become, open, remove } from './open.ts'

/** The options of the workspace that differ from those of open.ts. `ahead`: ms by which its clock is ahead. */
export interface WorkerOrder extends Partial<WorkspaceOptions> {
  root: string
  state: string
  ahead?: number
}

/** By path: the texts to append, to make a file of, and to replace all with; the removed files, with their folders. */
export interface BatchOrder {
  id: string
  edits?: Record<string, string>
  creates?: Record<string, string>
  becomes?: Record<string, string>
  removes?: Record<string, string[]>
}

const { root, state, ahead = 0, ...options }: WorkerOrder = JSON.parse(process.argv[2] ?? '{}')
if (ahead !== 0) {
  const TrueDate = Date
  globalThis.Date = class extends TrueDate {
    constructor(...time: [] | [number]) {
      super(time[0] ?? TrueDate.now() + ahead)
    }
    static override now = () => TrueDate.now() + ahead
  } as DateConstructor
}

const workspace = await open({ base: '', root, state }, { lockTimeout: 20_000, allowDelete: true, ...options })
process.stdout.write('ready\n')

const names = (texts: Record<string, string> = {}): [string, string][] => Object.entries(texts)

for await (const line of createInterface({ input: process.stdin })) {
  const { id, edits, creates, becomes, removes = {} }: BatchOrder = JSON.parse(line)
  const steps = [
    ...names(edits).map(([path, text]) => ({ operation: 'edit' as const, target: { path }, plan: append(text) })),
    ...names(becomes).map(([path, text]) => ({ operation: 'edit' as const, target: { path }, plan: become(text) })),
    ...Object.entries(removes).map(([path, folders]) => ({
      // Without folders as a patch deletes it; with folders as an undo of its creation removes it with them.
      ...(folders.length === 0 ? { operation: 'remove' as const } : { operation: 'edit' as const, apart: true }),
      target: { path },
      plan: remove(...folders)
    })),
    ...names(creates).map(([path, text]) => ({
      operation: 'create' as const,
      target: { path, overwrite: false, create_parents: true },
      plan: become(text)
    }))
  ]
  try {
    const done = await workspace.batch<unknown, never>(steps, { dry_run: false, origin: { operation: 'batch' } })
    const [how, more] = done.ok
      ? ['done', done.value.batch_id ?? '-']
      : ['refused', `${done.failure.code} ${'reason' in done.failure ? done.failure.reason : '-'} ${done.path}`]
    process.stdout.write(`${how} ${id} ${more}\n`)
  } catch (error) {
    process.stdout.write(`threw ${id} ${error instanceof Error ? JSON.stringify(error.stack) : error}\n`)
  }
}
await workspace.close()
process.exit()
