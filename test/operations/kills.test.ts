// Servers that are killed at random moments while they edit, undo and redo, in one file and in several, with and without
// idempotency keys. `npm run test:undos -- --kills N` for more.
// runs in .ci/run
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Stored } from '../../src/log/record.ts'
import { openAs } from '../log/support/history.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { makeFolders, onLinux, open, removeFolders, type Folders } from '../folder/support/open.ts'
import { startUndoWorker } from '../folder/support/process.ts'
import { FILES, fileOf, isKeyed, stepsOf } from './support/undo-steps.ts'

const KILLS = Number(process.env.LONG_KILLS ?? often(60, 1))
/** Kills of each server with the same folders, so that these stay small in a long run. */
const EACH = 20
t.setTimeout(0)

/** What is known of a line: how many of its steps were acknowledged, with which ids. */
interface Line {
  line: number
  acknowledged: string[]
  /** The next step was begun as well, and nobody knows whether it was carried out. */
  isOpen: boolean
}

/** What may be answered where another server has a file's lock, or a killed one had it or the key. */
const BUSY = ['REQUEST_IN_FLIGHT', 'FILE_LOCKED', 'STALE_FILE']

async function serveUnderKills(
  t: Test,
  { root, state }: Folders,
  { name, kills, random }: { name: string; kills: number; random: Random },
  lines: Map<string, Line>
): Promise<number> {
  let refused = 0
  let [line, step] = [0, 0]
  const at = (line: number): Line => {
    const known = lines.get(`${name}.${line}`) ?? { line, acknowledged: [], isOpen: false }
    lines.set(`${name}.${line}`, known)
    return known
  }
  for (let killed = 0; killed < kills; killed++) {
    const durability = random.chance(50) ? 'full' : 'fast'
    const made = at(line).acknowledged[0]
    const worker = startUndoWorker({ root, state, name, line, step, durability, ...(made !== undefined && { made }) })
    if (random.chance(20)) await sleep(random.int(200))
    else {
      // After some answers: on a busy machine it would be killed before it has done anything.
      const enough = 1 + random.int(16)
      while (worker.lines.length <= enough && worker.child.exitCode === null) await sleep(1)
      await sleep(random.int(10))
    }
    worker.child.kill('SIGKILL')
    await worker.ended
    for (const text of worker.lines) {
      const [how = '', ...words] = text.split(' ')
      if (how === 'ready') continue
      ;[line, step] = [Number(words[0]), Number(words[1])]
      const [what = ''] = words.slice(2)
      const known = at(line)
      if (how === 'begin') continue
      if (how === 'failed') {
        if (!BUSY.includes(what)) {
          t.fail(`${name}: ${text} (SEED=${SEED})`)
          refused++
        }
        // The worker leaves it at that.
        ;[line, step] = [line + 1, 0]
        continue
      }
      known.isOpen = false
      known.acknowledged.push(what)
      step++
      if (step === stepsOf(line).length) [line, step] = [line + 1, 0]
    }
    const last = worker.lines.at(-1) ?? ''
    if (!last.startsWith('begin')) continue
    at(line).isOpen = true
    // Without a key it isn't sent again.
    if (!isKeyed(line)) [line, step] = [line + 1, 0]
  }
  return refused
}

/** Counts of all that must not be. */
const FAULTS = { refused: 0, lost: 0, twice: 0, mixed: 0, unrecorded: 0, left: 0 }

/** What is wrong after the recovery. */
async function faultsOf({ root, state }: Folders, lines: ReadonlyMap<string, Line>): Promise<typeof FAULTS> {
  const faults = { ...FAULTS }
  const texts = FILES.map(file => readFileSync(join(root, file), 'utf8').split('\n'))
  const isThere = (steps: number): boolean => steps % 2 === 1
  for (const [name, { line, acknowledged, isOpen }] of lines) {
    const counts = texts.map(text => text.filter(one => one === name).length)
    if (counts.some(count => count > 1)) faults.twice++
    const isBatch = stepsOf(line)[0] === 'batch'
    if (isBatch && counts[0] !== counts[1]) faults.mixed++
    const allowed = [isThere(acknowledged.length), ...(isOpen ? [isThere(acknowledged.length + 1)] : [])]
    const found = isBatch ? counts : [counts[FILES.findIndex(file => file === fileOf(line))]!]
    if (found.some(count => !allowed.includes(count > 0))) faults.lost++
  }
  const history = await openAs('test', join(state, 'history'), { isAlive: async () => false })
  const records: Stored[] = []
  for (const file of FILES) records.push(...(await history.ofPath(Buffer.from(file))).records)
  await history.close()
  const standing = records.filter(({ settled }) => settled !== 'void').map(({ record }) => record)
  const ids = new Set(standing.map(({ edit_id }) => edit_id))
  const inBatch = (id: string): number => standing.filter(({ batch_id }) => batch_id === id).length
  for (const { line, acknowledged } of lines.values()) {
    for (const [step, what] of acknowledged.entries()) {
      const isWhole =
        step === 0 && stepsOf(line)[0] === 'batch'
          ? inBatch(what) === FILES.length
          : what.split(',').every(id => ids.has(id))
      if (!isWhole) faults.unrecorded++
    }
  }
  // Each edit is taken back once, and made again once.
  for (const operation of ['undo', 'redo']) {
    const toggled = standing
      .filter(record => record.operation === operation)
      .flatMap(({ toggles = [] }) => toggles.map(({ edit_id }) => edit_id))
    faults.twice += toggled.length - new Set(toggled).size
  }
  faults.left += readdirSync(root).filter(name => name.endsWith('.tmp')).length
  faults.left += readdirSync(join(state, 'journal')).filter(name => !name.endsWith('.old')).length
  return faults
}

t.test(
  'undoes and redoes once what was acknowledged, and refuses none beside lines of others, however often it is killed',
  { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const totals = { kills: 0, lines: 0, acknowledged: 0, open: 0 }
    let faults = FAULTS
    const isSound = (): boolean => Object.values(faults).every(count => count === 0)
    for (let block = 0; totals.kills < KILLS && isSound(); block++) {
      const servers = 1 + (block % 3)
      const kills = Math.min(EACH, Math.ceil((KILLS - totals.kills) / servers))
      const folders = makeFolders()
      for (const file of FILES) writeFileSync(join(folders.root, file), '')
      const lines = new Map<string, Line>()
      const refused = await Promise.all(
        Array.from({ length: servers }, (_, i) => serveUnderKills(t, folders, { name: `s${i}`, kills, random }, lines))
      )
      const workspace = await open(folders, { history: 'full' })
      await workspace.close()
      faults = await faultsOf(folders, lines)
      faults.refused = refused.reduce((sum, count) => sum + count, 0)
      totals.kills += kills * servers
      totals.lines += lines.size
      for (const { acknowledged, isOpen } of lines.values()) {
        totals.acknowledged += acknowledged.length
        if (isOpen) totals.open++
      }
      t.comment(JSON.stringify({ ...totals, ...faults }))
      // What broke it is left to be looked at.
      if (isSound()) removeFolders(folders)
      else t.comment(folders.base)
    }
    t.strictSame(faults, FAULTS, `SEED=${SEED}`)
    t.ok(totals.acknowledged > totals.kills / 2)
  }
)
