// What is left by processes that were killed, and what the next start makes of it. Rows 19 and 22 of docs/threats.md.
// runs alone: it limits the size of the files that its process may write
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
import t, { type Test } from 'tap'
import { ok } from '../../../src/result.ts'
import { failureOf } from '../../../src/workspace/errno.ts'
import { recoverInPlace, writeInPlace } from '../../../src/folder/commit/in-place.ts'
import { Intents, silenceOf } from '../../../src/folder/commit/intents.ts'
import { Journal } from '../../../src/folder/commit/journal.ts'
import { LockFiles } from '../../../src/folder/locks/lock-file.ts'
import { Locks } from '../../../src/folder/locks/lock.ts'
import { thisOwner, type Owner } from '../../../src/folder/locks/owner.ts'
import type { Pin, Root } from '../../../src/folder/root/pin.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { withTemp } from '../../../src/folder/commit/temp.ts'
import { often, ONLY_CI } from '../../often.ts'
import {
  append,
  become,
  makeFolders,
  observer,
  onLinux,
  open,
  ownLock,
  ownLocks,
  readPinned,
  REAL,
  removeFolders,
  type Folders,
  unrecorded
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
function leaveIntents(folders: Folders, owner: Owner, paths: (string | Buffer)[]): void {
  const state = openState(folders.state)
  const intents = new Intents(state.intents, owner)
  for (const path of paths) intents.begin(Buffer.from(path))
  const file = join(state.intents, owner.nonce + '.intents')
  linkSync(file, join(folders.base, 'kept'))
  intents.close()
  renameSync(join(folders.base, 'kept'), file)
}

/** Leaves the journal of `owner`, who was writing `now` over `before` in place. */
async function leaveJournal(
  folders: Folders,
  owner: Owner,
  name: string,
  before: string,
  now: string,
  batch?: string
): Promise<void> {
  writeFileSync(join(folders.root, name), before)
  const root = openRoot(folders.root)
  const { pin, snapshot, close } = await readPinned(root, name)
  const journal = new Journal(openState(folders.state), observer(owner), 'full')
  await journal.save(pin, snapshot, sha256(now), batch)
  close()
  root.close()
}

t.test('removes the temp files of dead processes, and nothing else', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const folder of ['d', 'kept', 'kept/folder.tmp']) mkdirSync(join(folders.root, folder))
  mkdirSync(join(folders.base, 'outside'))
  symlinkSync('../outside', join(folders.root, 'out'))
  mkdirSync(join(folders.root, 'kept', TEMP))
  for (const file of [TEMP, 'd/' + TEMP, 'd/a.txt', '../outside/' + TEMP, 'living' + TEMP]) {
    writeFileSync(join(folders.root, file), 'x')
  }
  leaveIntents(folders, deadOwner(), [
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
  const workspace = await open(folders, { report: ({ event, path }) => events.push(`${event} ${path}`) })
  t.teardown(() => workspace.close())
  t.strictSame(events.sort(), [`temp_file_removed ${TEMP}`, `temp_file_removed d/${TEMP}`])
  t.strictSame(readdirSync(join(folders.root, 'd')), ['a.txt'])
  t.strictSame(readdirSync(join(folders.base, 'outside')), [TEMP])
  t.strictSame(readdirSync(join(folders.state, 'intents')).length, 1, 'and then what it wrote down')
})

t.test('leaves the files of living processes alone', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, TEMP), 'x')
  const stranger = { ...thisOwner(), hostname: 'x', boot_id: 'x' }
  leaveIntents(folders, stranger, [TEMP])
  leaveIntents(folders, thisOwner(), [TEMP])
  const folder = join(folders.state, 'intents')
  writeFileSync(join(folder, 'cut.intents'), '{')
  writeFileSync(join(folder, 'other'), '')
  const first = await open(folders)
  t.strictSame(readdirSync(folders.root), [TEMP])
  t.equal(readdirSync(folder).length, 5)
  await first.close()
  const long = new Date(Date.now() - 100_000)
  for (const name of [stranger.nonce + '.intents', 'cut.intents']) utimesSync(join(folder, name), long, long)
  const second = await open(folders)
  t.teardown(() => second.close())
  t.strictSame(readdirSync(folders.root), [], 'until they have been silent for long')
  t.equal(readdirSync(folder).length, 3)
  t.equal(silenceOf(folder, 'nobody'), Infinity)
})

