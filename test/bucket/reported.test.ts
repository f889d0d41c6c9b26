// What the audit file and the metrics say about changes in a bucket of a real Ceph.
// runs alone: two of its tests at once, which mostly wait for other processes.
// runs in .ci/run
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import pino from 'pino'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.ts'
import { AuditFile } from '../../src/audit/audit-file.ts'
import { loadConfig } from '../../src/config/config.ts'
import { makeMetrics } from '../../src/metrics/metrics.ts'
import { exposition } from '../../src/metrics/registry.ts'
import { openSpaces } from '../../src/open-spaces.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { fill } from '../audit/largest.ts'

const REAL = { skip: NO_CEPH, timeout: 280_000 }

type Line = Record<string, unknown>
const sha = /^[0-9a-f]{64}$/
const id = /^.{26}$/

/** A server in this process on a bucket behind a proxy, with an audit and metrics. */
async function serve(t: Test, files: Record<string, string>, ...flags: string[]) {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  /** As another program does. */
  const put = async (key: string, Body: string) => {
    await bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key: key, Body }))
  }
  for (const [key, content] of Object.entries(files)) await put(key, content)
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const folder = mkdtempSync(join(tmpdir(), 'editd-told-'))
  const path = join(folder, 'audit.jsonl')
  const loaded = loadConfig(
    [`s3://${bucket.name}`, '--s3-endpoint', proxy.endpoint, '--token', 'secret', '--audit', path, ...flags],
    {}
  )
  if (!loaded.ok) throw new Error(loaded.failure.join())
  const events: object[] = []
  const report = (event: object) => events.push(event)
  const auditFile = new AuditFile(path, report)
  const metrics = makeMetrics('1.2.3')
  const spaces = await openSpaces({ config: loaded.value, report, auditFile, meter: metrics.meter }, null)
  const { app } = await buildApp({ spaces, logger: pino({ level: 'silent' }), observer: metrics })
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await app.close()
    await spaces.close()
  }
  t.teardown(async () => {
    await close()
    await auditFile.close()
    rmSync(folder, { recursive: true })
  })
  const send = async (url: string, body?: object) => {
    const headers = { host: 'localhost', authorization: 'Bearer secret', 'content-type': 'application/json' }
    const answer =
      body === undefined
        ? await app.inject({ url, headers })
        : await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
    return { status: answer.statusCode, body: answer.json() as Line }
  }
  let seen = 0
  /** Those since the last time. */
  const lines = async (): Promise<Line[]> => {
    await auditFile.commit('{}', false)
    const all = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    const fresh = all.slice(seen).map(line => JSON.parse(line) as Line)
    seen = all.length
    return fresh.filter(line => Object.keys(line).length > 0)
  }
  const read = async (Key: string) => {
    const { Body } = await bucket.client(1).send(new GetObjectCommand({ Bucket: bucket.name, Key }))
    return Body?.transformToString()
  }
  const isFile = ({ path }: { path: string }, key: string) => path.startsWith(`/${bucket.name}/${key}?`)
  const text = () => exposition(metrics.snapshot())
  return { send, put, read, lines, path, proxy, isFile, events, text, spaces, close }
}

const EDIT = { path: 'a.txt', old_text: 'one', new_text: 'two\nthree' }

t.test('has a line for each file that a call changed, and one for each call that changed none', REAL, async t => {
  const server = await serve(t, { 'a.txt': 'one\n' })
  const check = async (route: string, body: object, expected: Line[]) => {
    const { body: answer } = await server.send(route, body)
    const lines = await server.lines()
    t.match(lines, expected, `${route} ${JSON.stringify(answer)}`)
    t.equal(lines.length, expected.length, JSON.stringify(lines))
    return answer
  }
  const facts = { hash_before: sha, hash_after: sha, edit_id: id }
  const { edit_id } = await check('/edit', EDIT, [
    { outcome: 'done', operation: 'edit_file', path: 'a.txt', ...facts, lines_added: 2, lines_removed: 1 }
  ])
  const { body: history } = await server.send('/history', { path: 'a.txt' })
  t.match(history, { edits: [{ edit_id }] })
  await check('/edit', { ...EDIT, dry_run: true }, [])
  await check('/inspect', { path: 'a.txt' }, [])
  await check('/edit', EDIT, [{ outcome: 'refused', path: 'a.txt', code: /./ }])
  await check('/create', { path: 'n.txt', content: 'x\n' }, [{ outcome: 'done', path: 'n.txt', hash_before: null }])
  await check('/review', { verdict: 'keep', path: 'n.txt' }, [{ outcome: 'done', path: 'n.txt', verdict: 'kept' }])
  await check('/undo', { edit_id }, [{ outcome: 'done', operation: 'undo_edit', path: 'a.txt', lines_added: 1 }])
  const step = (path: string) => ({ operation: 'edit', path, old_text: 'x', new_text: 'y' })
  await check('/batch', { operations: [step('a.txt'), step('n.txt')] }, [
    { outcome: 'refused', operation: 'batch_edit', code: 'BATCH_NOT_SUPPORTED' }
  ])
  await check('/batch', { operations: [step('n.txt')] }, [{ outcome: 'done', operation: 'batch_edit', path: 'n.txt' }])
  t.match(server.spaces.audit, { failing: false })
})

