// npm run bench: measures everything, prints one table and whether the goals are met. --quick, --json FILE, --dir
// FOLDER, --only SUITE.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { againstPeers } from './against-peers.ts'
import { auditCost } from './audit.ts'
import { batch } from './batch.ts'
import { bucketThroughput } from './bucket.ts'
import { cost } from './cost.ts'
import { edges } from './edges.ts'
import { events } from './events.ts'
import { find } from './find.ts'
import { goalsOf, verdictsOf } from './goals.ts'
import { historyCost } from './history.ts'
import { inProcess } from './in-process.ts'
import { underLoad } from './load/under-load.ts'
import { loadNow, machineOf } from './machine.ts'
import { memory } from './memory.ts'
import { makeRandom } from './random.ts'
import { loadTableOf, tableOf, type Row } from './row.ts'
import { undo } from './undo.ts'

const {
  values: { quick, json, dir, only }
} = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    dir: { type: 'string', default: tmpdir() },
    only: { type: 'string' }
  }
})

const base = mkdtempSync(join(resolve(dir), 'editd-bench-'))
const start = performance.now()
const date = new Date().toISOString()
const load_before = loadNow()
const progress = (line: string): void => {
  process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0).padStart(4)} s  ${line}\n`)
}
const options = {
  rounds: quick ? 5 : 15,
  budget: quick ? 800 : 2000,
  fewest: quick ? 1 : 3,
  warm: quick ? 150 : 300,
  random: makeRandom(1)
}

const suites: Record<string, () => Promise<Row[]>> = {
  'in-process': () => inProcess(base, quick, options, progress),
  batch: () => batch(base, options, progress),
  find: () => find(base, options, progress),
  load: () => underLoad(base, quick, options.random, progress),
  cost: () => cost(base, quick, options.random, progress),
  history: () => historyCost(base, quick, options.random, progress),
  audit: () => auditCost(base, quick, options.random, progress),
  events: () => events(base, quick, options.random, progress),
  memory: () => memory(base, quick, progress),
  edges: () => edges(base, quick, progress),
  undo: async () => undo(quick, progress),
  bucket: () => bucketThroughput(quick, options.random, progress),
  peers: () => againstPeers(base, quick, options, progress)
}

try {
  const rows: Row[] = []
  for (const [name, suite] of Object.entries(suites)) {
    if (only === undefined || only === name) rows.push(...(await suite()))
  }
  const machine = machineOf(base)
  const verdicts = verdictsOf(rows)
  const conditions = {
    date,
    ...machine,
    load_before,
    load_after: loadNow(),
    seconds: String(Math.round((performance.now() - start) / 1000)),
    mode: quick ? 'quick' : 'full'
  }
  process.stdout.write(
    `${Object.entries(conditions)
      .map(([name, text]) => `${name}: ${text}`)
      .join('\n')}\n\n${[tableOf(rows), loadTableOf(rows), goalsOf(verdicts)].filter(Boolean).join('\n\n')}\n`
  )
  if (json !== undefined) appendFileSync(json, JSON.stringify({ ...conditions, rows, verdicts }) + '\n')
} finally {
  rmSync(base, { recursive: true, force: true })
}
