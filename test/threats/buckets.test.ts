// What happens to servers on one bucket of a real Ceph, and what they do to each other. Rows 57 and 58 of docs/threats.md.
import { PutBucketVersioningCommand } from '@aws-sdk/client-s3'
import { makeBucket, NO_CEPH, type Bucket } from '../ceph.ts'
import { COMMAND, run, type Running } from '../running.ts'
import t from 'tap'
import { checkDocument, codeOf, row } from './harness.ts'

// Ceph takes its time to start.
t.setTimeout(0)

const SERVER = COMMAND.at(-1)!
const skip = NO_CEPH

/** Whose clock is off by so many ms. */
const clockOff = (ms: number): readonly string[] => {
  const shifted = `const D = Date; globalThis.Date = class extends D {
    constructor(...given) { if (given.length > 0) super(...given); else super(D.now() + ${ms}) }
    static now() { return D.now() + ${ms} }
  }`
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(shifted)}`, SERVER]
}

const startOn = (bucket: Bucket, gateway: 0 | 1, command: readonly string[] = COMMAND, ...flags: string[]) => {
  Object.assign(process.env, bucket.environment)
  return run(command, `s3://${bucket.name}/w`, null, ['--s3-endpoint', bucket.endpoints[gateway], ...flags])
}

const eventsOf = (server: Running): Record<string, unknown>[] =>
  server
    .log()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event !== undefined)

const RACES = 10
const HOUR = 60 * 60 * 1000

row(
  57,
  'a server with a wrong clock on the bucket of others',
  {
    done: 'four starts with `--history-days 1`: two days ahead and behind, half an hour ahead and behind, beside a server that edits',
    skip
  },
  async t => {
    const bucket = await makeBucket(t)
    const server = await startOn(bucket, 0)
    t.teardown(() => server.stop())
    await server.post('/create', { path: 'a.txt', content: '0\n' })
    for (const off of [48 * HOUR, -48 * HOUR]) {
      await t.rejects(startOn(bucket, 1, clockOff(off), '--history-days', '1'), {
        message: /ended with 2: editd: the clock of this machine says .* that of the object store/
      })
    }
    for (const [n, off] of [HOUR / 2, -HOUR / 2].entries()) {
      const other = await startOn(bucket, 1, clockOff(off), '--history-days', '1')
      t.teardown(() => other.stop())
      t.match(eventsOf(other), [{ event: 'clock_off' }])
      const { status } = await other.post('/edit', { path: 'a.txt', old_text: `${n}`, new_text: `${n + 1}` })
      t.equal(status, 200)
      await other.stop()
    }
    const { body } = await server.post('/history', { path: 'a.txt' })
    t.equal((body.edits as unknown[]).length, 3)
    return '2 × refused, with both times; 2 × the log says so (`clock_off`) and the edit is made; ages are judged by the store’s time: nothing is removed (`test/bucket/log/sweep.test.ts`)'
  }
)

row(
  58,
  'versioning switched on for the bucket of servers that run, on a store that then lets two writers win',
  { done: 'two servers behind two gateways; before and after it, files that both create at once', skip },
  async t => {
    const bucket = await makeBucket(t)
    const servers = await Promise.all(([0, 1] as const).map(gateway => startOn(bucket, gateway)))
    t.teardown(() => Promise.all(servers.map(server => server.stop())))
    const outcomes = async (folder: string) => {
      const both: string[] = []
      for (let n = 0; n < RACES; n++) {
        const file = { path: `${folder}/${n}.txt`, create_parents: true }
        const answers = await Promise.all(
          servers.map(server => server.post('/create', { ...file, content: server.url }))
        )
        both.push(answers.map(codeOf).sort().join(' and '))
      }
      return both
    }
    const before = await outcomes('before')
    t.notOk(before.includes('200 and 200'))
    const { name: Bucket } = bucket
    const Status = 'Enabled'
    await bucket.client().send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
    const after = await outcomes('after')
    t.notOk(after.includes('200 and 200'), after.join(', '))
    t.equal(after.at(-1), 'NOT_READY and NOT_READY')
    const ready = await fetch(`${servers[0]!.url}/readyz`)
    t.equal(ready.status, 503)
    return 'before, one of the two is made; after, both are answered with `NOT_READY`, and `/readyz` is 503'
  }
)

checkDocument()
