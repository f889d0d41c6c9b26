// How answers tell the SHA-256 of a file. Does not know of which file.

/** The contract's `file_hash` of a SHA-256: its first 16 hex digits. */
export const shortHash = (digest: string): string => digest.slice(0, 16)

/** The hash of a file as it is now, short and whole; nothing where there is no file. */
export const hashesOf = (digest: string | undefined): { file_hash?: string; sha256?: string } =>
  digest === undefined ? {} : { file_hash: shortHash(digest), sha256: digest }
