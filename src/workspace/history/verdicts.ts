// What a person has said of the changes of a file, from its records. Does not know how records are kept, or what the
// verdicts come to.
import type { Verdict } from '../../engine/history/baseline.ts'
import type { Stored } from '../../history/record.ts'

/** The verdicts on one file's changes that took effect, in the order of its records: as `baselineOf` takes them. */
export const verdictsOf = (stored: readonly Pick<Stored, 'record' | 'settled'>[]): Verdict[] =>
  stored.flatMap(({ record, settled }) => (settled === 'done' && record.review !== undefined ? [record.review] : []))
