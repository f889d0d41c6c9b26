// What keeps a holder that was suspended from writing after its lock was taken over. Row 43 of docs/threats.md, step by
// step.
import { createHmac } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commit } from '../../../src/folder/commit/commit.ts'
import { fence } from '../../../src/folder/locks/fence.ts'
import { Intents } from '../../../src/folder/commit/intents.ts'
import type { Lock } from '../../../src/workspace/queue.ts'
import { Locks } from '../../../src/folder/locks/lock.ts'
import { LockFiles } from '../../../src/folder/locks/lock-file.ts'
import { commitNew } from '../../../src/folder/commit/commit-new.ts'
import { thisOwner, type Owner } from '../../../src/folder/locks/owner.ts'
import type { Missing, Root } from '../../../src/folder/root/pin.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { readWhole } from '../../../src/folder/snapshot.ts'
import { makeFolders, isRoot, observer, ownLock, removeFolders, type Folders, unrecorded } from '../support/open.ts'

const FILE = Buffer.from('d/a.txt')
const AWAY: Owner = { ...thisOwner(), hostname: 'other', boot_id: 'other' }

interface Fresh extends Folders {
  pinned: Root
  events: string[]
  /** The temp files that were to be removed, a list for each time that the lock was taken. */
  fenced: (readonly string[])[]
  taken: (by?: Owner) => Promise<Lock>
  /** Takes the lock over and is suspended before it does anything: the name of its temp file. */
  stopped: (by?: Owner) => Promise<string>
  silence: () => void
}

function fresh(t: Test): Fresh {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'd'))
  writeFileSync(join(folders.root, 'd/a.txt'), 'a')
  const state = openState(folders.state)
  const pinned = openRoot(folders.root)
  t.teardown(() => pinned.close())
  const events: string[] = []
  const fenced: (readonly string[])[] = []
  const filesOf = (by: Owner): LockFiles =>
    new LockFiles(state, observer({ ...by, nonce: `${Math.random()}` }), ({ event }) => events.push(event))
  return {
    ...folders,
    pinned,
    events,
    fenced,
    async taken(by = thisOwner()) {
      const locks = new Locks({
        root: null,
        secret: state.secret,
        timeout: 2000,
        socket: false,
        files: filesOf(by),
        fence(file, temps) {
          fenced.push(temps)
          fence(pinned, file, temps)
        }
      })
      const lock = await locks.acquire(FILE)
      if (!lock.ok) throw new Error(lock.failure.code)
      return lock.value
    },
    async stopped(by = AWAY) {
      const key = createHmac('sha256', state.secret).update(FILE).digest('hex')
      const held = await filesOf(by).hold(key, performance.now() + 2000)
      if (held === null) throw new Error('not held')
      return `.${createHmac('sha256', state.secret).update(held.entry).digest('hex').slice(0, 24)}.tmp`
    },
    /** As if the lock's owner had not touched it for long. */
    silence() {
      for (const name of readdirSync(state.locks)) utimesSync(join(state.locks, name), 0, 0)
    }
  }
}

t.test('removes the temp files of all unreleased holds, even if the next holder was stopped too', async t => {
  const { root, state, taken, stopped, fenced, silence } = fresh(t)
  const first = await taken(AWAY)
  silence()
  const temps = [first.temp]
  for (let i = 0; i < 2; i++) {
    temps.push(await stopped())
    silence()
  }
  for (const name of temps.slice(1)) writeFileSync(join(root, 'd', name), 'late')
  const last = await taken()
  t.strictSame(
    fenced.map(names => [...names].sort()),
    [temps.sort()]
  )
  t.strictSame(readdirSync(join(root, 'd')), ['a.txt'])
  t.strictSame(readdirSync(join(state, 'unreleased')), [])
  t.notOk(first.held())
  await first.release()
  t.ok(last.held(), 'a late release frees nothing that isn’t its own')
  await last.release()
  await (await taken()).release()
  t.equal(fenced.length, 1, 'and they are forgotten')
})

t.test(
  'gives nobody the lock while a temp file can’t be removed',
  { skip: isRoot ? 'root may remove all' : false },
  async t => {
    const { root, taken, fenced, silence } = fresh(t)
    const holder = await taken(AWAY)
    writeFileSync(join(root, 'd', holder.temp), 'late')
    silence()
    chmodSync(join(root, 'd'), 0o500)
    await t.rejects(taken(), { code: 'EACCES' })
    chmodSync(join(root, 'd'), 0o700)
    await (await taken()).release()
    t.strictSame(fenced, [[holder.temp], [holder.temp]])
    t.strictSame(readdirSync(join(root, 'd')), ['a.txt'])
  }
)

