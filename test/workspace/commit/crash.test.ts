// What is left by processes that were killed, and what the next start makes of it. Rows 19 and 22 of the threats.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import t from 'tap'
import { ok } from '../../../src/result.ts'
import { failureOf } from '../../../src/workspace/errno.ts'
import { recoverInPlace, writeInPlace } from '../../../src/workspace/commit/in-place.ts'
import { Intents, silenceOf } from '../../../src/workspace/commit/intents.ts'
import { Journal } from '../../../src/workspace/commit/journal.ts'
import { LockFiles } from '../../../src/workspace/locks/lock-file.ts'
import { Locks } from '../../../src/workspace/locks/lock.ts'
import { thisOwner, type Owner } from '../../../src/workspace/locks/owner.ts'
import type { Pin } from '../../../src/workspace/root/pin.ts'
import { openRoot } from '../../../src/workspace/root/root.ts'
import { openState } from '../../../src/workspace/state.ts'
import { withTemp } from '../../../src/workspace/commit/temp.ts'
import { readWhole } from '../../../src/workspace/text-file.ts'
import { often } from '../../often.ts'
import {
  append,
  become,
  freshPlace,
  observer,
  onLinux,
  open,
  ownLock,
  REAL,
  remove,
  type Place
} from '../support/open.ts'
import { startWorker } from '../support/process.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const TEMP = '.0123456789abcdef01234567.tmp'

/** A process that has ended. */
function deadOwner(): Owner {
  const { pid } = spawnSync('true')
  return { ...thisOwner(), pid, start_time: '1' }
}

/**
 * Leaves what `owner` would have left if it had been killed while these temp files (paths below the root) were there.
 */
function leaveIntents(place: Place, owner: Owner, paths: (string | Buffer)[]): void {
  const state = openState(place.state)
  const intents = new Intents(state.intents, owner)
  for (const path of paths) intents.begin(Buffer.from(path))
  const file = join(state.intents, owner.nonce + '.intents')
  linkSync(file, join(place.base, 'kept'))
  intents.close()
  renameSync(join(place.base, 'kept'), file)
}

/** Leaves the journal of `owner`, who was writing `now` over `before` in place. */
async function leaveJournal(place: Place, owner: Owner, name: string, before: string, now: string): Promise<void> {
  writeFileSync(join(place.root, name), before)
  const root = openRoot(place.root)
  const pinned = root.pin(Buffer.from(name))
  if (!pinned.ok) throw new Error('not pinned')
  const snapshot = await readWhole(pinned.value, 1e6)
  if (!snapshot.ok) throw new Error('not read')
  await new Journal(openState(place.state), observer(owner), 'full').save(pinned.value, snapshot.value, sha256(now))
  snapshot.value.close()
  pinned.value.close()
  root.close()
}

t.test('removes the temp files of the dead, and nothing else', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  for (const folder of ['d', 'kept', 'kept/folder.tmp']) mkdirSync(join(place.root, folder))
  mkdirSync(join(place.base, 'outside'))
  symlinkSync('../outside', join(place.root, 'out'))
  mkdirSync(join(place.root, 'kept', TEMP))
  for (const file of [TEMP, 'd/' + TEMP, 'd/a.txt', '../outside/' + TEMP, 'living' + TEMP]) {
    writeFileSync(join(place.root, file), 'x')
  }
  leaveIntents(place, deadOwner(), [
    TEMP,
    'd/' + TEMP,
    'd/a.txt',
    '../outside/' + TEMP,
    'out/' + TEMP,
    'gone/' + TEMP,
    'd/.ffffffffffffffffffffffff.tmp',
    'kept/' + TEMP,
    'd/a.txt/' + TEMP
  ])
  const events: string[] = []
  const workspace = await open(place, { report: ({ event, path }) => events.push(`${event} ${path}`) })
  t.teardown(() => workspace.close())
  t.strictSame(events.sort(), [`temp_file_removed ${TEMP}`, `temp_file_removed d/${TEMP}`])
  t.strictSame(readdirSync(join(place.root, 'd')), ['a.txt'])
  t.strictSame(readdirSync(join(place.base, 'outside')), [TEMP])
  t.strictSame(readdirSync(join(place.state, 'intents')).length, 1, 'and then what it wrote down')
})

