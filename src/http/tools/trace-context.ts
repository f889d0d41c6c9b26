// Trace context as W3C defines it: what a traceparent is. Does not know where it comes from or goes.

/** Characters: as many as have to be passed on. */
export const TRACESTATE_MAX = 512

/** Whether a value names a trace and a span: of version 00, or of a later one, which may say more. */
export function isTraceparent(value: unknown): value is string {
  const parts =
    typeof value === 'string'
      ? /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x21-\x7e]{1,200})?$/.exec(value)
      : null
  if (parts === null) return false
  const [, version, trace, span, more] = parts
  return (
    version !== 'ff' && !(version === '00' && more !== undefined) && [trace, span].every(id => /[^0]/.test(id ?? ''))
  )
}
