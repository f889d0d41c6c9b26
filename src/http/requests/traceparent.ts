// Reads the header traceparent (W3C Trace Context): the trace of a request, and the caller's span. Does not know who
// uses them.
import type { IncomingHttpHeaders } from 'node:http'
import type { CallFacts } from '../../audit/audit.ts'

export type TraceContext = NonNullable<CallFacts['trace']>

/** Version, trace, span, flags. A later version may append more, which a version 00 reader must ignore. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-[\x21-\x7e]{1,200})?$/

/** The most characters of a tracestate: as many as the standard requires us to pass on. */
export const TRACESTATE_MAX = 512

/** Undefined if the header is missing or invalid; the standard says to ignore an invalid one. */
export function traceOf({ traceparent }: IncomingHttpHeaders): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version, trace_id, span_id, more] = TRACEPARENT.exec(traceparent) ?? []
  if (trace_id === undefined || span_id === undefined) return undefined
  return version === '00' && more !== undefined ? undefined : { trace_id, span_id }
}

/** Whether a value has the form of the header, naming a trace and a span. */
export const isTraceparent = (value: unknown): value is string =>
  typeof value === 'string' && traceOf({ traceparent: value }) !== undefined
