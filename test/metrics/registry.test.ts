// Metrics as text, and added up over processes.
import t from 'tap'
import { exposition, merged, Registry } from '../../src/metrics/registry.ts'

const filled = () => {
  const registry = new Registry()
  const plain = registry.counter('a_total', 'Events.')
  const labelled = registry.counter('b_total', 'Events of a kind.', ['kind', 'of'])
  registry.counter('none_total', 'Nothing yet.', ['kind'])
  registry.gauge('c_bytes', 'Size.', () => 2.5)
  registry.gauge('d_seconds', 'When.', () => 7, 'max')
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

t.test('adds up several processes, of which one may have series that another lacks', async t => {
  const [a, b] = [filled(), filled()]
  a.plain.add({}, 2)
  b.plain.add({}, 3)
  b.labelled.add({ kind: 'y', of: 'z' })
  a.times.observe({ route: '/edit' }, 0.5)
  b.times.observe({ route: '/edit' }, 0.01)
  const text = exposition(merged([a.registry.snapshot(), [], b.registry.snapshot()]))
  for (const line of [
    'a_total 5',
    'b_total{kind="y",of="z"} 1',
    'c_bytes 5',
    'd_seconds 7',
    'e_total 6',
    'f_seconds_bucket{route="/edit",le="0.1"} 1',
    'f_seconds_bucket{route="/edit",le="+Inf"} 2',
    'f_seconds_sum{route="/edit"} 0.51'
  ]) {
    t.ok(text.split('\n').includes(line), line)
  }
})
