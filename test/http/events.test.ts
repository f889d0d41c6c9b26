// GET /events: a stream of what is changed, over real sockets and several servers on one root.
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Cursor } from '../../src/log/cursor.ts'
import { makeEventStreams } from '../../src/http/event-streams.ts'
import type { Follower, ChangeEvent } from '../../src/workspace/api.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { type Running, start } from '../running.ts'
import { readEvents, type EventReader } from './sse.ts'
import { check, startServer, TOKEN, type TestServer } from './test-server.ts'

const PROCESS_TOKEN = 'a-token-for-tests'

const edit = (server: TestServer, path: string, old_text: string, new_text: string) =>
  check(t, server, '/edit', { path, old_text, new_text }, 200, {})

async function streamOf(t: Test, server: TestServer, after?: string): Promise<EventReader> {
  const reader = readEvents(server.url, TOKEN, after === undefined ? {} : { after })
  t.teardown(() => reader.socket.destroy())
  await reader.until(1)
  return reader
}

t.test('begins with ready, and tells each change with an id to go on from', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const reader = await streamOf(t, server)
  t.match(reader.head(), /^HTTP\/1.1 200 OK/)
  t.match(reader.head(), /content-type: text\/event-stream; charset=utf-8/i)
  t.match(reader.head(), /cache-control: no-store/i)
  t.match(reader.head(), /x-request-id: /i)
  t.match(reader.events, [{ event: 'ready', id: /^1\./, data: {} }])
  const first = await edit(server, 'a.txt', 'one', 'two')
  await reader.until(2)
  await check(t, server, '/review', { verdict: 'keep', path: 'a.txt' }, 200, {})
  await edit(server, 'a.txt', 'two', 'three')
  await reader.until(4)
  const [ready, one, review, two] = reader.events
  t.match(one, { event: 'edit', data: { type: 'edit', path: 'a.txt', edit_id: first.body.edit_id, state: 'applied' } })
  const kinds = [review, two].map(told => told!.event).sort()
  t.strictSame(kinds, ['edit', 'review'])
  for (const [after, count] of [
    [ready, 3],
    [one, 2],
    [two, 0]
  ] as const) {
    const again = await streamOf(t, server, after!.id)
    t.equal(again.events[0]!.id, after!.id)
    await again.until(1 + count)
    t.match(
      again.events.slice(1),
      reader.events.slice(4 - count).map(({ event, data }) => ({ event, data }))
    )
    again.socket.destroy()
  }
  reader.socket.destroy()
  await reader.closed
  for (let i = 0; i < 100 && server.log.filter(line => line.route === '/events').length < 4; i++) await sleep(20)
  t.equal(server.log.filter(line => line.route === '/events').length, 4, 'one line for each stream, when it has ended')
})

t.test('refuses, before it begins, what it can not tell', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' }, settings: { allowOrigins: ['https://app.test'] } })
  await edit(server, 'a.txt', 'one', 'two')
  const asks = async (headers: Record<string, string>, status: number, expected: object, method = 'GET', path = '') =>
    t.match(await server.call(method, `/events${path}`, { headers }), { status, body: expected })
  await asks({ accept: 'application/json' }, 400, {
    code: 'INVALID_REQUEST',
    detail: /Accept must allow text\/event-stream/
  })
  await asks({ accept: 'text/event-stream;q=0, text/html' }, 400, { code: 'INVALID_REQUEST' })
  await asks({ 'last-event-id': 'x' }, 400, { code: 'INVALID_REQUEST', detail: /Last-Event-ID/ })
  await asks({ 'last-event-id': '1.zz-aaaaaaaaaaaaaaaaaaaaaaaa' }, 410, { code: 'CURSOR_GONE' })
  await asks({}, 400, { code: 'INVALID_REQUEST', detail: /query/ }, 'GET', '?after=1')
  await asks({ authorization: 'Bearer no' }, 401, { code: 'UNAUTHORIZED' })
  await asks({ origin: 'https://other.test' }, 403, { code: 'FORBIDDEN_ORIGIN' })
  t.equal((await server.call('HEAD', '/events')).status, 405)
  t.match(await server.call('POST', '/events', { body: {} }), { status: 405 })
  const preflight = await server.call('OPTIONS', '/events', {
    headers: {
      origin: 'https://app.test',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,last-event-id'
    }
  })
  t.match(preflight.headers.get('access-control-allow-headers'), /last-event-id/)
  const reader = readEvents(server.url, TOKEN, { headers: { origin: 'https://app.test', accept: 'text/*' } })
  await reader.until(1)
  t.match(reader.head(), /access-control-allow-origin: https:\/\/app.test/i)
  reader.socket.destroy()
})

t.test('keeps the connection open with comments', async t => {
  const server = await startServer(t, {
    files: { 'a.txt': '0\n' },
    timeouts: { request: 30_000, headers: 10_000, check: 1000, heartbeat: 50 }
  })
  const reader = await streamOf(t, server)
  for (let i = 0; i < 500 && reader.comments() < 2; i++) await sleep(20)
  t.ok(reader.comments() >= 2)
  reader.socket.destroy()
})

