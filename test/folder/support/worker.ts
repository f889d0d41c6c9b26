// A second process for the tests: opens a workspace and edits a file or creates files, until it is killed. Does not
// know any test.
import { createInterface } from 'node:readline'
import { append, become, open } from './open.ts'

interface Order {
  root: string
  state: string
  file: string
  count: number
  /** Milliseconds between two edits. */
  pause: number
  /** Milliseconds for which each edit blocks the process while it holds the lock; 0: none. */
  hold: number
  durability?: 'full' | 'fast'
  name: string
  lock?: 'shared' | 'local'
  creates?: boolean
  /** Appends the lines from `first` on, each with its own idempotency key, and then ends. */
  first?: number
  /** How often it closes the workspace and opens it again, before each `count` of edits; 0: never. */
  starts?: number
  /** Milliseconds by which its clock is ahead. */
  ahead?: number
}

const order: Order = JSON.parse(process.argv[2] ?? '{}')
const { ahead = 0 } = order
if (ahead !== 0) {
  const TrueDate = Date
  globalThis.Date = class extends TrueDate {
    constructor(...time: [] | [number]) {
      super(time[0] ?? TrueDate.now() + ahead)
    }
    static override now = () => TrueDate.now() + ahead
  } as DateConstructor
}
const openAgain = () =>
  open(
    { base: '', root: order.root, state: order.state },
    {
      lockTimeout: 20_000,
      // Many starts test the locks, not the history.
      history: order.starts === undefined ? 'full' : 'off',
      durability: order.durability ?? 'fast',
      lock: order.lock ?? 'shared'
    }
  )
let workspace = await openAgain()
const lines = createInterface({ input: process.stdin })
lines.on('close', () => process.exit())
process.stdout.write('ready\n')

for (let start = 1; start <= (order.starts ?? 0); start++) {
  for (let i = 0; i < order.count; i++) {
    const line = `${order.name}.${start}.${i}\n`
    const done = await workspace.edit({ path: `${order.file}${i % 2}` }, { dry_run: false }, append(line))
    process.stdout.write(done.ok ? `done ${i % 2} ${line}` : `refused ${done.failure.code}\n`)
  }
  await workspace.close()
  process.stdout.write(`closed ${start}\n`)
  // So that other servers are alone at times.
  await new Promise(resolve => setTimeout(resolve, Math.random() * order.pause))
  workspace = await openAgain()
}
if (order.starts !== undefined) {
  await workspace.close()
  process.exit()
}

for (let i = order.first ?? order.count; i < order.count; i++) {
  const line = `${order.name}.${i}`
  const answer = await workspace.keyed({ scope: 'edit_file', key: line, fingerprint: line }, async key => {
    const done = await workspace.edit(
      { path: `${order.file}${i % 2}` },
      { dry_run: false, origin: { operation: 'edit', key }, outcome: ({ edit_id }) => edit_id },
      append(line + '\n')
    )
    return done.ok ? done.value.edit_id : `failed ${done.failure.code}`
  })
  const [how, edit_id] = answer.ok ? Object.entries(answer.value)[0]! : ['failed', answer.failure.code]
  process.stdout.write(`${how} ${line} ${edit_id}\n`)
}
if (order.first !== undefined) {
  await workspace.close()
  process.exit()
}

for (let i = 0; i < order.count; i++) {
  const line = `${order.name}${i}\n`
  if (order.creates === true) {
    const made = await workspace.create(
      { path: `${order.file}${i}`, overwrite: false, create_parents: true },
      { dry_run: false },
      become(line)
    )
    process.stdout.write(
      made.ok
        ? `done ${line}`
        : made.failure.code === 'ALREADY_EXISTS'
          ? `exists ${line}`
          : `failed ${JSON.stringify(made)}\n`
    )
    continue
  }
  const done = await workspace.edit({ path: order.file }, { dry_run: false }, original => {
    process.stdout.write(`holding ${i}\n`)
    // Blocks the process, as if it hung.
    if (order.hold > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.hold)
    return append(line)(original)
  })
  process.stdout.write(done.ok ? `done ${line}` : `failed ${JSON.stringify(done)}\n`)
  if (order.pause > 0) await new Promise(resolve => setTimeout(resolve, order.pause))
}
await workspace.close()
process.exit()
