// The tab's history, for Back and Forward: writes addresses into it. Does not know what they say.

/** In ms, chosen: browsers refuse hundreds of changes of the address in a row. */
const WAIT = 200

/** The history of the tab. */
export interface Steps {
  /** `isStep`: Back leads to what was shown before; else the address of what is shown is another one now. */
  write(hash: string, isStep: boolean): void
  /** The browser went to another address. */
  arrived(): void
  /** Goes back if that leads to this address. Returns whether it does. */
  backTo(hash: string): boolean
}

export function makeSteps(): Steps {
  let timer = 0
  let written = location.hash.slice(1)
  let waiting: string | null = null
  const urlOf = (hash: string) => (hash === '' ? location.pathname + location.search : `#${hash}`)
  const flush = () => {
    clearTimeout(timer)
    if (waiting !== null) history.replaceState(history.state, '', urlOf(waiting))
    waiting = null
  }
  return {
    write(hash, isStep) {
      if (hash === written) return
      if (isStep) {
        flush()
        history.pushState({ from: written }, '', urlOf(hash))
      } else {
        waiting = hash
        clearTimeout(timer)
        timer = setTimeout(flush, WAIT)
      }
      written = hash
    },
    arrived() {
      clearTimeout(timer)
      waiting = null
      written = location.hash.slice(1)
    },
    backTo(hash) {
      const { from } = (history.state ?? {}) as { from?: string }
      if (from !== hash) return false
      history.back()
      return true
    }
  }
}
