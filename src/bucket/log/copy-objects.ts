// Copies of files' content as objects of a bucket. Does not know what they contain, or when they are written.
import type { HistoryLimits } from '../../log/api.ts'
import { copyName, type CopyPlaces } from '../../log/copies.ts'
import { newAttempt, type ObjectStore } from '../../object-store/store.ts'
import { COPIES } from './names.ts'

/** Metadata entry: the id of the edit that the copy was made after. */
const EDIT = 'editd-edit'
/** In bytes: the most that precedes the content. */
const HEADER = 64 * 1024
/** How often a write is tried while other servers write copies of the same file. */
const ATTEMPTS = 5

const keyOf = (path: Buffer): string => COPIES + copyName(path)

export class CopyObjects implements CopyPlaces {
  readonly #store: ObjectStore
  readonly #limits: HistoryLimits

  constructor({ store, limits }: { store: ObjectStore; limits: HistoryLimits }) {
    this.#store = store
    this.#limits = limits
  }

  async read(path: Buffer): Promise<Buffer | null> {
    return (await this.#store.get(keyOf(path), this.#limits.copy + HEADER))?.bytes ?? null
  }

  async write(path: Buffer, edit_id: string, bytes: Buffer): Promise<void> {
    const key = keyOf(path)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const there = await this.#store.head(key)
      if (there !== null && (there.metadata[EDIT] ?? '') > edit_id) return
      const condition = there === null ? ('absent' as const) : { is: there.version, landed: there.landed }
      const write = { bytes, if: condition, attempt: newAttempt(), metadata: { [EDIT]: edit_id } }
      if ((await this.#store.write(key, write)) !== null) return
    }
  }

  async remove(path: Buffer): Promise<void> {
    await this.#store.remove(keyOf(path))
  }
}