t.test('leaves alone what the living are at', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  writeFileSync(join(place.root, TEMP), 'x')
  const stranger = { ...thisOwner(), hostname: 'x', boot_id: 'x' }
  leaveIntents(place, stranger, [TEMP])
  leaveIntents(place, thisOwner(), [TEMP])
  const folder = join(place.state, 'intents')
  writeFileSync(join(folder, 'cut.intents'), '{')
  writeFileSync(join(folder, 'other'), '')
  const first = await open(place)
  t.strictSame(readdirSync(place.root), [TEMP])
  t.equal(readdirSync(folder).length, 5)
  await first.close()
  const long = new Date(Date.now() - 100_000)
  for (const name of [stranger.nonce + '.intents', 'cut.intents']) utimesSync(join(folder, name), long, long)
  const second = await open(place)
  t.teardown(() => second.close())
  t.strictSame(readdirSync(place.root), [], 'until they have been silent for long')
  t.equal(readdirSync(folder).length, 3)
  t.equal(silenceOf(folder, 'nobody'), Infinity)
})

t.test('leaves what another server’s sweep has removed, and says what it can’t read', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const folder = join(place.state, 'intents')
  const first = await open(place)
  symlinkSync('gone', join(folder, 'removed.intents'))
  await first.close()
  await (await open(place)).close()
  mkdirSync(join(folder, 'folder.intents'))
  await t.rejects(open(place), { code: 'EISDIR' })
})

t.test('uses its slots again', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  writeFileSync(join(place.root, 'a'), '')
  const workspace = await open(place)
  t.teardown(() => workspace.close())
  const size = (): number =>
    statSync(join(place.state, 'intents', readdirSync(join(place.state, 'intents'))[0] ?? '')).size
  await workspace.edit({ path: 'a' }, REAL, append('x'))
  const once = size()
  for (let i = 0; i < 50; i++) await workspace.edit({ path: 'a' }, REAL, append('x'))
  t.equal(size(), once)
})

t.test(
  'shows that it lives, and takes no slot that it could not write',
  { skip: onLinux ? false : 'needs prlimit' },
  async t => {
    const place = freshPlace()
    t.teardown(() => remove(place))
    const { intents: folder } = openState(place.state)
    const owner = thisOwner()
    const intents = new Intents(folder, owner, 10)
    t.teardown(() => intents.close())
    const file = join(folder, owner.nonce + '.intents')
    utimesSync(file, 0, 0)
    await new Promise(resolve => setTimeout(resolve, 100))
    t.ok(silenceOf(folder, owner.nonce) < 10_000)
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=1000:unlimited'])
    t.throws(() => intents.begin(Buffer.from(TEMP)), { code: 'EFBIG' })
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:unlimited'])
    t.equal(intents.begin(Buffer.from(TEMP)), 1)
  }
)

t.test(
  'goes on with the other files where one can’t be restored',
  { skip: onLinux && process.getuid?.() === 0 ? false : 'needs root and chattr' },
  async t => {
    const place = freshPlace()
    t.teardown(() => remove(place))
    const owner = deadOwner()
    for (const name of ['fixed', 'torn']) {
      await leaveJournal(place, owner, name, 'old text', 'new text')
      writeFileSync(join(place.root, name), 'new te')
    }
    if (spawnSync('chattr', ['+i', join(place.root, 'fixed')]).status !== 0) {
      return t.comment('the file system does not support attributes')
    }
    t.teardown(() => spawnSync('chattr', ['-i', join(place.root, 'fixed')]))
    const outcomes: string[] = []
    const workspace = await open(place, { report: ({ path, outcome }) => outcomes.push(`${path} ${outcome}`) })
    t.strictSame(outcomes.sort(), ['fixed failed: EPERM', 'torn restored'])
    await workspace.close()
    spawnSync('chattr', ['-i', join(place.root, 'fixed')])
    const next = await open(place)
    t.equal(readFileSync(join(place.root, 'fixed'), 'utf8'), 'old text')
    await next.close()
  }
)

