// The header traceparent (W3C Trace Context): of which trace a request is, and of which span of its caller. Does not
// know who wants to know it.
import type { IncomingHttpHeaders } from 'node:http'
import type { CallFacts } from '../../audit/audit.ts'

export type TraceContext = NonNullable<CallFacts['trace']>

/** Version, trace, span, flags; what a later version has behind these, nobody of version 00 may look at. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-[\x21-\x7e]{1,200})?$/

/** Characters of a tracestate: as many as have to be passed on. */
export const TRACESTATE_MAX = 512

/** Undefined where there is none, or one that isn't valid: such a header is passed over, as the standard has it. */
export function traceOf({ traceparent }: IncomingHttpHeaders): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version, trace_id, span_id, more] = TRACEPARENT.exec(traceparent) ?? []
  if (trace_id === undefined || span_id === undefined) return undefined
  return version === '00' && more !== undefined ? undefined : { trace_id, span_id }
}

/** Whether a value names a trace and a span, as the header would. */
export const isTraceparent = (value: unknown): value is string =>
  typeof value === 'string' && traceOf({ traceparent: value }) !== undefined
