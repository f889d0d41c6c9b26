// The cost of reporting edits: the time from sending an edit to reading its event, with many readers of the same server
// and of another one on the same root; and the memory for many readers when one reads nothing.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Answers, Orders } from './event-readers.ts'
import { product } from './load/parties.ts'
import { residentOf } from './machine.ts'
import { shuffled, type Random } from './random.ts'
import { short, time, type Row } from './row.ts'
import { Server, TOKEN } from './server.ts'
import { median, quantile } from './statistics.ts'
import { verdict, type Verdict } from './verdict.ts'

const DELAY = 'an edit to its event, 50 readers'
const MEMORY = '200 readers, one reads nothing'
const READERS = 50
const MANY = 200
/** The most ms between edits: their senders don't wait for each other's events. */
const PAUSE = 40
/** How many edits run at once when memory is measured. */
const AT_ONCE = 4
const HELD_MEMORY = fileURLToPath(new URL('./held-memory.js', import.meta.url))
/** A long path makes long events, so that unread ones fill all buffers of the system. */
const LONG_PATH = `${'a directory with a long name/'.repeat(30)}file.txt`

class Readers {
  readonly #process: ChildProcess = fork(fileURLToPath(new URL('./event-readers.js', import.meta.url)))

  async ask<K extends keyof Orders>(order: K, what: Orders[K]): Promise<Answers[K]> {
    this.#process.send({ order, what })
    const [answer] = (await once(this.#process, 'message')) as [Answers[K]]
    return answer
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    this.#process.kill()
    await ended
  }
}

export async function events(
  base: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const folder = join(base, 'events')
  try {
    const delays = await delaysOf(join(folder, 'delay'), quick, random, progress)
    const pairs = quick ? 1 : 3
    const more: Growth[] = []
    for (let i = 0; i < pairs; i++) {
      progress(`events, memory, ${i + 1}`)
      const nobody = await growthWith(join(folder, `nobody-${i}`), 0, quick)
      const readers = await growthWith(join(folder, `readers-${i}`), MANY, quick)
      more.push({ held: readers.held - nobody.held, resident: readers.resident - nobody.resident })
    }
    const [held, resident] = (['held', 'resident'] as const).map(which => median(more.map(it => it[which])) / 1e6)
    const figure = `holds ${short(held!)} MB more, and is cut; resident at most ${short(resident!)} MB more`
    return [...delays, { what: MEMORY, edits: 1, variant: 'memory', figure, value: held!, pairs }]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Two servers on one root; each makes half of the edits, in random order. */
async function delaysOf(
  folder: string,
  quick: boolean,
  random: Random,
  progress: (line: string) => void
): Promise<Row[]> {
  const [root, state] = [join(folder, 'root'), join(folder, 'state')]
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'a.txt'), '0\n')
  const readers = new Readers()
  const servers: Server[] = []
  try {
    for (let i = 0; i < 2; i++) servers.push(await Server.start(product()(root, state)))
    const [own, other] = servers as [Server, Server]
    // Both servers are warm before anyone reads.
    const warm = quick ? 500 : 2000
    for (let i = 0; i < warm; i++) await edit((i % 2 === 0 ? own : other).port, 'a.txt', i)
    // The last of these edits are reported within 50 ms, so readers that connect later don't get them.
    await sleep(500)
    await readers.ask('open', { port: own.port, readers: READERS, stalled: 0 })
    const count = quick ? 100 : 400
    progress(`events, ${2 * count} edits`)
    const makers = shuffled(
      Array.from({ length: 2 * count }, (_, i) => (i < count ? 'own' : 'other')),
      random
    )
    const sent: { maker: string; edit_id: string; at: number }[] = []
    for (const [i, maker] of makers.entries()) {
      const at = Date.now()
      const { edit_id } = await edit((maker === 'own' ? own : other).port, 'a.txt', warm + i)
      sent.push({ maker, edit_id, at })
      await sleep(random(PAUSE))
    }
    const received = await readers.ask('collect', { edits: makers.length })
    await readers.ask('close', null)
    return ['own', 'other'].map(maker => {
      const times = sent
        .filter(edit => edit.maker === maker)
        .flatMap(({ edit_id, at }) => received[edit_id]!.map(then => then - at))
      const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
      const figure = `p50 ${time(p50)}, p99 ${time(p99)}, longest ${time(Math.max(...times))}`
      const variant = maker === 'own' ? 'of the same server' : 'of another server on the root'
      return { what: DELAY, edits: 1, variant, figure, value: p99, pairs: times.length }
    })
  } finally {
    await Promise.all(servers.map(server => server.stop()))
    await readers.stop()
  }
}

/** In bytes: what is held afterwards, without garbage; and the peak resident memory, with garbage. */
interface Growth {
  held: number
  resident: number
}

/** How much a warm server grows with this many readers of its edits; the last reader reads nothing. */
async function growthWith(folder: string, followers: number, quick: boolean): Promise<Growth> {
  const [root, state] = [join(folder, 'root'), join(folder, 'state')]
  const paths = Array.from({ length: AT_ONCE }, (_, i) => join(String(i), LONG_PATH))
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '0\n')
  }
  const file = join(folder, 'held')
  const server = await Server.start(['--expose-gc', '--import', HELD_MEMORY, ...product()(root, state)], {
    HELD_MEMORY: file
  })
  const readers = new Readers()
  try {
    const edits = quick ? 500 : 1500
    const make = (first: number) =>
      Promise.all(
        paths.map(async path => {
          for (let i = first; i < first + edits; i++) await edit(server.port, path, i)
        })
      )
    await make(0)
    await sleep(500)
    if (followers > 0) await readers.ask('open', { port: server.port, readers: followers - 1, stalled: 1 })
    const before = { held: await heldBy(server, file), resident: residentOf(server.pid) }
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, residentOf(server.pid))
    }, 50)
    await make(edits)
    clearInterval(looking)
    const held = await heldBy(server, file)
    if (followers > 0) {
      await readers.ask('collect', { edits: edits * AT_ONCE })
      if ((await readers.ask('cut', null)) !== 1) throw new Error('the reader that reads nothing was not cut')
      await readers.ask('close', null)
    }
    return { held: held - before.held, resident: most - before.resident }
  } finally {
    await server.stop()
    await readers.stop()
  }
}

/** Bytes that the server holds, after a garbage collection. */
async function heldBy(server: Server, file: string): Promise<number> {
  rmSync(file, { force: true })
  process.kill(server.pid, 'SIGUSR2')
  for (;;) {
    await sleep(50)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
  }
}

async function edit(port: number, path: string, i: number): Promise<{ edit_id: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/edit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ path, old_text: String(i), new_text: String(i + 1) })
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { edit_id: string }
}

/** The goals of the issue and the design. */
export function eventVerdicts(rows: readonly Row[]): Verdict[] {
  const found = rows.filter(({ what }) => what === DELAY).map(({ value }) => value!)
  const more = rows.find(({ what }) => what === MEMORY)?.value ?? NaN
  const p99 = found.length === 0 ? NaN : Math.max(...found)
  return [
    verdict('E1', 'an event with 50 readers: p99 ≤ 300 ms', [p99], time(p99), p99 <= 300),
    verdict('E2', `${MEMORY}: ≤ 10 MB more, and it is cut`, [more], `${short(more)} MB`, more <= 10)
  ]
}
