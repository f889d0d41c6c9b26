// Where the pieces found agree on a place: each piece votes for the offset where old_text would begin.
import { type Hits, MOST_PLACES, MOST_SEEN, type Seeds } from './seeds.ts'

/** A range of the text (bytes) that may hold old_text, with its votes. */
interface Place {
  start: number
  end: number
  votes: number
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/**
 * Bytes of a bucket that counts votes for a place: at least this many, or this share of the bytes sought, so that a
 * text that repeats itself doesn't have all its places in one bucket.
 */
const LEAST_WIDTH = 48
const WIDTH = 0.22
/** Most buckets: more would take too much memory, so large texts get wider buckets. */
const MOST_BUCKETS = 1 << 21
/** Divisor of a piece's vote for its second and further places in old_text. */
const FURTHER = 1.5
/** Least weight of a piece, and the weight of one that occurs too often to be listed: little beside a rare one. */
const LEAST_WEIGHT = 0.4
/** Buckets to keep for each place wanted; when twice as many are collected, the others are dropped. */
const KEPT = 4

/**
 * The `most` places with the most votes, best first, no two adjacent. The rarer a piece, the more its vote counts.
 * `sought` and `length`: bytes of the text sought and of the text; `step`: the step that the grams were searched with.
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
  // A match across a border counts in both buckets: each bucket adds the votes of its better neighbour to its own.
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

/** The weight of each piece: greater the fewer of the `looked` places it occurred at. */
function weightsOf(seen: Int32Array, looked: number): Float64Array {
  return Float64Array.from(seen, count =>
    count === 0 ? 0 : count > MOST_SEEN ? LEAST_WEIGHT : Math.max(LEAST_WEIGHT, Math.log2(looked / (count + 1)))
  )
}
