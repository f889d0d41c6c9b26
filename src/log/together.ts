// Runs a piece of work once for all who ask at the same time. Does not know the work.

/**
 * A function that does the work. Whoever calls it while the work is running gets the next run, together with all others
 * who wait for it: each run begins after the calls that it answers.
 */
export function together<T>(work: () => Promise<T>): () => Promise<T> {
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
