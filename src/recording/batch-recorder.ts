// What the history is told of files that are changed together: a record of each, all of one batch, and one answer. Does
// not know what becomes of the files.
import type { Origin } from '../workspace/api.ts'
import type { ComingChange, FileRecorder } from './recorder.ts'

/** Each method takes or gives one entry for each file, in the order of `recorders`; null: no history is kept. */
export class BatchRecorder {
  readonly #recorders: readonly (FileRecorder | null)[]
  readonly #origin: Origin

  constructor(recorders: readonly (FileRecorder | null)[], origin: Origin) {
    this.#recorders = recorders
    this.#origin = origin
  }

  /** The ids that the records will have. */
  async prepare(): Promise<(string | undefined)[]> {
    const ids: (string | undefined)[] = []
    for (const recorder of this.#recorders) ids.push(await recorder?.prepare())
    return ids
  }

  /**
   * Writes the records, the answer to a keyed request with the last one; to be awaited before any file gets its content.
   * Throws where one can't be written: then none of the changes may be made.
   */
  async record(
    changes: readonly Omit<ComingChange, 'origin' | 'outcome'>[],
    outcome: (texts: boolean) => unknown
  ): Promise<void> {
    const { key: _, ...others } = this.#origin
    // All of them, also where one fails: none may be written after it is said that it didn't take place.
    const written = await Promise.allSettled(
      changes.map((change, i) =>
        this.#recorders[i]?.record({
          ...change,
          origin: i === changes.length - 1 ? this.#origin : others,
          outcome: (_id, texts) => outcome(texts)
        })
      )
    )
    const failed = written.find(result => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
}
