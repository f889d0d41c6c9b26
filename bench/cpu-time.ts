// Measures the CPU time of this process for a piece of work; and a walk through a text to compare it with.

/** CPU time in ms. */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** From line feed to line feed: the minimal cost of looking at each line. */
export function walkLineFeeds(text: Buffer): void {
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1));
}
