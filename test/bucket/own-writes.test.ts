// What three servers on one bucket tell right after an edit was answered, at the server that made it and at the others.
// runs in .ci/run
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import type { Workspace } from '../../src/workspace/api.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { often } from '../often.ts'
import { FILES, tellsOwnWrites } from '../folder/support/own-writes.ts'
import { openOn } from './support/workspace.ts'

t.test('law: an edit is told as soon as it is answered, in order', { skip: NO_CEPH, timeout: 250_000 }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  for (const name of FILES) {
    await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: `p/${name}`, Body: '\n' }))
  }
  const servers: Workspace[] = []
  for (const endpoint of [bucket.endpoints[0], bucket.endpoints[1], bucket.endpoints[0]]) {
    const workspace = await openOn(bucket, { address: { bucket: bucket.name, prefix: 'p' }, endpoint })
    servers.push(workspace)
    t.teardown(() => workspace.close())
  }
  await tellsOwnWrites(t, servers, often(60, 15))
})
