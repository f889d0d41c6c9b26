// Metrics as text.
import t from 'tap'
import { exposition, Registry } from '../../src/metrics/registry.ts'

const filled = () => {
  const registry = new Registry()
  const plain = registry.counter('a_total', 'Events.')
  const labelled = registry.counter('b_total', 'Events of a kind.', ['kind', 'of'])
  registry.counter('none_total', 'Nothing yet.', ['kind'])
  registry.gauge('c_bytes', 'Size.', () => 2.5)
  registry.gauge('d_seconds', 'When.', () => 7)
  registry.counted('e_total', 'Elsewhere.', () => 3)
  const times = registry.histogram<'route'>('f_seconds', 'Durations.', [0.1, 1])
  return { registry, plain, labelled, times }
}

t.test('writes what Prometheus reads', async t => {
  const { registry, plain, labelled, times } = filled()
  plain.add({})
  plain.add({}, 4)
  labelled.add({ kind: 'x', of: 'a "b" \\ \n c' })
  for (const seconds of [0.1, 0.05, 0.5, 30]) times.observe({ route: '/edit' }, seconds)
  t.equal(
    exposition(registry.snapshot()),
    `# HELP a_total Events.
# TYPE a_total counter
a_total 5
# HELP b_total Events of a kind.
# TYPE b_total counter
b_total{kind="x",of="a \\"b\\" \\\\ \\n c"} 1
# HELP c_bytes Size.
# TYPE c_bytes gauge
c_bytes 2.5
# HELP d_seconds When.
# TYPE d_seconds gauge
d_seconds 7
# HELP e_total Elsewhere.
# TYPE e_total counter
e_total 3
# HELP f_seconds Durations.
# TYPE f_seconds histogram
f_seconds_bucket{route="/edit",le="0.1"} 2
f_seconds_bucket{route="/edit",le="1"} 3
f_seconds_bucket{route="/edit",le="+Inf"} 4
f_seconds_sum{route="/edit"} 30.65
f_seconds_count{route="/edit"} 4
`
  )
})
