// Searches and plans in worker threads: same results, order, an event loop that isn't blocked, threads that die.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { often, ONLY_CI } from './often.ts'
import { AROUND, placesOf } from '../src/engine/undo/places.ts'
import { searchText } from '../src/engine/inspect/search.ts'
import { recordedDiff } from '../src/engine/report/recorded-diff.ts'
import { planTask, type TaskChange, type Task } from '../src/engine/task.ts'
import { bufferOf, transferable } from '../src/workers/thread.ts'
import { runJob } from '../src/workers/job.ts'
import { HistoryReader } from '../src/workers/history-reader.ts'
import { PlanMaker } from '../src/workers/plan.ts'
import { Searcher } from '../src/workers/search.ts'
import { Threads } from '../src/workers/threads.ts'
import { Workers } from '../src/workers/workers.ts'
import { makeOperations } from '../src/operations.ts'
import { Random, randomFile, SEED } from './random.ts'
import { makeFolders, open, removeFolders } from './folder/support/open.ts'

const request = (text: string) => ({ text, regex: true, ignore_case: false })
const file = (lines: number) => Buffer.from('const value = compute(1)\nfunction other () {}\n'.repeat(lines / 2))

type SearchJob = { type: 'search'; bytes: Uint8Array; request: object; time: number; more?: unknown }

/** A search that finds one match, as a job, and the bytes that go along. */
function searchIn(threads: Threads<SearchJob, { search: object }>) {
  const bytes = new Uint8Array(Buffer.from('a'))
  const job = { type: 'search', bytes, request: { ...request('a'), regex: false }, time: 10_000 } as const
  return { bytes, done: threads.run(job, { transfer: [bytes.buffer] }) }
}

t.test('finds in a worker what it finds at once', async t => {
  const searcher = new Searcher()
  for (const lines of [100, 100_000]) {
    t.strictSame(
      await searcher.search(file(lines), request('c\\w+e\\(')),
      searchText(file(lines), request('c\\w+e\\('))
    )
  }
  const [pool] = [Buffer.from('x\n'.repeat(100_000)).subarray(2)]
  t.match(await searcher.search(pool, request('x')), { total_matches: 99_999 }, 'of a view')
  await searcher.close()
})

t.test('lets the event loop go on, and takes one search after the other', async t => {
  const searcher = new Searcher()
  const order: number[] = []
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 2)
  await searcher.search(file(20_000), request('x'))
  longest = 0
  last = performance.now()
  await Promise.all(
    [0, 1, 2].map(n =>
      searcher.search(file(often(200_000, 200_000, 20_000)), request('[a-z]+ = (c|d)ompute')).then(() => order.push(n))
    )
  )
  clearInterval(timer)
  t.strictSame(order, [0, 1, 2])
  t.comment(`longest stall ${longest.toFixed(1)} ms`)
  await searcher.close()
})

t.test('stops in time, and says how far it came', async t => {
  const searcher = new Searcher({ time: 1 })
  t.match(await searcher.search(file(400_000), request('[a-z]+ = (c|d)ompute')), {
    truncated: true,
    stopped_at_line: Number
  })
  await searcher.close()
})

t.test('ends a worker that a single line keeps busy, and goes on with another', async t => {
  const searcher = new Searcher({ time: 300, grace: 300 })
  const line = Buffer.from('ab'.repeat(2_000_000))
  t.match(await searcher.search(line, request('(a|b|ab|ba|aba){60}[^ab]')), {
    matches: [],
    truncated: true,
    stopped_at_line: 1
  })
  t.match(await searcher.search(file(10_000), request('nowhere')), { total_matches: 0 })
  await searcher.close()
})

t.test('compiles expressions in a worker, and gives up one that takes too long', async t => {
  const searcher = new Searcher()
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const long = { ...request('\\pL{1000}'.repeat(20)), ignore_case: true }
  t.match(await searcher.check(long), { ok: true })
  clearInterval(timer)
  t.ok(turns > 0, 'the event loop goes on')
  t.match(await searcher.check(request('(')), { ok: false, failure: { code: 'INVALID_REGEX', message: /missing/ } })
  await searcher.close()
  const hasty = new Searcher({ time: 1 })
  t.equal(await hasty.check({ ...long, text: long.text.repeat(5) }), null)
  await hasty.close()
})

t.test('ends only when the searches are done', async t => {
  const searcher = new Searcher()
  const searches = [0, 1, 2].map(() => searcher.search(file(20_000), request('c\\w+e\\(')))
  await searcher.close()
  for (const { total_matches } of await Promise.all(searches)) t.equal(total_matches, 10_000)
})

t.test('passes a failure of the worker on', async t => {
  const searcher = new Searcher()
  await t.rejects(searcher.search(file(100_000), request('(')))
  t.match(await searcher.search(file(100_000), request('value')), { total_matches: 50_000 })
  await searcher.close()
})

