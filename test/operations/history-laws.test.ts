// The laws of undo and redo over servers: random histories of three agents, each step by one of one to three servers on a
// root, with their files, records, locks and operations. `npm run test:histories -- --histories N` for more. What may be
// undone, and what comes out, is what the history of single bytes says; its own laws: engine/undo/laws.test.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Splices, type Splice } from '../../src/engine/edit/splice.ts'
import type { Selection } from '../../src/engine/undo/change.ts'
import { recordedSplices } from '../../src/engine/undo/refine.ts'
import { makeOperations, type Operations } from '../../src/operations.ts'
import { ok } from '../../src/result.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { OwnedLines } from '../engine/undo/owned-lines.ts'
import { ALPHABET, BYTES, History, randomSplices, someOf } from '../engine/undo/random-history.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { makeFolders, open, removeFolders } from '../folder/support/open.ts'

const HISTORIES = Number(process.env.LONG_HISTORIES ?? often(600, 60, 20))
/** Histories, each of a file of its own, of the same servers. */
const BLOCK = 150
/** Histories at a time. */
const AT_ONCE = 6
t.setTimeout(0)

interface Server {
  workspace: Workspace
  operations: Operations
}

/** Something that must not be. */
class Wrong extends Error {}

/** A file and its history, changed by servers and, the same way, in memory. */
class ServedHistory {
  readonly model: History
  /** Undos and redos that were. */
  refused = 0
  readonly #path: string
  readonly #file: string
  readonly #servers: readonly Server[]
  readonly #random: Random
  /** The ids that the servers gave, by those of the model, and the other way round. */
  readonly #ids = new Map<string, string>()
  readonly #own = new Map<string, string>()

