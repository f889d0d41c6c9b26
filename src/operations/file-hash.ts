// How answers show the SHA-256 of a file.

/** The contract's `file_hash` of a SHA-256: its first 16 hex digits. */
export const shortHash = (digest: string): string => digest.slice(0, 16)

/** The short and the whole hash of a file; no members if there is no file. */
export const hashesOf = (digest: string | undefined): { file_hash?: string; sha256?: string } =>
  digest === undefined ? {} : { file_hash: shortHash(digest), sha256: digest }
