// An undo that is asked for while a batch of the same files is carried out, and the reverse: on one server and on two.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { makeOperations, type Operations } from '../../src/operations.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { start } from '../running.ts'
import { makeFolders, onLinux, open, removeFolders } from '../folder/support/open.ts'

type Body = Record<string, any>
type Call = (name: keyof Operations, body: Body) => Promise<Body>

const FILES = ['a', 'b', 'c']
const TEXT = '1\n-\n2\n'
/** In ms: so that what was asked for waits for a lock. Whatever comes first, the outcome is to be right. */
const LONG_ENOUGH = 30

const callOf = (workspace: Workspace): Call => {
  const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
  return async (name, body) => {
    const called = await operations[name].call(body as never)
    return called.ok ? called.value.outcome : called.failure
  }
}

/** A workspace that calls `meanwhile`, once, when it first plans a change under a lock. */
function interrupted(workspace: Workspace, meanwhile: () => Promise<void>): Workspace {
  let isDue = true
  const first = async (): Promise<void> => {
    if (!isDue) return
    isDue = false
    await meanwhile()
  }
  const edit: Workspace['edit'] = (target, options, plan) =>
    workspace.edit(target, options, async (original, file) => {
      if (!options.dry_run) await first()
      return plan(original, file)
    })
  const batch: Workspace['batch'] = (steps, options) =>
    workspace.batch(
      steps.map(step => ({
        ...step,
        plan: async (original, file) => {
          if (!options.dry_run) await first()
          return step.plan(original, file)
        }
      })),
      options
    )
  return new Proxy(workspace, {
    get: (of, name) => {
      if (name === 'edit') return edit
      if (name === 'batch') return batch
      const value: unknown = Reflect.get(of, name)
      return typeof value === 'function' ? value.bind(of) : value
    }
  })
}

const edits = (files: readonly string[], old_text: string, new_text: string) => ({
  operations: files.map(path => ({ operation: 'edit', path, old_text, new_text }))
})

interface Case {
  /** Which of them has the locks when the other one is asked for. */
  first: 'batch' | 'undo'
  /** The files in which an edit is taken back. */
  undo: readonly string[]
  /** What the batch replaces in all files, after the edit has made `one` of `1`. */
  batch: [string, string]
  undone: Body
  made: Body
  /** The files that are undone, and the others. */
  gives: [string, string]
}

const NAMES = { batch: 'an undo during a batch', undo: 'a batch during an undo' }

function check(name: string, { first, undo, batch, undone, made, gives }: Case): void {
  for (const servers of [1, 2]) {
    t.test(`${NAMES[first]} ${name}, ${undo.length} of ${FILES.length} files, ${servers} servers`, async t => {
      const folders = makeFolders()
      t.teardown(() => removeFolders(folders))
      for (const file of FILES) writeFileSync(join(folders.root, file), TEXT)
      const one = await open(folders, { history: 'full' })
      t.teardown(() => one.close())
      const other = servers === 1 ? one : await open(folders, { history: 'full' })
      if (other !== one) t.teardown(() => other.close())
      const { batch_id } = await callOf(one)('batch', edits(FILES, '1', 'one'))
      const { edits: known } = await callOf(one)('history', { batch_id })
      const edit_ids = known.filter((edit: Body) => undo.includes(edit.path)).map((edit: Body) => edit.edit_id)
      const asks = {
        undo: (call: Call) => call('undo', { edit_ids }),
        batch: (call: Call) => call('batch', edits(FILES, ...batch))
      }
      const second = first === 'batch' ? 'undo' : 'batch'
      let answer: Promise<Body> | undefined
      const meanwhile = async (): Promise<void> => {
        answer = asks[second](callOf(other))
        await sleep(LONG_ENOUGH)
      }
      const answers = { [first]: await asks[first](callOf(interrupted(one, meanwhile))), [second]: await answer }
      t.match(answers.undo, undone)
      t.match(answers.batch, made)
      for (const file of FILES) {
        t.equal(readFileSync(join(folders.root, file), 'utf8'), gives[undo.includes(file) ? 0 : 1], file)
      }
      // What is known of each file is what was done to it.
      const after = await callOf(other)('history', {})
      const states = after.edits.map(({ operation, state }: Body) => `${operation} ${state}`)
      const count = (state: string) => states.filter((one: string) => one === state).length
      const isUndone = undone.toggled !== undefined
      t.equal(count('batch undone'), isUndone ? undo.length : 0)
      t.equal(count('undo applied'), isUndone ? undo.length : 0)
      t.equal(states.length, FILES.length * (made.batch_id === undefined ? 1 : 2) + (isUndone ? undo.length : 0))
    })
  }
}

for (const undo of [['a'], ['a', 'b'], FILES]) {
  for (const first of ['batch', 'undo'] as const) {
    check('of other lines', {
      first,
      undo,
      batch: ['2', 'two'],
      undone: { toggled: { length: undo.length } },
      made: { batch_id: String },
      gives: ['1\n-\ntwo\n', 'one\n-\ntwo\n']
    })
  }
  check('of the same lines', {
    first: 'batch',
    undo,
    batch: ['one', 'ONE'],
    undone: { code: 'UNDO_CONFLICT' },
    made: { batch_id: String },
    gives: ['ONE\n-\n2\n', 'ONE\n-\n2\n']
  })
  check('of the same lines', {
    first: 'undo',
    undo,
    batch: ['one', 'ONE'],
    undone: { toggled: { length: undo.length } },
    made: { code: 'NO_MATCH' },
    gives: [TEXT, 'one\n-\n2\n']
  })
}

t.test(
  'law: of a batch and an undo of all its files that two servers are asked for at once, each is made whole or not at all',
  { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') },
  async (t: Test) => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const servers = await Promise.all(
      [1, 2].map(() => start(folders.root, folders.state, '--durability', 'fast', '--lock-timeout', '20s'))
    )
    t.teardown(() => Promise.all(servers.map(server => server.stop())))
    const outcomes = new Map<string, number>()
    for (let round = 0; round < often(120); round++) {
      for (const file of FILES) writeFileSync(join(folders.root, file), TEXT)
      const [one, other] = random.chance(50) ? servers : servers.toReversed()
      const made = await one!.post('/batch', edits(FILES, '1', 'one'))
      t.equal(made.status, 200, made.text)
      const isSame = random.chance(50)
      const second = isSame ? edits(FILES, 'one', 'ONE') : edits(FILES, '2', 'two')
      const late = [random.int(6), random.int(6)]
      const [undone, batch] = await Promise.all([
        sleep(late[0]).then(() => one!.post('/undo', { batch_id: made.body.batch_id })),
        sleep(late[1]).then(() => other!.post('/batch', second))
      ] as const)
      const answers = [undone, batch].map(({ status, body }) => (status === 200 ? 'done' : body.code)).join(' ')
      const expected = {
        'done done': isSame ? null : '1\n-\ntwo\n',
        'done NO_MATCH': isSame ? TEXT : null,
        'UNDO_CONFLICT done': isSame ? 'ONE\n-\n2\n' : null
      }[answers]
      const texts = FILES.map(file => readFileSync(join(folders.root, file), 'utf8'))
      t.strictSame(texts, [expected, expected, expected], `${answers} (SEED=${SEED}, round ${round})`)
      outcomes.set(answers, (outcomes.get(answers) ?? 0) + 1)
    }
    t.comment(JSON.stringify([...outcomes]))
  }
)
