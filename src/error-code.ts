// The name of a thrown system error. Does not know what it means.
import { constants } from 'node:os'

/** Errors for which Node's `code` is "Unknown system error -116" and the like: libuv has no names for them. */
const UNNAMED = new Map<unknown, string>((['ESTALE', 'EDQUOT'] as const).map(name => [-constants.errno[name], name]))

/** The name of a thrown system error, such as ENOENT, or ''. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return ''
  return UNNAMED.get('errno' in error ? error.errno : undefined) ?? error.code
}