t.test('takes back what was left half written in place', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const owner = deadOwner()
  const files: [name: string, left: string | null, after: string | null, outcome: string][] = [
    ['torn', 'new te', 'old text', 'restored'],
    ['longer', 'new text old text', 'old text', 'restored'],
    ['not-begun', 'old text', 'old text', 'nothing_to_do'],
    ['finished', 'new text', 'new text', 'nothing_to_do'],
    ['removed', null, null, 'file_gone'],
    ['replaced', 'new te', 'new te', 'another_file'],
    ['changed', 'mended', 'mended', 'changed_since']
  ]
  for (const [name, left] of files) {
    await leaveJournal(place, owner, name, 'old text', 'new text')
    if (name === 'replaced') {
      writeFileSync(join(place.root, 'new'), '')
      renameSync(join(place.root, 'new'), join(place.root, name))
    }
    if (left === null) unlinkSync(join(place.root, name))
    else writeFileSync(join(place.root, name), left)
    if (name === 'changed') utimesSync(join(place.root, name), new Date(), new Date(Date.now() + 11_000))
  }
  const journal = join(place.state, 'journal')
  writeFileSync(join(journal, 'orphan.old'), 'x')
  writeFileSync(join(journal, 'cut.json'), '{')
  utimesSync(join(journal, 'orphan.old'), 0, 0)
  await leaveJournal(place, thisOwner(), 'living', 'old text', 'new text')
  const outcomes: string[] = []
  const workspace = await open(place, {
    report: ({ event, path, outcome }) => outcomes.push(`${event} ${path} ${outcome}`)
  })
  t.teardown(() => workspace.close())
  const recovered = ['restored', 'nothing_to_do']
  t.strictSame(
    outcomes.sort(),
    [
      'journal_unrecovered undefined record_damaged',
      ...files.map(
        ([name, , , outcome]) =>
          `journal_${recovered.includes(outcome) ? 'recovered' : 'unrecovered'} ${name} ${outcome}`
      )
    ].sort()
  )
  for (const [name, , after] of files) {
    if (after !== null) t.equal(readFileSync(join(place.root, name), 'utf8'), after, name)
  }
  const left = readdirSync(journal)
  t.strictSame(
    left.map(name => name.replace(/^[^.]*/, '')).sort(),
    ['.aside', '.aside', '.aside.bytes', '.json', '.kept', '.kept', '.old'],
    'keeps what it overwrote, what it could not use and the record of a living process'
  )
  t.strictSame(
    left
      .filter(name => name.endsWith('.kept'))
      .map(name => readFileSync(join(journal, name), 'utf8'))
      .sort(),
    ['new te', 'new text old text']
  )
  t.equal(readFileSync(join(journal, left.find(name => name.endsWith('.bytes')) ?? ''), 'utf8'), 'old text')
  outcomes.length = 0
  const next = await open(place, { report: ({ outcome }) => outcomes.push(String(outcome)) })
  await next.close()
  t.strictSame(outcomes, [], 'and says so once')
})

t.test('restores nothing from a copy that is damaged or gone', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  await leaveJournal(place, deadOwner(), 'torn', 'old text', 'new text')
  writeFileSync(join(place.root, 'torn'), 'new te')
  const copy = readdirSync(join(place.state, 'journal')).find(name => name.endsWith('.old')) ?? ''
  writeFileSync(join(place.state, 'journal', copy), 'damaged')
  const outcomes: unknown[] = []
  const first = await open(place, { report: event => outcomes.push(event.outcome) })
  t.strictSame(outcomes, ['copy_damaged'], 'says so once')
  t.equal(readFileSync(join(place.root, 'torn'), 'utf8'), 'new te')
  await first.close()
  await leaveJournal(place, deadOwner(), 'torn', 'old text', 'new text')
  writeFileSync(join(place.root, 'torn'), 'new te')
  rmSync(
    join(place.state, 'journal', readdirSync(join(place.state, 'journal')).find(name => name.endsWith('.old')) ?? '')
  )
  const second = await open(place, { report: event => outcomes.push(event.outcome) })
  await second.close()
  t.strictSame(outcomes, ['copy_damaged', 'copy_damaged'])
})

