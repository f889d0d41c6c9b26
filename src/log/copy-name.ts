// The name of a copy. Does not know where copies are.
import { createHash } from 'node:crypto'

/** Of the file at this path. */
export const copyName = (path: Buffer): string => createHash('sha256').update(path).digest('hex').slice(0, 32)
