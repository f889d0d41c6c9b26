// The history, undo and redo, in a bucket: what test/http asks of a folder.
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['history', 'undo', 'undo-limits', 'undo-gone']

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
