// The names of segments and of their indexes.

const SEGMENT = /^([A-Za-z0-9_]+)-(\d{1,9})\.ndjson$/
const INDEX = /\.index$/

export const segmentName = (nonce: string, number: number): string => `${nonce}-${number}.ndjson`

/** Null: not the name of a segment. */
export function parseSegment(name: string): { nonce: string; number: number } | null {
  const [, nonce, number] = SEGMENT.exec(name) ?? []
  return nonce === undefined || number === undefined ? null : { nonce, number: Number(number) }
}

/** The highest number of a segment among these names, except those of the server `but`; 0: there is none. */
export const highestNumber = (names: readonly string[], but: string): number =>
  names.reduce((highest, name) => {
    const segment = parseSegment(name)
    return segment === null || segment.nonce === but ? highest : Math.max(highest, segment.number)
  }, 0)

export const indexName = (segment: string): string => `${segment}.index`

/** The segment that this index belongs to; null: not the name of an index. */
export const indexedBy = (name: string): string | null => (INDEX.test(name) ? name.replace(INDEX, '') : null)
