// Batches of several servers at once: with single edits beside them, and while the servers are killed at random moments.
// Row 46 of docs/threats.md; `npm run test:batches -- --kills N --pairs N` for more.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import type { BatchStep } from '../../src/workspace/api.ts'
import { openAs } from '../log/support/history.ts'
import { Random, SEED } from '../random.ts'
import { append, makeFolders, onLinux, open, REAL, removeFolders } from '../folder/support/open.ts'
import { startBatchWorker } from '../folder/support/process.ts'
import { checkDocument, many, row, tally } from './harness.ts'

/** In CI. */
const USUAL = 36
const KILLS = many('kills', USUAL, 8)
const PAIRS = many('pairs', 1000, 100)
t.setTimeout(0)

t.test('batches that cross each other', { skip: ONLY_CI }, async t => {
  const FILES = 8
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const names = Array.from({ length: FILES }, (_, i) => `f${i}`)
  for (const name of names) writeFileSync(join(folders.root, name), '')
  const servers = [await open(folders, { lockTimeout: 20_000 }), await open(folders, { lockTimeout: 20_000 })]
  for (const server of servers) t.teardown(() => server.close())
  t.comment(`SEED=${SEED}`)
  const random = new Random(SEED)
  const expected = new Map(names.map(name => [name, new Set<string>()]))
  const refused: string[] = []
  let longest = 0
  let number = 0
  const shuffled = (): string[] => {
    const rest = [...names]
    const count = 2 + random.int(4)
    return Array.from({ length: count }, () => rest.splice(random.int(rest.length), 1)[0]!)
  }
  const batch = async (paths: string[]): Promise<void> => {
    const line = `b${number++}\n`
    const begun = performance.now()
    const steps = paths.map((path): BatchStep<string, never> => ({
      operation: 'edit',
      target: { path },
      plan: append(line)
    }))
    const done = await random.pick(servers).batch(steps, REAL)
    longest = Math.max(longest, performance.now() - begun)
    if (done.ok) for (const path of paths) expected.get(path)!.add(line)
    else refused.push(JSON.stringify(done.failure))
  }
  const edit = async (path: string): Promise<void> => {
    const line = `e${number++}\n`
    const done = await random.pick(servers).edit({ path }, REAL, append(line))
    if (done.ok) expected.get(path)!.add(line)
    else refused.push(JSON.stringify(done.failure))
  }
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = shuffled()
    // At least one file is of both.
    const second = [...new Set([...shuffled(), random.pick(first)])]
    await Promise.all([batch(first), batch(second.reverse()), edit(random.pick(first)), edit(random.pick(names))])
  }
  t.strictSame(refused, [], 'none waits for another one that waits for it')
  t.comment(`${PAIRS} pairs, the longest took ${Math.round(longest)} ms`)
  for (const [name, lines] of expected) {
    const found = readFileSync(join(folders.root, name), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map(line => line + '\n')
    t.strictSame(found.toSorted(), [...lines].toSorted(), `${name} (SEED=${SEED})`)
  }
  t.strictSame(readdirSync(join(folders.state, 'journal')), [])
})

/** A server whose batches each append one line to all files of one group. */
const GROUPS = [2, 3, 5, 20]
const groupFiles = (group: number): string[] => Array.from({ length: GROUPS[group]! }, (_, i) => `g${group}/f${i}`)

/** Makes two files for the batch of this id to remove: one as a patch does, one as an undo; what it is asked for. */
function removalsOf(root: string, id: string): Record<string, string[]> {
  const folder = `old/${id}`
  mkdirSync(join(root, folder, 'b'), { recursive: true })
  for (const file of ['a', 'b/c']) writeFileSync(join(root, folder, file), id)
  return { [`${folder}/a`]: [], [`${folder}/b/c`]: [folder, `${folder}/b`] }
}

async function serveUnderKills(
  t: Test,
  at: { root: string; state: string },
  { name, kills, random }: { name: string; kills: number; random: Random },
  acknowledged: Map<string, { group: number; batch_id: string }>,
  asked: Set<string>
): Promise<void> {
  let number = 0
  for (let killed = 0; killed < kills; killed++) {
    const durability = random.chance(50) ? 'full' : 'fast'
    const worker = startBatchWorker({ ...at, history: 'full', durability, allowDelete: true })
    await Promise.race([worker.printed('ready'), worker.ended])
    if (!worker.lines.includes('ready')) throw new Error(`${name} can’t start (SEED=${SEED})`)
    const sent = new Map<string, number>()
    for (let i = 0; i < 40; i++) {
      const group = random.int(GROUPS.length)
      const id = `${name}.${number++}`
      sent.set(id, group)
      const edits = Object.fromEntries(groupFiles(group).map(file => [file, id + '\n']))
      const creates = random.chance(30) ? { [`new/${id}/a`]: id, [`new/${id}/b/c`]: id } : {}
      const removes = random.chance(30) ? removalsOf(at.root, id) : {}
      if (Object.keys(removes).length > 0) asked.add(id)
      worker.child.stdin!.write(JSON.stringify({ id, edits, creates, removes }) + '\n')
    }
    // After some answers: on a busy machine it would be killed before it has done anything.
    const enough = 1 + random.int(6)
    while (worker.lines.length <= enough && worker.child.exitCode === null) await sleep(1)
    await sleep(random.int(15))
    worker.child.kill('SIGKILL')
    await worker.ended
    for (const line of worker.lines) {
      const [how = '', id = '', more = ''] = line.split(' ')
      if (how === 'ready') continue
      // The lock of a killed one may not be free yet; a file may be seen before a batch of it is completed.
      if (how === 'done') acknowledged.set(id, { group: sent.get(id)!, batch_id: more })
      else if (how !== 'refused' || !['FILE_LOCKED', 'STALE_FILE'].includes(more)) t.fail(`${line} (SEED=${SEED})`)
    }
  }
}

