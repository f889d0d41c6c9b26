// Runs a piece of work once for all concurrent callers.

/**
 * Returns a function that does the work. Callers during a run share the next run: each run begins after the calls that
 * it answers.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<T> | null = null
  const begin = (): Promise<T> => {
    waiting = null
    return work()
  }
  return () => {
    if (waiting === null) {
      waiting = last.then(begin, begin)
      last = waiting
    }
    return waiting
  }
}
