// Real servers on one bucket behind two gateways: counted up at once, killed at random, with answers of the store cut off;
// and how a server starts on what isn't a bucket that it can use.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import t, { type Test } from 'tap'
import { makeBucket, NO_CEPH, type Bucket } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { often } from '../often.ts'
import { COMMAND, start, type Running } from '../running.ts'

const SERVERS = 3
const total = Number(process.env.LONG_COUNTS ?? often(300, 60))
const kills = Number(process.env.LONG_KILLS ?? often(4, 1))
/** In ms: a second or two for each on two cores that have other tests to run. */
const TIMEOUT = 300_000 + total * 3000

const held = async (bucket: Bucket, key: string) => {
  const { Body } = await bucket.client().send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
  return (await Body?.transformToString()) ?? ''
}

t.test('loses no increment: servers killed, answers cut', { skip: NO_CEPH, timeout: TIMEOUT }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'p/count.txt', Body: '0\n' }))
  // Every tenth answer to a write of the file is cut after it was carried out.
  let writes = 0
  const cuts = ({ method, path }: { method: string; path: string }) =>
    method === 'PUT' && path.includes('/p/count.txt') && ++writes % 10 === 0
  const proxies = await Promise.all(bucket.endpoints.map(endpoint => startCuttingProxy(t, endpoint, cuts)))
  const startOne = (n: number) =>
    start(`s3://${bucket.name}/p`, null, '--s3-endpoint', proxies[n % 2]!.endpoint, '--log-level', 'error')
  const servers: Running[] = await Promise.all(Array.from({ length: SERVERS }, (_, n) => startOne(n)))
  t.teardown(() => Promise.all(servers.map(server => server.stop())))

  const count = { acknowledged: 0, unknown: 0, refused: 0 }
  const begun = performance.now()
  const over = (so: number) => count.acknowledged + count.unknown >= so
  const client = async (n: number) => {
    while (!over(total)) {
      const server = servers[n % SERVERS]!
      try {
        const { body } = await server.post('/inspect', { path: 'count.txt' })
        const now = Number(body.content)
        const edit = {
          path: 'count.txt',
          old_text: `${now}\n`,
          new_text: `${now + 1}\n`,
          expected_hash: body.file_hash
        }
        const answer = await server.post('/edit', edit).catch(() => null)
        if (answer?.status === 200) count.acknowledged++
        else if (answer === null || answer.status === 503) count.unknown++
        else count.refused++
        if (answer === null) await new Promise(resolve => setTimeout(resolve, 200))
      } catch {
        // It was killed before the edit was sent.
        await new Promise(resolve => setTimeout(resolve, 200))
      }
    }
  }
  const killer = async () => {
    for (let done = 0; done < kills; done++) {
      const due = ((done + 1) * total) / (kills + 1)
      while (!over(due)) await new Promise(resolve => setTimeout(resolve, 50))
      const n = Math.floor(Math.random() * SERVERS)
      servers[n]!.child.kill('SIGKILL')
      servers[n] = await startOne(n)
    }
  }
  await Promise.all([killer(), ...Array.from({ length: SERVERS }, (_, n) => client(n))])

  const { acknowledged, unknown, refused } = count
  const value = Number(await held(bucket, 'p/count.txt'))
  const cut = proxies[0]!.cut + proxies[1]!.cut
  const seconds = Math.round((performance.now() - begun) / 1000)
  t.comment(
    `${value} counted in ${seconds} s, ${kills} kills, ${acknowledged} acknowledged, ${unknown} unknown, ${refused} refused, ${cut} cut`
  )
  t.ok(
    acknowledged <= value && value <= acknowledged + unknown,
    `${acknowledged} ≤ ${value} ≤ ${acknowledged + unknown}`
  )
  t.ok(cut >= Math.floor(total / 10) - 1)
})

