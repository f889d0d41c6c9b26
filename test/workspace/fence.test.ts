// What keeps a holder that was stopped from writing after its lock was taken over. Row 43 of docs/threats.md, step by
// step.
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
import { commit } from '../../src/workspace/commit.ts'
import { fence } from '../../src/workspace/fence.ts'
import { Intents } from '../../src/workspace/intents.ts'
import { Locks, type Lock } from '../../src/workspace/lock.ts'
import { LockFiles } from '../../src/workspace/lock-file.ts'
import { commitNew } from '../../src/workspace/commit-new.ts'
import { thisOwner, type Owner } from '../../src/workspace/owner.ts'
import type { Missing } from '../../src/workspace/pin.ts'
import { openRoot } from '../../src/workspace/root.ts'
import { openState } from '../../src/workspace/state.ts'
import { readWhole } from '../../src/workspace/text-file.ts'
import { makeFolders, isRoot, observer, ownLock, removeFolders, type Folders } from './support/open.ts'

const FILE = Buffer.from('d/a.txt')
const AWAY: Owner = { ...thisOwner(), hostname: 'other', boot_id: 'other' }

function fresh(t: Test): Folders & { events: string[]; taken: (by?: Owner) => Promise<Lock>; silence: () => void } {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'd'))
  writeFileSync(join(folders.root, 'd/a.txt'), 'a')
  const state = openState(folders.state)
  const events: string[] = []
  return {
    ...folders,
    events,
    async taken(by = thisOwner()) {
      const files = new LockFiles(state, observer({ ...by, nonce: `${Math.random()}` }), ({ event }) =>
        events.push(event)
      )
      const lock = await new Locks({ secret: state.secret, timeout: 2000, socket: false, files }).acquire(FILE)
      if (!lock.ok) throw new Error(lock.failure.code)
      return lock.value
    },
    /** As if whoever holds the lock had not touched it for long. */
    silence() {
      for (const name of readdirSync(state.locks)) utimesSync(join(state.locks, name), 0, 0)
    }
  }
}

t.test('removes the temp files of all unreleased holds, even if the next holder was stopped too', async t => {
  const { root, state, taken, silence } = fresh(t)
  const pinned = openRoot(root)
  t.teardown(() => pinned.close())
  const holders: Lock[] = []
  for (let i = 0; i < 3; i++) {
    const lock = await taken(AWAY)
    t.equal(lock.late.length, holders.length)
    writeFileSync(join(root, 'd', lock.temp), 'late')
    holders.push(lock)
    silence()
  }
  const last = await taken()
  t.strictSame([...last.late].sort(), holders.map(({ temp }) => temp).sort())
  rmSync(join(root, 'd', holders[0]!.temp))
  fence(pinned, FILE, last)
  t.strictSame(readdirSync(join(root, 'd')), ['a.txt'])
  t.strictSame(readdirSync(join(state, 'unreleased')), [])
  for (const lock of holders) {
    t.notOk(lock.held())
    await lock.release()
  }
  t.ok(last.held(), 'they release nothing that isn’t theirs')
  await last.release()
  t.strictSame((await taken()).late, [], 'and are forgotten')
})

t.test(
  'forgets no earlier holder while its temp file can’t be removed',
  { skip: isRoot ? 'root may remove all' : false },
  async t => {
    const { root, taken, silence } = fresh(t)
    const pinned = openRoot(root)
    t.teardown(() => pinned.close())
    const holder = await taken(AWAY)
    writeFileSync(join(root, 'd', holder.temp), 'late')
    silence()
    chmodSync(join(root, 'd'), 0o500)
    const lock = await taken()
    t.throws(() => fence(pinned, FILE, lock), { code: 'EACCES' })
    await lock.release()
    chmodSync(join(root, 'd'), 0o700)
    t.strictSame((await taken()).late, [holder.temp])
  }
)

t.test('accepts a missing folder, but not one that has moved', async t => {
  const { root, taken, silence } = fresh(t)
  const pinned = openRoot(root)
  t.teardown(() => pinned.close())
  await taken(AWAY)
  silence()
  rmSync(join(root, 'd'), { recursive: true })
  writeFileSync(join(root, 'd'), '')
  const lock = await taken()
  t.equal(lock.late.length, 1)
  fence(pinned, FILE, lock)
  await lock.release()
  const next = await taken()
  t.strictSame(next.late, [])
  mkdirSync(join(root, 'elsewhere/d'), { recursive: true })
  symlinkSync('elsewhere', join(root, 'link'))
  const late = [ownLock().temp]
  t.throws(() => fence(pinned, Buffer.from('link/d/a.txt'), { ...next, late }), { code: 'RACED' })
})

t.test('answers STALE_FILE if the temp file is gone at the rename or the link', async t => {
  const { root, state } = fresh(t)
  const pinned = openRoot(root)
  const intents = new Intents(openState(state).intents, thisOwner())
  t.teardown(() => {
    intents.close()
    pinned.close()
  })
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
    await commit(context, { ...content, pin: pin.value, snapshot: read.value, digest: Promise.resolve('') }),
    late
  )
  const absent: Missing = { code: 'MISSING', relative: Buffer.from('d/new'), folder: Buffer.from('d') }
  t.strictSame(await commitNew(context, absent, content), late)
  read.value.close()
  pin.value.close()
  t.strictSame(readdirSync(folder), ['a.txt'])
  t.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'a')
})

t.test('does not mark a lock as taken over that only a sweep has removed', async t => {
  const { state, taken, events, silence } = fresh(t)
  await taken(AWAY)
  silence()
  const files = new LockFiles(openState(state), observer(), ({ event }) => events.push(event))
  await files.sweep()
  t.strictSame(readdirSync(join(state, 'locks')), [])
  t.equal(readdirSync(join(state, 'unreleased')).length, 1, 'it may come back')
  const lock = await taken()
  t.equal(lock.late.length, 1)
  lock.fenced()
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
