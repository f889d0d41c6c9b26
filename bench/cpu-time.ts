// The CPU time that this process takes for something, and a walk through a text to compare it with.

/** In ms. */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** From line feed to line feed: the least that looking at each line can cost. */
export function walkLineFeeds(text: Buffer): void {
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1));
}
