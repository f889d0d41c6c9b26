// Callers, changes as they are told, and idempotency keys, in a bucket: what test/http asks of a folder.
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['callers', 'changes', 'idempotency', 'kept-answers']

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
