// Closes descriptors in another thread: the last close of a file that has no name any more frees its blocks, which
// waits for the disk. Does not know what they are of.
import { close } from 'node:fs'

/** How many may be on their way: a bound on open descriptors. Chosen, not measured. */
const LIMIT = 64

let closing = 0
const waiting: (() => void)[] = []

/** Starts to close a descriptor through which nothing was written, so that a failure says nothing to anybody. */
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
