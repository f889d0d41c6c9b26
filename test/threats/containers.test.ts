// Servers in containers on one machine: what one of them does that was suspended, or whose clock is wrong, while
// another takes its lock over. Row 43 of docs/threats.md; for more:
// `npm run test:containers -- --rounds N --counts N --silence MS --off SECONDS --patience MS`.
import { execFileSync, spawnSync } from 'node:child_process'
import { openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { Random, SEED } from '../random.ts'
import { build } from '../folder/support/native.ts'
import { cannotBeApart, startApart, type Apart } from './apart.ts'
import { many, makeFolders, row, tally, tempFiles, checkDocument, type Folders, type Sent } from './harness.ts'

const library = build('pausing', ['-shared', '-fPIC', '-ldl'])
const skip = cannotBeApart || (library === null ? 'needs a C compiler' : false)

/** In seconds: with a clock so far ahead, every lock file looks as if nobody had touched it for long. */
const OFF = many('off', 300)
/** In ms: how long a request waits for a lock. */
const PATIENCE = many('patience', 3000)

/** Stops a server that is started with `env` at a system call, by a preloaded library. */
class Pause {
  readonly env: Record<string, string>
  readonly #control: string
  readonly #fd: number
  constructor(control: string) {
    this.#control = control
    this.env = { PRELOAD: library ?? '', PAUSING: control }
    this.#fd = openSync(control, 'w+')
    for (let index = 0; index < 5; index++) this.#write(index, 0)
  }

  /** Stops it at the `call`th call after it has made its next temp file; 0: never. */
  at(call: number): void {
    this.#write(0, 0)
    // It may have answered, and be stopped at what it does after that.
    while (this.#read(2) === 1) {
      this.goOn()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
    for (const [index, value] of [-1, 0, 0, 0].entries()) this.#write(index + 1, value)
    this.#write(0, call)
  }
  armed(): boolean {
    return this.#read(0) > 0
  }
  stopped(): boolean {
    return this.#read(2) === 1 && this.#read(1) >= this.#read(0)
  }
  /** The name of the call that it is suspended at. */
  call(): string {
    return CALLS[this.#read(4)] ?? ''
  }
  goOn(): void {
    this.#write(3, 1)
  }
  /** Lets it go on to the next call. */
  step(): void {
    this.#write(0, this.#read(0) + 1)
    this.goOn()
  }

  #read(index: number): number {
    return readFileSync(this.#control).readInt32LE(4 * index)
  }
  #write(index: number, value: number): void {
    writeSync(this.#fd, Int32Array.of(value), 0, 4, 4 * index)
  }
}

/** The calls by their numbers in pausing.c. */
const CALLS = [
  '',
  'open',
  'write',
  'fchmod',
  'fsync',
  'close',
  'access',
  'readlink',
  'stat',
  'rename',
  'link',
  'unlink',
  'rmdir',
  'mkdir'
]

interface Case {
  name: string
  /** What the file holds before; null: there is none. */
  before: string | null
  /** The file is bind-mounted, so it is written in place. */
  inPlace?: true
  /** The request to the server that is suspended, and the one to the other server meanwhile. */
  first: (path: string) => [string, object]
  second: (path: string) => [string, object]
  /** Whether the file holds what both answers say. */
  isRight(text: string, first: Sent, second: Sent): boolean
}

const edit =
  (from: string, to: string) =>
  (path: string): [string, object] => ['/edit', { path, old_text: from, new_text: to, context_lines: 0 }]
const create =
  (content: string) =>
  (path: string): [string, object] => ['/create', { path, content }]
const editsApplied = (text: string, first: Sent, second: Sent): boolean =>
  text === `${first.status === 200 ? 'A1' : 'A0'} ${second.status === 200 ? 'B1' : 'B0'}\n`

const CASES: Case[] = [
  { name: 'two edits', before: 'A0 B0\n', first: edit('A0', 'A1'), second: edit('B0', 'B1'), isRight: editsApplied },
  {
    name: 'two edits in place',
    inPlace: true,
    before: 'A0 B0\n',
    first: edit('A0', 'A1'),
    second: edit('B0', 'B1'),
    isRight: editsApplied
  },
  {
    name: 'two creates',
    before: null,
    first: create('first\n'),
    second: create('second\n'),
    isRight: (text, first, second) =>
      (first.status === 200) !== (second.status === 200) && text === (first.status === 200 ? 'first\n' : 'second\n')
  },
  {
    name: 'a create, and an edit of what it makes',
    before: null,
    first: create('A0 B0\n'),
    second: edit('B0', 'B1'),
    isRight: (text, first, second) =>
      first.status === 200 ? text === (second.status === 200 ? 'A0 B1\n' : 'A0 B0\n') : text === ''
  }
]

const ROUNDS = many('rounds', 1)
const COUNTS = many('counts', 60)
/** In ms: how long a server is suspended at least. */
const SILENCE = many('silence', 100)
/** Tries every n-th system call of a server that is alone: another server is started at it. */
const STEP = many('step', 12)
const MOUNTED = 'mounted'

row(
  43,
  'a holder of the lock is suspended, and a server in another container takes the lock over',
  {
    done:
      'servers in namespaces of their own, one clock five minutes ahead, one behind. One is suspended at each system call ' +
      `between its temp file and the release of the lock: ${CASES.map(({ name }) => name).join('; ')}. Before, the ` +
      'same at some of the calls of one that is alone on the root, while another is started. Then ' +
      `${COUNTS} increments by three servers, one after the other suspended; ` +
      '`npm run test:containers` for more, and for longer than a lock file lasts',
    skip
  },
  async t => {
    const at = makeFolders(t)
    writeFileSync(join(at.root, MOUNTED), '')
    execFileSync('mount', ['--bind', join(at.root, MOUNTED), join(at.root, MOUNTED)])
    t.teardown(() => spawnSync('umount', ['-l', join(at.root, MOUNTED)]))
    const pause = new Pause(join(at.base, 'pause'))
    const clock = (offset: number): Record<string, string> => ({ PRELOAD: library ?? '', CLOCK_OFFSET: String(offset) })
    // Each system call is tried; those of a history would be most of them.
    const flags = ['--lock-timeout', `${PATIENCE}ms`, '--log-level', 'warn', '--history', 'off']
    const one = await startApart(t, at, pause.env, ...flags)
    await stopWhileAlone(t, at, pause, one, () => startApart(t, at, clock(OFF), ...flags))
    const [ahead, behind] = await Promise.all([
      startApart(t, at, clock(OFF), ...flags),
      startApart(t, at, clock(-OFF), ...flags)
    ])
    await stopAtEachCall(t, at.root, pause, one, ahead)
    await increments(t, at.root, [one, ahead, behind])
    await killInPlace(t, at.root, pause, one, behind)
    t.strictSame(tempFiles(at.root), [])
    return (
      '0 lost; whoever comes too late gets `STALE_FILE` or `FILE_LOCKED`; while one that may be alive is writing in ' +
      'place, the others get `FILE_LOCKED`, and they go on when it is killed; no temp file stays'
    )
  }
)

async function stopAtEachCall(t: Test, root: string, pause: Pause, one: Apart, other: Apart): Promise<void> {
  const answers: string[] = []
  let points = 0
  for (const some of Array.from({ length: ROUNDS }, () => CASES).flat()) {
    for (let call = 1; ; call++) {
      const path = some.inPlace ? MOUNTED : `f${points++}`
      if (some.before !== null) writeFileSync(join(root, path), some.before)
      pause.at(call)
      const running = one.send(...some.first(path))
      const answered = (await Promise.race([running, untilStopped(pause)])) !== null
      if (answered) break
      const second = await other.send(...some.second(path))
      const where = `${some.name}, stopped at call ${call} (${pause.call()})`
      pause.goOn()
      const first = await running
      answers.push(`${some.name}: ${first.code}, ${second.code}`)
      const text = textOf(root, path)
      if (!some.isRight(text, first, second)) t.fail(`${where}: ${first.code}, ${second.code}, ${JSON.stringify(text)}`)
    }
  }
  pause.at(0)
  t.comment(`${answers.length} calls`)
  if (ROUNDS === 0) return
  t.ok(answers.length > 60 * ROUNDS, 'each call')
  for (const late of [
    'two edits: STALE_FILE, 200',
    'two creates: STALE_FILE, 200',
    'two edits in place: 200, FILE_LOCKED'
  ]) {
    t.ok(answers.includes(late), late)
  }
  t.comment(tally(answers))
}

/** Suspends a server that is alone, and so takes no lock of a file, and starts another one meanwhile. */
async function stopWhileAlone(
  t: Test,
  { root, state }: Folders,
  pause: Pause,
  one: Apart,
  startOther: () => Promise<Apart>
): Promise<void> {
  const isAlone = () => readdirSync(join(state, 'locks')).some(name => name.startsWith('root-'))
  const answers: string[] = []
  let points = 0
  for (const some of CASES) {
    for (let call = 1; ; call += STEP) {
      const path = some.inPlace ? MOUNTED : `alone${points++}`
      if (some.before !== null) writeFileSync(join(root, path), some.before)
      pause.at(0)
      // Its first edit after another server has gone.
      while (!isAlone()) {
        writeFileSync(join(root, 'first'), 'A0')
        await one.send(...edit('A0', 'A1')('first'))
        await sleep(20)
      }
      pause.at(call)
      const running = one.send(...some.first(path))
      const answered = (await Promise.race([running, untilStopped(pause)])) !== null
      if (answered) break
      const other = await startOther()
      const second = await other.send(...some.second(path))
      const where = `${some.name}, stopped alone at call ${call} (${pause.call()})`
      pause.goOn()
      const first = await running
      answers.push(`${some.name}: ${first.code}, ${second.code}`)
      const text = textOf(root, path)
      if (!some.isRight(text, first, second)) t.fail(`${where}: ${first.code}, ${second.code}, ${JSON.stringify(text)}`)
      await other.end()
    }
  }
  t.ok(
    answers.some(answer => /: (STALE_FILE|FILE_LOCKED), 200/.test(answer)),
    'some come too late'
  )
  t.comment(tally(answers))
}

/** Resolves with null when the server is suspended, or will not be suspended any more. */
async function untilStopped(pause: Pause): Promise<null> {
  while (pause.armed() && !pause.stopped()) await sleep(1)
  return null
}

/** Every acknowledged increment is in the file, while one server after the other is suspended and continued. */
async function increments(t: Test, root: string, servers: Apart[]): Promise<void> {
  t.comment(`SEED=${SEED}`)
  const random = new Random(SEED)
  writeFileSync(join(root, 'n'), 'n = 0;\n')
  const codes: string[] = []
  let asked = 0
  const clients = Promise.all(
    Array.from({ length: 6 }, async () => {
      while (asked < COUNTS) {
        const { send } = random.pick(servers)
        const now = Number(/n = (\d+)/.exec(readFileSync(join(root, 'n'), 'utf8'))?.[1])
        const { code } = await send('/edit', {
          path: 'n',
          old_text: `n = ${now};`,
          new_text: `n = ${now + 1};`,
          context_lines: 0
        })
        codes.push(code)
        if (code === '200') asked++
      }
    })
  )
  const load = { on: true }
  const stopping = (async () => {
    while (load.on) {
      const server = random.pick(servers)
      server.signal('SIGSTOP')
      await sleep(SILENCE * (1 + random.int(100) / 100))
      server.signal('SIGCONT')
      await sleep(random.int(SILENCE))
    }
  })()
  await clients
  load.on = false
  await stopping
  const done = codes.filter(code => code === '200').length
  t.equal(
    Number(/n = (\d+)/.exec(readFileSync(join(root, 'n'), 'utf8'))?.[1]),
    done,
    `every 200 is in the number (SEED=${SEED})`
  )
  // A server that was suspended while a request came in may find that the request has timed out.
  for (const code of new Set(codes)) {
    t.ok(['200', 'NO_MATCH', 'STALE_FILE', 'FILE_LOCKED', 'REQUEST_TIMEOUT'].includes(code), code)
  }
  t.comment(tally(codes))
}

async function killInPlace(t: Test, root: string, pause: Pause, one: Apart, other: Apart): Promise<void> {
  writeFileSync(join(root, MOUNTED), 'A0 B0\n')
  pause.at(1)
  const lost = one.send(...edit('A0', 'A1')(MOUNTED))
  // Call by call, until it has written to the file itself.
  for (;;) {
    await untilStopped(pause)
    if (textOf(root, MOUNTED) !== 'A0 B0\n') break
    pause.step()
  }
  t.equal((await other.send(...edit('B0', 'B1')(MOUNTED))).code, 'FILE_LOCKED', 'while it may live')
  one.signal('SIGKILL')
  t.equal((await lost).status, 0)
  t.equal((await other.send(...edit('B0', 'B1')(MOUNTED))).code, '200', 'when it is killed')
  t.equal(textOf(root, MOUNTED), 'A1 B1\n')
}

const textOf = (root: string, path: string): string => {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}

checkDocument()