row(
  46,
  'a batch of many files is cut short',
  {
    done:
      `${USUAL} kills of one to three processes at random moments while each carries out batches of 2 to 22 files, some ` +
      'of them new or removed, as the server does (`npm run test:batches -- --kills N` for more); at each system call of a batch, ' +
      'a kill, EIO, ENOSPC and EACCES, a suspension, and a save by another program before the recovery: ' +
      '`test/folder/commit/batch-strikes.test.ts`',
    skip: onLinux ? false : 'needs abstract sockets (Linux)'
  },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const totals = {
      kills: 0,
      acknowledged: 0,
      found: 0,
      removed: 0,
      mixed: 0,
      lost: 0,
      unrecorded: 0,
      uncertain: 0,
      left: 0
    }
    // Folders of their own for so many kills each, so that these stay small.
    for (let block = 0; totals.kills < KILLS; block++) {
      const servers = 1 + (block % 3)
      const each = Math.max(1, Math.min(20, Math.ceil((KILLS - totals.kills) / servers)))
      const folders = makeFolders()
      const { root, state } = folders
      for (const group of GROUPS.keys()) {
        mkdirSync(join(root, `g${group}`))
        for (const file of groupFiles(group)) writeFileSync(join(root, file), '')
      }
      const acknowledged = new Map<string, { group: number; batch_id: string }>()
      /** The batches that also remove files. */
      const asked = new Set<string>()
      await Promise.all(
        Array.from({ length: servers }, (_, i) =>
          serveUnderKills(t, { root, state }, { name: `s${i}`, kills: each, random }, acknowledged, asked)
        )
      )
      totals.kills += servers * each
      const events: string[] = []
      const workspace = await open(folders, {
        history: 'full',
        report: ({ event, outcome }) => events.push(`${event} ${outcome ?? ''}`)
      })
      await workspace.close()
      if (events.some(event => event.startsWith('batch_unrecovered'))) t.fail(`${events.join()} (SEED=${SEED})`)
      const read = (file: string): string => readFileSync(join(root, file), 'utf8')
      const made = new Map<string, number>()
      for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        if (name.endsWith('.tmp')) totals.left++
        const id = /^new\/([^/]+)\/(a|b\/c)$/.exec(name)?.[1]
        if (id === undefined) continue
        if (read(name) !== id) totals.mixed++
        made.set(id, (made.get(id) ?? 0) + 1)
      }
      totals.mixed += [...made.values()].filter(count => count !== 2).length
      totals.left += readdirSync(join(state, 'journal')).filter(name => !name.endsWith('.old')).length
      const inGroup = GROUPS.map((_, group) => {
        const [first = '', ...others] = groupFiles(group).map(read)
        // All of a group agree, in the order too: nobody can have been between two of them.
        totals.mixed += others.filter(text => text !== first).length
        return new Set(first.split('\n').slice(0, -1))
      })
      totals.found += inGroup.reduce((sum, { size }) => sum + size, 0)
      const isFound = (id: string): boolean => inGroup.some(lines => lines.has(id))
      for (const id of made.keys()) if (!isFound(id)) totals.mixed++
      let kept = 0
      for (const id of asked) {
        const left = ['a', 'b/c'].filter(file => existsSync(join(root, 'old', id, file))).length
        if (left !== (isFound(id) ? 0 : 2)) totals.mixed++
        kept += left
      }
      totals.removed += 2 * asked.size - kept
      const history = await openAs('test', join(state, 'history'), { isAlive: async () => false })
      const batches = new Map<string, string[]>()
      for (const group of GROUPS.keys()) {
        for (const file of groupFiles(group)) {
          for (const { record, settled } of (await history.ofPath(Buffer.from(file))).records) {
            if (record.batch_id === undefined) continue
            const known = batches.get(record.batch_id) ?? []
            batches.set(record.batch_id, [...known, settled ?? 'unsettled'])
          }
        }
      }
      await history.close()
      for (const [id, { group, batch_id }] of acknowledged) {
        if (!inGroup[group]!.has(id)) totals.lost++
        const settled = batches.get(batch_id) ?? []
        if (settled.length !== GROUPS[group] || settled.includes('void')) {
          totals.unrecorded++
          t.comment(`${id} of group ${group}: ${tally(settled)}`)
        } else if (settled.some(state => state !== 'done')) totals.uncertain++
      }
      totals.acknowledged += acknowledged.size
      removeFolders(folders)
      t.comment(JSON.stringify(totals))
    }
    const { mixed, lost, unrecorded, left } = totals
    t.strictSame({ mixed, lost, unrecorded, left }, { mixed: 0, lost: 0, unrecorded: 0, left: 0 }, `SEED=${SEED}`)
    t.ok(totals.acknowledged >= totals.kills && totals.removed > 0)
    return (
      '0 batches of which some files are new and others old, 0 acknowledged ones lost or without records, no temp file ' +
      'after the next start'
    )
  }
)

checkDocument()