t.test('leaves what another server’s sweep has removed, and says what it can’t read', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const folder = join(folders.state, 'intents')
  const first = await open(folders)
  symlinkSync('gone', join(folder, 'removed.intents'))
  await first.close()
  await (await open(folders)).close()
  mkdirSync(join(folder, 'folder.intents'))
  await t.rejects(open(folders), { code: 'EISDIR' })
})

t.test('reuses its slots', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a'), '')
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  const size = (): number =>
    statSync(join(folders.state, 'intents', readdirSync(join(folders.state, 'intents'))[0] ?? '')).size
  await workspace.edit({ path: 'a' }, REAL, append('x'))
  const once = size()
  for (let i = 0; i < 50; i++) await workspace.edit({ path: 'a' }, REAL, append('x'))
  t.equal(size(), once)
})

/** A server's record in a folder of its own, and the file that it is. */
function ownRecord(t: Test, beat?: number) {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const { intents: folder } = openState(folders.state)
  const owner = thisOwner()
  const intents = new Intents(folder, owner, beat)
  t.teardown(() => intents.close())
  return { intents, folder, nonce: owner.nonce, file: join(folder, owner.nonce + '.intents') }
}

t.test(
  'shows that it is alive, and uses no slot that it couldn’t write',
  { skip: ONLY_CI || (onLinux ? false : 'needs prlimit') },
  async t => {
    const { intents, folder, nonce, file } = ownRecord(t, 10)
    utimesSync(file, 0, 0)
    await new Promise(resolve => setTimeout(resolve, 100))
    t.ok(silenceOf(folder, nonce) < 10_000)
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=1000:unlimited'])
    t.throws(() => intents.begin(Buffer.from(TEMP)), { code: 'EFBIG' })
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:unlimited'])
    t.equal(intents.begin(Buffer.from(TEMP)), 1)
  }
)

t.test(
  'has no record where the owner could not be written, and makes it when that can be',
  { skip: ONLY_CI || (onLinux ? false : 'needs prlimit') },
  async t => {
    const { intents, file } = ownRecord(t)
    unlinkSync(file)
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=1:unlimited'])
    t.throws(() => intents.renew(), { code: 'ENOSPC' })
    spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:unlimited'])
    t.notOk(intents.exists())
    t.equal(intents.generation, 0)
    intents.renew()
    t.ok(intents.exists())
    t.equal(intents.generation, 1)
    intents.begin(Buffer.from(TEMP))
    t.ok(readFileSync(file).includes(TEMP))
  }
)

t.test(
  'restores the other files if one can’t be restored',
  { skip: onLinux && process.getuid?.() === 0 ? false : 'needs root and chattr' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const owner = deadOwner()
    for (const name of ['fixed', 'torn']) {
      await leaveJournal(folders, owner, name, 'old text', 'new text')
      writeFileSync(join(folders.root, name), 'new te')
    }
    if (spawnSync('chattr', ['+i', join(folders.root, 'fixed')]).status !== 0) {
      return t.comment('the file system does not support attributes')
    }
    t.teardown(() => spawnSync('chattr', ['-i', join(folders.root, 'fixed')]))
    const outcomes: string[] = []
    const workspace = await open(folders, { report: ({ path, outcome }) => outcomes.push(`${path} ${outcome}`) })
    t.strictSame(outcomes.sort(), ['fixed failed: EPERM', 'torn restored'])
    await workspace.close()
    spawnSync('chattr', ['-i', join(folders.root, 'fixed')])
    const next = await open(folders)
    t.equal(readFileSync(join(folders.root, 'fixed'), 'utf8'), 'old text')
    await next.close()
  }
)

t.test('restores files that were left half written in place', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
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
    await leaveJournal(folders, owner, name, 'old text', 'new text')
    if (name === 'replaced') {
      writeFileSync(join(folders.root, 'new'), '')
      renameSync(join(folders.root, 'new'), join(folders.root, name))
    }
    if (left === null) unlinkSync(join(folders.root, name))
    else writeFileSync(join(folders.root, name), left)
    if (name === 'changed') utimesSync(join(folders.root, name), new Date(), new Date(Date.now() + 11_000))
  }
  const journal = join(folders.state, 'journal')
  writeFileSync(join(journal, 'orphan.old'), 'x')
  writeFileSync(join(journal, 'cut.json'), '{')
  utimesSync(join(journal, 'orphan.old'), 0, 0)
  await leaveJournal(folders, thisOwner(), 'living', 'old text', 'new text')
  const outcomes: string[] = []
  const workspace = await open(folders, {
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
    if (after !== null) t.equal(readFileSync(join(folders.root, name), 'utf8'), after, name)
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
  const next = await open(folders, { report: ({ outcome }) => outcomes.push(String(outcome)) })
  await next.close()
  t.strictSame(outcomes, [], 'and says so once')
})

