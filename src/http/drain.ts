// Whether requests are let in, and how many are inside. Does not know what they ask for.

export interface Drain {
  readonly closed: boolean
  /** A request is inside; call what is returned when it is done. */
  enter(): () => void
  /** Lets nobody in any more; resolves when nobody is inside. */
  close(): Promise<void>
}

export function makeDrain(): Drain {
  let inside = 0
  let closed = false
  let empty: () => void = () => {}
  const emptied = new Promise<void>(resolve => {
    empty = resolve
  })
  const settle = () => {
    if (closed && inside === 0) empty()
  }
  return {
    get closed() {
      return closed
    },
    enter() {
      inside++
      return () => {
        inside--
        settle()
      }
    },
    close() {
      closed = true
      settle()
      return emptied
    }
  }
}
