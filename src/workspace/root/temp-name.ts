// Names of the service's own temp files. Does not know where they are, or what becomes of them.
import { randomUUID } from 'node:crypto'

export const TEMP_NAME = /^\.[0-9a-f]{24}\.tmp$/

/** `digits`: at least 24 of base 16, in lower case. */
export const tempName = (digits: string): string => `.${digits.slice(0, 24)}.tmp`

/** One that nobody can guess, and no other has. A UUID takes 0.4 us, a sixth of `randomBytes`. */
export const randomTempName = (): string => tempName(randomUUID().replaceAll('-', ''))