t.test('keeps a copy whose record is not written yet, however long that takes', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  writeFileSync(join(folders.root, 'a'), 'old text')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const { pin, snapshot, close } = await readPinned(root, 'a')
  const journal = new Journal(openState(folders.state), observer(), 'full')
  const saving = journal.save(pin, snapshot, sha256('new text'))
  const folder = join(folders.state, 'journal')
  const [copy] = readdirSync(folder)
  t.match(copy, /^[0-9a-f]{24}\.old$/, 'it is being synced')
  utimesSync(join(folder, copy!), 0, 0)
  await journal.records(() => {})
  const saved = await saving
  t.equal(readFileSync(join(folder, copy!), 'utf8'), 'old text')
  t.strictSame(readdirSync(folder).sort(), [copy!.replace('.old', '.json'), copy])
  saved.drop()
  t.strictSame(readdirSync(folder), [])
  close()
})

t.test('restores nothing from a damaged or missing copy', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  await leaveJournal(folders, deadOwner(), 'torn', 'old text', 'new text')
  writeFileSync(join(folders.root, 'torn'), 'new te')
  const copy = readdirSync(join(folders.state, 'journal')).find(name => name.endsWith('.old')) ?? ''
  writeFileSync(join(folders.state, 'journal', copy), 'damaged')
  const outcomes: unknown[] = []
  const first = await open(folders, { report: event => outcomes.push(event.outcome) })
  t.strictSame(outcomes, ['copy_damaged'], 'says so once')
  t.equal(readFileSync(join(folders.root, 'torn'), 'utf8'), 'new te')
  await first.close()
  await leaveJournal(folders, deadOwner(), 'torn', 'old text', 'new text')
  writeFileSync(join(folders.root, 'torn'), 'new te')
  rmSync(
    join(
      folders.state,
      'journal',
      readdirSync(join(folders.state, 'journal')).find(name => name.endsWith('.old')) ?? ''
    )
  )
  const second = await open(folders, { report: event => outcomes.push(event.outcome) })
  await second.close()
  t.strictSame(outcomes, ['copy_damaged', 'copy_damaged'])
})

t.test(
  'restores a half-written file when its server was killed',
  { skip: ONLY_CI || (onLinux ? false : 'needs /proc') },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a'), 'old text')
    const outcomes: string[] = []
    const workspace = await open(folders, {
      lockTimeout: 5000,
      report: ({ event, outcome }) => outcomes.push(`${event} ${outcome ?? ''}`)
    })
    t.teardown(() => workspace.close())
    const second = startWorker({ ...folders, file: 'a', count: 1, name: 'second', hold: 60_000 })
    await second.printed('holding')
    // As if it had begun to write.
    await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
    writeFileSync(join(folders.root, 'a'), 'new te')
    second.child.kill('SIGKILL')
    await second.ended
    t.match(await workspace.edit({ path: 'a' }, REAL, append('!')), { ok: true })
    t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'old text!')
    t.strictSame(outcomes, ['journal_recovered restored'])
  }
)

t.test('never edits a half-written file, whatever the lock', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const outcomes: string[] = []
  const workspace = await open(folders, {
    lock: 'local',
    report: ({ event, outcome }) => outcomes.push(`${event} ${outcome}`)
  })
  t.teardown(() => workspace.close())
  await leaveJournal(folders, deadOwner(), 'b', 'b', 'bb')
  await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(folders.root, 'a'), 'new te')
  t.match(await workspace.edit({ path: 'a' }, REAL, append('!')), { ok: true })
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'old text!')
  t.strictSame(outcomes, ['journal_recovered restored'])

  await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(folders.root, 'a'), 'new te')
  const journal = join(folders.state, 'journal')
  const copy =
    readdirSync(journal).find(
      name => name.endsWith('.old') && readFileSync(join(journal, name), 'utf8') === 'old text'
    ) ?? ''
  rmSync(join(journal, copy))
  mkdirSync(join(journal, copy))
  await t.rejects(workspace.edit({ path: 'a' }, REAL, append('!')), /half written/)
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'new te', 'nor one that can’t be restored now')
  t.equal(outcomes[1], 'journal_unrecovered failed: EISDIR')
})

