// Large files that are edited at once: waiting in turn, giving up in time, and the answer to a request that gave up.
// runs alone: it measures the memory of its process
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { Workers } from '../../src/workers/workers.ts'
import { makeOperations } from '../../src/operations.ts'
import { BufferPool } from '../../src/workspace/buffer-pool.ts'
import { append, become, heldEdit, makeFolders, onLinux, open, REAL, removeFolders } from '../folder/support/open.ts'

t.test('gives each request its bytes in turn, as soon as there are enough', { skip: ONLY_CI }, async t => {
  const memory = new BufferPool(10)
  const order: string[] = []
  const first = await memory.take(8, 1000)
  const later = [memory.take(9, 10_000), memory.take(1, 10_000)].map(async (taken, i) => {
    const release = await taken
    order.push(`${i}`)
    release!()
  })
  order.push('released')
  first!()
  await Promise.all(later)
  t.strictSame(order, ['released', '0', '1'], 'the small one doesn’t overtake')
  const all = await memory.take(10, 1000)
  t.equal(await memory.take(1, 1), null)
  all!()
  t.ok(await memory.take(10, 1000), 'who gave up holds nothing')
})

t.test(
  'answers NOT_READY where large files take too long, and edits small ones meanwhile',
  { skip: ONLY_CI },
  async t => {
    const folders = makeFolders()
    const workspace = await open(folders, { maxFileSize: 200e6, lockTimeout: 300 })
    for (const name of ['a', 'b']) writeFileSync(join(folders.root, name), Buffer.alloc(150e6, 'a'))
    writeFileSync(join(folders.root, 'c'), 'c')
    const slow = await heldEdit(workspace, 'a', REAL, append('x'))
    t.match(await workspace.edit({ path: 'c' }, REAL, append('x')), { ok: true })
    t.match(await workspace.edit({ path: 'b' }, REAL, append('x')), {
      ok: false,
      failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 }
    })
    slow.goOn()
    t.match(await slow.done, { ok: true })
    t.match(await workspace.edit({ path: 'b' }, REAL, append('x')), { ok: true })
    await workspace.close()
    removeFolders(folders)
  }
)

t.test('keeps large buffers for the next requests, within its budget', t => {
  const memory = new BufferPool(1)
  t.equal(memory.buffer(10).length, 10)
  memory.reuse(memory.buffer(10))
  const first = memory.buffer(3e6)
  t.equal(first.length, 3e6)
  memory.reuse(first)
  t.not(memory.buffer(1.2e6).buffer, first.buffer, 'not for one of less than half its size')
  t.not(memory.buffer(9e6).buffer, first.buffer, 'not for a larger one')
  const again = memory.buffer(2.9e6)
  t.equal(again.buffer, first.buffer)
  t.equal(again.length, 2.9e6)
  t.not(memory.buffer(2.9e6).buffer, first.buffer, 'not for two at once')
  for (let i = 0; i < 20; i++) memory.reuse(Buffer.allocUnsafeSlow(7e6))
  memory.reuse(first)
  t.equal(memory.buffer(3e6).buffer, first.buffer, 'the last one is kept')
  const moved = memory.buffer(3e6)
  structuredClone(moved.buffer, { transfer: [moved.buffer as ArrayBuffer] })
  memory.reuse(moved)
  t.equal(memory.buffer(3e6).length, 3e6, 'one that went away isn’t')
  t.end()
})

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

