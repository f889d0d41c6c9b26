// What the history costs: the same edits by servers with and without one, loaded by a separate process; and how much
// longer a server takes to be ready with 1 GiB of history.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { History } from '../src/log/api.ts'
import { openHistory } from '../src/log/folder-log.ts'
import { KB, makeCase, MB, type Case } from './corpora.ts'
import { compareServers } from './compare-servers.ts'
import { timeToReady } from './cost.ts'
import { product, type Party } from './load/parties.ts'
import { whatOf } from './load/under-load.ts'
import { shuffled, type Random } from './random.ts'
import { short, time, type Row } from './row.ts'
import { median, quartiles } from './statistics.ts'
import { verdict, type Verdict } from './verdict.ts'

const START = 'from start to ready, with 1 GiB of history'
/** Edits that a server makes before it is measured, and the most ms for that. */
const WARM = { each: 2000, ms: 20_000 }
const WARM_LARGE = { each: 15, ms: 20_000 }
const SMALL = makeCase('ASCII', 10 * KB, 1)
const LARGE = makeCase('ASCII', 10 * MB, 1)

const withName = (durability: string): string => `${durability}, with a history`
const withoutName = (durability: string): string => `${durability}, --history off`
const partiesOf = (durability: 'full' | 'fast'): Party[] =>
  [
    { name: withoutName(durability), flags: ['--history', 'off'] },
    { name: withName(durability), flags: [] }
  ].map(({ name, flags }) => ({
    name,
    floor: withoutName(durability),
    runs: { http: product('--durability', durability, ...flags) }
  }))

export async function historyCost(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const folder = join(base, 'history')
  try {
    const rows: Row[] = []
    for (const durability of ['full', 'fast'] as const) {
      for (const [it, clients] of [
        [SMALL, [1, 16]],
        [LARGE, [1]]
      ] as const) {
        progress(`history, ${durability}, ${it.name}`)
        const isLarge = it === LARGE
        rows.push(
          ...(await compareServers(join(folder, `${durability}-${it.size}`), partiesOf(durability), {
            it,
            clients,
            sample: isLarge ? 2000 : 500,
            rounds: quick ? 7 : 21,
            warm: isLarge ? WARM_LARGE : WARM,
            random
          }))
        )
      }
    }
    return [...rows, ...(await starts(join(folder, 'start'), quick, random, progress))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts over an empty root. */
async function starts(
  folder: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const root = join(folder, 'root')
  mkdirSync(root, { recursive: true })
  progress('history, 1 GiB of it')
  await fill(join(folder, 'full'))
  mkdirSync(join(folder, 'empty'))
  const taken = new Map<string, number[]>([
    ['empty', []],
    ['full', []]
  ])
  for (let i = 0; i < (quick ? 3 : 9); i++) {
    progress(`history, start ${i + 1}`)
    for (const state of shuffled([...taken.keys()], random)) {
      const { server, ms } = await timeToReady(product()(root, join(folder, state)))
      taken.get(state)!.push(ms)
      await server.stop()
    }
  }
  const [empty, full] = [taken.get('empty')!, taken.get('full')!]
  const later = quartiles(full.map((ms, i) => ms - empty[i]!))
  const figure = `${time(median(full))}, later by ${time(later.median)} (${time(later.low)}–${time(later.high)})`
  return [{ what: START, edits: 0, variant: withName('full'), figure, value: later.median, pairs: full.length }]
}

/** Writes segments as a server leaves them: records of some 2 KB, each settled before the second one after it. */
async function fill(state: string): Promise<void> {
  mkdirSync(state, { mode: 0o700 })
  const folder = join(state, 'history')
  const history = await openHistory({
    folder,
    nonce: randomBytes(6).toString('hex'),
    level: 'full',
    isPrivate: () => false,
    isAlive: async () => true,
    stayAlive: () => 0,
    report: event => {
      throw new Error(JSON.stringify(event))
    }
  })
  const text = Buffer.from('const value = computed(1, 2, 3)\n'.repeat(15))
  for (
    let i = 0;
    i % 1000 !== 0 || readdirSync(folder).filter(name => name.endsWith('.ndjson')).length < 128;
    i += 10
  ) {
    await Promise.all(Array.from({ length: 10 }, (_, k) => write(history, `src/${(i + k) % 5000}.ts`, text)))
  }
  await history.close()
}

async function write(history: History, path: string, text: Buffer): Promise<void> {
  const edit_id = history.nextId()
  const place = { start_line: 1, new_start_line: 1, lines_removed: 1, lines_added: 1, before: text, after: text }
  await history.append(
    {
      edit_id,
      operation: 'edit',
      at: Date.now(),
      path: Buffer.from(path),
      hash_before: 'a'.repeat(64),
      hash_after: 'b'.repeat(64),
      size_before: 10_000,
      size_after: 10_000,
      lines_added: 1,
      lines_removed: 1,
      splices: [{ start: 0, old: text, insert: text }],
      places: [place]
    },
    { durable: false }
  )
  history.settle(edit_id, 'done')
}

/** The goals of the design. */
export function historyVerdicts(rows: readonly Row[]): Verdict[] {
  const ratioOf = (durability: string, it: Case) => {
    const row = rows.find(({ what, variant }) => what === whatOf(it, 1) && variant === withName(durability))
    return row?.loaded?.over[withoutName(durability)]?.p50.median ?? NaN
  }
  const small = (id: string, durability: string, most: number): Verdict => {
    const found = ratioOf(durability, SMALL)
    const goal = `10 KB, ${durability}, one client: p50 with a history ≤ ${most} × without`
    return verdict(id, goal, [found], short(found), found <= most)
  }
  const large = ['full', 'fast'].map(durability => ratioOf(durability, LARGE))
  const later = rows.find(({ what }) => what === START)?.value ?? NaN
  return [
    small('H1', 'full', 1.25),
    small('H2', 'fast', 1.05),
    verdict(
      'H3',
      '10 MB: p50 with a history ≤ 1.05 × without',
      large,
      `${short(large[0]!)} (full), ${short(large[1]!)} (fast)`,
      large.every(found => found <= 1.05)
    ),
    verdict('H4', 'with 1 GiB of history, ready ≤ 1 s later than with none', [later], time(later), later <= 1000)
  ]
}
