// Whether an object store answers: by what its requests come to, and while it doesn't, by a look from time to time. Does
// not know what is asked of it.
import { StoreUnavailable, type ObjectStore } from '../object-store/store.ts'

/** In ms between two looks. Chosen, not measured. */
const LOOK = 5000

/** The same store, and whether it answered last. */
export function watched(store: ObjectStore): { store: ObjectStore; answers(): boolean } {
  let timer: NodeJS.Timeout | undefined
  const answered = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const look = (): void => {
    store.list('', { limit: 1 }).then(answered, () => {})
  }
  const seen = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const done = await work
      answered()
      return done
    } catch (error) {
      if (error instanceof StoreUnavailable) timer ??= setInterval(look, LOOK).unref()
      throw error
    }
  }
  return {
    answers: () => timer === undefined,
    store: {
      name: store.name,
      get: (...given) => seen(store.get(...given)),
      open: (...given) => seen(store.open(...given)),
      head: (...given) => seen(store.head(...given)),
      write: (...given) => seen(store.write(...given)),
      remove: (...given) => seen(store.remove(...given)),
      list: (...given) => seen(store.list(...given)),
      close() {
        answered()
        store.close()
      }
    }
  }
}
