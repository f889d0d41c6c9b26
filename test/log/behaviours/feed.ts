// The feed of a history: it reports each change once, over restarts and several servers. Does not know where the
// history is kept.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { History } from '../../../src/log/api.ts'
import { Cursor } from '../../../src/log/cursor.ts'
import type { EditRecord, Settlement } from '../../../src/log/record.ts'
import { often, ONLY_CI } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { FAST, recordOf, write, type AnyPlace, type MakePlace } from '../support/history.ts'

/** All changes after a cursor, read in pages of `most`; null: CURSOR_GONE. */
export async function rest(
  history: History,
  after: Cursor,
  most = 100
): Promise<{ ids: string[]; next: Cursor } | null> {
  const ids: string[] = []
  for (let next = after; ;) {
    const page = await history.readOn(next, most)
    if (!page.ok) return null
    ids.push(...page.value.events.map(({ facts }) => facts.edit_id))
    next = page.value.next
    if (page.value.isEnd) return { ids, next }
  }
}

/** The cursor as another server gets it: from its text. */
export const again = (cursor: Cursor): Cursor => Cursor.parse(cursor.toString())!

export const idsOf = (records: readonly EditRecord[]) => records.map(({ edit_id }) => edit_id)

/** `share`: of the repetitions, where each takes long. */
export function feedBehaviours(t: Test, makePlace: MakePlace, share = 1): void {
  t.test('tells what is settled after a cursor, and never what is void or open', async t => {
    const place = await makePlace(t)
    const history = await place.open()
    await write(history, [recordOf(history, 'before.txt')])
    const start = await history.feedEnd()
    const [done, uncertain, nothing, open] = Array.from({ length: 4 }, (_, i) => recordOf(history, `${i}.txt`))
    for (const record of [done!, uncertain!, nothing!, open!]) await history.append(record, FAST)
    await history.flush()
    t.strictSame((await rest(history, start))!.ids, [], 'as long as nobody knows')
    history.settle(uncertain!.edit_id, 'uncertain')
    history.settle(nothing!.edit_id, 'void')
    history.settle(done!.edit_id, 'done')
    await history.flush()
    const page = await history.readOn(again(start), 10)
    t.match(page, {
      ok: true,
      value: {
        isEnd: true,
        events: [
          { facts: { edit_id: uncertain!.edit_id, path: Buffer.from('1.txt') }, settled: 'uncertain' },
          { facts: { edit_id: done!.edit_id }, settled: 'done' }
        ]
      }
    })
    const first = await history.readOn(start, 1)
    t.match(first, { ok: true, value: { isEnd: false, events: { length: 1 } } })
    t.strictSame((await rest(history, again(first.ok ? first.value.next : start)))!.ids, [done!.edit_id])
    history.settle(open!.edit_id, 'done')
    await history.flush()
    t.strictSame((await rest(history, start, 1))!.ids, idsOf([uncertain!, done!, open!]))
  })

  t.test('tells a verdict when it is written, once, and not one that failed', async t => {
    const place = await makePlace(t)
    const history = await place.open({ limits: { segment: 1 } })
    const start = await history.feedEnd()
    const review = { verdict: 'kept' as const, of: [{ edit_id: 'E', stood: true }] }
    const none = { hash_before: null, hash_after: null, splices: null, places: null }
    const [given, failed] = [1, 2].map(() => recordOf(history, 'a.txt', '', { operation: 'review', review, ...none }))
    await history.append(given!, FAST)
    await history.append(given!, FAST)
    await history.append(failed!, FAST)
    history.settle(failed!.edit_id, 'void')
    history.settle(given!.edit_id, 'done')
    await history.flush()
    t.strictSame((await rest(history, start))!.ids, idsOf([given!]))
  })

  t.test(
    'tells a change once, whichever server says first that it took place, in its own segments or others',
    async t => {
      const place = await makePlace(t)
      const [one, two] = [await place.open(), await place.open()]
      const starts = [await one.feedEnd(), await two.feedEnd()]
      const record = recordOf(one, 'a.txt')
      await one.append(record, FAST)
      await two.refresh()
      two.settle(record.edit_id, 'done')
      await two.flush()
      const halfway = (await rest(two, starts[1]!))!
      t.strictSame(halfway.ids, [record.edit_id])
      one.settle(record.edit_id, 'done')
      one.settle(record.edit_id, 'done')
      await one.flush()
      t.strictSame((await rest(one, again(halfway.next)))!.ids, [], 'it was told before')
      for (const [i, history] of [one, two].entries()) {
        t.strictSame((await rest(history, starts[i]!))!.ids, [record.edit_id])
      }
    }
  )

  t.test('goes on after a restart, and on another server', async t => {
    const place = await makePlace(t)
    const first = await place.open({ nonce: 'first' })
    const start = await first.feedEnd()
    const records = [...(await write(first, [recordOf(first, 'a.txt')]))]
    const { next } = (await rest(first, start))!
    const last = recordOf(first, 'b.txt')
    await first.append(last, FAST)
    await first.flush()
    place.gone.add('first')
    const second = await place.open()
    for (const { record } of await second.unsettled()) second.settle(record.edit_id, 'done')
    await second.flush()
    records.push(last, ...(await write(second, [recordOf(second, 'c.txt')])))
    t.strictSame((await rest(second, again(next)))!.ids, idsOf(records.slice(1)))
    t.strictSame((await rest(second, again(start)))!.ids, idsOf(records))
  })

  t.test('stays short after many starts', async t => {
    const place = await makePlace(t)
    for (let i = 0; i < often(300, 60, 20) * share; i++) {
      const nonce = `${i}`.padStart(24, '0')
      const history = await place.open({ nonce })
      // As each server does when it starts: settles what ended servers have left open.
      await history.unsettled()
      await write(history, [recordOf(history, 'a.txt')])
      place.gone.add(nonce)
    }
    const history = await place.open()
    await write(history, [recordOf(history, 'a.txt')])
    const length = (await history.feedEnd()).toString().length
    t.ok(length < 150, `${length} characters`)
  })

  t.test('reads lines that are longer than one read', async t => {
    const place = await makePlace(t)
    const history = await place.open({ limits: { text: 10_000_000 } })
    const start = await history.feedEnd()
    const records = await write(history, [recordOf(history, 'a.txt', 'a'.repeat(900_000)), recordOf(history, 'b.txt')])
    const other = await place.open()
    t.strictSame((await rest(other, start))!.ids, idsOf(records))
  })

  t.test('tells changes that are settled long after they were made', async t => {
    const place = await makePlace(t)
    const history = await place.open()
    const start = await history.feedEnd()
    const records = Array.from({ length: 1200 }, (_, i) => recordOf(history, `${i}.txt`))
    await Promise.all(records.map(record => history.append(record, FAST)))
    for (const { edit_id } of records) history.settle(edit_id, 'done')
    await history.flush()
    const page = await history.readOn(start, 2000)
    t.strictSame(
      page.ok && page.value.events.map(({ facts }) => [facts.edit_id, facts.path.toString()]),
      records.map(({ edit_id, path }) => [edit_id, path.toString()])
    )
  })

  t.test('calls when there is more: at once for its own lines, and within a moment for those of others', async t => {
    const place = await makePlace(t)
    const [one, two] = [await place.open(), await place.open()]
    const seen = { calls: 0 }
    const called = async (count: number) => {
      for (let i = 0; i < 500 && seen.calls < count; i++) await sleep(10)
      t.ok(seen.calls >= count)
    }
    const stop = one.watch(() => seen.calls++)
    await write(one, [recordOf(one, 'a.txt')])
    await called(1)
    seen.calls = 0
    await write(two, [recordOf(two, 'a.txt')])
    await called(1)
    stop()
    seen.calls = 0
    await write(two, [recordOf(two, 'c.txt')])
    await write(one, [recordOf(one, 'c.txt')])
    await sleep(150)
    t.equal(seen.calls, 0, 'nobody waits any more')
  })

  /** Servers that edit, settle for each other, end, are killed, or are silent for long; and readers that come and go. */
  class World {
    readonly #t: Test
    readonly #place: AnyPlace
    readonly #random: Random
    readonly #servers = new Map<string, History>()
    readonly #open: { record: EditRecord; nonce: string }[] = []
    /** Ids of settled changes in order: a new reader gets those that come after. */
    readonly settled: string[] = []
    readonly #readers: { cursor: Cursor; from: number; ids: string[] }[] = []
    #count = 0
    #swept = false
    gone = 0

    constructor(t: Test, place: AnyPlace, random: Random) {
      this.#t = t
      this.#place = place
      this.#random = random
    }

    get #any(): History {
      return this.#random.pick([...this.#servers.values()])
    }

    async start(): Promise<void> {
      const nonce = `server${this.#count++}`
      this.#servers.set(
        nonce,
        await this.#place.open({ nonce, limits: { segment: this.#random.pick([1, 1000, 4000]) } })
      )
    }

    async step(): Promise<void> {
      const random = this.#random
      const nonces = [...this.#servers.keys()]
      const nonce = random.pick(nonces)
      const history = this.#servers.get(nonce)!
      const choice = random.int(100)
      if (choice < 40) {
        const record = recordOf(history, random.pick(['a', 'b', 'c']), random.text(['x', 'yy\n'], 300))
        await history.append(record, FAST)
        this.#open.push({ record, nonce })
      } else if (choice < 65) await this.#settle(nonce, history)
      else if (choice < 80) await this.#read()
      else if (choice < 84) {
        await this.#flush()
        this.#readers.push({ cursor: await this.#any.feedEnd(), from: this.settled.length, ids: [] })
      } else if (choice < 88) await history.forget(Buffer.from('a'))
      else if (choice < 89) {
        const { bytes } = await history.sweep({ days: 30, bytes: 1e9 })
        const { removed } = await history.sweep({ days: 30, bytes: bytes - random.int(4) * 1500 })
        this.#swept ||= removed > 0
      } else if (choice < 93 && nonces.length < 3) await this.start()
      else if (choice < 98 && nonces.length > 1) {
        await history.flush()
        if (random.chance(50)) await history.close()
        this.#servers.delete(nonce)
        this.#place.gone.add(nonce)
      } else if (nonces.length > 1) {
        // Others believe it has ended, but it goes on: it may have just checked, and write next.
        this.#place.gone.add(nonce)
        this.#place.late.set(nonce, random.int(2))
        for (const [other, each] of this.#servers) if (other !== nonce && random.chance(70)) await each.unsettled()
      }
    }

    /** Settles a record of this server or of an ended one. Sometimes a second server settles it too. */
    async #settle(nonce: string, history: History): Promise<void> {
      const random = this.#random
      const mine = this.#open.filter(one => one.nonce === nonce || this.#place.gone.has(one.nonce))
      if (mine.length === 0) return
      const { record } = random.pick(mine)
      this.#open.splice(
        this.#open.findIndex(one => one.record === record),
        1
      )
      const as: Settlement = random.pick(['done', 'done', 'done', 'void', 'uncertain'])
      if (as !== 'void') this.settled.push(record.edit_id)
      history.settle(record.edit_id, as)
      if (random.chance(30)) this.#any.settle(record.edit_id, as)
      if (random.chance(50)) await history.flush()
    }

    async #flush(): Promise<void> {
      for (const history of this.#servers.values()) await history.flush()
    }

    /** Reads one page at any server, from the text of the cursor. True: the end is reached. */
    async #read(reader = this.#readers[this.#random.int(Math.max(1, this.#readers.length))]): Promise<boolean> {
      if (reader === undefined) return true
      const page = await this.#any.readOn(again(reader.cursor), 1 + this.#random.int(5))
      if (!page.ok) {
        this.#t.ok(this.#swept, `seed ${this.#random.seed}: nothing was removed`)
        this.#readers.splice(this.#readers.indexOf(reader), 1)
        this.gone++
        return true
      }
      const { events, next, isEnd } = page.value
      // A reader may go on from the last change's cursor as well as from the page's.
      const last = events.at(-1)
      reader.ids.push(...events.map(({ facts }) => facts.edit_id))
      reader.cursor = last !== undefined && this.#random.chance(50) ? last.after : next
      return isEnd
    }

    async check(): Promise<number> {
      await this.#flush()
      for (const reader of [...this.#readers]) {
        while (!(await this.#read(reader)));
        if (!this.#readers.includes(reader)) continue
        const expected = this.settled.slice(reader.from).sort()
        this.#t.strictSame(reader.ids.sort(), expected, `seed ${this.#random.seed}`)
      }
      return this.#readers.length
    }
  }

  t.test(
    'law: whoever reads on, at any server, is told each change exactly once, or that the cursor is gone',
    async t => {
      let [readers, gone, changes] = [0, 0, 0]
      for (let i = 0; i < often(36, 12, 4) * share; i++) {
        const world = new World(t, await makePlace(t), new Random(SEED + i))
        for (let k = 0; k < 2; k++) await world.start()
        for (let k = 0; k < 150; k++) await world.step()
        readers += await world.check()
        gone += world.gone
        changes += world.settled.length
      }
      t.comment(`${changes} changes, ${readers} readers to the end, ${gone} gone`)
      // How many readers the sweeps cut off depends on the day's seed: in few rounds it may be all of them.
      t.ok(readers + (ONLY_CI === false ? 0 : gone) > 0, 'some were told all')
    }
  )

  tellsInOrder(t, makePlace, share)
}

/** `share`: see `feedBehaviours`. */
export function tellsInOrder(t: Test, makePlace: MakePlace, share = 1): void {
  /**
   * Servers edit the same files at the same time, but each file in turn, as its lock makes them: each server settles the
   * change before its own if the other one hasn't yet. Resolves with the ids of each file's changes in order.
   */
  async function editTogether(servers: readonly History[], random: Random, steps: number): Promise<string[][]> {
    const edits = async (path: string): Promise<string[]> => {
      const ids: string[] = []
      for (let i = 0; i < steps; i++) {
        const history = random.pick(servers)
        await history.refresh()
        const last = await history.lastOf(Buffer.from(path))
        if (last?.settled === null) history.settle(last.edit_id, 'done')
        const record = recordOf(history, path, 'x'.repeat(random.int(300)))
        await history.append(record, FAST)
        history.settle(record.edit_id, 'done')
        ids.push(record.edit_id)
        if (random.chance(20)) await sleep(random.int(8))
        if (random.chance(30)) await history.flush()
      }
      return ids
    }
    return Promise.all(['a', 'b', 'c'].map(edits))
  }

  t.test('law: a file’s changes are told in the order in which they were made, whichever server made them', async t => {
    let count = 0
    for (let i = 0; i < Math.max(1, often(40, 12, 4) * share); i++) {
      const random = new Random(SEED + i)
      const place = await makePlace(t)
      const servers: History[] = []
      for (let k = 0; k < 3; k++) {
        servers.push(await place.open({ limits: { segment: random.pick([1, 1000, 100_000]) } }))
      }
      const start = await servers[0]!.feedEnd()
      const state = { isOver: false }
      const readers = [1, 2].map(async () => {
        const [ids, server]: [string[], History] = [[], random.pick(servers)]
        for (let [next, isLast] = [start, false]; ;) {
          const until = random.chance(50) && !isLast ? await server.feedEnd() : undefined
          const page = await server.readOn(again(next), 1 + random.int(6), until)
          if (!page.ok) throw new Error('nothing was removed')
          const { events, isEnd } = page.value
          ids.push(...events.map(({ facts }) => facts.edit_id))
          next = events.length > 0 && random.chance(30) ? events.at(-1)!.after : page.value.next
          if (isEnd && isLast) return ids
          isLast = state.isOver
          if (random.chance(30)) await sleep(1)
        }
      })
      const read = Promise.all(readers)
      // Awaited below, where a rejection fails this test; here it would end the process.
      read.catch(() => {})
      const made = await editTogether(servers, random, 15)
      for (const server of servers) await server.flush()
      state.isOver = true
      const later = await rest(random.pick(servers), start, 1 + random.int(9))
      for (const ids of [...(await read), later!.ids]) {
        const inOrder = made.map(ofFile => ids.filter(id => ofFile.includes(id)))
        t.strictSame(inOrder, made, `seed ${SEED + i}`)
      }
      count += made.flat().length
    }
    t.comment(`held for ${count} changes`)
  })
}
