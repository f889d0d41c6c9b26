// A batch for which a system call fails at a chosen point, in this process: what is answered, what the files hold then,
// and after the recovery. At every point, by a process of its own: batch-strikes.test.ts.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import type { BatchStep, WorkspaceOptions } from '../../../src/workspace/api.ts'
import {
  append,
  become,
  isRoot,
  makeFolders,
  onLinux,
  open,
  REAL,
  remove,
  removeFolders,
  type Folders
} from '../support/open.ts'
import { letFail, type Call, type Fault } from '../support/let-fail.ts'

const isTemp = (name: string): boolean => /^\.[0-9a-f]{24}\.tmp$/.test(name)
/** The new content of the file with this name gets the name. */
const isNaming = (call: Call, from: string, to: string, name: string): boolean =>
  (call === 'renameSync' || call === 'linkSync') && isTemp(from) && to === name

interface Case {
  name: string
  fault: (folders: Folders) => Fault
  /** What is answered, or the code of what is thrown. */
  answer: object | string
  /** Which state the files are in then, and after the recovery; by default the same. */
  then: 'old' | 'new' | Record<string, string | null>
  recovered?: 'old' | 'new' | Record<string, string | null>
  events?: string[]
  options?: Partial<WorkspaceOptions>
  /** What is empty afterwards stays. */
  leavesFolder?: true
  prepare?: (folders: Folders) => void
  skip?: string | false
}

/** The file with this name gets the name of its old link. */
const isRemoving = (call: Call, from: string, to: string, name: string): boolean =>
  call === 'renameSync' && from === name && isTemp(to)

const OLD = { a: 'a\n', b: 'b\n', c: 'c\n', 'r/s/x': 'x\n', y: 'y\n', 'd/e/n': null, 'd/e/o': null }
const NEW = { a: 'a\n1\n', b: 'b\n1\n', c: 'c\n1\n', 'r/s/x': null, y: null, 'd/e/n': 'n\n', 'd/e/o': 'o\n' }

const edit = (path: string): BatchStep<unknown, never> => ({ operation: 'edit', target: { path }, plan: append('1\n') })
const create = (path: string, text: string): BatchStep<unknown, never> => ({
  operation: 'create',
  target: { path, overwrite: false, create_parents: true },
  plan: become(text)
})
const gone = (path: string, ...folders: string[]): BatchStep<unknown, never> => ({
  operation: 'edit',
  target: { path },
  plan: remove(...folders)
})
const STEPS = [
  edit('a'),
  edit('b'),
  edit('c'),
  create('d/e/n', 'n\n'),
  create('d/e/o', 'o\n'),
  gone('r/s/x', 'r', 'r/s'),
  gone('y')
]

/** Fails with the code as often as it is asked. */
const times = (count: number, code: string): (() => string | null) => {
  let left = count
  return () => (left-- > 0 ? code : null)
}

