// Runs a piece of work once for all who ask at the same time. Does not know the work.

/**
 * A function that does the work. Whoever calls it while the work is running gets the next run, together with all others
 * who wait for it: each run begins after the calls it answers.
 */
export function together(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const run = (): Promise<void> => {
    next = null
    running = work().finally(() => {
      running = null
    })
    return running
  }
  return () => {
    if (running === null) return run()
    next ??= running.then(run, run)
    return next
  }
}
