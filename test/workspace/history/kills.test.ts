// Servers that are killed at random moments while they edit under idempotency keys, and sent the same request again.
// `npm run test:keys -- --kills N` for more.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openAs } from '../../history/support/history.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { makeFolders, onLinux, removeFolders } from '../support/open.ts'
import { startWorker } from '../support/process.ts'

const KILLS = Number(process.env.LONG_KILLS ?? often(60, 8))
const SERVERS = 2
t.setTimeout(0)

/** What was acknowledged: of each line, the id of its edit. */
type Acknowledged = Map<string, string>

/** One server that is started again and again until it was killed so often. Its next line is the one not acknowledged. */
async function editUnderKills(
  t: Test,
  at: { root: string; state: string },
  { name, kills, random }: { name: string; kills: number; random: Random },
  acknowledged: Acknowledged
): Promise<void> {
  let first = 0
  for (let killed = 0; killed < kills; killed++) {
    const worker = startWorker({ ...at, file: 'f', count: 1e6, name, first, durability: 'fast' })
    await worker.printed('ready')
    await sleep(random.int(300))
    worker.child.kill('SIGKILL')
    await worker.ended
    for (const line of worker.lines.filter(line => line !== 'ready')) {
      const [how = '', what = '', edit_id = ''] = line.split(' ')
      if (how === 'failed') {
        // The other server held the lock, or the key of a killed one wasn't free yet: it is sent again.
        if (!['REQUEST_IN_FLIGHT', 'FILE_LOCKED', 'STALE_FILE'].includes(edit_id)) t.fail(line)
        break
      }
      acknowledged.set(what, edit_id)
      first = Number(what.split('.')[1]) + 1
    }
  }
}

t.test(
  'records every edit that is acknowledged, and carries out none twice, however often it is killed',
  { skip: onLinux ? false : 'needs abstract sockets (Linux)' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    for (const i of [0, 1]) writeFileSync(join(folders.root, `f${i}`), '')
    const random = new Random(SEED)
    const acknowledged: Acknowledged = new Map()
    const kills = Math.ceil(KILLS / SERVERS)
    await Promise.all(
      Array.from({ length: SERVERS }, (_, i) =>
        editUnderKills(t, { root: folders.root, state: folders.state }, { name: `s${i}`, kills, random }, acknowledged)
      )
    )
    const lines = [0, 1].flatMap(i =>
      readFileSync(join(folders.root, `f${i}`), 'utf8')
        .split('\n')
        .slice(0, -1)
    )
    const history = await openAs('test', join(folders.state, 'history'), { isAlive: async () => false })
    const times = new Map<string, number>()
    for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1)
    const lost = [...acknowledged.keys()].filter(line => !times.has(line))
    const twice = [...times].filter(([, count]) => count > 1)
    const unrecorded = []
    for (const [line, edit_id] of acknowledged) {
      if ((await history.byId(edit_id)) === null) unrecorded.push(line)
    }
    await history.close()
    t.ok(acknowledged.size > 0)
    t.strictSame({ lost, twice, unrecorded }, { lost: [], twice: [], unrecorded: [] }, `SEED=${SEED}`)
    t.comment(`${kills * SERVERS} kills, ${acknowledged.size} edits acknowledged, ${lines.length} lines`)
  }
)