  constructor(root: string, path: string, base: Buffer, servers: readonly Server[], random: Random) {
    this.#path = path
    this.#file = join(root, path)
    this.#servers = servers
    this.#random = random
    this.model = new History(base)
    writeFileSync(this.#file, base)
  }

  async edit(agent: number, splices: readonly Splice[]): Promise<void> {
    const { present } = this.model
    const pieces = new Splices(splices, present.length).apply(present)
    const isChange = !Buffer.concat(pieces).equals(present)
    const { workspace } = this.#random.pick(this.#servers)
    const done = await workspace.edit<null, never>(
      { path: this.#path },
      { dry_run: false, origin: { operation: 'edit', agent: `agent${agent}` } },
      original => {
        if (!original.equals(present)) throw new Wrong('the file is not what it was')
        const pieces = new Splices(splices, original.length).apply(original)
        return ok({ pieces, splices: recordedSplices(original, splices), description: null })
      }
    )
    if (!done.ok) throw new Wrong(`edit: ${done.failure.code}`)
    if (done.value.changed !== isChange || (done.value.edit_id !== undefined) !== isChange) throw new Wrong('no record')
    if (isChange) this.#name(this.model.edit(agent, splices).edit_id, done.value.edit_id!)
    this.#look()
  }

  /** An agent takes back, or makes again, what it chose of its edits. */
  async toggle(agent: number, set: readonly Selection[], to: 'undone' | 'applied', skip: boolean): Promise<void> {
    const { operations } = this.#random.pick(this.#servers)
    const changes = set.map(({ edit_id, change_indexes }) => ({
      edit_id: this.#ids.get(edit_id)!,
      ...(change_indexes !== undefined && { change_indexes: [...change_indexes] })
    }))
    const context = { caller: { agent: `agent${agent}` } }
    const called = await (to === 'undone'
      ? operations.undo.call({ changes, ...(skip && { on_conflict: 'skip' as const }) }, context)
      : operations.redo.call({ changes }, context))
    const modelled = this.model.toggle(set, to, skip)
    if (!called.ok) this.refused++
    const [is, should] = [called, modelled].map(done => (done.ok ? 'done' : done.failure.code))
    if (is !== should) throw new Wrong(`${to}: ${is} instead of ${should}`)
    if (called.ok) {
      const { results = [] } = called.value.outcome as { results?: { edit_id?: string }[] }
      const [{ edit_id } = {}] = results
      if (edit_id === undefined) throw new Wrong('no record')
      this.#name(this.model.changes.at(-1)!.edit_id, edit_id)
    } else if ('conflicts' in called.failure) {
      const [by = [], expected = []] = [called.failure, (modelled as { failure: object }).failure].map(failure =>
        ((failure as { conflicts?: { by?: string }[] }).conflicts ?? []).map(({ by = '' }) => this.#own.get(by) ?? by)
      )
      if (by.join() !== expected.join()) throw new Wrong(`conflicts with ${by} instead of ${expected}`)
    }
    this.#look()
  }

  /** The agents whose edits an undo or redo of this selection conflicts with; -1: no agent. */
  agentsInTheWay(set: readonly Selection[], to: 'undone' | 'applied'): number[] {
    const copy = Object.assign(Object.create(History.prototype), this.model) as History
    copy.carryOut = () => {}
    const result = copy.toggle(set, to)
    if (result.ok || result.failure.code !== 'UNDO_CONFLICT') return []
    return result.failure.conflicts.map(({ by }) => this.model.agents.get(by) ?? -1)
  }

  #name(own: string, given: string): void {
    this.#ids.set(own, given)
    this.#own.set(given, own)
  }

  #look(): void {
    const { model } = this
    if (!model.expected().equals(model.present)) throw new Wrong('the model is not what its bytes say')
    if (!readFileSync(this.#file).equals(model.present)) throw new Wrong('the file is not what its bytes say')
  }
}

/** What an agent chooses: a splice or more of each edit. */
const chosen = (random: Random, history: History, agent: number): Selection[] =>
  someOf(random, history.edits(agent)).filter(({ change_indexes }) => change_indexes?.length !== 0)

/** Mostly undo; redo more often if some of the selection is undone. */
const direction = (random: Random, { undone }: History, set: readonly Selection[]): 'undone' | 'applied' => {
  const isUndone = set.some(({ edit_id }) => undone.has(`${edit_id} 0`))
  return random.chance(isUndone ? 35 : 95) ? 'undone' : 'applied'
}

async function liveAnyhow(served: ServedHistory, random: Random, alphabet: readonly Buffer[]): Promise<void> {
  const { model } = served
  for (let step = 2 + random.int(7); step > 0; step--) {
    const agent = random.int(3)
    const set = random.chance(35) ? [] : chosen(random, model, agent)
    if (set.length === 0) await served.edit(agent, randomSplices(random, model.present, alphabet))
    else {
      const to = direction(random, model, set)
      await served.toggle(agent, set, to, to === 'undone' && random.chance(30))
    }
  }
}

/** Nobody is refused because of another one. */
async function liveOnOwnLines(served: ServedHistory, random: Random, owned: OwnedLines): Promise<void> {
  const { model } = served
  for (let step = 0; step < 8; step++) {
    const agent = random.int(3)
    const set = random.chance(35) ? [] : chosen(random, model, agent)
    if (set.length === 0) {
      const planned = owned.plan(model, agent)
      if (planned.length > 0) await served.edit(agent, planned)
    } else {
      const to = direction(random, model, set)
      if (served.agentsInTheWay(set, to).some(by => by !== agent)) throw new Wrong('refused because of another agent')
      await served.toggle(agent, set, to, to === 'undone' && random.chance(30))
    }
    const wrong = owned.wrong(model)
    if (wrong !== null) throw new Wrong(wrong)
  }
}

t.test('one to three servers make of random histories what their bytes say', async t => {
  t.comment(`SEED=${SEED}`)
  const totals = { histories: 0, edits: 0, toggles: 0, refused: 0, wrong: 0 }
  for (let block = 0; totals.histories < HISTORIES; block++) {
    const folders = makeFolders()
    const servers: Server[] = []
    for (let i = 0; i <= block % 3; i++) {
      // Without lock files it is faster, and the same.
      const lock = block % 6 < 3 ? 'local' : 'shared'
      const workspace = await open(folders, { history: 'full', lockTimeout: 20_000, lock })
      servers.push({ workspace, operations: makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 }) })
    }
    const one = async (number: number): Promise<void> => {
      const random = new Random(SEED * 90_001 + number)
      const isOwned = random.chance(40)
      const owned = new OwnedLines(random)
      const alphabet = random.chance(30) ? BYTES : ALPHABET
      const anyhow = Buffer.concat(Array.from({ length: random.int(60) }, () => random.pick(alphabet)))
      const served = new ServedHistory(folders.root, `h${number}`, isOwned ? owned.base : anyhow, servers, random)
      try {
        await (isOwned ? liveOnOwnLines(served, random, owned) : liveAnyhow(served, random, alphabet))
      } catch (error) {
        totals.wrong++
        t.fail(String(error instanceof Wrong ? error.message : error), { seed: SEED, number, servers: servers.length })
      }
      totals.histories++
      const { changes, agents } = served.model
      totals.edits += agents.size
      totals.refused += served.refused
      totals.toggles += changes.length - agents.size
    }
    const numbers = Array.from({ length: Math.min(BLOCK, HISTORIES - totals.histories) }, (_, i) => block * BLOCK + i)
    const next = numbers.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const number of next) await one(number)
      })
    )
    for (const { workspace } of servers) await workspace.close()
    removeFolders(folders)
    if (totals.histories % (BLOCK * 20) === 0) t.comment(JSON.stringify(totals))
    if (totals.wrong > 0) break
  }
  t.comment(JSON.stringify(totals))
  t.comment(`held for ${totals.histories} cases`)
  t.equal(totals.histories, HISTORIES)
})
