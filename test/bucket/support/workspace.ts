// Opens a bucket of the tests' Ceph as a workspace. Does not know any test.
import { openBucket, type BucketOptions } from '../../../src/bucket/open.ts'
import { Searcher } from '../../../src/workers/search.ts'
import type { Workspace } from '../../../src/workspace/api.ts'
import { etagForm, type Bucket } from '../../ceph.ts'
import { OPTIONS } from '../../folder/support/open.ts'

/** By default the whole bucket, through the first gateway, with a history. The caller closes it. */
export const openOn = async (bucket: Bucket, options: Partial<BucketOptions> = {}): Promise<Workspace> =>
  openBucket({
    ...OPTIONS,
    history: 'full',
    address: { bucket: bucket.name, prefix: '' },
    endpoint: bucket.endpoints[0],
    region: null,
    searcher: new Searcher(),
    form: await etagForm(),
    ...options
  })
