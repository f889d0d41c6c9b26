// Where the pieces found agree on a place: each votes for the offset that old_text would begin at. Does not know texts.
import { type Hits, MOST_PLACES, MOST_SEEN, type Seeds } from './seeds.ts'

/** A range of the text (bytes) that may hold old_text, and how much speaks for it. */
export interface Place {
  start: number
  end: number
  votes: number
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/**
 * Bytes of a bucket, in which votes for a place are counted: at least so many, or this share of the bytes sought, so that
 * the places in a text that repeats itself aren't all the same one.
 */
const LEAST_WIDTH = 48
const WIDTH = 0.22
/** Buckets: more would cost more memory than a text is worth, so buckets of large texts are wider. */
const MOST_BUCKETS = 1 << 21
/** By how much the vote of a piece is divided for its second place in old_text and the further ones. */
const FURTHER = 1.5
/** What a piece counts at least, and one that is seen so often that it isn't listed: little beside a rare one. */
const LEAST_WEIGHT = 0.4
/** Buckets that are kept for each place wanted; when twice as many are collected, the others are dropped. */
const KEPT = 4

/**
 * The `most` places with most votes, best first, no two side by side. A vote counts the more the rarer its piece is.
 * `sought` and `length`: bytes of the text sought and of the text; `step`: as the grams were looked for.
 */
export function placesOf(hits: Hits, seeds: Seeds, sought: number, length: number, most: number, step = 1): Place[] {
  const weights = weightsOf(hits.seen, (length >> 2) / step)
  const width = Math.max(LEAST_WIDTH, Math.floor(sought * WIDTH), Math.ceil((length + sought) / MOST_BUCKETS))
  const votes = new Float64Array(Math.ceil((length + sought) / width) + 3)
  for (let i = 0; i < hits.count; i++) {
    const gram = hits.gram[i]!
    const weight = weights[gram]!
    for (let k = 0; k < seeds.placed[gram]!; k++) {
      votes[((hits.at[i]! - seeds.places[gram * MOST_PLACES + k]! + sought) / width) | 0]! +=
        k === 0 ? weight : weight / FURTHER
    }
  }
  // What lies across a border counts in both: a bucket has its own votes and those of the better neighbour.
  const sums: { bucket: number; other: number; votes: number; own: number }[] = []
  let least = 0
  for (let bucket = 0; bucket < votes.length; bucket++) {
    const own = votes[bucket]!
    if (own === 0) continue
    const [before, after] = [votes[bucket - 1] ?? 0, votes[bucket + 1] ?? 0]
    const sum = own + Math.max(before, after)
    if (sum <= least) continue
    sums.push({ bucket, other: after >= before ? bucket + 1 : bucket - 1, votes: sum, own })
    if (sums.length > 2 * most * KEPT) least = keepBest(sums, most * KEPT)
  }
  keepBest(sums, most * KEPT)
  const chosen: typeof sums = []
  for (const sum of sums) {
    if (chosen.length < most && chosen.every(({ bucket }) => Math.abs(bucket - sum.bucket) > 1)) chosen.push(sum)
  }
  return chosen.map(({ bucket, other, votes }) => ({
    start: Math.max(0, Math.min(bucket, other) * width - sought),
    end: Math.min(length, (Math.max(bucket, other) + 1) * width),
    votes
  }))
}

function keepBest(sums: { votes: number; own: number }[], count: number): number {
  sums.sort((a, b) => b.votes - a.votes || b.own - a.own)
  sums.length = Math.min(sums.length, count)
  return sums.at(-1)?.votes ?? 0
}

/** What a piece counts: the more, the fewer of the `looked` places it was seen at. */
function weightsOf(seen: Int32Array, looked: number): Float64Array {
  return Float64Array.from(seen, count =>
    count === 0 ? 0 : count > MOST_SEEN ? LEAST_WEIGHT : Math.max(LEAST_WEIGHT, Math.log2(looked / (count + 1)))
  )
}
