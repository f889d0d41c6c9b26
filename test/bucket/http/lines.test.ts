// Edits of lines and sections, and previews, in a bucket: what test/http asks of a folder.
import t from 'tap'
import { runInBucket } from '../support/suites.ts'

const SUITES = ['lines', 'section', 'section-fix', 'preview']

runInBucket(t, SUITES, suite => import(`../../http/${suite}.test.ts`))
