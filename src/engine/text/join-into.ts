// Bytes put together in memory that is there: a new Buffer for each edit costs the allocator and the collector more than
// the copy. Does not know what they are.

/** The pieces, one after the other, at the beginning of `memory`, which has to have room for them. */
export function joinInto(memory: Buffer, pieces: readonly Buffer[]): Buffer {
  let length = 0
  for (const piece of pieces) length += piece.copy(memory, length)
  return memory.subarray(0, length)
}
