// Which paths a miss in a bucket offers, over a real Ceph: those of files that may be looked at.
// runs in .ci/run
import { PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { check, startServer } from '../http/test-server.ts'
import { openOn } from './support/workspace.ts'

const REAL = { skip: NO_CEPH, timeout: 280_000 }
const EDIT = { old_text: 'a', new_text: 'b' }

t.test('finds a file in another folder, however much editd keeps of its own', REAL, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const put = (Key: string) => bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key, Body: 'a' }))
  await Promise.all(['-old/rules.md', 'docs/guide.md'].map(put))
  const server = await startServer(t, { workspace: await openOn(bucket) })
  const offered = async (path: string, did_you_mean: string[]) =>
    check(t, server, '/edit', { path, ...EDIT }, 404, { code: 'FILE_NOT_FOUND', did_you_mean })
  await offered('x/GUIDE.md', ['docs/guide.md'])
  const many = (folder: string) => Array.from({ length: 1001 }, (_, i) => `${folder}/${i}`)
  const queue = [...many('.editd/copies'), ...many('many'), 'many/like.txt'].values()
  const work = async () => {
    for (const key of queue) await put(key)
  }
  await Promise.all(Array.from({ length: 16 }, work))
  await offered('x/GUIDE.md', ['docs/guide.md'])
  await offered('x/RULES.md', ['-old/rules.md'])
  await offered('many/lik.txt', ['many/like.txt'])
  await offered('x/LIKE.txt', ['many/like.txt'])
})

t.test('edits objects whose names no file system could have', REAL, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const server = await startServer(t, { workspace: await openOn(bucket) })
  const long = `${'é'.repeat(200)}.md`
  await check(t, server, '/create', { path: `d/${long}`, content: 'a', create_parents: true }, 200, { created: true })
  await check(t, server, '/edit', { path: `d/${long}`, ...EDIT }, 200, { changed: true })
  await check(t, server, '/inspect', { path: 'd' }, 200, { entries: [{ name: long }] })
  await check(t, server, '/inspect', { path: 'x'.repeat(1025) }, 400, { code: 'INVALID_PATH' })
})

t.test('names the deepest folder that is there, where no file is like the one that is missing', REAL, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'docs/guide.md', Body: 'a' }))
  const server = await startServer(t, { workspace: await openOn(bucket) })
  const path = 'docs/of/something.else'
  const detail = /^docs\/of\/something\.else was not found.*"path":"docs"/
  await check(t, server, '/edit', { path, ...EDIT }, 404, { code: 'FILE_NOT_FOUND', detail })
})

t.test('answers for a path although what it may have meant may not be looked at', REAL, async t => {
  const bucket = await makeBucket(t)
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = bucket.guest
  Object.assign(process.env, bucket.environment, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY })
  const [client, Bucket] = [bucket.client(), bucket.name]
  const of = (Effect: 'Allow' | 'Deny', Action: string[], paths: string[]) => ({
    Effect,
    Principal: { AWS: [`arn:aws:iam:::user/${AWS_ACCESS_KEY_ID}`] },
    Action,
    Resource: paths.map(path => `arn:aws:s3:::${Bucket}${path}`)
  })
  const Statement = [of('Allow', ['s3:*'], ['', '/*']), of('Deny', ['s3:GetObject', 's3:PutObject'], ['/secret/*'])]
  await client.send(
    new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) })
  )
  await client.send(new PutObjectCommand({ Bucket, Key: 'secret/a.txt', Body: 'a' }))
  const server = await startServer(t, { workspace: await openOn(bucket) })
  await check(t, server, '/edit', { path: 'secret/a.txt', ...EDIT }, 403, { code: 'PERMISSION_DENIED' })
  await check(t, server, '/edit', { path: 'repo/secret/a.txt', ...EDIT }, 404, { code: 'FILE_NOT_FOUND' })
  await check(t, server, '/inspect', { path: '/workspace/secret/a.txt' }, 403, { code: 'PATH_NOT_ALLOWED' })
  await check(t, server, '/create', { path: 'secret/a.txt/b', content: 'b' }, 403, { code: 'PERMISSION_DENIED' })
})