t.test('refuses the lock while the folder can’t be opened, and forgets no earlier holder', async t => {
  const { root, pinned, taken, fenced, silence } = fresh(t)
  const holder = await taken(AWAY)
  silence()
  const { openFolder } = pinned
  Object.assign(pinned, {
    openFolder() {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    }
  })
  await t.rejects(taken(), { code: 'EMFILE' })
  Object.assign(pinned, { openFolder })
  writeFileSync(join(root, 'd', holder.temp), 'late')
  await (await taken()).release()
  t.strictSame(fenced, [[holder.temp], [holder.temp]])
  t.strictSame(readdirSync(join(root, 'd')), ['a.txt'])
})

t.test('accepts a missing folder, but not one that has moved', async t => {
  const { root, pinned, taken, fenced, silence } = fresh(t)
  await taken(AWAY)
  silence()
  rmSync(join(root, 'd'), { recursive: true })
  writeFileSync(join(root, 'd'), '')
  await (await taken()).release()
  t.equal(fenced.length, 1)
  await (await taken()).release()
  t.equal(fenced.length, 1)
  mkdirSync(join(root, 'elsewhere/d'), { recursive: true })
  symlinkSync('elsewhere', join(root, 'link'))
  t.throws(() => fence(pinned, Buffer.from('link/d/a.txt'), [ownLock().temp]), { code: 'RACED' })
})

t.test('answers STALE_FILE if the temp file is gone at the rename or the link', async t => {
  const { root, state, pinned } = fresh(t)
  const intents = new Intents(openState(state).intents, thisOwner())
  t.teardown(() => intents.close())
  const folder = join(root, 'd')
  const own = ownLock()
  // As it is asked whether the lock is still ours, another has just taken it over.
  const lock: Lock = {
    ...own,
    held() {
      rmSync(join(folder, own.temp))
      return true
    }
  }
  const context = { root: pinned, intents, durability: 'fast', lock } as const
  const content = { pieces: [Buffer.from('late')], size: 4 }
  const pin = pinned.pin(FILE)
  if (!pin.ok) throw new Error('not pinned')
  const read = await readWhole(pin.value, 100)
  if (!read.ok) throw new Error('not read')
  const late = { ok: false, failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } }
  t.strictSame(
    await commit(context, {
      ...content,
      pin: pin.value,
      snapshot: read.value,
      digest: Promise.resolve(''),
      record: unrecorded
    }),
    late
  )
  const absent: Missing = { code: 'MISSING', relative: Buffer.from('d/new'), folder: Buffer.from('d') }
  t.strictSame(await commitNew(context, absent, content, unrecorded), late)
  read.value.close()
  pin.value.close()
  t.strictSame(readdirSync(folder), ['a.txt'])
  t.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'a')
})

t.test('does not mark a lock as taken over that only a sweep has removed', async t => {
  const { state, taken, fenced, events, silence } = fresh(t)
  await taken(AWAY)
  silence()
  const files = new LockFiles(openState(state), observer(), ({ event }) => events.push(event))
  await files.sweep()
  t.strictSame(readdirSync(join(state, 'locks')), [])
  const [key = '', ...others] = readdirSync(join(state, 'unreleased'))
  t.strictSame(others, [], 'one that may come back')
  // By the same object that swept, too: what it has moved away it must not remember as taken over.
  const held = await files.hold(key, performance.now() + 2000)
  t.equal(held?.unreleased.length, 1)
  await held?.release()
  const lock = await taken()
  t.equal(fenced.length, 1)
  await lock.release()
  t.strictSame(events, [])
  t.strictSame(readdirSync(join(state, 'unreleased')), [])

  // Of the dead nothing is kept: they do nothing any more.
  mkdirSync(join(state, 'locks/empty'))
  await taken({ ...thisOwner(), start_time: '1', pid: 2 ** 22 - 1 })
  await files.sweep()
  t.strictSame([readdirSync(join(state, 'locks')), readdirSync(join(state, 'unreleased'))], [[], []])
  t.notOk(existsSync(join(state, 'locks/empty')))
})
