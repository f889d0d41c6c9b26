// Bytes on their way from one thread to another. Knows no jobs.

/** Bytes that have come from another thread. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/**
 * The bytes in a buffer that can move to another thread. What a large buffer begins with has it to itself, as the
 * workspace's have; a view into Node's pool of small ones is copied.
 */
export const transferable = (bytes: Buffer): Uint8Array<ArrayBuffer> =>
  (bytes.byteLength === bytes.buffer.byteLength || (bytes.byteOffset === 0 && bytes.byteLength > Buffer.poolSize)
    ? bytes
    : Uint8Array.from(bytes)) as Uint8Array<ArrayBuffer>
