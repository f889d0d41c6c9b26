// What is the address of a bucket, and what is wrong with others.
import t from 'tap'
import { formatBucketAddress, isBucketAddress, parseBucketAddress } from '../../src/object-store/address.ts'
import { formatLanded, parseLanded } from '../../src/object-store/landed.ts'

t.test('reads addresses', async t => {
  const cases: [string, string | RegExp][] = [
    ['s3://docs', 's3://docs'],
    ['s3://docs/', 's3://docs'],
    ['s3://my.docs-1/a/b c/', 's3://my.docs-1/a/b c'],
    ['s3:docs', /is not the address/],
    ['S3://docs', /is not the address/],
    ['s3://D', /no valid name/],
    ['s3://docs//a', /empty name/],
    ['s3://docs/a/../b', /empty name/],
    ['s3://docs/a/.editd', /keeps what is its own/],
    [`s3://docs/${'a'.repeat(513)}`, /more than 512 bytes/]
  ]
  for (const [text, expected] of cases) {
    t.ok(isBucketAddress(text))
    const parsed = parseBucketAddress(text)
    if (parsed.ok) t.equal(formatBucketAddress(parsed.value), expected)
    else t.match(parsed.failure, expected)
  }
  t.notOk(isBucketAddress('./s3'))
})

t.test('reads what it writes of the writes that an object comes from', async t => {
  const landed = [
    { attempt: 'b', replaced: 'x-2' },
    { attempt: 'a', replaced: null }
  ]
  t.strictSame(parseLanded(formatLanded(landed)), landed)
  for (const text of [undefined, '', 'a', 'a@b@c', 'a b', '@']) t.strictSame(parseLanded(text), [], String(text))
})
