// Servers that are killed at random moments while they edit under idempotency keys, and sent the same request again.
// `npm run test:keys -- --kills N` for more.
// runs in .ci/run
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openAs } from '../log/support/history.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { makeFolders, onLinux, removeFolders } from '../folder/support/open.ts'
import { startWorker } from '../folder/support/process.ts'

const KILLS = Number(process.env.LONG_KILLS ?? often(60, 1))
const SERVERS = 2
/** Kills of each server with the same folders, so that these stay small in a long run. */
const EACH = 20
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
    if (random.chance(20)) await sleep(random.int(200))
    else {
      // After some answers: on a busy machine it would be killed before it has done anything.
      const enough = 1 + random.int(6)
      while (worker.lines.length <= enough && worker.child.exitCode === null) await sleep(1)
      await sleep(random.int(15))
    }
    worker.child.kill('SIGKILL')
    await worker.ended
    for (const line of worker.lines.filter(line => line !== 'ready')) {
      const [how = '', what = '', edit_id = ''] = line.split(' ')
      if (how === 'failed') {
        // The other server held the lock, or the key of a killed one wasn't free yet: it is sent again.
        if (!['REQUEST_IN_FLIGHT', 'FILE_LOCKED', 'STALE_FILE'].includes(edit_id)) t.fail(`${line} (SEED=${SEED})`)
        break
      }
      acknowledged.set(what, edit_id)
      first = Number(what.split('.')[1]) + 1
    }
  }
}

t.test(
  'records every edit that is acknowledged, and carries out none twice, however often it is killed',
  { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const totals = { kills: 0, acknowledged: 0, lines: 0, lost: 0, twice: 0, unrecorded: 0 }
    while (totals.kills < KILLS) {
      const folders = makeFolders()
      const { root, state } = folders
      for (const i of [0, 1]) writeFileSync(join(root, `f${i}`), '')
      const acknowledged: Acknowledged = new Map()
      const kills = Math.min(EACH, Math.ceil((KILLS - totals.kills) / SERVERS))
      await Promise.all(
        Array.from({ length: SERVERS }, (_, i) =>
          editUnderKills(t, { root, state }, { name: `s${i}`, kills, random }, acknowledged)
        )
      )
      const lines = [0, 1].flatMap(i =>
        readFileSync(join(root, `f${i}`), 'utf8')
          .split('\n')
          .slice(0, -1)
      )
      const times = new Map<string, number>()
      for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1)
      const history = await openAs('test', join(state, 'history'), { isAlive: async () => false })
      for (const [line, edit_id] of acknowledged) {
        if (!times.has(line)) totals.lost++
        const stored = await history.byId(edit_id)
        if (stored === null || stored.settled === 'void') totals.unrecorded++
      }
      await history.close()
      totals.twice += [...times.values()].filter(count => count > 1).length
      totals.kills += kills * SERVERS
      totals.acknowledged += acknowledged.size
      totals.lines += lines.length
      const { lost, twice, unrecorded } = totals
      // What broke it is left to be looked at.
      if (lost + twice + unrecorded === 0) removeFolders(folders)
      else t.comment(folders.base)
      t.comment(JSON.stringify(totals))
      if (lost + twice + unrecorded > 0) break
    }
    const { lost, twice, unrecorded } = totals
    t.ok(totals.acknowledged > totals.kills / 2)
    t.strictSame({ lost, twice, unrecorded }, { lost: 0, twice: 0, unrecorded: 0 }, `SEED=${SEED}`)
  }
)