t.test('hashes large results correctly in reused buffers, wherever the change is', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  const workspace = await open(folders)
  const workers = new Workers()
  const { edit } = makeOperations(workspace, { max_edits: 10, max_file_size: 1e8 }, workers)
  const path = join(folders.root, 'a')
  let text = Array.from({ length: 500_000 }, (_, i) => `line ${i}\n`).join('')
  writeFileSync(path, text)
  const check = async (number: number, by: string): Promise<void> => {
    const before = sha256(readFileSync(path))
    const done = await edit.call({ path: 'a', old_text: `line ${number}\n`, new_text: by, expected_hash: before })
    text = text.replace(`line ${number}\n`, by)
    t.ok(readFileSync(path).equals(Buffer.from(text)), `${number} ${by}`)
    const [hash_before, file_hash] = [before, sha256(Buffer.from(text))].map(hash => hash.slice(0, 16))
    t.match(done, { ok: true, value: { outcome: { hash_before, file_hash } } })
  }
  for (const number of [0, 1, 120_000, 249_000, 260_000, 400_000, 499_998, 499_999]) {
    await check(number, `changed ${'x'.repeat(number / 1000)}\n`)
  }
  await check(300_000, '')
  const now = readFileSync(path)
  t.match(await edit.call({ path: 'a', old_text: 'line 444444\n', new_text: 'line 444444\n' }), {
    ok: true,
    value: { outcome: { changed: false, file_hash: sha256(now).slice(0, 16) } }
  })
  for (const [plan, same] of [
    [become(now), true],
    [become(Buffer.from(now.map((byte, i) => (i === 3 ? 88 : byte)))), false]
  ] as const) {
    t.match(await workspace.edit({ path: 'a' }, REAL, plan), { ok: true, value: { changed: !same } })
    t.equal(readFileSync(path).equals(now), same)
  }
  writeFileSync(path, now)
  t.match(await workspace.edit({ path: 'a' }, REAL, append('end')), {
    ok: true,
    value: { new_hash: sha256(Buffer.concat([now, Buffer.from('end')])) }
  })
  await workers.close()
  await workspace.close()
  removeFolders(folders)
})

const kilobytes = (field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1])

// LARGE=50 takes files of 50 MB, and two gigabytes of disk.
t.test(
  'lets forty clients edit large files at once in bounded memory while small edits go on',
  { skip: ONLY_CI, timeout: 600_000 },
  async t => {
    const folders = makeFolders()
    const size = Number(process.env.LARGE ?? 10) * 1e6
    const workspace = await open(folders, { lockTimeout: 300_000 })
    const workers = new Workers()
    const { edit } = makeOperations(workspace, { max_edits: 10, max_file_size: 1e8 }, workers)
    const change = (path: string, new_text: string) => edit.call({ path, old_text: 'here', new_text })
    const bytes = Buffer.alloc(size, 'a line of text like others\n')
    bytes.write('here', size - 1000)
    for (let i = 0; i < 40; i++) writeFileSync(join(folders.root, `large${i}`), bytes)
    writeFileSync(join(folders.root, 'small'), 'here')
    await change('small', 'here and here')
    writeFileSync(join(folders.root, 'small'), 'here')
    const before = onLinux ? kilobytes('VmRSS') : 0
    let most = 0
    const running = new AbortController()
    const took: number[] = []
    const small = (async () => {
      while (!running.signal.aborted) {
        const start = performance.now()
        const done = await edit.call({ path: 'small', old_text: 'he', new_text: 'he' })
        t.equal(done.ok, true)
        took.push(performance.now() - start)
        if (onLinux) most = Math.max(most, kilobytes('VmRSS') - before)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    })()
    const done = await Promise.all(Array.from({ length: 40 }, (_, i) => change(`large${i}`, 'HERE')))
    running.abort()
    await small
    t.strictSame(
      done.filter(({ ok }) => !ok),
      []
    )
    bytes.write('HERE', size - 1000)
    for (let i = 0; i < 40; i++) t.ok(readFileSync(join(folders.root, `large${i}`)).equals(bytes), `large${i}`)
    took.sort((a, b) => a - b)
    t.comment(
      `memory grew by ${(most / 1000).toFixed()} MB of ${(size * 40) / 1e6}; ${took.length} small edits, ` +
        `median ${took[took.length >> 1]?.toFixed(1)} ms, longest ${took.at(-1)?.toFixed(1)} ms`
    )
    t.ok(took.length > 10, 'small ones weren’t kept waiting')
    // There is also the memory of two threads and what isn't collected yet: with smaller files, that would be most of
    // it.
    if (size >= 50e6) t.ok(most * 1024 < (size * 40) / 2, `grew by ${most} kB`)
    await workers.close()
    await workspace.close()
    removeFolders(folders)
  }
)