t.test(
  'takes back what a holder left half written when its lock is taken over',
  { skip: onLinux ? false : 'needs /proc' },
  async t => {
    const place = freshPlace()
    t.teardown(() => remove(place))
    writeFileSync(join(place.root, 'a'), 'old text')
    const outcomes: string[] = []
    const workspace = await open(place, {
      lockTimeout: 5000,
      report: ({ event, outcome }) => outcomes.push(`${event} ${outcome ?? ''}`)
    })
    t.teardown(() => workspace.close())
    const second = startWorker({ ...place, file: 'a', count: 1, name: 'second', hold: 60_000 })
    await second.printed('holding')
    // As if it had begun to write.
    await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
    writeFileSync(join(place.root, 'a'), 'new te')
    second.child.kill('SIGKILL')
    await second.ended
    t.match(await workspace.edit({ path: 'a' }, REAL, append('!')), { ok: true })
    t.equal(readFileSync(join(place.root, 'a'), 'utf8'), 'old text!')
    t.strictSame(outcomes, ['lock_taken_over ', 'journal_recovered restored'])
  }
)

t.test('edits no half-written file, whatever the lock', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const outcomes: string[] = []
  const workspace = await open(place, {
    lock: 'local',
    report: ({ event, outcome }) => outcomes.push(`${event} ${outcome}`)
  })
  t.teardown(() => workspace.close())
  await leaveJournal(place, deadOwner(), 'b', 'b', 'bb')
  await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(place.root, 'a'), 'new te')
  t.match(await workspace.edit({ path: 'a' }, REAL, append('!')), { ok: true })
  t.equal(readFileSync(join(place.root, 'a'), 'utf8'), 'old text!')
  t.strictSame(outcomes, ['journal_recovered restored'])

  await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(place.root, 'a'), 'new te')
  const journal = join(place.state, 'journal')
  const copy =
    readdirSync(journal).find(
      name => name.endsWith('.old') && readFileSync(join(journal, name), 'utf8') === 'old text'
    ) ?? ''
  rmSync(join(journal, copy))
  mkdirSync(join(journal, copy))
  await t.rejects(workspace.edit({ path: 'a' }, REAL, append('!')), /half written/)
  t.equal(readFileSync(join(place.root, 'a'), 'utf8'), 'new te', 'nor one that can’t be restored now')
  t.equal(outcomes[1], 'journal_unrecovered failed: EISDIR')
})

t.test('takes back later what it could not take back at once', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const path = join(place.root, 'a')
  writeFileSync(path, 'old text')
  const root = openRoot(place.root)
  t.teardown(() => root.close())
  const pinned = root.pin(Buffer.from('a'))
  if (!pinned.ok) return t.fail('is pinned')
  const { real, relative, stat } = pinned.value
  const read = await readWhole(pinned.value, 100)
  if (!read.ok) return t.fail('is read')
  // Nothing can be written through this one.
  const pin: Pin = {
    real,
    relative,
    stat,
    replaced: false,
    open: () => openSync(path, 'r'),
    writable: () => true,
    inPlace: () => true,
    close() {}
  }
  const events: object[] = []
  const journal = new Journal(openState(place.state), observer(), 'fast')
  const context = {
    root,
    journal,
    durability: 'fast',
    lock: ownLock(),
    report: (event: object) => {
      events.push(event)
    }
  } as const
  const error: unknown = await writeInPlace(context, {
    pin,
    snapshot: read.value,
    pieces: [Buffer.from('new text')],
    size: 8,
    digest: Promise.resolve(sha256('new text'))
  }).catch(error => error)
  t.match(error, /half written/)
  t.equal(failureOf(error), null)
  t.strictSame(events, [{ event: 'left_half_written', path: 'a', reason: 'EBADF' }])
  read.value.close()
  pinned.value.close()
  writeFileSync(path, 'new te')
  await recoverInPlace(
    context,
    async (_, work) => {
      await work()
      return true
    },
    relative
  )
  t.equal(readFileSync(path, 'utf8'), 'old text')
  t.match(events[1], { event: 'journal_recovered', outcome: 'restored' })
  t.strictSame((await journal.records(context.report)).ofTheDead, [])
})

