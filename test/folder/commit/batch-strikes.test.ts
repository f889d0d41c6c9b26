// A batch whose process is killed at each of its system calls, or for which each of them fails, or which is held up at
// each while others want its files: all files are old or all are new. Row 46 of docs/threats.md.
// runs alone: three of its tests at once, which mostly wait for other processes.
// runs in .ci/run
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Workspace, WorkspaceOptions } from '../../../src/workspace/api.ts'
import { every, ONLY_CI } from '../../often.ts'
import { canMount } from '../support/machine.ts'
import { build } from '../support/native.ts'
import { append, makeFolders, open, REAL, removeFolders, type Folders } from '../support/open.ts'
import { startBatchWorker, type Second } from '../support/process.ts'

const library = build('striking', ['-shared', '-fPIC', '-ldl'])
const skip = ONLY_CI || (library === null ? 'needs Linux and a C compiler' : false)
/** One call in so many, another one for each way of recovery. `LONG_SHARE=1`: each (half an hour on two cores). */
const SHARE = Number(process.env.LONG_SHARE ?? every(48, 53))
t.setTimeout(0)
// They mostly wait for other processes, and this file begins late.
t.jobs = 3

/** The calls by their numbers in striking.c. */
const CALLS = ['', 'open', 'write', 'fsync', 'link', 'rename', 'unlink', 'mkdir', 'rmdir', 'ftruncate']
const KILL = -constants.signals.SIGKILL
const WAIT = 0