const CASES: Case[] = [
  { name: 'nothing fails', fault: () => () => null, answer: { ok: true }, then: 'new' },
  {
    name: 'there are no hard links',
    fault: () => (call, from, to) => (call === 'linkSync' && (isTemp(from) || isTemp(to)) ? 'EPERM' : null),
    answer: { ok: true, value: { steps: [{ warnings: [] }, {}, {}, { created: true }, {}, {}, {}] } },
    then: 'new'
  },
  {
    name: 'there are no hard links, and the temp file of a new file is gone',
    fault: () => {
      const first = times(1, 'ENOENT')
      return (call, from, to) => {
        if (call === 'linkSync' && isNaming(call, from, to, 'n')) return 'EPERM'
        return call === 'renameSync' && isNaming(call, from, to, 'n') ? first() : null
      }
    },
    answer: { ok: true },
    then: 'new'
  },
  {
    name: 'a file can’t be read',
    fault: () => {
      let count = 0
      // By its descriptor.
      return (call, from) => (call === 'openSync' && /^\d+$/.test(from) && ++count === 2 ? 'EACCES' : null)
    },
    answer: { ok: false, at: 1, path: 'b', failure: { code: 'PERMISSION_DENIED' } },
    then: 'old',
    skip: onLinux ? false : 'needs /proc'
  },
  {
    name: 'there is no space for a folder',
    fault: () => (call, from) => (call === 'mkdir' && from === 'e' ? 'ENOSPC' : null),
    answer: { ok: false, at: 3, path: 'd/e/n', failure: { code: 'NO_SPACE' } },
    then: 'old'
  },
  {
    name: 'an old file can’t be linked',
    fault: () => (call, from, to) => (call === 'linkSync' && from === 'b' && isTemp(to) ? 'EIO' : null),
    answer: 'EIO',
    then: 'old'
  },
  {
    name: 'a rename fails',
    fault: () => (call, from, to) => (isNaming(call, from, to, 'c') ? 'EIO' : null),
    answer: 'EIO',
    then: 'old'
  },
  {
    name: 'there is no space for a name',
    fault: () => (call, from, to) => (isNaming(call, from, to, 'o') ? 'ENOSPC' : null),
    answer: { ok: false, at: 4, path: 'd/e/o', failure: { code: 'NO_SPACE' } },
    then: 'old'
  },
  {
    name: 'one can’t be renamed',
    fault: () => (call, from, to) => (isNaming(call, from, to, 'b') ? 'EACCES' : null),
    answer: { ok: true, value: { steps: [{}, { write_strategy: 'in_place' }, {}, {}, {}, {}, {}] } },
    then: 'new'
  },
  {
    name: 'one can’t be renamed, and then a rename fails',
    fault: () => {
      const second = times(1, 'EIO')
      let isRefused = false
      return (call, from, to) => {
        if (isNaming(call, from, to, 'b')) {
          isRefused = true
          return 'EACCES'
        }
        return isRefused && isNaming(call, from, to, 'c') ? second() : null
      }
    },
    answer: 'EIO',
    then: 'old'
  },
  {
    name: 'a name is taken in the instant before',
    fault: () => {
      const first = times(1, 'EEXIST')
      return (call, from, to) => (isNaming(call, from, to, 'n') ? first() : null)
    },
    answer: { ok: true },
    then: 'new'
  },
  {
    name: 'a rename fails, and taking another one back too',
    fault: () => {
      let isFailed = false
      const second = times(1, 'EIO')
      return (call, from, to) => {
        if (isNaming(call, from, to, 'c') && !isFailed) {
          isFailed = true
          return 'EIO'
        }
        return isFailed && isNaming(call, from, to, 'a') ? second() : null
      }
    },
    answer: 'BATCH_LEFT',
    then: { ...OLD, a: NEW.a },
    recovered: 'old',
    events: ['batch_left', 'batch_recovered']
  },
  {
    name: 'one can’t be renamed, and taking another one back fails',
    fault: () => {
      let isRefused = false
      const second = times(1, 'EIO')
      return (call, from, to) => {
        if (isNaming(call, from, to, 'b')) {
          isRefused = true
          return 'EACCES'
        }
        return isRefused && isNaming(call, from, to, 'a') ? second() : null
      }
    },
    answer: 'BATCH_LEFT',
    then: { ...OLD, a: NEW.a },
    recovered: 'old',
    events: ['batch_left', 'batch_recovered']
  },
  {
    name: 'one can’t be removed',
    fault: () => (call, from, to) => (isRemoving(call, from, to, 'y') ? 'EACCES' : null),
    answer: { ok: false, at: 6, path: 'y', failure: { code: 'PERMISSION_DENIED' } },
    then: 'old'
  },
  {
    name: 'a name can’t be given after the removals',
    fault: () => (call, from, to) => (isNaming(call, from, to, 'n') ? 'EIO' : null),
    answer: 'EIO',
    then: 'old'
  },
  {
    name: 'a name can’t be given after the removals, and there are no hard links',
    fault: () => {
      let isFailed = false
      return (call, from, to) => {
        if (call === 'linkSync' && (isTemp(from) || isTemp(to))) return 'EPERM'
        if (isFailed || !isNaming(call, from, to, 'n')) return null
        isFailed = true
        return 'EIO'
      }
    },
    answer: 'EIO',
    then: 'old'
  },
  {
    name: 'another program makes a file before its removal is taken back',
    fault:
      ({ root }) =>
      (call, from, to) => {
        if (!isNaming(call, from, to, 'n')) return null
        writeFileSync(join(root, 'y'), 'theirs\n')
        return 'EIO'
      },
    answer: 'EIO',
    then: { ...OLD, y: 'theirs\n' }
  },
  {
    name: 'a removal can’t be taken back',
    fault: () => {
      let isFailed = false
      const first = times(1, 'EIO')
      return (call, from, to) => {
        if (isNaming(call, from, to, 'n')) {
          isFailed = true
          return 'EIO'
        }
        return isFailed && isNaming(call, from, to, 'y') ? first() : null
      }
    },
    answer: 'BATCH_LEFT',
    then: { ...OLD, y: null },
    recovered: 'old',
    events: ['batch_left', 'batch_recovered']
  },
  {
    name: 'another program saves a file in the instant before it is removed',
    fault:
      ({ root }) =>
      (call, from, to) => {
        if (isRemoving(call, from, to, 'y')) {
          writeFileSync(join(root, 'z'), 'theirs\n')
          execFileSync('mv', [join(root, 'z'), join(root, 'y')])
        }
        return null
      },
    answer: { ok: false, at: 6, path: 'y', failure: { code: 'STALE_FILE' } },
    then: { ...OLD, y: 'theirs\n' }
  },
  {
    name: 'another program makes a file where one was removed, before the batch is finished',
    fault:
      ({ root }) =>
      (call, from) => {
        if (call === 'unlinkSync' && from.endsWith('.batch')) writeFileSync(join(root, 'y'), 'theirs\n')
        return null
      },
    answer: { ok: true },
    then: { ...NEW, y: 'theirs\n' }
  },
  {
    name: 'a folder that is empty now can’t be opened to be removed',
    fault: () => {
      let isDone = false
      return (call, from) => {
        isDone ||= call === 'unlinkSync' && from.endsWith('.batch')
        return isDone && call === 'openSync' ? 'EMFILE' : null
      }
    },
    answer: { ok: true },
    then: 'new',
    leavesFolder: true
  },
  {
    name: 'neither can be taken back, nor can that be written down',
    fault: () => {
      let [isRefused, isFailed] = [false, false]
      return (call, from, to) => {
        if (isNaming(call, from, to, 'b')) {
          isRefused = true
          return 'EACCES'
        }
        if (isRefused && isNaming(call, from, to, 'c')) {
          isFailed = true
          return 'EIO'
        }
        return isFailed && (isNaming(call, from, to, 'a') || to.endsWith('.back.batch')) ? 'EIO' : null
      }
    },
    answer: 'BATCH_LEFT',
    then: { ...OLD, a: NEW.a, b: NEW.b },
    recovered: 'new',
    events: ['batch_left', 'journal_recovered', 'batch_recovered']
  },
  {
    name: 'another program saves a file before it is taken back',
    fault:
      ({ root }) =>
      (call, from, to) => {
        if (!isNaming(call, from, to, 'c')) return null
        rmSync(join(root, 'a'))
        writeFileSync(join(root, 'a'), 'theirs\n')
        return 'EIO'
      },
    answer: 'EIO',
    then: { ...OLD, a: 'theirs\n' }
  },
  {
    name: 'the batch record can’t be written',
    fault: () => (call, _, to) => (call === 'renameSync' && to.endsWith('.batch') ? 'ENOSPC' : null),
    answer: { ok: false, at: 0, failure: { code: 'NO_SPACE' } },
    then: 'old'
  },
  {
    name: 'the record of the batch can’t be removed',
    fault: () => (call, from) => (call === 'unlinkSync' && from.endsWith('.batch') ? 'EIO' : null),
    answer: { ok: true },
    then: 'new',
    events: ['batch_recovered']
  },
  {
    name: 'a folder can’t be opened to be synced',
    options: { durability: 'full' },
    fault: () => {
      let isDone = false
      return (call, from, to) => {
        isDone ||= isNaming(call, from, to, 'o')
        return isDone && call === 'openSync' ? 'EMFILE' : null
      }
    },
    answer: {
      ok: true,
      value: {
        steps: [
          { warnings: [] },
          {},
          {},
          { warnings: ['unsynced_creation'] },
          { warnings: ['unsynced_creation'] },
          {},
          {}
        ]
      }
    },
    then: 'new',
    leavesFolder: true
  },
  {
    name: 'the owner can’t be kept',
    prepare: ({ root }) => chownSync(join(root, 'b'), 12345, 12345),
    skip: isRoot ? false : 'needs root',
    fault: () => call => (call === 'fchownSync' ? 'EPERM' : null),
    answer: { ok: true, value: { steps: [{}, { write_strategy: 'in_place' }, {}, {}, {}, {}, {}] } },
    then: 'new'
  },
  {
    name: 'the removal of the batch record can’t be synced',
    options: { durability: 'full' },
    fault: () => {
      let isDone = false
      return (call, from, to) => {
        if (isNaming(call, from, to, 'b')) return 'EACCES'
        isDone ||= isNaming(call, from, to, 'o')
        return isDone && call === 'openSync' && from === 'journal' ? 'EMFILE' : null
      }
    },
    answer: { ok: true },
    then: 'new',
    events: ['batch_record_unsynced']
  },
  {
    name: 'a temp file is gone where there are no hard links',
    fault: ({ root }) => {
      const first = times(1, 'EPERM')
      return (call, from, to) => {
        const code = call === 'linkSync' && to === 'n' ? first() : null
        if (code !== null) rmSync(join(root, 'd/e', from))
        return code
      }
    },
    answer: { ok: true },
    then: 'new'
  },
  {
    name: 'the lock is lost',
    fault: ({ state }) => {
      return (call, _, to) => {
        if (call === 'renameSync' && to.endsWith('.batch')) {
          for (const name of readdirSync(join(state, 'intents'))) rmSync(join(state, 'intents', name))
        }
        return null
      }
    },
    answer: { ok: false, at: 0, failure: { code: 'FILE_LOCKED', reason: 'lost' } },
    then: 'old'
  }
]

