// The header traceparent, as W3C Trace Context has it.
import t from 'tap'
import { traceOf } from '../../../src/http/requests/traceparent.ts'

const [trace_id, span_id] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
const known = { trace_id, span_id }

t.test('takes a valid traceparent, and passes over one that is not', async t => {
  for (const [header, expected] of [
    [`00-${trace_id}-${span_id}-01`, known],
    [`00-${trace_id}-${span_id}-00`, known],
    [`00-${trace_id}-${span_id}-ff`, known],
    [`cc-${trace_id}-${span_id}-01`, known],
    [`cc-${trace_id}-${span_id}-01-what-the-future-brings`, known],
    [`cc-${trace_id}-${span_id}-01.`, undefined],
    [`00-${trace_id}-${span_id}-01-`, undefined],
    [`ff-${trace_id}-${span_id}-01`, undefined],
    [`00-${'0'.repeat(32)}-${span_id}-01`, undefined],
    [`00-${trace_id}-${'0'.repeat(16)}-01`, undefined],
    [`00-${trace_id.toUpperCase()}-${span_id}-01`, undefined],
    [`00-${trace_id.slice(1)}-${span_id}-01`, undefined],
    [`00-${trace_id}-${span_id}`, undefined],
    [`0-${trace_id}-${span_id}-01`, undefined],
    [`00-${trace_id}-${span_id}-01, 00-${trace_id}-${span_id}-01`, undefined],
    [` 00-${trace_id}-${span_id}-01`, undefined],
    ['', undefined],
    [undefined, undefined]
  ] as const) {
    t.strictSame(traceOf({ traceparent: header }), expected, String(header))
  }
})
