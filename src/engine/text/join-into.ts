// Joins bytes in memory that already exists: a new Buffer for each edit costs more in allocation and garbage collection
// than the copy.

/** Copies the pieces, one after the other, to the beginning of `memory`, which must have room for them. */
export function joinInto(memory: Buffer, pieces: readonly Buffer[]): Buffer {
  let length = 0
  for (const piece of pieces) length += piece.copy(memory, length)
  return memory.subarray(0, length)
}
