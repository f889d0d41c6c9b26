// What all operations have in common, and creating, in a bucket: what test/http asks of a folder.
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['operations', 'create', 'requests/field-aliases']

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