/** Bytes of a text that is planned in a thread. */
const LARGE = 300_000
const FILE = { path: 'a.txt', exists: true }
const taskOf = (change: TaskChange): Task => ({
  change,
  max_result_size: 1e8,
  context_lines: 2,
  dry_run: true,
  max_diff_lines: 50
})
const edit = (old_text: string, new_text: string, more = {}): TaskChange => ({
  operation: 'edit',
  edits: [{ old_text, new_text, ...more }],
  line_endings: 'adapt'
})

t.test('plans in a thread what it plans at once', { skip: ONLY_CI }, async t => {
  const planMaker = new PlanMaker()
  for (let round = 0; round < 12; round++) {
    const random = new Random(SEED * 90_001 + round)
    const { bytes: part, alphabet } = randomFile(random)
    const bytes = Buffer.concat([Buffer.alloc(LARGE, Buffer.concat([part, Buffer.from('x')])), Buffer.from('the end')])
    const old = random.text(alphabet, 30) || 'x'
    for (const change of [
      edit(old, random.text(alphabet, 30)),
      edit(old, 'y'.repeat(5000), { replace_all: true }),
      edit('THE END', 'it'),
      edit('the end', 'it'),
      {
        operation: 'edit_lines',
        edits: [{ start_line: 1, end_line: 1, new_text: old, ...(random.chance(30) && { expected_text: 'x' }) }],
        line_endings: 'exact'
      },
      { operation: 'create', content: old }
    ] satisfies TaskChange[]) {
      const here = planTask(bytes, taskOf(change), FILE)
      const there = await planMaker.plan(Buffer.from(bytes), taskOf(change), FILE)
      if (!there.ok || !here.ok) {
        t.strictSame(there, here, `${SEED} ${round}`)
        continue
      }
      const { pieces, description, original } = there.value as typeof there.value & { original: Buffer }
      t.strictSame(description, here.value.description)
      t.ok(Buffer.concat(pieces).equals(Buffer.concat(here.value.pieces)) && original.equals(bytes), `${SEED} ${round}`)
    }
  }
  await planMaker.close()
})

t.test('plans small files at once, but what takes long to explain', async t => {
  const planMaker = new PlanMaker()
  const bytes = () => Buffer.from('const value = 1\n'.repeat(100))
  const isLater = async (change: TaskChange) => {
    const plan = planMaker.plan(bytes(), taskOf(change), FILE)
    t.strictSame((await plan).ok, planTask(bytes(), taskOf(change), FILE).ok)
    return plan instanceof Promise
  }
  t.notOk(await isLater(edit('value', 'x', { replace_all: true })))
  t.notOk(await isLater(edit('valve', 'x')))
  t.ok(await isLater(edit('valve '.repeat(500), 'x')))
  t.ok(
    planMaker.plan(Buffer.from('ab'.repeat(2001)), taskOf(edit('a', 'x', { replace_all: true })), FILE) instanceof
      Promise,
    'more places than are replaced at once'
  )
  t.notOk(
    planMaker.plan(Buffer.from('ab'.repeat(2000)), taskOf(edit('a', 'x', { replace_all: true })), FILE) instanceof
      Promise
  )
  t.ok(
    await isLater({
      operation: 'edit_lines',
      edits: [{ start_line: 1, end_line: 1, new_text: '', expected_text: 'valve '.repeat(500) }],
      line_endings: 'adapt'
    })
  )
  await planMaker.close()
})

t.test('writes nothing where a thread dies, and goes on with another', { skip: ONLY_CI }, async t => {
  const folders = makeFolders()
  const workspace = await open(folders)
  const workers = new Workers({
    planMaker: new PlanMaker({ limits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } })
  })
  const { edit, edit_lines } = makeOperations(workspace, { max_edits: 60_000, max_file_size: 1e8 }, workers)
  const text = `${'const a = b\n'.repeat(60_000)}the end\n`
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folders.root, name), text)
  // More than such a small heap can hold.
  const edits = Array.from({ length: 60_000 }, (_, i) => ({ start_line: i + 1, end_line: i + 1, new_text: 'x' }))
  const dying = t.rejects(edit_lines.call({ path: 'a.txt', edits }), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
  t.match(await edit.call({ path: 'b.txt', old_text: 'the end', new_text: 'it' }), { ok: true })
  await dying
  t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), text)
  t.match(
    await edit.call({ path: 'a.txt', old_text: 'the end', new_text: 'it' }),
    { ok: true },
    'its lock is free, and another thread there'
  )
  await workers.close()
  await workspace.close()
  removeFolders(folders)
})

