// The recorded changes of a task on their way to a worker thread and back. Does not know jobs.
import type { RecordedChange } from '../engine/history/change.ts'

/** A task with `copy` of the texts of its changes: a view that is sent takes along all that it is a view of. */
export const withChanges = <T extends { changes: readonly RecordedChange[] }>(
  task: T,
  copy: (text: Uint8Array) => Uint8Array
): T => ({ ...task, changes: task.changes.map(change => withTexts(change, copy)) })

const withTexts = (change: RecordedChange, copy: (text: Uint8Array) => Uint8Array): RecordedChange => ({
  ...change,
  splices:
    change.splices?.map(({ start, old, insert }) => ({
      start,
      // What arrives is a plain array of bytes.
      old: copy(old) as Buffer,
      insert: copy(insert) as Buffer
    })) ?? null
})
