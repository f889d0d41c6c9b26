// Measures the coverage of a server that a test starts, when tap measures coverage. tap's own preload would do so too,
// but it loads every module through a second thread, which doubles the time of a start. Does not know any test.
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const TREE = new URL('../dist/', import.meta.url).href
// Where tap's report looks: it reads what V8 says, and the source maps beside the files.
const COUNTED = new URL('../.tap/coverage/', import.meta.url)

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

process.on('exit', () => {
  session.post('Profiler.takePreciseCoverage', (error, counted) => {
    if (error) throw error
    mkdirSync(COUNTED, { recursive: true })
    const result = counted.result.filter(({ url }) => url.startsWith(TREE))
    writeFileSync(new URL(`${randomUUID()}.json`, COUNTED), JSON.stringify({ result }))
  })
})