t.test('passes over a record that is gone by the time it is read, but not over one that can’t be read', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const state = openState(place.state)
  const journal = new Journal(state, observer(), 'fast')
  symlinkSync('gone', join(state.journal, 'gone.json'))
  t.strictSame(await journal.records(() => t.fail('reports nothing')), { ofTheDead: [], others: false })
  mkdirSync(join(state.journal, 'folder.json'))
  await t.rejects(
    journal.records(() => {}),
    { code: 'EISDIR' }
  )
})

t.test('says that a file is changing rather than edit it half written', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(place.root, 'a'), 'new te')
  const root = openRoot(place.root)
  t.teardown(() => root.close())
  const journal = new Journal(openState(place.state), observer(), 'fast')
  const found = await journal.records(() => {})
  for (const record of found.ofTheDead) {
    const { keep } = record
    record.keep = present => {
      writeFileSync(join(place.root, 'a'), 'by another')
      return keep(present)
    }
  }
  journal.records = async () => found
  const context = { root, journal, durability: 'fast', report: () => {} } as const
  await t.rejects(
    recoverInPlace(
      context,
      async (_, work) => {
        await work()
        return true
      },
      Buffer.from('a')
    ),
    { code: 'RACED' }
  )
  t.equal(readFileSync(join(place.root, 'a'), 'utf8'), 'by another')
  t.notOk(readdirSync(join(place.state, 'journal')).some(name => name.endsWith('.kept')))
})

t.test('remembers a temp file that it could not remove', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const root = openRoot(place.root)
  t.teardown(() => root.close())
  const folder = root.openFolder(Buffer.alloc(0))
  t.teardown(() => folder.close())
  const state = openState(place.state)
  for (const stays of [false, true]) {
    const intents = new Intents(state.intents, thisOwner())
    const options = {
      name: ownLock().temp,
      intents,
      durability: 'fast',
      folder,
      place: Buffer.alloc(0),
      mode: 0o600,
      content: { pieces: [Buffer.from('x')], size: 1 }
    } as const
    await withTemp(options, temp => {
      unlinkSync(temp)
      if (stays) mkdirSync(temp)
      return ok('named')
    })
    intents.close()
    t.equal(readdirSync(state.intents).length, stays ? 1 : 0)
  }
  const [name = ''] = readdirSync(place.root)
  t.ok(readFileSync(join(state.intents, readdirSync(state.intents)[0] ?? '')).includes(name))
})

t.test('waits no longer than its timeout for a file that another is editing when it starts', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  writeFileSync(join(place.root, 'a'), 'x')
  const second = startWorker({ ...place, file: 'a', count: 1, name: 'second', hold: 60_000 })
  await second.printed('holding')
  await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(place.root, 'a'), 'new te')
  const outcomes: unknown[] = []
  const workspace = await open(place, { lockTimeout: 200, report: event => outcomes.push(event.outcome) })
  t.strictSame(outcomes, ['file_locked'])
  second.child.kill('SIGKILL')
  await second.ended
  await workspace.close()
  const next = await open(place)
  t.equal(readFileSync(join(place.root, 'a'), 'utf8'), 'old text')
  await next.close()
})

t.test('sweeps every minute, and reports where it can’t', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const events: string[] = []
  const workspace = await open(place, { report: ({ event }) => events.push(event) })
  t.teardown(() => workspace.close())
  writeFileSync(join(place.root, TEMP), 'x')
  leaveIntents(place, deadOwner(), [TEMP])
  const swept = async (count: number): Promise<void> => {
    while (events.length < count) {
      mock.timers.tick(60_000)
      await new Promise(setImmediate)
    }
  }
  await swept(1)
  t.strictSame(events, ['temp_file_removed'])
  rmSync(join(place.state, 'locks'), { recursive: true })
  await swept(2)
  t.strictSame(events, ['temp_file_removed', 'sweep_failed'])
})