/** Aims at a system call of the process that has the library preloaded. */
class Strike {
  readonly env: Record<string, string>
  readonly #path: string
  constructor(base: string) {
    this.#path = join(base, 'striking')
    writeFileSync(this.#path, Buffer.alloc(20))
    this.env = { LD_PRELOAD: library ?? '', STRIKING: this.#path }
  }
  /** At the `count`th call from now; 0: at none. */
  aim(count: number, what = 0): void {
    writeFileSync(this.#path, Buffer.from(Int32Array.of(count, 0, what, 0, 0).buffer), { flag: 'r+' })
  }
  get reached(): boolean {
    return this.#at(1) === 1
  }
  get call(): string {
    return CALLS[this.#at(4)] ?? ''
  }
  goOn(): void {
    const bytes = readFileSync(this.#path)
    bytes.writeInt32LE(1, 12)
    writeFileSync(this.#path, bytes, { flag: 'r+' })
  }
  #at(index: number): number {
    return readFileSync(this.#path).readInt32LE(4 * index)
  }
}

interface Scene {
  name: string
  skip?: string | false
  /** Sets the files up as they are before the batch. */
  reset(root: string, t: Test): void
  /** Names with the text before and after (null: no file). */
  files: Record<string, [before: string | null, after: string | null]>
  order: { edits: Record<string, string>; creates?: Record<string, string>; removes?: Record<string, string[]> }
}

function remove(folder: string, ...names: string[]): void {
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true })
}

const SCENES: Scene[] = [
  {
    name: 'edits, two hard links, new files in new folders, and removals',
    reset: root => {
      remove(root, 'a', 'h1', 'h2', 'b', 'd', 'r', 'e')
      for (const name of ['a', 'h1', 'b']) writeFileSync(join(root, name), `${name}\n`)
      linkSync(join(root, 'h1'), join(root, 'h2'))
      mkdirSync(join(root, 'r/s'), { recursive: true })
      for (const name of ['e', 'r/s/x']) writeFileSync(join(root, name), `${name}\n`)
    },
    files: {
      a: ['a\n', 'a\n1\n'],
      b: ['b\n', 'b\n1\n'],
      h1: ['h1\n', 'h1\n1\n'],
      h2: ['h1\n', 'h1\n1\n'],
      'd/e/new': [null, 'n\n'],
      'd/other': [null, 'o\n'],
      e: ['e\n', null],
      'r/s/x': ['r/s/x\n', null]
    },
    order: {
      edits: { a: '1\n', b: '1\n', h1: '1\n', h2: '' },
      creates: { 'd/e/new': 'n\n', 'd/other': 'o\n' },
      removes: { e: [], 'r/s/x': ['r', 'r/s'] }
    }
  },
  {
    name: 'one that can only be written in place',
    skip: canMount ? false : 'needs to mount',
    reset: (root, t) => {
      remove(root, 'a', 'new')
      for (const name of ['a', 'e']) writeFileSync(join(root, name), `${name}\n`)
      if (!existsSync(join(root, 'bound'))) {
        writeFileSync(join(root, '../source'), '')
        writeFileSync(join(root, 'bound'), '')
        execFileSync('mount', ['--bind', join(root, '../source'), join(root, 'bound')])
        t.teardown(() => spawnSync('umount', ['-l', join(root, 'bound')]))
      }
      writeFileSync(join(root, 'bound'), 'bound\n')
    },
    files: { a: ['a\n', 'a\n1\n'], bound: ['bound\n', 'bound\n1\n'], new: [null, 'n\n'], e: ['e\n', null] },
    order: { edits: { a: '1\n', bound: '1\n' }, creates: { new: 'n\n' }, removes: { e: [] } }
  }
]

const textAt = (root: string, name: string): string | null =>
  existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : null

/** Which state all files are in, but for those `saved` by others: what differs where they aren't in one. */
function stateOf({ files }: Scene, root: string, saved: readonly string[] = []): 'old' | 'new' | { mixed: object } {
  const names = Object.keys(files).filter(name => !saved.includes(name))
  const found = Object.fromEntries(names.map(name => [name, textAt(root, name)]))
  for (const [i, state] of (['old', 'new'] as const).entries()) {
    if (names.every(name => found[name] === files[name]![i])) return state
  }
  return { mixed: found }
}

/**
 * What must not be left: temp files, and records in the journal. `cut`: after a crash, what is kept for the operator may
 * be there.
 */
function leftIn({ root, state }: Folders, cut = false): string[] {
  const temps = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.tmp'))
  const records = readdirSync(join(state, 'journal'))
  const journal = records.filter(name => {
    // What never became a record, or is none any more, is removed when it is old.
    const isOrphan = cut && name.endsWith('.old') && !records.includes(name.replace(/\.old$/, '.json'))
    return !(cut && name.endsWith('.kept')) && !isOrphan
  })
  return [...temps, ...journal]
}

const linksAre = (root: string, name: string, other: string): boolean =>
  !existsSync(join(root, name)) || statSync(join(root, name)).ino === statSync(join(root, other)).ino

async function answerOf({ lines, ended, printed }: Second, id: string): Promise<string | null> {
  const has = (): string | undefined => lines.find(line => line.split(' ')[1] === id)
  await Promise.race([...['done', 'refused', 'threw'].map(how => printed(`${how} ${id}`)), ended])
  return has() ?? null
}

type Event = { event: string; [key: string]: unknown }

interface Way {
  name: string
  /** What recovers it: the next start, the sweep of a running server, or the next lock of one of the files. */
  by: 'start' | 'sweep' | 'lock'
  /** What another program saves between the kill and the recovery. */
  save?: 'rename' | 'in place'
  /** To which file: one that is replaced, or one that is removed. */
  file?: 'a' | 'e'
}

const WAYS: Way[] = [
  { name: 'the next start', by: 'start' },
  { name: 'a server that runs', by: 'sweep' },
  { name: 'who locks a file next', by: 'lock' },
  { name: 'the next start, after a save by rename', by: 'start', save: 'rename' },
  { name: 'who locks a file next, after a save in place', by: 'lock', save: 'in place' },
  { name: 'the next start, after a save of the removed one by rename', by: 'start', save: 'rename', file: 'e' },
  { name: 'who locks a file next, after a save of the removed one', by: 'lock', save: 'in place', file: 'e' }
]

for (const scene of SCENES) {
  t.test(`killed: ${scene.name}`, { buffered: true, skip: skip || (scene.skip ?? false) }, async t => {
    const states: Record<string, number> = {}
    let calls = 0
    for (const [i, way] of WAYS.entries()) {
      // Beside another server there are more of them than alone.
      for (let count = 1 + (i % SHARE), reached = true; reached; count += SHARE) {
        const { state, call, wasReached } = await killAt(t, scene, count, way)
        reached = wasReached
        if (!reached) break
        calls = Math.max(calls, count)
        states[`${call}: ${state}`] = (states[`${call}: ${state}`] ?? 0) + 1
      }
    }
    t.comment(JSON.stringify(states))
    t.ok(calls > 40, `${calls} calls`)
    const kinds = Object.keys(states).join()
    t.ok(/: old/.test(kinds) && /: new/.test(kinds), 'some of both')
  })
}

async function killAt(
  t: Test,
  scene: Scene,
  count: number,
  { name, by, save, file = 'a' }: Way
): Promise<{ state: string; call: string; wasReached: boolean }> {
  const folders = makeFolders()
  const { root } = folders
  const events: Event[] = []
  const options: Partial<WorkspaceOptions> = {
    durability: 'full',
    history: 'full',
    report: event => events.push(event)
  }
  const tears: (() => unknown)[] = []
  let workspace: Workspace | null = null
  try {
    scene.reset(root, { teardown: (work: () => unknown) => tears.push(work) } as unknown as Test)
    if (by !== 'start') workspace = await open(folders, options)
    const strike = new Strike(folders.base)
    const worker = startBatchWorker({ root, state: folders.state, durability: 'full', history: 'full' }, strike.env)
    await worker.printed('ready')
    strike.aim(count, KILL)
    worker.child.stdin!.write(JSON.stringify({ id: 'x', ...scene.order }) + '\n')
    const answer = await answerOf(worker, 'x')
    const { reached, call } = strike
    strike.aim(0)
    worker.child.kill('SIGKILL')
    await worker.ended
    const where = `killed at call ${count} (${call}), recovered by ${name}`
    const wasNew = textAt(root, file) === scene.files[file]![1]
    if (save === 'rename') {
      writeFileSync(join(root, 'x'), 'theirs\n')
      renameSync(join(root, 'x'), join(root, file))
    } else if (save === 'in place') writeFileSync(join(root, file), 'theirs\n')
    if (workspace === null) workspace = await open(folders, options)
    else if (by === 'sweep') await (workspace as unknown as { sweep(): Promise<void> }).sweep()
    else {
      const path = Object.keys(scene.files)[count % 2]!
      const locked = await workspace.edit({ path }, REAL, append(''))
      if (!locked.ok) t.fail(`${where}: ${JSON.stringify(locked.failure)}`)
    }
    const state = stateOf(scene, root, save === undefined ? [] : [file])
    if (typeof state !== 'string') t.fail(`${where}: ${JSON.stringify([state, events])}`)
    if (answer?.startsWith('done') === true && state !== 'new') t.fail(`${where}: acknowledged, and ${String(state)}`)
    if (answer !== null && !answer.startsWith('done')) t.fail(`${where}: ${answer}`)
    if (scene.files.h1 !== undefined && !linksAre(root, 'h1', 'h2')) t.fail(`${where}: two files`)
    if (save !== undefined) {
      if (textAt(root, file) !== 'theirs\n') t.fail(`${where}: the save is lost`)
      const journal = join(folders.state, 'journal')
      const kept = readdirSync(journal).filter(
        one => one.endsWith('.kept') && readFileSync(join(journal, one), 'utf8') === scene.files.a![1]
      )
      const reports = events.filter(({ event, outcome }) => event === 'batch_unrecovered' && outcome === 'left_alone')
      const wasCompleted = state === 'new' && !wasNew
      const wentBack = state === 'old' && wasNew
      // A file where one was removed is reported whenever it has come.
      const wasLeft = file === 'e' && events.some(({ decision }) => decision === 'forward')
      const keeps = file === 'a' && wasCompleted
      if (reports.length !== (wasCompleted || wentBack || wasLeft ? 1 : 0) || kept.length !== (keeps ? 1 : 0)) {
        t.fail(`${where}: ${state}, ${reports.length} reports, ${kept.length} kept, ${JSON.stringify(events)}`)
      }
    }
    await workspace.close()
    workspace = await open(folders, options)
    const left = leftIn(folders, true)
    if (left.length > 0) t.fail(`${where}: ${left.join()} left, ${JSON.stringify(events)}`)
    return { state: typeof state === 'string' ? state : 'mixed', call, wasReached: reached }
  } finally {
    await workspace?.close()
    for (const tear of tears) tear()
    removeFolders(folders)
  }
}

t.test('a call fails', { buffered: true, skip }, async t => {
  const { EIO, ENOSPC, EACCES } = constants.errno
  for (const scene of SCENES) {
    await t.test(scene.name, { skip: scene.skip ?? false }, async t => {
      const folders = makeFolders()
      t.teardown(() => removeFolders(folders))
      const { root } = folders
      scene.reset(root, t)
      const strike = new Strike(folders.base)
      const worker = startBatchWorker({ root, state: folders.state, durability: 'full', history: 'full' }, strike.env)
      t.teardown(() => worker.child.kill('SIGKILL'))
      await worker.printed('ready')
      const answers: Record<string, number> = {}
      for (const errno of [EIO, ENOSPC, EACCES]) {
        for (let count = 1, reached = true; reached; count += every(1, 5)) {
          scene.reset(root, t)
          const id = `${errno}.${count}`
          strike.aim(count, errno)
          worker.child.stdin!.write(JSON.stringify({ id, ...scene.order }) + '\n')
          const answer = await answerOf(worker, id)
          reached = strike.reached
          const { call } = strike
          strike.aim(0)
          const where = `error ${errno} at call ${count} (${call}): ${answer}`
          if (answer === null) throw new Error(`${where}: it has ended`)
          const isDone = answer.startsWith('done')
          // One rename failed, and so did the rollback: the next request that locks the file finishes it.
          if (readdirSync(join(folders.state, 'journal')).some(name => name.endsWith('.back.batch'))) {
            if (isDone || call !== 'rename') t.fail(`${where}: left`)
            worker.child.stdin!.write(JSON.stringify({ id: `${id}.next`, edits: { a: '' } }) + '\n')
            if (!(await answerOf(worker, `${id}.next`))?.startsWith('done')) t.fail(`${where}: not taken back`)
          }
          const state = stateOf(scene, root)
          if (state !== (isDone ? 'new' : 'old')) t.fail(`${where}: ${JSON.stringify(state)}`)
          if (scene.files.h1 !== undefined && !linksAre(root, 'h1', 'h2')) t.fail(`${where}: two files`)
          if (!reached && !isDone) t.fail(`${where}: nothing failed`)
          // What could not be removed waits for a sweep.
          const left = leftIn(folders)
          if (call !== 'unlink' && left.length > 0) t.fail(`${where}: ${left.join()} left`)
          for (const folder of [root, join(folders.state, 'journal')]) remove(folder, ...left)
          if (call !== 'rmdir' && !isDone && existsSync(join(root, 'd'))) t.fail(`${where}: a folder is left`)
          const what = `${call} ${answer.replaceAll(id, '').split(' ').slice(0, 3).join(' ')}`
          answers[what] = (answers[what] ?? 0) + 1
        }
      }
      t.comment(JSON.stringify(answers))
      t.ok(Object.keys(answers).length > 5)
      worker.child.stdin!.end()
      await worker.ended
      await (await open(folders)).close()
      t.strictSame(leftIn(folders), [])
    })
  }
})

t.test('held up at a call, while others want its files', { skip }, async t => {
  const outcomes: Record<string, number> = {}
  const scene = SCENES[0]!
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const { root } = folders
  scene.reset(root, t)
  const other = await open(folders, { lockTimeout: 60, durability: 'full' })
  t.teardown(() => other.close())
  const strike = new Strike(folders.base)
  const worker = startBatchWorker({ root, state: folders.state, durability: 'full', history: 'full' }, strike.env)
  t.teardown(() => worker.child.kill('SIGKILL'))
  await worker.printed('ready')
  for (let count = 1, reached = true; reached; count += every(3, 9)) {
    scene.reset(root, t)
    strike.aim(count, WAIT)
    worker.child.stdin!.write(JSON.stringify({ id: `w${count}`, ...scene.order }) + '\n')
    const given = { is: false }
    const answering = answerOf(worker, `w${count}`).then(answer => {
      given.is = true
      return answer
    })
    while (!strike.reached && !given.is) await sleep(1)
    reached = strike.reached
    const where = `call ${count} (${strike.call})`
    let second = ''
    if (reached) {
      worker.child.kill('SIGSTOP')
      strike.goOn()
      const tried = await other.edit({ path: 'b' }, REAL, append('2\n'))
      second = tried.ok ? 'done' : tried.failure.code
      if (!['done', 'FILE_LOCKED'].includes(second)) t.fail(`${where}: ${second}`)
      worker.child.kill('SIGCONT')
    }
    const answer = await answering
    const first = answer?.split(' ')[0] ?? 'ended'
    const text = textAt(root, 'b')
    const expected = `b\n${second === 'done' && text?.startsWith('b\n2') ? '2\n' : ''}${first === 'done' ? '1\n' : ''}`
    const isLost = second === 'done' && !text?.includes('2\n')
    const state = stateOf(scene, root, ['b'])
    if (isLost || !text?.startsWith(expected.slice(0, 2)) || state !== (first === 'done' ? 'new' : 'old')) {
      t.fail(`${where}: ${answer}, ${second}: ${JSON.stringify([text, state])}`)
    }
    if (text?.includes('1\n') !== (first === 'done')) t.fail(`${where}: ${answer}, but ${text}`)
    const left = leftIn(folders)
    if (left.length > 0) t.fail(`${where}: ${left.join()} left`)
    outcomes[`${first} ${second}`] = (outcomes[`${first} ${second}`] ?? 0) + 1
  }
  t.comment(JSON.stringify(outcomes))
  t.ok((outcomes['done FILE_LOCKED'] ?? 0) > 5)
})

const UNSHARE = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']

t.test(
  'held up in another container for longer than its lock lasts',
  {
    skip:
      skip || (canMount && spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'true']).status === 0 ? false : 'needs root')
  },
  async t => {
    const outcomes: Record<string, number> = {}
    const scene = SCENES[0]!
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const { root, state } = folders
    scene.reset(root, t)
    const strike = new Strike(folders.base)
    const order = { root, state, durability: 'full', history: 'full', lockTimeout: 1500 } as const
    const first = startBatchWorker(order, { ...strike.env, PATH: process.env.PATH! }, UNSHARE)
    // By its clock, the other's lock is as old as if it had been suspended for long.
    const second = startBatchWorker({ ...order, ahead: 300_000 }, { PATH: process.env.PATH! }, UNSHARE)
    for (const { child } of [first, second]) t.teardown(() => child.kill('SIGKILL'))
    await Promise.all([first.printed('ready'), second.printed('ready')])
    for (let count = 1, reached = true; reached; count += every(3, 14)) {
      scene.reset(root, t)
      strike.aim(count, WAIT)
      first.child.stdin!.write(JSON.stringify({ id: `w${count}`, ...scene.order }) + '\n')
      const given = { is: false }
      const answering = answerOf(first, `w${count}`).then(answer => {
        given.is = true
        return answer ?? ''
      })
      while (!strike.reached && !given.is) await sleep(1)
      reached = strike.reached
      const where = `call ${count} (${strike.call})`
      let theirs = ''
      if (reached) {
        second.child.stdin!.write(JSON.stringify({ id: `s${count}`, edits: { b: '2\n' } }) + '\n')
        theirs = (await answerOf(second, `s${count}`)) ?? 'ended'
        strike.goOn()
      }
      const ours = await answering
      const text = textAt(root, 'b') ?? ''
      const isNew = ours.startsWith('done')
      const found = stateOf(scene, root, ['b'])
      if (
        found !== (isNew ? 'new' : 'old') ||
        text.includes('1\n') !== isNew ||
        text.includes('2\n') !== theirs.startsWith('done')
      ) {
        t.fail(`${where}: ${ours}; ${theirs}; ${JSON.stringify([text, found])}`)
      }
      const [how, , code = ''] = theirs.split(' ')
      const what = `${ours.split(' ').slice(0, 3).join(' ').replace(`w${count}`, '')}, ${how} ${code}`
      outcomes[what] = (outcomes[what] ?? 0) + 1
    }
    t.comment(JSON.stringify(outcomes))
    t.ok(Object.keys(outcomes).length > 1)
  }
)