t.test('has an intent before each write where it is required, and what became of it', REAL, async t => {
  const server = await serve(t, { 'a.txt': 'one\n' }, '--audit-required')
  const before: string[] = []
  server.proxy.before = async request => {
    if (request.method !== 'PUT' || !server.isFile(request, 'a.txt')) return
    before.push(readFileSync(server.path, 'utf8'))
    // Another program comes first, once.
    if (before.length === 1) await server.put('a.txt', 'zero\none\n')
  }
  t.equal((await server.send('/edit', EDIT)).status, 200)
  t.equal(await server.read('a.txt'), 'zero\ntwo\nthree\n')
  const lines = await server.lines()
  t.match(lines, [{ outcome: 'intent' }, { outcome: 'void' }, { outcome: 'intent' }, { outcome: 'done' }])
  const [first, again] = [lines[0]!, lines[2]!]
  t.match(lines[1], { change_id: first.change_id, hash_before: first.hash_before })
  t.match(lines[3], { change_id: again.change_id, edit_id: again.edit_id, lines_added: 2, lines_removed: 1 })
  t.not(first.change_id, again.change_id)
  t.match(before[0], `"change_id":"${String(first.change_id)}"`)
  t.match(before[1], `"change_id":"${String(again.change_id)}"`)
  t.notMatch(before[1], '"outcome":"done"')
})

t.test('makes no change while the file can not be written, where it is required', REAL, async t => {
  const server = await serve(t, { 'a.txt': 'one\n' }, '--audit-required')
  if (!fill(server.path)) return t.comment('the file system has no such limit')
  for (const [route, body] of [
    ['/edit', EDIT],
    ['/create', { path: 'n.txt', content: '' }]
  ] as const) {
    t.match(await server.send(route, body), {
      status: 503,
      body: { code: 'NOT_READY', detail: "The audit file of the server can't be written; nothing was done." }
    })
  }
  t.equal((await server.send('/readyz')).status, 503)
  truncateSync(server.path, 0)
  await new Promise(resolve => setTimeout(resolve, 1500))
  t.equal((await server.send('/readyz')).status, 200)
  t.equal(await server.read('a.txt'), 'one\n')
  t.match(await server.send('/history', { path: 'a.txt' }), { body: { edits: [] } })
})

// Each of these mostly waits for a store that doesn't answer.
t.jobs = 2
for (const flags of [['--audit-required'], ['--history', 'off']]) {
  t.test(`says of a change that it is uncertain, and later that it was made (${flags.join(' ')})`, REAL, async t => {
    const server = await serve(t, { 'a.txt': 'one\n' }, ...flags)
    // The write is carried out; its answer and all later ones are lost.
    let isLost = false
    server.proxy.cuts = request => {
      isLost ||= request.method === 'PUT' && server.isFile(request, 'a.txt')
      return isLost
    }
    t.match(await server.send('/edit', EDIT), { status: 503, body: { code: 'NOT_READY', detail: /not known whether/ } })
    const lines = (await server.lines()).filter(({ outcome }) => outcome !== 'intent')
    t.match(lines, [{ outcome: 'uncertain', path: 'a.txt', hash_before: sha, hash_after: sha, lines_added: 2 }])
    t.equal(lines.length, 1, 'it is not refused')
    server.proxy.cuts = () => false
    const later: Line[] = []
    while (later.length === 0) {
      await new Promise(resolve => setTimeout(resolve, 500))
      later.push(...(await server.lines()))
    }
    const { time: _, outcome, ...facts } = lines[0]!
    t.equal(outcome, 'uncertain')
    t.match(later, [{ ...facts, outcome: 'done' }])
    t.equal(later.length, 1)
    t.equal(await server.read('a.txt'), 'two\nthree\n')
    await server.close()
    t.strictSame(await server.lines(), [])
  })
}

t.test('counts changes, misses, bytes and the time of commits, and how long others were waited for', REAL, async t => {
  const server = await serve(t, { 'a.txt': 'one two\n', 'b.txt': 'b\n' }, '--lock-timeout', '1s')
  const edit = { path: 'a.txt', old_text: 'one', new_text: 'three' }
  t.equal((await server.send('/edit', edit)).status, 200)
  const miss = await server.send('/edit', { path: 'a.txt', old_text: 'three  two', new_text: 'x' })
  const [{ edit: fix }] = miss.body.suggested_fixes as [{ edit: object }]
  t.equal((await server.send('/edit', { path: 'a.txt', ...fix })).status, 200)
  t.equal((await server.send('/create', { path: 'c.txt', content: 'new\n' })).status, 200)
  // Another program comes first, as often as it is tried.
  let count = 0
  server.proxy.before = async request => {
    if (request.method === 'PUT' && server.isFile(request, 'b.txt')) await server.put('b.txt', `b ${count++}\n`)
  }
  const locked = await server.send('/edit', { path: 'b.txt', old_text: 'b', new_text: 'c' })
  t.match(locked, { status: 423, body: { code: 'FILE_LOCKED' } })
  t.ok(count > 1)
  const lines = server.text().split('\n')
  for (const line of [
    'editd_calls_total{operation="edit_file",code="ok"} 2',
    'editd_calls_total{operation="edit_file",code="FILE_LOCKED"} 1',
    'editd_misses_total{cause="spacing"} 1',
    'editd_fixes_taken_total{type="USE_EXACT_TEXT"} 1',
    'editd_commit_duration_seconds_count 3',
    'editd_written_bytes_total 16',
    'editd_lock_wait_seconds_count 5',
    'editd_lock_failures_total 1'
  ]) {
    if (!lines.includes(line)) t.fail(`${line} is not there`, { text: server.text() })
  }
  t.match(server.text(), /^editd_read_bytes_total [1-9]\d+$/m)
  await server.close()
  t.notMatch(server.text(), /^editd_history_bytes [1-9]/m)
})
