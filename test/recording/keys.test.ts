import { appendFileSync, linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { EditRecord, Settlement } from '../../src/log/record.ts'
import { createHash } from 'node:crypto'
import { ok } from '../../src/result.ts'
import { settle, type Settling } from '../../src/folder/settle.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { breakFolder, NO_PRLIMIT, openAs, takeDescriptors } from '../log/support/history.ts'
import { append, makeFolders, open, removeFolders, type Folders } from '../folder/support/open.ts'

async function fresh(t: Test): Promise<{ folders: Folders; start(): Promise<Workspace> }> {
  const folders = makeFolders()
  const opened: Workspace[] = []
  t.teardown(async () => {
    await Promise.all(opened.map(workspace => workspace.close()))
    removeFolders(folders)
  })
  return {
    folders,
    async start() {
      const workspace = await open(folders, { history: 'full', lockTimeout: 500 })
      opened.push(workspace)
      return workspace
    }
  }
}

/** Appends a line to a.txt under a key; the answer is the text that was appended. */
const appendOnce = (workspace: Workspace, line: string, { key = 'k', fingerprint = line } = {}) =>
  workspace.keyed({ scope: 'edit_file', key, fingerprint }, async held => {
    const done = await workspace.edit(
      { path: 'a.txt' },
      {
        dry_run: false,
        origin: { operation: 'edit', key: held },
        outcome: edited => ({ edit_id: edited.edit_id, line })
      },
      append(line)
    )
    return done.ok ? { edit_id: done.value.edit_id, line } : done.failure.code
  })

t.test('carries a request out once, also after a restart and by another server', async t => {
  const { folders, start } = await fresh(t)
  const text = () => readFileSync(join(folders.root, 'a.txt'), 'utf8')
  writeFileSync(join(folders.root, 'a.txt'), '')
  const workspace = await start()
  const first = await appendOnce(workspace, 'one\n')
  if (!first.ok || !('done' in first.value)) throw new Error('not done')
  const again = { ok: true, value: { replayed: first.value.done } }
  t.strictSame(await appendOnce(workspace, 'one\n'), again)
  t.strictSame(await appendOnce(await start(), 'one\n'), again)
  await workspace.close()
  t.strictSame(await appendOnce(await start(), 'one\n'), again)
  t.equal(text(), 'one\n')
  t.strictSame(await appendOnce(await start(), 'two\n'), {
    ok: false,
    failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'another_request' }
  })
  t.match(await appendOnce(await start(), 'two\n', { key: 'other' }), { ok: true, value: { done: { line: 'two\n' } } })
  t.equal(text(), 'one\ntwo\n')
})

t.test('carries out once what many ask for at once', async t => {
  const { folders, start } = await fresh(t)
  writeFileSync(join(folders.root, 'a.txt'), '')
  const servers = await Promise.all([start(), start()])
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => appendOnce(servers[i % 2]!, 'one\n')))
  t.equal(answers.filter(answer => answer.ok && 'done' in answer.value).length, 1)
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
})

t.test('carries it out once though the clock jumps by a day, and again when a day has passed', async t => {
  const { folders, start } = await fresh(t)
  writeFileSync(join(folders.root, 'a.txt'), '')
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const hours = (ahead: number): void => {
    Date.now = () => now() + ahead * 3_600_000
  }
  let workspace = await start()
  const again = async (): Promise<void> => {
    await workspace.close()
    workspace = await start()
  }
  await appendOnce(workspace, 'one\n')
  hours(25)
  t.match(await appendOnce(workspace, 'one\n'), { value: { replayed: { line: 'one\n' } } })
  await again()
  t.match(await appendOnce(workspace, 'one\n'), { value: { replayed: { line: 'one\n' } } })
  // What it has seen is half a day later with each start.
  await again()
  await again()
  t.match(await appendOnce(workspace, 'one\n'), { value: { done: { line: 'one\n' } } })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\none\n')
})

t.test('keeps the answer of a request that changes nothing, and none of one that failed', async t => {
  const { folders, start } = await fresh(t)
  const workspace = await start()
  t.strictSame(await appendOnce(workspace, 'one\n'), { ok: true, value: { done: 'FILE_NOT_FOUND' } })
  writeFileSync(join(folders.root, 'a.txt'), '')
  t.match(await appendOnce(workspace, 'one\n'), { ok: true, value: { done: { line: 'one\n' } } })
  t.match(await appendOnce(workspace, '', { key: 'noop' }), { ok: true, value: { done: { line: '' } } })
  t.match(await appendOnce(workspace, '', { key: 'noop' }), { ok: true, value: { replayed: { line: '' } } })
})