t.test('restores later what it couldn’t restore at once', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const path = join(folders.root, 'a')
  writeFileSync(path, 'old text')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const read = await readPinned(root, 'a')
  const { real, relative, stat } = read.pin
  // Nothing can be written through this one, which isn't noticed before.
  const pin: Pin = {
    real,
    relative,
    stat,
    replaced: false,
    renew: () => true,
    open: () => openSync(path, 'r'),
    writable: () => true,
    inPlace: () => true,
    hasFineTimes: () => false,
    close() {}
  }
  const events: object[] = []
  const journal = new Journal(openState(folders.state), observer(), 'fast')
  const context = {
    root,
    journal,
    durability: 'fast',
    lock: ownLock(),
    locks: ownLocks,
    report: (event: object) => {
      events.push(event)
    }
  } as const
  const unasked = { disk: { call: async () => {} } } as unknown as Root
  const error: unknown = await writeInPlace(
    { ...context, root: unasked },
    {
      pin,
      snapshot: read.snapshot,
      pieces: [Buffer.from('new text')],
      size: 8,
      digest: Promise.resolve(sha256('new text')),
      record: unrecorded
    }
  ).catch(error => error)
  t.match(error, /half written/)
  t.equal(failureOf(error), null)
  t.strictSame(events, [{ event: 'left_half_written', path: 'a', reason: 'EBADF' }])
  read.close()
  writeFileSync(path, 'new te')
  await recoverInPlace(
    { ...context, hasBatch: () => false },
    async (_, work) => {
      await work()
      return true
    },
    { path: relative, object: undefined }
  )
  t.equal(readFileSync(path, 'utf8'), 'old text')
  t.match(events[1], { event: 'journal_recovered', outcome: 'restored' })
  t.strictSame((await journal.records(context.report)).ofTheDead, [])
})

t.test('skips a record that has disappeared, but not one that can’t be read', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const state = openState(folders.state)
  const journal = new Journal(state, observer(), 'fast')
  symlinkSync('gone', join(state.journal, 'gone.json'))
  t.strictSame(await journal.records(() => t.fail('reports nothing')), { ofTheDead: [], others: false })
  mkdirSync(join(state.journal, 'folder.json'))
  await t.rejects(
    journal.records(() => {}),
    { code: 'EISDIR' }
  )
})

t.test('leaves what a batch has written in place to the recovery of the batch', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text', 'the batch')
  writeFileSync(join(folders.root, 'a'), 'new te')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const journal = new Journal(openState(folders.state), observer(), 'fast')
  const recover = (isThere: boolean): Promise<boolean> =>
    recoverInPlace(
      {
        root,
        journal,
        locks: ownLocks,
        durability: 'fast',
        report: () => {},
        hasBatch: id => isThere && id === 'the batch'
      },
      async (_, work) => {
        await work()
        return true
      }
    )
  t.equal(await recover(true), false)
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'new te')
  t.equal(await recover(false), true)
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'old text')
})

t.test('reports that a file is changing rather than edit it half written', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
  writeFileSync(join(folders.root, 'a'), 'new te')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const journal = new Journal(openState(folders.state), observer(), 'fast')
  const found = await journal.records(() => {})
  for (const record of found.ofTheDead) {
    const { keep } = record
    record.keep = present => {
      writeFileSync(join(folders.root, 'a'), 'by another')
      return keep(present)
    }
  }
  journal.records = async () => found
  const context = {
    root,
    journal,
    locks: ownLocks,
    durability: 'fast',
    report: () => {},
    hasBatch: () => false
  } as const
  await t.rejects(
    recoverInPlace(
      context,
      async (_, work) => {
        await work()
        return true
      },
      { path: Buffer.from('a'), object: undefined }
    ),
    { code: 'RACED' }
  )
  t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'by another')
  t.notOk(readdirSync(join(folders.state, 'journal')).some(name => name.endsWith('.kept')))
})

t.test('remembers a temp file that it could not remove', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  const folder = root.openFolder(Buffer.alloc(0))
  t.teardown(() => folder.close())
  const state = openState(folders.state)
  for (const stays of [false, true]) {
    const intents = new Intents(state.intents, thisOwner())
    const options = {
      name: ownLock().temp,
      intents,
      durability: 'fast',
      folder,
      folderPath: Buffer.alloc(0),
      mode: 0o600,
      content: { pieces: [Buffer.from('x')], size: 1 },
      ready: unrecorded
    } as const
    await withTemp(options, temp => {
      unlinkSync(temp)
      if (stays) mkdirSync(temp)
      return ok('named')
    })
    intents.close()
    t.equal(readdirSync(state.intents).length, stays ? 1 : 0)
  }
  const [name = ''] = readdirSync(folders.root)
  t.ok(readFileSync(join(state.intents, readdirSync(state.intents)[0] ?? '')).includes(name))
})

