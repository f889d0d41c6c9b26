// Whether an object store answers, and takes the server's keys: by what its requests come to, and while it doesn't, by a
// look from time to time. Does not know what is asked of it.
import { StoreRefused, StoreUnavailable, type ObjectStore } from '../object-store/store.ts'
import type { CommonOptions } from '../workspace/api.ts'
import { codeOf } from '../error-code.ts'

/** In ms between two looks. Chosen, not measured. */
const LOOK = 5000

/** What a store calls it that it does not answer this server; undefined: it did, or it is a bug. */
function whyNot(error: unknown): string | undefined {
  if (error instanceof StoreRefused) return error.isOfKeys ? error.reason : undefined
  if (!(error instanceof StoreUnavailable)) return undefined
  const { cause } = error
  return codeOf(cause) || (cause instanceof Error ? cause.name : 'unknown')
}

/** The same store, and whether it answered last. */
export function watched(
  store: ObjectStore,
  report: NonNullable<CommonOptions['report']>
): { store: ObjectStore; answers(): boolean } {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const answered = (): void => {
    if (timer === undefined) return
    stop()
    report({ event: 'store_available' })
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
      const reason = whyNot(error)
      if (reason !== undefined && timer === undefined) {
        timer = setInterval(look, LOOK).unref()
        report({ event: 'store_unavailable', reason })
      }
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
      now: () => store.now(),
      close() {
        stop()
        store.close()
      }
    }
  }
}
