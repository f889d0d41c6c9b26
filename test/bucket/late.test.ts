// A write that the network delivers a second time, after its edit was undone: the store accepts it, since an ETag is a
// hash of the content. The feed reports it as a change from outside. A real Ceph.
// runs in .ci/run
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { etagForm, makeBucket, NO_CEPH } from '../ceph.ts'
import { startServer } from '../http/test-server.ts'
import { openOn } from './support/workspace.ts'

t.test('tells a late write as a change from outside', { skip: NO_CEPH, timeout: 280_000 }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const object = { Bucket: bucket.name, Key: 'a.txt' }
  const client = bucket.client(1)
  const server = await startServer(t, { workspace: await openOn(bucket) })
  const post = async (path: string, body: object) => (await server.call('POST', path, { body })).body
  await post('/create', { path: 'a.txt', content: 'off\n' })
  const { ETag = '' } = await client.send(new HeadObjectCommand(object))
  const { edit_id } = await post('/edit', { path: 'a.txt', old_text: 'off', new_text: 'on' })
  const { Metadata } = await client.send(new GetObjectCommand(object))
  t.match(await post('/undo', { edit_id }), { message: /^Took back edit / })

  const IfMatch = (await etagForm()) === 'quoted' ? ETag : ETag.replaceAll('"', '')
  await client.send(new PutObjectCommand({ ...object, Body: 'on\n', Metadata, IfMatch }))
  t.match(await post('/inspect', { path: 'a.txt' }), { content: 'on\n' }, 'the store has done it')

  await post('/edit', { path: 'a.txt', old_text: 'on', new_text: 'ON' })
  const { edits } = await post('/history', { path: 'a.txt' })
  t.strictSame(
    (edits as { operation: string; state: string }[]).map(({ operation, state }) => `${operation} ${state}`),
    ['edit applied', 'outside applied', 'undo applied', 'edit undone', 'create applied']
  )
})
