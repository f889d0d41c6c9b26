// Result: how a function returns a failure as data. Does not know what can fail.

/** Either a value or a failure. A failure is a record with a literal `code`; it is returned, never thrown. */
export type Result<T, F> = { ok: true; value: T } | { ok: false; failure: F }

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value })
export const fail = <F>(failure: F): { ok: false; failure: F } => ({ ok: false, failure })