t.test('runs one sweep at a time, waits for it when it is closed, and none after a first one that fails', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const outcomes: unknown[] = []
  const report = ({ event, outcome }: { event: string; outcome?: unknown }): void => {
    outcomes.push(outcome ?? event)
  }
  const workspace = await open(place, { lockTimeout: 200, report })
  await leaveJournal(place, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(place.root, 'a'), 'new te')
  const state = openState(place.state)
  const locks = new Locks({
    secret: state.secret,
    timeout: 1000,
    socket: onLinux,
    files: new LockFiles(state, observer(), () => {}),
    fence() {}
  })
  const lock = await locks.acquire(Buffer.from('a'))
  for (let i = 0; i < 3; i++) mock.timers.tick(60_000)
  await workspace.close()
  t.strictSame(outcomes, ['file_locked'])
  if (lock.ok) await lock.value.release()

  writeFileSync(join(state.locks, 'file'), '')
  await t.rejects(open(place, { report }), { code: 'ENOTDIR' })
  mock.timers.tick(60_000)
  await new Promise(setImmediate)
  t.strictSame(outcomes, ['file_locked'])
})

t.test(
  'keeps every acknowledged edit of a process that is killed again and again',
  { skip: onLinux ? false : 'needs /proc', timeout: 120_000 },
  async t => {
    const place = freshPlace()
    t.teardown(() => remove(place))
    const file = join(place.root, 'a.txt')
    writeFileSync(file, '')
    let acknowledged = 0
    const rounds = Number(process.env['EDITD_KILLS'] ?? often(30, 10))
    for (let round = 0; round < rounds; round++) {
      const worker = startWorker({ ...place, file: 'a.txt', count: 100_000, name: `r${round}-` })
      await worker.printed('done')
      await new Promise(resolve => setTimeout(resolve, Math.random() * 30))
      worker.child.kill('SIGKILL')
      await worker.ended
      const done = worker.lines.filter(line => line.startsWith('done ')).map(line => line.slice(5))
      acknowledged += done.length
      const text = readFileSync(file, 'utf8')
      const lines = new Set(text.split('\n'))
      if (
        !text.endsWith('\n') ||
        done.some(line => !lines.has(line)) ||
        worker.lines.some(line => line.startsWith('failed'))
      ) {
        t.fail(`round ${round} lost something`)
      }
      if (text.length > 100_000) writeFileSync(file, '')
    }
    t.ok(acknowledged >= rounds, `${acknowledged} edits in ${rounds} rounds`)
    const workspace = await open(place)
    t.match(await workspace.edit({ path: 'a.txt' }, REAL, become('end')), { ok: true })
    await workspace.close()
    t.strictSame(readdirSync(place.root), ['a.txt'], 'no temp file is left')
    // A lock's folder that was being made when its maker was killed has a dot in its name, and goes ten seconds later.
    for (const part of ['locks', 'intents', 'journal']) {
      t.strictSame(
        readdirSync(join(place.state, part)).filter(name => part !== 'locks' || !name.includes('.')),
        [],
        `nothing is left in ${part}`
      )
    }
  }
)

t.test('agrees on one secret however many start at once', async t => {
  const place = freshPlace()
  t.teardown(() => remove(place))
  const workers = Array.from({ length: 3 }, (_, i) =>
    startWorker({ ...place, file: 'missing', count: 0, name: `w${i}` })
  )
  await Promise.all(workers.map(worker => worker.ended))
  t.ok(workers.every(worker => worker.lines[0] === 'ready'))
  t.equal(readFileSync(join(place.state, 'secret')).length, 32)
  t.strictSame(readdirSync(place.state).sort(), ['intents', 'journal', 'live', 'locks', 'secret', 'unreleased'])
})