t.test('refuses more places than the heap of a thread can hold', async t => {
  const planMaker = new PlanMaker({ limits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 } })
  const text = Buffer.from('a\n'.repeat(500_000))
  const task: Task = {
    change: { operation: 'edit', edits: [{ old_text: 'a', new_text: 'b', replace_all: true }], line_endings: 'adapt' },
    max_result_size: 1e8,
    context_lines: 3,
    dry_run: false
  }
  const planned = await planMaker.plan(text, task, { path: 'a.txt', exists: true })
  t.match(planned, { failure: { code: 'RESULT_TOO_LARGE', what: 'replacements', limit: Number, actual: 500_000 } })
  await planMaker.close()
})

t.test('does each job as a thread would', async t => {
  const text = Buffer.from('one\ntwo\nthree\n')
  const task = (edits: { old_text: string; new_text: string }[]): Task => ({
    change: { operation: 'edit', edits, line_endings: 'adapt' },
    max_result_size: 100,
    context_lines: 3,
    dry_run: false
  })
  t.strictSame(await runJob({ type: 'search', bytes: text, request: request('t\\w+'), time: 1000 }), {
    result: searchText(text, request('t\\w+')),
    transfer: []
  })
  const bytes = transferable(text)
  const { result, transfer } = await runJob({
    type: 'plan',
    bytes,
    task: task([{ old_text: 'two', new_text: '2' }]),
    file: { path: 'a', exists: true }
  })
  t.match(result, { ok: true, value: { pieces: Array } })
  const { pieces } = (result as { value: { pieces: Buffer[] } }).value
  t.equal(Buffer.concat(pieces).toString(), 'one\n2\nthree\n')
  t.ok(transfer.includes(bytes.buffer), 'the bytes go back')
  t.match(bufferOf(bytes), text)
  t.match(
    await runJob({
      type: 'plan',
      bytes: text,
      task: task([{ old_text: 'four', new_text: '4' }]),
      file: { path: 'a', exists: true }
    }),
    { result: { ok: false, failure: { code: 'NO_MATCH' } }, transfer: [] }
  )
  t.match(await runJob({ type: 'replan', bytes: text, task: task([{ old_text: 'two', new_text: '2' }]) }), {
    result: { fits: true, places: [[2, 2]] },
    transfer: []
  })
  const planMaker = new PlanMaker()
  const large = () => Buffer.from(`${'x\n'.repeat(LARGE)}two\n`)
  t.match(await planMaker.replan(large(), { ...task([{ old_text: 'two', new_text: '2' }]), max_result_size: 1e6 }), {
    fits: true,
    places: [[LARGE + 1, LARGE + 1]]
  })
  const lines: Task = {
    ...task([]),
    change: { operation: 'edit_lines', edits: [{ start_line: 1, end_line: 1, new_text: '1' }], line_endings: 'adapt' },
    max_result_size: 1e6
  }
  const earlier = {
    changes: [{ edit_id: 'a', splices: [{ start: 0, old: Buffer.alloc(0), insert: Buffer.from('x\n') }] }],
    at: -1
  }
  const moved = { fits: true, places: [[2, 2]], moved: [{ start_line: 2, end_line: 2 }] }
  t.match(await planMaker.replan(large(), { ...lines, earlier }), moved, 'of lines that have moved')
  t.match(await planMaker.replan(Buffer.from('x\none\n'), { ...lines, earlier }), moved)
  await planMaker.close()
})

t.test('goes on behind a job that can not be sent to its thread', async t => {
  const threads = new Threads<SearchJob, { search: object }>('worker', { size: 1 })
  const job = (more?: unknown) =>
    threads.run(
      {
        type: 'search',
        bytes: Buffer.from('a'),
        request: { text: 'a', regex: false, ignore_case: false },
        time: 1000,
        more
      },
      { transfer: [] }
    )
  const unsendable = () => {}
  const found = { total_matches: 1 }
  await t.rejects(job(unsendable), { name: 'DataCloneError' })
  const [first, second, third, last] = await Promise.allSettled([job(), job(unsendable), job(unsendable), job()])
  t.match(
    [first, second, third, last],
    [{ value: found }, { reason: { name: 'DataCloneError' } }, { reason: { name: 'DataCloneError' } }, { value: found }]
  )
  t.equal(threads.jobs, 0)
  await threads.close()
})

t.test('fails a job for want of threads, or has it wait for one that there is, and keeps none of them', async t => {
  // No system has so much memory for the stack of a thread.
  const limits = { stackSizeMb: 1e9 }
  const threads = new Threads<SearchJob, { search: object }>('worker', { size: 2, limits })
  const search = () => searchIn(threads)
  const [first, second] = [search(), search()]
  await t.rejects(first.done, { code: 'ERR_WORKER_INIT_FAILED' })
  await t.rejects(second.done, { code: 'ERR_WORKER_INIT_FAILED' })
  t.equal(threads.jobs, 0)
  limits.stackSizeMb = 4
  const found = search()
  limits.stackSizeMb = 1e9
  const waiting = search()
  t.match(await Promise.all([found.done, waiting.done]), [{ total_matches: 1 }, { total_matches: 1 }])
  t.equal(first.bytes.length, 1, 'whoever was told that it failed still has the bytes')
  await threads.close()
})