t.test('carries nothing out while it can not be seen whether it was', async t => {
  const { folders, start } = await fresh(t)
  writeFileSync(join(folders.root, 'a.txt'), '')
  const workspace = await start()
  await appendOnce(workspace, 'one\n')
  const mend = breakFolder(join(folders.state, 'history'))
  t.strictSame(await appendOnce(workspace, 'one\n'), {
    ok: false,
    failure: { code: 'NOT_READY', reason: 'history_unreadable', retry_after: 5 }
  })
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
  mend()
  t.match(await appendOnce(workspace, 'one\n'), { ok: true, value: { replayed: {} } })
})

t.test('carries nothing out while the lock of a key can not be had', async t => {
  const { folders, start } = await fresh(t)
  writeFileSync(join(folders.root, 'a.txt'), '')
  const workspace = await start()
  await appendOnce(await start(), 'one\n')
  const notReady = (reason: string, retry_after: number) => ({
    ok: false,
    failure: { code: 'NOT_READY', reason, retry_after }
  })
  const mend = breakFolder(join(folders.state, 'locks'))
  const broken = appendOnce(workspace, 'two\n')
  t.strictSame(await broken.finally(mend), notReady('state_unwritable', 5))
  if (NO_PRLIMIT === false) {
    const giveBack = takeDescriptors()
    const exhausted = appendOnce(workspace, 'two\n')
    t.strictSame(await exhausted.finally(giveBack), notReady('no_descriptors', 1))
  }
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'one\n')
  t.match(await appendOnce(workspace, 'one\n'), { ok: true, value: { replayed: { line: 'one\n' } } })
})

