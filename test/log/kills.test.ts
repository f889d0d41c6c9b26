// Servers that are killed at any time, while they write and while they remove what is too much: what they had
// acknowledged is there, and whole, but for the oldest of it. `npm run test:history -- --kills N` for more.
// runs in .ci/run
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { indexedBy } from '../../src/log/segment-name.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { startWriter } from '../folder/support/process.ts'
import { makePlace, type Place } from './support/history.ts'

/** How often each test kills. */
const KILLS = Number(process.env.LONG_KILLS ?? often(30, 1))
/** Records that are written at a time, by each of the servers. */
const SERVERS = [1, 4, 16]
/** Kills of each server with the same folder, so that this stays small in a long run. */
const EACH = 20
/** Bytes that those who remove something keep: ten segments. */
const KEEP = 200_000
/** A segment may be longer by what was appended at once, and has an index. */
const LONGEST = 60_000
t.setTimeout(0)

/** What was acknowledged of one server: the numbers of its records by their ids. */
interface Served {
  acknowledged: Map<string, number>
  keyed: boolean
}

async function writeUnderKills(
  place: Place,
  { at, kills, random, keep }: { at: number; kills: number; random: Random; keep?: number },
  servers: Map<string, Served>,
  events: string[]
): Promise<number> {
  let removed = 0
  for (let killed = 0; killed < kills; killed++) {
    const nonce = `w${servers.size}_${at}`
    const served: Served = { acknowledged: new Map(), keyed: keep !== undefined && killed === 0 }
    servers.set(nonce, served)
    const worker = startWriter({
      ...{ folder: place.folder, nonce, at, durable: random.chance(50), keyed: served.keyed, gone: [...place.gone] },
      ...(keep !== undefined && { keep })
    })
    if (random.chance(20)) await sleep(random.int(200))
    else {
      // After some answers: on a busy machine it would be killed before it has done anything.
      const enough = 1 + random.int(250)
      while (worker.lines.length <= enough && worker.child.exitCode === null) await sleep(1)
      await sleep(random.int(10))
    }
    worker.child.kill('SIGKILL')
    await worker.ended
    place.gone.add(nonce)
    for (const line of worker.lines) {
      const [word, what = '', number] = line.split(' ')
      if (word === 'done') served.acknowledged.set(what, Number(number))
      else if (word === 'swept') removed += Number(what)
      else if (word !== 'ready') events.push(line)
    }
  }
  return removed
}

const FAULTS = { missing: 0, wrong: 0, keys: 0, events: 0, size: 0 }

/** Runs of servers with a folder each, until so many were killed or something is wrong. */
async function underKills(t: Test, keep?: number): Promise<void> {
  t.comment(`SEED=${SEED}`)
  const random = new Random(SEED)
  const totals = { kills: 0, acknowledged: 0, kept: 0, unsettled: 0, removed: 0 }
  let faults = FAULTS
  while (totals.kills < KILLS && Object.values(faults).every(count => count === 0)) {
    const place = makePlace(t)
    const servers = new Map<string, Served>()
    const events: string[] = []
    const kills = Math.min(EACH, Math.ceil((KILLS - totals.kills) / SERVERS.length))
    const removals = await Promise.all(
      SERVERS.map(at =>
        writeUnderKills(place, { at, kills, random, ...(keep !== undefined && { keep }) }, servers, events)
      )
    )
    totals.kills += kills * SERVERS.length
    totals.removed += removals.reduce((sum, removed) => sum + removed, 0)
    faults = await faultsOf(place, servers, totals, keep)
    faults.events += events.length
    for (const event of events.slice(0, 5)) t.comment(event)
    await place.clear()
    t.comment(JSON.stringify({ ...totals, ...faults }))
  }
  t.strictSame(faults, FAULTS, `SEED=${SEED}`)
  // A short run may write too little for anything to be too much.
  const isLong = totals.kills >= 30
  t.ok(totals.acknowledged > totals.kills && (keep === undefined || !isLong || totals.removed > 0))
}

async function faultsOf(
  place: Place,
  servers: ReadonlyMap<string, Served>,
  totals: { acknowledged: number; kept: number; unsettled: number; removed: number },
  keep?: number
): Promise<typeof FAULTS> {
  const faults = { ...FAULTS }
  const history = await place.open()
  for (const [nonce, { acknowledged, keyed }] of servers) {
    const { records } = await history.ofPath(Buffer.from(`${nonce}.txt`))
    const found = new Map(records.map(stored => [stored.record.edit_id, stored]))
    // What was removed is older than all that is there, but for a segment that has to stay for its key.
    let isThere = keep === undefined
    let gaps = keyed ? 1 : 0
    // As they were written: one with a long text is written after some that have a higher id.
    for (const [id, number] of acknowledged) {
      const stored = found.get(id)
      if (stored === undefined) {
        if (isThere && keep !== undefined && gaps > 0) {
          gaps--
          isThere = false
        }
        if (isThere) faults.missing++
        continue
      }
      isThere = true
      totals.kept++
      if (stored.settled === null) totals.unsettled++
      const text = stored.record.splices?.[0]?.insert.toString() ?? ''
      const isWhole = stored.texts === 'kept' && text.startsWith(`${nonce} ${number} `)
      // Long texts may have been removed before the segment that names them.
      if (!isWhole && !(keep !== undefined && stored.texts === 'lost')) faults.wrong++
    }
    totals.acknowledged += acknowledged.size
    const [first] = acknowledged
    if (keyed && first !== undefined && (await history.byKey(nonce))?.record.key?.outcome !== 0) faults.keys++
  }
  if (keep !== undefined) {
    const before = sizeOf(place.folder)
    const swept = await history.sweep({ days: 30, bytes: keep })
    totals.removed += swept.removed
    // Those with a key stay whatever the size, one of each server at most.
    const keys = [...servers.values()].filter(({ keyed }) => keyed).length
    if (swept.bytes > keep + (keys + 1) * LONGEST) faults.size++
    // No more than that was removed.
    if (sizeOf(place.folder) < Math.min(before, keep) - LONGEST) faults.size++
    const names = readdirSync(place.folder)
    const lone = names.filter(name => indexedBy(name) !== null && !names.includes(indexedBy(name)!))
    faults.size += lone.length
  }
  return faults
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)

t.test('three writers under kill -9 lose no acknowledged record', { skip: ONLY_CI }, t => underKills(t))

t.test(
  'writers that remove what is too much lose no acknowledged record but the oldest, and none with a key',
  { skip: ONLY_CI },
  t => underKills(t, KEEP)
)