t.test('all files are new or all are old', async t => {
  for (const {
    name,
    fault,
    answer,
    then,
    recovered = then,
    events = [],
    options = {},
    leavesFolder = false,
    prepare,
    skip = false
  } of CASES) {
    await t.test(name, { skip }, async t => {
      const folders = makeFolders()
      t.teardown(() => removeFolders(folders))
      const { root, state } = folders
      for (const file of ['a', 'b', 'c', 'y']) writeFileSync(join(root, file), `${file}\n`)
      mkdirSync(join(root, 'r/s'), { recursive: true })
      writeFileSync(join(root, 'r/s/x'), 'x\n')
      prepare?.(folders)
      const seen: string[] = []
      const workspace = await open(folders, { history: 'full', ...options, report: ({ event }) => seen.push(event) })
      t.teardown(() => workspace.close())
      const check = (expected: Case['then']): void => {
        const texts = expected === 'old' ? OLD : expected === 'new' ? NEW : expected
        const at = (file: string): string => join(root, file)
        const found = Object.fromEntries(
          Object.keys(texts).map(file => [file, existsSync(at(file)) ? readFileSync(at(file), 'utf8') : null])
        )
        t.strictSame(found, texts)
      }
      const stop = letFail(fault(folders))
      try {
        const done = await workspace.batch(STEPS, REAL).finally(stop)
        t.match(done, answer)
      } catch (error) {
        t.match(error, { code: answer })
      }
      check(then)
      t.match(await workspace.edit({ path: 'b' }, REAL, append('')), { ok: true })
      check(recovered)
      const past = await workspace.history({ limit: 200 })
      if (!past.ok) throw new Error(past.failure.code)
      const edits = past.value.edits.map(({ record: { operation }, state }) => `${operation} ${state}`)
      const isDone = recovered === 'new' || (typeof answer === 'object' && 'ok' in answer && answer.ok === true)
      t.strictSame(edits, isDone ? STEPS.map(() => 'batch applied') : [], 'the history has it if it took place')
      t.strictSame(
        seen.filter(event => event !== 'temp_file_removed'),
        events
      )
      const left = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(file => isTemp(basename(file)))
      t.strictSame([...left, ...readdirSync(join(state, 'journal'))], [])
      if (recovered === 'old') t.notOk(existsSync(join(root, 'd')), 'nor is a folder left')
      if (recovered === 'new' && !leavesFolder) t.notOk(existsSync(join(root, 'r')), 'nor one that is empty now')
    })
  }
})

