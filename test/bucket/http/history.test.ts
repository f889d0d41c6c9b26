// The history, undo, keys and changes as they are told, in a bucket: what test/http asks of a folder.
// runs alone: it takes the tests of other files.
// runs in .ci/run
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['changes', 'idempotency', 'history', 'undo', 'undo-limits'] as const

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
