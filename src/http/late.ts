// What is made at its first use, since few need it. Does not know what it is. Nothing that an edit needs may be made
// so: Node 20 keeps the failure of an import, for instance for want of a file descriptor, until the process ends.

/**
 * Makes a value when it is first called, and returns that from then on; calls meanwhile share it. Where making it
 * fails, so do the calls that wait for it; the next one tries again.
 */
export function late<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}
