// Where metrics are served: by a process of its own, over HTTP.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listenForMetrics } from '../../src/metrics/listener.ts'
import { testFolder } from '../folder.ts'
import { start } from '../running.ts'

/** A server whose metrics are served. */
async function serve(t: Test, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'editd-metrics-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const root = testFolder(t, { 'a.txt': 'one\n' })
  writeFileSync(join(root, 'b.txt'), 'one\n')
  const server = await start(root, folder, '--durability', 'fast', '--metrics-listen', '127.0.0.1:0', ...flags)
  t.teardown(() => {
    server.child.kill('SIGKILL')
  })
  while (!/metrics_listening/.test(server.log())) await sleep(10)
  const { port } = JSON.parse(
    server
      .log()
      .split('\n')
      .find(line => line.includes('metrics_listening'))!
  )
  const url = `http://127.0.0.1:${port}`
  const value = async (series: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find(line => line.startsWith(`${series} `))
        ?.split(' ')
        .at(-1)
    )
  }
  return { server, url, value }
}

t.test('serves the metrics beside the server, without a token', async t => {
  const { server, url, value } = await serve(t)
  t.equal((await server.post('/edit', { path: 'a.txt', old_text: 'one', new_text: 'two' })).status, 200)
  t.equal(await value('editd_calls_total{operation="edit_file",code="ok"}'), 1)
  const reply = await fetch(`${url}/metrics?x=1`)
  t.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.equal(await (await fetch(`${url}/metrics`, { method: 'HEAD' })).text(), '')
  for (const [path, method, status] of [
    ['/', 'GET', 404],
    ['/edit', 'POST', 404],
    ['/metrics', 'POST', 405]
  ] as const) {
    t.equal((await fetch(url + path, { method })).status, status, `${method} ${path}`)
  }
  t.equal((await fetch(`${server.url}/metrics`)).status, 401, 'the server itself has no such route')
  t.equal(await server.stop(), 0)
})

t.test('does not start where somebody else listens, and says which setting that is', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  const folder = mkdtempSync(join(tmpdir(), 'editd-metrics-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await t.rejects(start(testFolder(t), folder, '--metrics-listen', `127.0.0.1:${port}`), {
    message: `ended with 1: editd: can't serve metrics on 127.0.0.1:${port} (EADDRINUSE): choose another --metrics-listen.\n`
  })
})

t.test('is not ready before there is anything to serve, and says where it fails', async t => {
  const listener = await listenForMetrics({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${listener.address.port}/metrics`
  t.equal((await fetch(url)).status, 503)
  listener.serve(() => {
    throw new Error('no')
  })
  t.equal((await fetch(url)).status, 500)
  listener.serve(() => [{ name: 'a', help: 'A.', type: 'gauge', samples: [['a', 1]] }])
  t.equal(await (await fetch(url)).text(), '# HELP a A.\n# TYPE a gauge\na 1\n')
})
