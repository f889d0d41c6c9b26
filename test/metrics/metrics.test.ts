// What is counted, how many series that makes, and whether Prometheus' own tool finds fault with it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { makeMetrics } from '../../src/metrics/metrics.ts'
import { exposition } from '../../src/metrics/registry.ts'
import { openSpaces } from '../../src/open-spaces.ts'
import { testFolder } from '../folder.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'

const BEARER = { authorization: 'Bearer secret' }

/** A server in this process that is observed. `flags`: more settings. */
async function observed(t: Test, files: Parameters<Test['testdir']>[0], ...flags: string[]) {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-metrics-'))
  const root = testFolder(t, files)
  const loaded = loadConfig([root, '--token', 'secret', '--state-dir', stateDir, '--durability', 'fast', ...flags], {})
  if (!loaded.ok) throw new Error(loaded.failure.join())
  const metrics = makeMetrics('1.2.3')
  const spaces = await openSpaces({ config: loaded.value, report: () => {}, meter: metrics.meter }, null)
  const { app } = await buildApp({ spaces, logger: pino({ level: 'silent' }), observer: metrics })
  t.teardown(async () => {
    await app.close()
    await spaces.close()
    rmSync(stateDir, { recursive: true })
  })
  const send = (url: string, body?: object, headers: Record<string, string> = {}) =>
    app.inject({
      method: body === undefined ? 'GET' : 'POST',
      url,
      headers: {
        host: 'localhost',
        ...BEARER,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers
      },
      ...(body !== undefined && { payload: JSON.stringify(body) })
    })
  const text = () => exposition(metrics.snapshot())
  return { app, send, text, metrics, spaces, config: loaded.value }
}

/** There are these lines. */
const checkLines = (t: Test, text: string, ...lines: string[]) => {
  for (const line of lines) if (!text.split('\n').includes(line)) t.fail(`${line} is not there`, { text })
  t.pass(`${lines.length} lines`)
}

const seriesOf = (text: string) => text.split('\n').filter(line => line !== '' && !line.startsWith('#'))

t.test('tells how large the history is that a server finds when it starts', async t => {
  const { send, config } = await observed(t, { 'a.txt': 'one\n' })
  t.equal((await send('/edit', { path: 'a.txt', old_text: 'one', new_text: 'two' })).statusCode, 200)
  const metrics = makeMetrics('1.2.3')
  const spaces = await openSpaces({ config, report: () => {}, meter: metrics.meter }, null)
  t.match(exposition(metrics.snapshot()), /^editd_history_bytes [1-9]\d*$/m)
  await spaces.close()
})

t.test('counts what was done, whichever way it came', async t => {
  const { send, text, spaces } = await observed(t, { 'a.txt': 'one two\n', 'b.txt': 'one\n' }, '--rate', '11/h')
  const edit = { path: 'a.txt', old_text: 'one', new_text: 'three' }
  t.equal((await send('/edit', edit)).statusCode, 200)
  t.equal((await send('/tools/edit_file', { ...edit, old_text: 'three' })).statusCode, 200)
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'edit_file', arguments: edit } }
  const mcp = await send('/mcp', message, { accept: 'application/json, text/event-stream' })
  t.equal(mcp.statusCode, 200, mcp.payload)
  const adapter = { command: 'create', path: 'c.txt', file_text: 'new\n' }
  t.equal((await send('/adapters/anthropic-text-editor', adapter)).statusCode, 200)
  const miss = await send('/edit', { path: 'a.txt', old_text: 'three  two', new_text: 'x' })
  const { edit: fix } = miss.json().suggested_fixes[0]
  t.equal((await send('/edit', { path: 'b.txt', ...fix })).statusCode, 422, 'another file')
  t.equal((await send('/edit', { path: 'a.txt', ...fix })).statusCode, 200)
  const operations = [{ operation: 'edit', path: 'b.txt', old_text: 'one', new_text: 'two' }]
  t.equal(
    (await send('/batch', { operations: [...operations, { operation: 'create', path: 'd.txt', content: '' }] }))
      .statusCode,
    200
  )
  await send('/nothing')
  await send('/edit', { path: 'a.txt', old_txt: 1 })
  await send('/mcp', { ...message, params: { name: 'no_tool' } }, { accept: 'application/json, text/event-stream' })
  t.equal((await send('/capabilities')).statusCode, 429)
  const now = text()
  checkLines(
    t,
    now,
    'editd_calls_total{operation="edit_file",code="ok"} 3',
    'editd_calls_total{operation="create_file",code="ok"} 1',
    'editd_calls_total{operation="batch_edit",code="ok"} 1',
    'editd_calls_total{operation="edit_file",code="INVALID_REQUEST"} 1',
    'editd_calls_total{operation="none",code="ROUTE_NOT_FOUND"} 1',
    'editd_misses_total{cause="spacing"} 1',
    'editd_fixes_taken_total{type="USE_EXACT_TEXT"} 1',
    'editd_rate_limited_total{of="token"} 1',
    'editd_request_duration_seconds_count{route="/edit"} 5',
    'editd_request_duration_seconds_count{route="none"} 1',
    'editd_commit_duration_seconds_count 4',
    'editd_lock_failures_total 0',
    'editd_event_streams 0'
  )
  t.match(now, /^editd_fixes_offered_total\{type="USE_EXACT_TEXT"\} [1-9]/m)
  t.match(now, /^editd_lock_wait_seconds_count ([7-9]|\d\d)$/m)
  t.match(now, /^editd_written_bytes_total [1-9]\d+$/m)
  t.match(now, /^editd_read_bytes_total [1-9]\d+$/m)
  t.match(now, /^process_resident_memory_bytes [1-9]\d{6,}$/m)
  const promtool = spawnSync('promtool', ['check', 'metrics'], { input: now, encoding: 'utf8' })
  if (promtool.error !== undefined) t.comment('promtool is not installed (Debian: prometheus)')
  else t.strictSame([promtool.status, promtool.stdout, promtool.stderr], [0, '', ''])
  await spaces.close()
})