t.test(
  'waits no longer than its timeout for a file that another is editing when it starts',
  { skip: ONLY_CI },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a'), 'x')
    const second = startWorker({ ...folders, file: 'a', count: 1, name: 'second', hold: 60_000 })
    await second.printed('holding')
    await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
    writeFileSync(join(folders.root, 'a'), 'new te')
    const outcomes: unknown[] = []
    const workspace = await open(folders, { lockTimeout: 200, report: event => outcomes.push(event.outcome) })
    t.strictSame(outcomes, ['file_locked'])
    second.child.kill('SIGKILL')
    await second.ended
    await workspace.close()
    const next = await open(folders)
    t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'old text')
    await next.close()
  }
)

t.test('sweeps every minute, and reports a sweep that fails', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const events: string[] = []
  const workspace = await open(folders, { report: ({ event }) => events.push(event) })
  t.teardown(() => workspace.close())
  writeFileSync(join(folders.root, TEMP), 'x')
  leaveIntents(folders, deadOwner(), [TEMP])
  const swept = async (count: number): Promise<void> => {
    while (events.length < count) {
      mock.timers.tick(60_000)
      await new Promise(setImmediate)
    }
  }
  await swept(1)
  t.strictSame(events, ['temp_file_removed'])
  rmSync(join(folders.state, 'locks'), { recursive: true })
  await swept(2)
  t.strictSame(events, ['temp_file_removed', 'sweep_failed'])
})

t.test(
  'runs one sweep at a time, waits for it on close, and runs none after a first one that fails',
  { skip: ONLY_CI },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    mock.timers.enable({ apis: ['setInterval'] })
    t.teardown(() => mock.timers.reset())
    const outcomes: unknown[] = []
    const report = ({ event, outcome }: { event: string; outcome?: unknown }): void => {
      outcomes.push(outcome ?? event)
    }
    const another = new Intents(openState(folders.state).intents, thisOwner())
    t.teardown(() => another.close())
    const workspace = await open(folders, { lockTimeout: 200, report })
    await leaveJournal(folders, deadOwner(), 'a', 'old text', 'new text')
    writeFileSync(join(folders.root, 'a'), 'new te')
    const state = openState(folders.state)
    const locks = new Locks({
      root: null,
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
    await t.rejects(open(folders, { report }), { code: 'ENOTDIR' })
    mock.timers.tick(60_000)
    await new Promise(setImmediate)
    t.strictSame(outcomes, ['file_locked'])
  }
)

t.test(
  'keeps every acknowledged edit of a process that is killed again and again',
  { skip: ONLY_CI || (onLinux ? false : 'needs /proc'), timeout: 120_000 },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const file = join(folders.root, 'a.txt')
    writeFileSync(file, '')
    let acknowledged = 0
    const rounds = Number(process.env['EDITD_KILLS'] ?? often(30, 1))
    for (let round = 0; round < rounds; round++) {
      const worker = startWorker({ ...folders, file: 'a.txt', count: 100_000, name: `r${round}-` })
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
    const workspace = await open(folders)
    t.match(await workspace.edit({ path: 'a.txt' }, REAL, become('end')), { ok: true })
    await workspace.close()
    t.strictSame(readdirSync(folders.root), ['a.txt'], 'no temp file is left')
    // A lock's folder that was being made when its maker was killed has a dot in its name, and goes ten seconds later.
    for (const part of ['locks', 'intents', 'journal']) {
      t.strictSame(
        readdirSync(join(folders.state, part)).filter(name => part !== 'locks' || !name.includes('.')),
        [],
        `nothing is left in ${part}`
      )
    }
  }
)

t.test('agrees on one secret, however many servers start at once', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const workers = Array.from({ length: 3 }, (_, i) =>
    startWorker({ ...folders, file: 'missing', count: 0, name: `w${i}` })
  )
  await Promise.all(workers.map(worker => worker.ended))
  t.ok(workers.every(worker => worker.lines[0] === 'ready'))
  t.equal(readFileSync(join(folders.state, 'secret')).length, 32)
})
