// Closes descriptors in another thread: the last close of a file that has no name left frees its blocks, which waits
// for the disk. Does not know whose they are.
import { close } from 'node:fs'

/** How many may be closing at once: a bound on open descriptors. Chosen, not measured. */
const LIMIT = 64

let closing = 0
const waiting: (() => void)[] = []

/** Starts to close a descriptor that nothing was written through, so that a failure doesn't matter. */
export function closeLater(fd: number): void {
  closing++
  close(fd, () => {
    closing--
    if (closing < LIMIT) waiting.shift()?.()
  })
}

/** Resolves when fewer than `LIMIT` are being closed. */
export async function untilFewAreClosing(): Promise<void> {
  if (closing < LIMIT) return
  await new Promise<void>(resolve => {
    waiting.push(resolve)
  })
  await untilFewAreClosing()
}