t.test('counts locks that were not had, and that were taken over', async t => {
  const metrics = makeMetrics('1.2.3')
  const meter = metrics.meter()
  meter.locked(11, false)
  meter.locked(0.5, true)
  meter.tookOver()
  meter.history(70)
  metrics.meter().history(30)
  const text = exposition(metrics.snapshot())
  checkLines(t, text, 'editd_lock_failures_total 1', 'editd_lock_takeovers_total 1', 'editd_history_bytes 100')
  checkLines(t, text, 'editd_lock_wait_seconds_bucket{le="1"} 1', 'editd_lock_wait_seconds_bucket{le="+Inf"} 2')
  meter.closed()
  checkLines(t, exposition(metrics.snapshot()), 'editd_history_bytes 30')
})

t.test('tells how late the event loop was since the last fetch, and what runs', async t => {
  const metrics = makeMetrics('1.2.3')
  const lag = () => Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(exposition(metrics.snapshot()))![1])
  await sleep(50)
  const end = performance.now() + 300
  while (performance.now() < end);
  await sleep(50)
  t.ok(lag() > 0.2, 'the loop was held up for 300 ms')
  t.equal(lag(), 0, 'nothing was measured since')
  t.match(exposition(metrics.snapshot()), /^editd_build_info\{version="1\.2\.3",node="v\d[^"]*"\} 1$/m)
})

t.test('counts for each workspace', async t => {
  const metrics = makeMetrics('1.2.3')
  const [a, b] = [metrics.meter('a'), metrics.meter('b')]
  a.read(5)
  a.history(70)
  b.history(30)
  const ann = { name: 'ann', workspace: 'a', scope: 'edit' } as const
  metrics.called(ann, { operation: 'edit_file' }, undefined)
  metrics.answered('/edit', '200', 0.1)
  metrics.answered('/edit', 'aborted', 0.1)
  checkLines(
    t,
    exposition(metrics.snapshot()),
    'editd_calls_total{workspace="a",operation="edit_file",code="ok"} 1',
    'editd_read_bytes_total{workspace="a"} 5',
    'editd_written_bytes_total{workspace="b"} 0',
    'editd_history_bytes{workspace="a"} 70',
    'editd_requests_total{route="/edit",status="aborted"} 1'
  )
  a.closed()
  t.notMatch(exposition(metrics.snapshot()), /editd_history_bytes\{workspace="a"/)
})

t.test('has at most 500 series, whatever is asked for', { skip: ONLY_CI }, async t => {
  const { send, text } = await observed(t, { 'a.txt': 'one\n' })
  const random = new Random(SEED)
  const name = () => random.text(['a', 'b', '/', '.', '"', '\\', '\n', 'é', '{', '0', '-'], 20)
  const routes = ['/edit', '/inspect', '/create', '/edit-lines', '/edit-section', '/tools/edit_file', '/batch']
  const others = ['/undo', '/history', '/preview', '/blame', '/pending', '/adapters/anthropic-text-editor']
  const ask = (i: number) => {
    const path = `${name()}${i}`
    const body = { path, old_text: name(), new_text: name(), dry_run: true, command: name(), agent: `agent ${i}` }
    switch (random.int(6)) {
      case 0:
        return send(`/${encodeURIComponent(path)}`, body)
      case 1:
        return send(random.pick(routes), body, { authorization: `Bearer token-${i}` })
      case 2:
        return send(`/tools/${encodeURIComponent(path)}`, body)
      case 3:
        return send(random.pick(others), body, { 'editd-agent': `agent-${i}` })
      case 4:
        return send(random.pick([...routes, ...others]), random.chance(50) ? { path: 'a.txt' } : body)
      default:
        return send('/inspect', { path })
    }
  }
  const count = Number(process.env.LONG_REQUESTS ?? often(20_000, 2_000))
  for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => ask(i + k)))
  const series = seriesOf(text())
  t.ok(series.length <= 500 && series.length > 50, `${series.length} series after ${count} requests (SEED=${SEED})`)
  t.comment(`${series.length} series after ${count} requests`)
})

t.test('is what docs/operators.md says, in its order', async t => {
  const table = readFileSync(new URL('../../docs/operators.md', import.meta.url), 'utf8').split('## Metrics')[1]!
  const documented = [...table.split('\n## ')[0]!.matchAll(/^\| (`[a-z0-9_`, ]+`) \| ([a-z`_, ]*) ?\| /gm)].flatMap(
    ([, names = '', labels = '']) => names.split(', ').map(name => [name, labels.trim()].join(' ').replaceAll('`', ''))
  )
  const metrics = makeMetrics('1.2.3')
  metrics.called(undefined, { operation: 'x', code: 'NO_MATCH' }, undefined)
  const names = metrics.snapshot().map(({ name }) => name)
  const sorted = (list: string[]) => [...list].sort()
  t.strictSame(sorted(documented.map(row => row.split(' ')[0]!)), sorted(names))
})
