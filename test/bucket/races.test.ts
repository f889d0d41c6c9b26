// Two servers change one object and read each other's writes: which records the history has then, and which requests
// the store gets.
// runs in .ci/run
import { setTimeout as sleep } from 'node:timers/promises'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import type { Workspace } from '../../src/workspace/api.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy, type CuttingProxy } from '../cutting-proxy.ts'
import { append, REAL } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const SLOW = { skip: NO_CEPH, timeout: 250_000 }

interface Two {
  /** Through the proxy. */
  one: Workspace
  proxy: CuttingProxy
  other: Workspace
  /** Writes the object without editd. */
  put(content: string): Promise<void>
  held(): Promise<string>
}

async function openTwo(t: Test): Promise<Two> {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const object = { Bucket: bucket.name, Key: 'p/a.txt' }
  const put = async (Body: string) => {
    await bucket.client(1).send(new PutObjectCommand({ ...object, Body }))
  }
  await put('0\n')
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const open = async (endpoint: string) => {
    const workspace = await openOn(bucket, { address: { bucket: bucket.name, prefix: 'p' }, endpoint })
    t.teardown(() => workspace.close())
    return workspace
  }
  return {
    one: await open(proxy.endpoint),
    proxy,
    other: await open(bucket.endpoints[1]),
    put,
    held: async () => (await (await bucket.client().send(new GetObjectCommand(object))).Body?.transformToString()) ?? ''
  }
}

const add = async (t: Test, workspace: Workspace, text: string) => {
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append(text)), { ok: true })
}

/** The operations of the records, oldest first. */
async function operations(workspace: Workspace): Promise<string[]> {
  const found = await workspace.history({ path: 'a.txt', limit: 100 })
  return found.ok ? found.value.edits.map(({ record }) => record.operation).reverse() : [found.failure.code]
}

/** Holds the next answer with the object back until that is done. */
function meanwhile(proxy: CuttingProxy, work: () => Promise<void>): void {
  let left = 1
  proxy.cuts = async ({ method, path }) => {
    if (method === 'GET' && path.includes('/p/a.txt') && left-- > 0) await work()
    return false
  }
}

/** Longer than a settlement waits. */
const settled = () => sleep(200)

t.test('takes no change of another server for one by another program', SLOW, async t => {
  const { one, proxy, other, held } = await openTwo(t)
  await add(t, other, '1\n')
  await settled()
  meanwhile(proxy, async () => {
    await add(t, other, '2\n')
    await settled()
  })
  await add(t, one, '3\n')
  t.equal(await held(), '0\n1\n2\n3\n')
  t.strictSame(await operations(other), ['edit', 'edit', 'edit'])
})

t.test('takes a change that another server has only written down for none', SLOW, async t => {
  const { one, proxy, other, held } = await openTwo(t)
  let left = 1
  proxy.before = async ({ method, path }) => {
    if (method === 'PUT' && path.includes('/p/a.txt') && left-- > 0) await add(t, other, '1\n')
  }
  await add(t, one, '2\n')
  await settled()
  t.equal(await held(), '0\n1\n2\n')
  t.strictSame(await operations(other), ['edit', 'edit'])
})

t.test('records a change by another program once, whoever sees it first', SLOW, async t => {
  const { one, proxy, other, put, held } = await openTwo(t)
  await add(t, other, '1\n')
  await settled()
  await put('outside\n')
  meanwhile(proxy, async () => {
    await add(t, other, '2\n')
    await settled()
  })
  await add(t, one, '3\n')
  t.equal(await held(), 'outside\n2\n3\n')
  t.strictSame(await operations(other), ['edit', 'outside', 'edit', 'edit'])
})

t.test('asks the store for no more, the more changes there are of others', SLOW, async t => {
  const { one, proxy, other } = await openTwo(t)
  const asked: string[] = []
  proxy.cuts = ({ method, path }) => {
    // But for the removal of objects that were put together, 16 at a time.
    if (method !== 'DELETE') asked.push(`${method} ${path}`)
    return false
  }
  const counts: number[] = []
  for (let n = 0; n < 40; n++) {
    await add(t, other, `${n}\n`)
    asked.length = 0
    await add(t, one, `${n}\n`)
    counts.push(asked.length)
  }
  t.comment(counts.join(' '))
  t.ok(Math.max(...counts.slice(-10)) <= 10, asked.join('\n'))
})