t.test('says that a request is still being carried out', async t => {
  const { start } = await fresh(t)
  const workspace = await start()
  let finish = (): void => {}
  const running = workspace.keyed(
    { scope: '', key: 'k', fingerprint: '' },
    () => new Promise<void>(resolve => (finish = resolve))
  )
  await new Promise(resolve => setTimeout(resolve, 20))
  t.strictSame(await workspace.keyed({ scope: '', key: 'k', fingerprint: '' }, async () => 1), {
    ok: false,
    failure: { code: 'REQUEST_IN_FLIGHT', retry_after: 1 }
  })
  finish()
  await running
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Leaves an unsettled record of a server that was killed while it appended `line` to a.txt under the key `k`. */
async function killedServer(
  { state }: Folders,
  digest: string,
  [before, line]: readonly [string, string],
  temp?: string
) {
  const history = await openAs('killed', join(state, 'history'), { isAlive: async () => false })
  const record: EditRecord = {
    edit_id: history.nextId(),
    operation: 'edit',
    at: Date.now(),
    path: Buffer.from('a.txt'),
    hash_before: hashOf(before),
    hash_after: hashOf(before + line),
    size_before: before.length,
    size_after: before.length + line.length,
    lines_added: 1,
    lines_removed: 0,
    splices: [{ start: before.length, old: Buffer.alloc(0), insert: Buffer.from(line) }],
    places: [],
    ...(temp !== undefined && { temp }),
    key: { digest, fingerprint: line, outcome: 'of the one killed' }
  }
  await history.append(record, { durable: false })
  await history.close()
}

/** The state of the file when a server that was killed in mid-edit is followed by another, and what that finds. */
function checkKilled(
  name: string,
  { present, temp, linked = false, after }: { present: string; temp?: string; linked?: boolean; after?: string },
  expected: { settled: Settlement; text: string; answer: object }
): void {
  t.test(name, async t => {
    const { folders, start } = await fresh(t)
    const file = join(folders.root, 'a.txt')
    writeFileSync(file, 'one\n')
    const first = await start()
    // By this the digest of the key is known.
    let digest = ''
    await first.keyed({ scope: 'edit_file', key: 'k', fingerprint: '' }, async key => {
      digest = key.digest
    })
    await first.close()
    await killedServer(folders, digest, ['one\n', 'two\n'], temp)
    writeFileSync(file, present)
    if (linked) linkSync(file, join(folders.root, temp!))
    else if (temp !== undefined) writeFileSync(join(folders.root, temp), '')
    const next = await start()
    if (after !== undefined) appendFileSync(file, after)
    const page = await next.history({ limit: 10 })
    t.equal(
      page.ok && (page.value.edits[0]?.state ?? 'void'),
      expected.settled === 'done' ? 'applied' : expected.settled
    )
    t.match(await appendOnce(next, 'two\n'), expected.answer)
    t.equal(readFileSync(file, 'utf8'), expected.text)
  })
}

checkKilled(
  'answers what a server did before it was killed',
  { present: 'one\ntwo\n' },
  { settled: 'done', text: 'one\ntwo\n', answer: { ok: true, value: { replayed: 'of the one killed' } } }
)
checkKilled(
  'carries out what a server did not do before it was killed',
  { present: 'one\n' },
  { settled: 'void', text: 'one\ntwo\n', answer: { ok: true, value: { done: { line: 'two\n' } } } }
)
checkKilled(
  'knows by the temp file that it did not, whatever the file has become',
  { present: 'saved\n', temp: '.0123456789abcdef01234567.tmp' },
  { settled: 'void', text: 'saved\ntwo\n', answer: { ok: true, value: { done: { line: 'two\n' } } } }
)
checkKilled(
  'refuses where nobody can tell any more whether it did',
  { present: 'saved\n' },
  {
    settled: 'uncertain',
    text: 'saved\n',
    answer: { ok: false, failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'uncertain' } }
  }
)
checkKilled(
  'still knows what it did where somebody has saved the file since',
  { present: 'one\ntwo\n', after: 'three\n' },
  { settled: 'done', text: 'one\ntwo\nthree\n', answer: { ok: true, value: { replayed: 'of the one killed' } } }
)
checkKilled(
  'knows that it did where the file still has the name of the temp file too',
  { present: 'one\ntwo\n', temp: '.0123456789abcdef01234567.tmp', linked: true },
  { settled: 'done', text: 'one\ntwo\n', answer: { ok: true, value: { replayed: 'of the one killed' } } }
)

/** What becomes of a request whose record has other bytes since, where a server that runs, or the next one, is asked again. */
function checkDamaged(name: string, damage: (segment: Buffer) => void): void {
  for (const isRunning of [true, false]) {
    t.test(`refuses where ${name} is damaged, ${isRunning ? 'while it runs' : 'after a restart'}`, async t => {
      const { folders, start } = await fresh(t)
      const file = join(folders.root, 'a.txt')
      writeFileSync(file, '')
      const first = await start()
      for (const key of ['before', 'k', 'after']) t.match(await appendOnce(first, `${key}\n`, { key }), { ok: true })
      if (isRunning) t.match(await appendOnce(first, 'k\n'), { ok: true, value: { replayed: { line: 'k\n' } } })
      else await first.close()
      const segments = join(folders.state, 'history')
      const segment = join(
        segments,
        readdirSync(segments).find(one => one.endsWith('.ndjson'))!
      )
      const bytes = readFileSync(segment)
      damage(bytes)
      writeFileSync(segment, bytes)
      const next = isRunning ? first : await start()
      for (const round of [1, 2]) {
        const failure = { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'damaged' }
        t.match(await appendOnce(next, 'k\n'), { ok: false, failure }, `round ${round}`)
      }
      t.equal(readFileSync(file, 'utf8'), 'before\nk\nafter\n')
      t.match(await appendOnce(next, 'after\n', { key: 'after' }), {
        ok: true,
        value: { replayed: { line: 'after\n' } }
      })
      t.match(await appendOnce(next, 'new\n', { key: 'new' }), { ok: true, value: { done: { line: 'new\n' } } })
    })
  }
}

/** Where the second record of a segment has this text, which each has once. */
const inSecond = (segment: Buffer, text: string): number => segment.indexOf(text, segment.indexOf(text) + 1)

checkDamaged('a record', segment => {
  segment[inSecond(segment, '"operation"') + 1]! ^= 1
})
checkDamaged('the digest of a key', segment => {
  segment[inSecond(segment, '"digest":"') + 20]! ^= 1
})

t.test('still has the answer of a request that changed nothing, whatever the file has become', async t => {
  const { folders, start } = await fresh(t)
  const first = await start()
  let digest = ''
  await first.keyed({ scope: 'edit_file', key: 'k', fingerprint: '' }, async key => {
    digest = key.digest
  })
  await first.close()
  await killedServer(folders, digest, ['one\n', ''])
  writeFileSync(join(folders.root, 'a.txt'), 'saved\n')
  t.match(await appendOnce(await start(), ''), { ok: true, value: { replayed: 'of the one killed' } })
})

t.test('leaves a change open, and reports it, where its file cannot be looked at now', async t => {
  const settled: string[] = []
  const events: object[] = []
  const record = { path: Buffer.from('a.txt'), hash_before: 'a', hash_after: 'b' } as EditRecord
  const settling = (recover: () => Promise<boolean>): Settling => ({
    history: { settle: (id: string) => settled.push(id) } as unknown as Settling['history'],
    root: {} as Settling['root'],
    acquire: async () => ok({ temp: '', alone_since: 'now', held: () => true, release: async () => {} }),
    recover,
    report: event => events.push(event)
  })
  const stored = { record, settled: null, nonce: 'killed', texts: 'none' } as const
  const failing = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
  t.equal(await settle(settling(failing), stored), 'uncertain')
  t.equal(
    await settle(
      settling(async () => false),
      stored
    ),
    'uncertain'
  )
  t.strictSame(events, [{ event: 'settle_failed', path: 'a.txt', reason: 'EIO' }])
  t.strictSame(settled, [])
})
