// A seeded source of numbers: the same seed, the same corpora and the same order of runs.

export type Random = (below: number) => number

/** mulberry32. Returns whole numbers from 0 to below `below`. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = [...items]
  for (let i = order.length - 1; i > 0; i--) {
    const j = random(i + 1)
    const [a, b] = [order[i]!, order[j]!]
    order[i] = b
    order[j] = a
  }
  return order
}
