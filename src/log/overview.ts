// What is kept in memory of a segment whose index isn't. Does not know where either is kept.
import { includes, keyHash, type Overview, type SegmentIndex } from './segment-index.ts'

/** The parts of an overview that an index is asked for all of. */
export interface OverviewData extends Omit<Overview, 'mayHavePath' | 'mayHaveKey'> {
  /** Short hashes, ascending. */
  paths: Float64Array
  keys: Float64Array
}

/** Some 8 bytes for each path and key, and what isn't settled in the segment of its record. */
export function overviewFrom({ paths, keys, ...facts }: OverviewData): Overview {
  return {
    ...facts,
    mayHavePath: path => includes(paths, keyHash(path)),
    mayHaveKey: digest => includes(keys, keyHash(digest))
  }
}

/** What is kept of an index as it is, beside its lists. */
export const figuresOf = ({ lowest, highest, seen, oldestAt, keyedAt, unsettled, gaps, blobs }: SegmentIndex) => ({
  lowest,
  highest,
  seen,
  oldestAt,
  keyedAt,
  unsettled,
  gaps,
  blobs
})

export function overviewOf(index: SegmentIndex): Overview {
  const [loose, looseAt] = [new Map(index.loose), new Map(index.looseAt)]
  return overviewFrom({ ...figuresOf(index), loose, looseAt, gaps: [...index.gaps], ...index.hashes() })
}