/** A change whose event is some 4 KB long. */
const told = (i: number): ChangeEvent => ({
  facts: {
    ...{ edit_id: `E${i}`, operation: 'edit', at: 0, path: Buffer.from('a'.repeat(4000)), lines_added: 1 },
    ...{ lines_removed: 0, hash_before: null, hash_after: null, size_before: 0, size_after: 0 },
    ...{ blobs: [], hasTexts: false }
  } as ChangeEvent['facts'],
  settled: 'done',
  after: Cursor.parse(`1.1-one.1-one-${i.toString(36)}`)!
})

/** Tells as many pages as are asked for, `behind` of them of before the reader came, until it is ended. */
function makeFollower(behind: number): Follower & { count: number } {
  const pages = { told: 0 }
  const follower: Follower & { count: number } = {
    after: Cursor.parse('1.')!,
    textOf: String,
    isEnded: false,
    count: 0,
    async next(most) {
      if (pages.told++ === behind) return { ok: true, value: [] }
      return { ok: true, value: Array.from({ length: most }, () => told(follower.count++)) }
    },
    more: () => sleep(1),
    end() {
      ;(follower as { isEnded: boolean }).isEnded = true
    }
  }
  return follower
}

for (const [name, behind] of [
  ['what came before', 1e9],
  ['what comes', 0]
] as const) {
  t.test(`cuts off a reader that doesn't read ${name}, and writes no more than is left unread`, async t => {
    const follower = makeFollower(behind)
    let written = 0
    const server = createServer((_request, response) => {
      const streams = makeEventStreams(error => t.fail(String(error)), 100)
      streams.run(response, follower, { ends: 0 }).then(() => {
        written = response.socket?.bytesWritten ?? 0
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
    socket.pause().on('error', () => {})
    const closed = once(server, 'connection').then(([connection]) => once(connection, 'close'))
    await closed
    t.ok(follower.isEnded)
    // What the system holds for a connection, and one page.
    t.ok(follower.count * 4000 < 40e6, `${follower.count} changes`)
    t.ok(written < 40e6)
    socket.destroy()
    server.close()
  })
}

t.test('ends when the server stops', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  await edit(server, 'a.txt', 'one', 'two')
  const readers = await Promise.all([streamOf(t, server), streamOf(t, server)])
  const drained = server.drain()
  await Promise.all(readers.map(reader => reader.ended()))
  await drained
  t.match(await server.call('GET', '/events'), { status: 503, body: { code: 'NOT_READY' } })
})

t.test('ends when its cursor comes to nothing', async t => {
  let isGone = false
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const real = server.workspace.follow
  const followers: Follower[] = []
  server.workspace.follow = async after => {
    const following = await real(after)
    if (following.ok) {
      followers.push(following.value)
      const next = following.value.next.bind(following.value)
      following.value.next = async most => (isGone ? { ok: false, failure: { code: 'CURSOR_GONE' } } : next(most))
    }
    return following
  }
  const reader = await streamOf(t, server)
  isGone = true
  await edit(server, 'a.txt', 'one', 'two')
  await reader.ended()
  t.match(followers, [{ isEnded: true }])
  t.match(reader.events, [{ event: 'ready' }])
  t.notOk(server.log.some(({ event }) => event === 'stream_failed'))
})

t.test('keeps nothing of a reader that goes before it begins', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const real = server.workspace.follow
  const reader = readEvents(server.url, TOKEN)
  const followed = new Promise<Follower>((resolve, reject) => {
    server.workspace.follow = async after => {
      reader.socket.destroy()
      await reader.closed
      await sleep(200)
      const following = await real(after)
      if (following.ok) resolve(following.value)
      else reject(new Error(following.failure.code))
      return following
    }
  })
  const follower = await followed
  for (let i = 0; i < 100 && !follower.isEnded; i++) await sleep(20)
  t.ok(follower.isEnded)
})

t.test('ends a stream that was let in before all were ended, and begins after it', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const real = server.workspace.follow
  server.workspace.follow = async after => {
    const following = await real(after)
    server.endStreams()
    return following
  }
  const reader = await streamOf(t, server)
  await reader.ended()
  server.workspace.follow = real
  const later = await streamOf(t, server)
  await edit(server, 'a.txt', 'one', 'two')
  await later.until(2)
  t.match(reader.events, [{ event: 'ready' }])
})

t.test('reports what nobody expects, and ends the stream', async t => {
  let fails = false
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const real = server.workspace.follow
  server.workspace.follow = async after => {
    const following = await real(after)
    if (following.ok) {
      const next = following.value.next.bind(following.value)
      following.value.next = most => (fails ? Promise.reject(new Error('on purpose')) : next(most))
    }
    return following
  }
  const reader = await streamOf(t, server)
  fails = true
  await edit(server, 'a.txt', 'one', 'two')
  for (let i = 0; i < 500 && !server.log.some(({ event }) => event === 'stream_failed'); i++) await sleep(10)
  t.ok(server.log.some(({ event }) => event === 'stream_failed'))
  reader.socket.destroy()
})

const inFolders = (t: Test): { root: string; state: string } => {
  const [root, state] = ['root', 'state'].map(name => mkdtempSync(join(tmpdir(), `editd-events-${name}-`)))
  t.teardown(() => {
    for (const folder of [root!, state!]) rmSync(folder, { recursive: true, force: true })
  })
  return { root: root!, state: state! }
}

t.test(
  'law: over servers that come and go, a reader that goes on from its last id sees each change once',
  { skip: ONLY_CI },
  async t => {
    const random = new Random(SEED)
    const { root, state } = inFolders(t)
    const names = Array.from({ length: 6 }, (_, i) => `${i}.txt`)
    for (const name of names) writeFileSync(join(root, name), '0\n')
    const servers: Running[] = []
    t.teardown(async () => {
      for (const server of servers) await server.stop()
    })
    for (let i = 0; i < 2; i++) servers.push(await start(root, state, '--durability', 'fast'))
    const made: string[] = []
    const seen: string[] = []
    const at = { last: '', connections: 0, isOver: false }
    // Reads a while, goes away, and comes back, at any server.
    const reading = (async () => {
      while (!at.isOver || seen.length < made.length) {
        const server = random.pick(servers)
        const reader = readEvents(server.url, PROCESS_TOKEN, at.last === '' ? {} : { after: at.last })
        const wanted = 2 + random.int(6)
        await Promise.race([reader.until(wanted).catch(() => {}), sleep(at.isOver ? 1000 : 300)])
        reader.socket.destroy()
        await reader.closed
        at.connections++
        if (reader.events.length === 0 && /^HTTP\/1.1 4/.test(reader.head())) throw new Error(reader.head())
        for (const { event, id, data } of reader.events) {
          if (event !== 'ready') seen.push(String(data.edit_id))
          at.last = id
        }
      }
    })()
    while (at.last === '') await sleep(20)
    const texts = new Map(names.map(name => [name, 0]))
    for (let i = 0; i < often(200, 60); i++) {
      const name = random.pick(names)
      const value = texts.get(name)!
      const server = random.pick(servers)
      const { status, body } = await server.post('/edit', {
        path: name,
        old_text: `${value}\n`,
        new_text: `${value + 1}\n`
      })
      if (status === 200) {
        made.push(String(body.edit_id))
        texts.set(name, value + 1)
      } else t.match(body.code, /FILE_LOCKED|NOT_READY/)
      if (i % 25 === 24) {
        const old = servers.shift()!
        servers.push(await start(root, state, '--durability', 'fast'))
        await old.stop()
      }
    }
    at.isOver = true
    await Promise.race([reading, sleep(60_000, undefined, { ref: false })])
    t.strictSame(seen.sort(), made.sort(), `seed ${random.seed}`)
    t.comment(`${made.length} changes over ${at.connections} connections`)
  }
)

t.test('100 streams do not keep a server from ending', async t => {
  const { root, state } = inFolders(t)
  writeFileSync(join(root, 'a.txt'), '0\n')
  const server = await start(root, state)
  const readers = Array.from({ length: 100 }, () => readEvents(server.url, PROCESS_TOKEN))
  await Promise.all(readers.map(reader => reader.until(1)))
  const begin = performance.now()
  t.equal(await server.stop(), 0)
  t.ok(performance.now() - begin < 10_000)
  await Promise.all(readers.map(({ closed }) => closed))
})

/** Whether each of so many connections to a port of this machine has sent what the other side doesn't take. */
async function areBlocked(port: string, count: number): Promise<boolean> {
  // What is on its way counts too, so it is looked at twice.
  for (const wait of [0, 100]) {
    await sleep(wait)
    const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n')
    const waiting = lines.filter(line => {
      const [, local = '', , , queues = ''] = line.trim().split(/\s+/)
      return parseInt(local.split(':')[1] ?? '', 16) === Number(port) && parseInt(queues, 16) > 0
    })
    if (waiting.length < count) return false
  }
  return true
}

t.test(
  '100 readers that do not read keep a server neither from editing nor from ending',
  { skip: ONLY_CI || (existsSync('/proc/net/tcp') ? false : 'needs /proc') },
  async t => {
    const { root, state } = inFolders(t)
    // Each event is long.
    const path = `${'x'.repeat(200)}/`.repeat(15) + 'a.txt'
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), '0\n')
    const server = await start(root, state, '--durability', 'fast')
    const readers = Array.from({ length: 100 }, () => readEvents(server.url, PROCESS_TOKEN))
    await Promise.all(readers.map(reader => reader.until(1)))
    for (const { socket } of readers) socket.pause()
    const { port } = new URL(server.url)
    let [edits, blocked] = [0, false]
    for (; !blocked && edits < 1000; edits++) {
      const body = { path, old_text: `${edits}`, new_text: `${edits + 1}`, reason: 'r'.repeat(200) }
      t.equal((await server.post('/edit', body)).status, 200)
      blocked = await areBlocked(port, readers.length)
    }
    t.ok(blocked, `after ${edits} edits`)
    const begin = performance.now()
    t.equal(await server.stop(), 0)
    t.ok(performance.now() - begin < 10_000)
    for (const { socket } of readers) socket.destroy()
  }
)