t.test('ends a thread that has nothing to do, and starts another for the next job', async t => {
  const threads = new Threads<SearchJob, { search: object }>('worker', { size: 2, idle: 20 })
  const ended: Promise<unknown>[] = []
  const seen = (worker: Worker): unknown => ended.push(once(worker, 'exit'))
  process.on('worker', seen)
  // Idle threads, and what waits to end them, don't keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => {
    process.off('worker', seen)
    clearInterval(alive)
  })
  const search = () => searchIn(threads).done
  const found = { total_matches: 1 }
  for (const started of [2, 4]) {
    t.match(await Promise.all([search(), search()]), [found, found])
    t.equal(ended.length, started)
    await Promise.all(ended)
  }
  await threads.close()
})

t.test('shows a large recorded change by a thread, as on the event loop', { skip: ONLY_CI }, async t => {
  const reader = new HistoryReader()
  t.teardown(() => reader.close())
  for (const count of [10, 5000]) {
    const before = Buffer.from('one\ntwo\n'.repeat(count))
    const splices = Array.from({ length: count }, (_, i) => ({
      start: 8 * i,
      old: Buffer.from('o'),
      insert: Buffer.from('O')
    }))
    const options = { path: 'a.txt', exists: true, max_lines: 10, kept: AROUND }
    const shown = await reader.diff(splices, placesOf(before, splices), options)
    t.strictSame(shown, recordedDiff(splices, placesOf(before, splices), options))
    t.match(shown, { diff: /^--- a\/a\.txt\n/, diff_truncated: true })
  }
})

t.test("plans a large text for a small file in a thread, and takes nobody's empty buffer along", async t => {
  const planMaker = new PlanMaker()
  t.teardown(() => planMaker.close())
  const nothing = Buffer.alloc(0)
  const tasks: Task['change'][] = [
    { operation: 'create', content: 'x\n'.repeat(LARGE) },
    {
      operation: 'edit_lines',
      edits: [{ start_line: 1, end_line: 0, new_text: 'x\n'.repeat(LARGE) }],
      line_endings: 'adapt'
    }
  ]
  for (const change of tasks) {
    const planned = planMaker.plan(
      nothing,
      { change, max_result_size: 1e8, context_lines: 0, dry_run: false },
      { path: 'a.txt', exists: false }
    )
    t.ok(planned instanceof Promise)
    t.match(await planned, { ok: true, value: { original: nothing, splices: [{ start: 0, old: nothing }] } })
    t.equal(Buffer.concat([nothing, Buffer.from('a')]).toString(), 'a')
  }
})

t.test('takes changes of a large file back in a thread, as on the event loop', async t => {
  const planMaker = new PlanMaker()
  t.teardown(() => planMaker.close())
  for (const size of [1000, LARGE + 1]) {
    const before = Buffer.from('line\n'.repeat(size / 5))
    const changes = [
      { edit_id: 'a', splices: [{ start: 0, old: Buffer.from('line'), insert: Buffer.from('LINE') }] },
      { edit_id: 'b', splices: [{ start: 50, old: Buffer.from('line'), insert: Buffer.from('other') }] }
    ]
    const now = Buffer.from(`LINE${before.toString().slice(4, 50)}other${before.toString().slice(54)}`)
    const task = (edit_id: string) => ({
      changes,
      goal: { set: [{ edit_id }], to: 'undone' as const, on_conflict: 'refuse' as const },
      max_result_size: 10_000_000,
      context_lines: 0,
      dry_run: false
    })
    const planned = await planMaker.undo(Buffer.from(now), task('a'), { path: 'a.txt', exists: true })
    t.match(planned, {
      ok: true,
      value: { toggled: [{ edit_id: 'a' }], splices: [{ start: 0, old: Buffer.from('LINE') }] }
    })
    if (planned.ok) t.equal(Buffer.concat(planned.value.pieces).toString(), `line${now.toString().slice(4)}`)
    const gone = await planMaker.undo(Buffer.from(now), task('c'), { path: 'a.txt', exists: true })
    t.match(gone, { ok: false, failure: { code: 'HISTORY_GONE', edit_ids: ['c'] } })
    const small = { ...task('a'), max_result_size: 10 }
    const large = await planMaker.undo(Buffer.from(now), small, { path: 'a.txt', exists: true })
    t.match(large, { ok: false, failure: { code: 'RESULT_TOO_LARGE', limit: 10 } })
  }
})
