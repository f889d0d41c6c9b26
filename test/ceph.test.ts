// Checks the object store that tests use: see ceph.ts. Does not know editd.
// runs in .ci/run
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { makeBucket, NO_CEPH } from './ceph.ts'

t.test(
  'is one store behind two gateways, and gives each test a bucket',
  { skip: NO_CEPH, timeout: 200_000 },
  async t => {
    const [first, second] = await Promise.all([makeBucket(t), makeBucket(t)])
    t.not(first.name, second.name)
    t.not(first.endpoints[0], first.endpoints[1])
    await first.client(0).send(new PutObjectCommand({ Bucket: first.name, Key: 'a', Body: 'one' }))
    const read = await first.client(1).send(new GetObjectCommand({ Bucket: first.name, Key: 'a' }))
    t.equal(await read.Body?.transformToString(), 'one')
    await t.rejects(second.client().send(new GetObjectCommand({ Bucket: second.name, Key: 'a' })), {
      name: 'NoSuchKey'
    })
  }
)
