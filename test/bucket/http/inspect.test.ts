// Looking at files and directories, and the calls of other editors, in a bucket: what test/http asks of a folder.
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['inspect', 'adapters/text-editor', 'adapters/apply-patch']

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
