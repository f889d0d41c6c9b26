// How many bytes two texts have in common at the start and at the end.

/** Bytes compared in one step. */
const STEP = 4096

/** How many bytes two texts have in common at the start. */
export function commonLead(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at + STEP <= most && a.compare(b, at, at + STEP, at, at + STEP) === 0) at += STEP
  while (at < most && a[at] === b[at]) at++
  return at
}

/** How many bytes, at most `most`, two texts have in common at the end. */
export function commonTrail(a: Buffer, b: Buffer, most: number): number {
  let count = 0
  const isSame = (from: number, to: number): boolean =>
    a.compare(b, b.length - to, b.length - from, a.length - to, a.length - from) === 0
  while (count + STEP <= most && isSame(count, count + STEP)) count += STEP
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count++
  return count
}