t.test('says which file a folder is missing for', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  writeFileSync(join(folders.root, 'a'), 'a\n')
  mkdirSync(join(folders.root, 'x'))
  const done = await workspace.batch(
    [
      edit('a'),
      {
        operation: 'create',
        target: { path: `x/${'y'.repeat(300)}/z`, overwrite: false, create_parents: true },
        plan: become('z')
      }
    ],
    REAL
  )
  t.match(done, { ok: false, at: 1, failure: { code: 'INVALID_PATH', reason: 'too_long' } })
})

t.test('tries once more, however many can’t be renamed', { skip: isRoot ? false : 'needs root' }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) writeFileSync(join(folders.root, name), '')
  for (const name of names.slice(1)) chownSync(join(folders.root, name), 12345, 12345)
  let refused = 0
  const stop = letFail(call => {
    if (call !== 'fchownSync') return null
    refused++
    return 'EPERM'
  })
  const done = await workspace.batch(names.map(edit), REAL).finally(stop)
  const [inPlace, batch] = [{ write_strategy: 'in_place' }, { write_strategy: undefined }]
  t.match(done, { ok: true, value: { steps: [batch, inPlace, inPlace, inPlace] } })
  t.equal(refused, 3, 'one temp file of each')
  for (const name of names) t.equal(readFileSync(join(folders.root, name), 'utf8'), '1\n')
})
