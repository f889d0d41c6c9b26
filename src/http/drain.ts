// Whether new requests are accepted, and how many are running. Does not know what they ask for.

export interface Drain {
  readonly closed: boolean
  /** Counts a request as running; call what is returned when it is done. */
  enter(): () => void
  /** Accepts no more requests; resolves when none is running. */
  close(): Promise<void>
}

export function makeDrain(): Drain {
  let running = 0
  let closed = false
  let empty: () => void = () => {}
  const emptied = new Promise<void>(resolve => {
    empty = resolve
  })
  const settle = () => {
    if (closed && running === 0) empty()
  }
  const leave = () => {
    running--
    settle()
  }
  return {
    get closed() {
      return closed
    },
    enter() {
      running++
      return leave
    },
    close() {
      closed = true
      settle()
      return emptied
    }
  }
}
