// The names of segments and of their indexes. Does not know what is in them.

const SEGMENT = /^([A-Za-z0-9_]+)-(\d{1,9})\.ndjson$/
const INDEX = /\.index$/

export const segmentName = (nonce: string, number: number): string => `${nonce}-${number}.ndjson`

/** Null: it isn't the name of a segment. */
export function parseSegment(name: string): { nonce: string; number: number } | null {
  const [, nonce, number] = SEGMENT.exec(name) ?? []
  return nonce === undefined || number === undefined ? null : { nonce, number: Number(number) }
}

export const indexName = (segment: string): string => `${segment}.index`

/** The segment that this is the index of, or null. */
export const indexedBy = (name: string): string | null => (INDEX.test(name) ? name.replace(INDEX, '') : null)