t.test('starts as docs/object-store.md says', { skip: NO_CEPH, timeout: 250_000 }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const said = readFileSync(new URL('../../docs/object-store.md', import.meta.url), 'utf8')
  const [, root = '', ...flags] = /^npx (editd s3:.*)$/m.exec(said)![1]!.split(' ')
  const here = { 'my-bucket': bucket.name, 'https://s3.example': bucket.endpoints[0] }
  const replaced = [root, ...flags].map(word =>
    Object.entries(here).reduce((text, [example, real]) => text.replace(example, real), word)
  )
  const server = await start(replaced[0]!, null, ...replaced.slice(1))
  t.match(server.printed[0], `root=s3://${bucket.name}/docs`)
  t.equal((await server.post('/create', { path: 'a.txt', content: 'a\n' })).status, 200)
  t.equal(await held(bucket, 'docs/a.txt'), 'a\n')
  t.equal(await server.stop(), 0)
})

t.test('forgets the texts of a file', { skip: NO_CEPH, timeout: 250_000 }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a.txt', Body: 'a secret\n' }))
  const flags = ['--s3-endpoint', bucket.endpoints[0]]
  const server = await start(`s3://${bucket.name}`, null, ...flags)
  t.match(server.printed[0], `root=s3://${bucket.name}`)
  t.notMatch(server.log(), 'NodeVersionSupportWarning', 'the log is JSON')
  const edit = { path: 'a.txt', old_text: 'a secret', new_text: 'nothing' }
  t.equal((await server.post('/edit', edit)).status, 200)
  t.equal(await server.stop(), 0)
  const [command = '', ...args] = COMMAND
  const child = spawn(command, [...args, 'forget', 'a.txt', `s3://${bucket.name}`, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', text => (said += text))
  t.strictSame(await once(child, 'close'), [0, null])
  t.equal(said, 'removed the texts of 1 change of a.txt from the history\n')
})

t.test('says what to install where there is no SDK', async t => {
  // A copy of what is built, beside which the SDK isn't.
  const dir = mkdtempSync(join(tmpdir(), 'editd-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const top = new URL('../../', import.meta.url)
  for (const name of ['dist', 'package.json']) cpSync(new URL(name, top), join(dir, name), { recursive: true })
  mkdirSync(join(dir, 'node_modules'))
  for (const name of ['pino', 'fastest-levenshtein', 'diff', 'proper-lockfile', 'fastify']) {
    symlinkSync(new URL(`node_modules/${name}`, top), join(dir, 'node_modules', name))
  }
  const flags = ['s3://docs', '--token', 't', '--port', '0']
  const { status, stderr } = spawnSync(process.execPath, [join(dir, 'dist/server.js'), ...flags], {
    encoding: 'utf8'
  })
  t.equal(status, 2, stderr)
  t.match(stderr, 'to serve s3://docs, install @aws-sdk/client-s3 beside editd: npm install @aws-sdk/client-s3.')
})

/** Ends by itself: the status, and what it said. */
async function ended(root: string, ...flags: string[]) {
  const [command = '', ...args] = COMMAND
  const child = spawn(command, [...args, root, '--port', '0', '--token', 't', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => (said += text))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, said }
}

const fails = async (t: Test, root: string, flags: string[], status: number, said: RegExp) => {
  const done = await ended(root, ...flags)
  t.equal(done.status, status, done.said)
  t.match(done.said, said)
}

t.test('does not start on a store that ignores conditions, or where it is not answered', async t => {
  const fake = await startFauxqs({ port: 0, logger: false })
  t.teardown(() => fake.stop())
  fake.createBucket('docs')
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const endpoint = ['--s3-endpoint', `http://127.0.0.1:${fake.port}`]
  await fails(t, 's3://docs/x', endpoint, 2, /object store of s3:\/\/docs\/x can't be used: it writes although/)
  await fails(t, 's3://no-such-bucket', endpoint, 2, /refuses s3:\/\/no-such-bucket \(NoSuchBucket/)
  await fails(t, 's3://Docs', endpoint, 2, /"s3:\/\/Docs" has no valid name of a bucket/)
  await fails(t, 's3://docs', [...endpoint, '--state-dir', '/tmp/x'], 2, /--state-dir is only for a folder/)
})
