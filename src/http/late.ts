// Lazy values, for what few processes need. Don't use it for anything that an edit needs: Node 20 caches a failed
// import, for instance from a lack of file descriptors, until the process ends.

/**
 * Makes a value at the first call and returns it from then on; concurrent calls share the work. If it fails, all calls
 * waiting for it fail; the next call tries again.
 */
export function late<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}
