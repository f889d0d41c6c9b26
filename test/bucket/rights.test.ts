// The rights that docs/object-store.md asks for: with these, and only these, everything works on a real Ceph.
// runs in .ci/run
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GetObjectCommand, PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import { storeFailure } from '../../src/bucket/start-failure.ts'
import { clientOf, makeBucket, NO_CEPH } from '../ceph.ts'
import { startServer } from '../http/test-server.ts'
import { openOn } from './support/workspace.ts'

const REAL = { skip: NO_CEPH, timeout: 280_000 }
/** In ms: from one check of the rights to the next. */
const SOON = 5100
const PREFIX = 'team/docs'

const page = readFileSync(new URL('../../docs/object-store.md', import.meta.url), 'utf8')
const sentence = /They need (.+) on the bucket\./.exec(page)?.[1] ?? ''
/** The one that is of the bucket, not of its objects. */
const LIST = 's3:ListBucket'
const RIGHTS = [...sentence.matchAll(/`(s3:\w+)`/g)].map(([, right]) => right!)

interface Condition {
  StringLike: { 's3:prefix': string }
}

/** A bucket with one object below the prefix, and the guest's credentials, which have the rights. */
async function prepare(t: Test, condition?: Condition) {
  const bucket = await makeBucket(t)
  const { accessKeyId, secretAccessKey } = bucket.guest
  Object.assign(process.env, bucket.environment, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey
  })
  const [client, Bucket] = [bucket.client(), bucket.name]
  const allowed = (rights: string[], resource: string, Condition?: Condition) => ({
    Effect: 'Allow',
    Principal: { AWS: [`arn:aws:iam:::user/${accessKeyId}`] },
    Action: rights,
    Resource: `arn:aws:s3:::${Bucket}${resource}`,
    ...(Condition && { Condition })
  })
  const others = RIGHTS.filter(right => right !== LIST)
  const Statement = [allowed(others, `/${PREFIX}/*`), allowed([LIST], '', condition)]
  const allow = async (statements: object[]) => {
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: statements })
    await client.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  }
  await allow(Statement)
  await client.send(new PutObjectCommand({ Bucket, Key: `${PREFIX}/a.txt`, Body: 'one\n' }))
  // What the guest has written is its own.
  const guest = clientOf(bucket.guest, bucket.endpoints[1])
  t.teardown(() => guest.destroy())
  const read = async (path: string) => {
    const { Body } = await guest.send(new GetObjectCommand({ Bucket, Key: `${PREFIX}/${path}` }))
    return Body?.transformToString()
  }
  const denied = (path: string) => ({ ...allowed(others, `/${PREFIX}/${path}`), Effect: 'Deny' })
  return {
    open: () => openOn(bucket, { address: { bucket: Bucket, prefix: PREFIX } }),
    read,
    allow: {
      all: () => allow(Statement),
      allBut: (path: string) => allow([...Statement, denied(path)]),
      /** A condition on the prefix has the same effect. */
      noList: () => allow([allowed(others, `/${PREFIX}/*`)]),
      noWrites: () => allow([allowed(['s3:GetObject'], `/${PREFIX}/*`), allowed([LIST], '')])
    }
  }
}

t.test('needs no other rights than the page names, of objects only those below the prefix', REAL, async t => {
  t.strictSame(RIGHTS, ['s3:GetObject', 's3:PutObject', 's3:DeleteObject', LIST])
  const { open, read } = await prepare(t)
  const server = await startServer(t, { workspace: await open() })
  const post = async (path: string, body: object) => (await server.call('POST', path, { body })).body
  t.match(await post('/edit', { path: 'a.txt', old_text: 'one', new_text: 'two' }), { changed: true })
  t.equal(await read('a.txt'), 'two\n')
  t.match(await post('/create', { path: 'd/b.txt', content: 'b\n' }), { created: true })
  t.match(await post('/inspect', { path: '.' }), { entries: [{ name: 'a.txt' }, { name: 'd' }] })
  const keyed = { path: 'a.txt', old_text: 'two', new_text: 'three', idempotency_key: 'k-1' }
  const { edit_id } = (await post('/edit', keyed)) as { edit_id: string }
  t.match(await post('/edit', keyed), { edit_id }, 'the answer that was kept')
  await post('/undo', { edit_id })
  t.equal(await read('a.txt'), 'two\n')
})

t.test('says which rights it needs where it may list the prefix only', REAL, async t => {
  const { open } = await prepare(t, { StringLike: { 's3:prefix': `${PREFIX}/*` } })
  const error: unknown = await open().catch((error: unknown) => error)
  t.match(storeFailure(error, 's3://b'), {
    isFault: true,
    sentence: /s3:ListBucket on the bucket, without a condition/
  })
})

t.test('says so where rights are taken while it runs, of one object or of all', REAL, async t => {
  const { open, allow } = await prepare(t)
  const workspace = await open()
  const server = await startServer(t, { workspace })
  const edit = async (path = 'a.txt') =>
    server.call('POST', '/edit', { body: { path, old_text: 'one', new_text: 'two' } })
  const until = async (status: number) => {
    while ((await server.call('GET', '/readyz')).status !== status) await sleep(100)
  }
  await allow.allBut('a.txt')
  const denied = await edit()
  t.match(denied, { status: 403, body: { code: 'PERMISSION_DENIED', detail: /The object store denies this server/ } })
  t.equal((await server.call('GET', '/readyz')).status, 200)
  await sleep(SOON)
  for (const take of [allow.noList, allow.noWrites]) {
    await take()
    const refused = await edit()
    t.match(refused, { status: 503, body: { code: 'NOT_READY' } })
    t.match(await server.call('GET', '/readyz'), {
      status: 503,
      body: { detail: /refuses the keys of this server, or rights that it needs/ }
    })
    await allow.all()
    await until(200)
    await sleep(SOON)
  }
})
