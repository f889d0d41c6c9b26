// What a batch does with files, as a workspace answers it: all of them or none. Its crashes are in
// commit/recover-batch.test.ts, commit/batch-strikes.test.ts and test/threats/batches.test.ts.
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync
} from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { fail, ok, type Result } from '../../src/result.ts'
import type {
  BatchDone,
  BatchStep,
  ChangeOptions,
  CreateTarget,
  Planned,
  PlannedFile,
  Workspace,
  WorkspaceOptions
} from '../../src/workspace/api.ts'
import { breakFolder } from '../log/support/history.ts'
import {
  append,
  become,
  DRY,
  heldEdit,
  makeFolders,
  open,
  REAL,
  remove,
  removeFolders,
  type Folders
} from './support/open.ts'

type Step = BatchStep<unknown, { code: string }>

const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const edit = (path: string, text: string, expected_hash?: string): Step => ({
  operation: 'edit',
  target: { path, ...(expected_hash !== undefined && { expected_hash }) },
  plan: append(text)
})
const create = (path: string, text: string, target: Partial<CreateTarget> = {}): Step => ({
  operation: 'create',
  target: { path, overwrite: false, create_parents: true, ...target },
  plan: become(text)
})
const gone = (path: string, ...folders: string[]): Step => ({
  operation: 'edit',
  target: { path },
  plan: remove(...folders)
})
/** Planned apart from other names of the file. */
const apart = (path: string, text: string): Step => ({
  operation: 'edit',
  apart: true,
  target: { path },
  plan: append(text)
})
const areLinked = (root: string, one: string, other: string): boolean =>
  statSync(join(root, one)).ino === statSync(join(root, other)).ino
const NUL = 'a\0b'
const HASHES = { requireHash: true }
const REPLACE = { overwrite: true, expected_hash: hashOf(NUL) }
const STALE = { path: 'a', expected_hash: hashOf('') }
/** A planner that fails. */
const failing = (path: string): Step => ({
  operation: 'edit',
  target: { path },
  plan: () => fail({ code: 'NO_MATCH' })
})

/** Everything below a folder: kind, content or target, inode, mode and time of each. */
function picture(folder: string): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const stat = lstatSync(join(folder, name), { bigint: true })
    const content = stat.isFile() ? readFileSync(join(folder, name)).toString('latin1').slice(0, 1000) : ''
    all[name] = [stat.ino, stat.mode, stat.nlink, stat.isDirectory() ? '' : stat.mtimeNs, stat.size, content].join()
  }
  return all
}

/** A text, or the hash of a long one. */
const shown = (text: string): string => (text.length > 1000 ? hashOf(text) : text)

const textsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(join(folder, name)).isFile())
      .sort()
      .map(name => [name, shown(readFileSync(join(folder, name), 'utf8'))])
  )

const slots = (folders: Folders): string =>
  readdirSync(join(folders.state, 'journal')).join() + readdirSync(folders.root).filter(isTemp).join()
const isTemp = (name: string): boolean => name.endsWith('.tmp')

interface Case {
  name: string
  /** What is there: text by path. */
  files: Record<string, string | Buffer>
  prepare?: (root: string) => void
  steps: Step[]
  options?: Partial<WorkspaceOptions>
  ask?: ChangeOptions<BatchDone<unknown>>
  /** All texts afterwards; absent: nothing at all has changed. */
  after?: Record<string, string>
  answer: object
  also?: (t: Test, folders: Folders, done: BatchDone<unknown> | null) => void
}

async function check(t: Test, one: Case): Promise<void> {
  const { name, files, prepare, steps, options = {}, ask = REAL, after, answer, also } = one
  await t.test(name, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folders.root, path, '..'), { recursive: true })
      writeFileSync(join(folders.root, path), text)
    }
    prepare?.(folders.root)
    const events: string[] = []
    const workspace = await open(folders, { ...options, report: ({ event }) => events.push(event) })
    t.teardown(() => workspace.close())
    const before = picture(folders.root)
    const done = await workspace.batch(steps, ask)
    t.match(done, answer)
    if (after === undefined) t.strictSame(picture(folders.root), before, 'nothing has changed')
    else t.strictSame(textsIn(folders.root), after)
    t.equal(slots(folders), '', 'nothing is left beside the files, or in the journal')
    t.strictSame(events, [])
    also?.(t, folders, done.ok ? done.value : null)
  })
}

t.test('changes all files', async t => {
  const cases: Case[] = [
    {
      name: 'some are removed, with the folders that are empty then',
      files: { a: 'a\n', b: '', 'd/e/f': 'f\n', 'g/h': 'h\n', 'g/i': 'i\n' },
      steps: [edit('a', '1\n'), gone('b'), gone('d/e/f', 'd', 'd/e'), gone('g/h', 'g'), create('n/o', 'o\n')],
      options: { durability: 'full' },
      after: { a: 'a\n1\n', 'g/i': 'i\n', 'n/o': 'o\n' },
      answer: {
        ok: true,
        value: { steps: [{}, { path: 'b', changed: true, file_size: 0, warnings: [] }, {}, {}, {}] }
      },
      also: (t, { root }) => t.strictSame([existsSync(join(root, 'd')), existsSync(join(root, 'g'))], [false, true])
    },
    {
      name: 'names of one file that are planned apart stay one where the same comes out',
      files: { a: 'a\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'a2')),
      steps: [apart('a', '1\n'), apart('a2', '1\n')],
      after: { a: 'a\n1\n', a2: 'a\n1\n' },
      answer: { ok: true, value: { steps: [{ warnings: [] }, { changed: true, warnings: [] }] } },
      also: (t, { root }) => t.ok(areLinked(root, 'a', 'a2'))
    },
    {
      name: 'and become two files where something else does',
      files: { a: 'a\n', b: 'b\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'a2')),
      steps: [apart('a', '1\n'), apart('b', '1\n'), apart('a2', '2\n')],
      after: { a: 'a\n1\n', a2: 'a\n2\n', b: 'b\n1\n' },
      answer: { ok: true, value: { steps: [{ warnings: ['links_left'] }, {}, { warnings: ['links_left'] }] } }
    },
    {
      name: 'one name of a file is removed, the other one changed',
      files: { a: 'a\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'a2')),
      steps: [{ ...gone('a'), apart: true } as Step, apart('a2', '1\n')],
      after: { a2: 'a\n1\n' },
      answer: { ok: true }
    },
    {
      name: 'two names of a large file that a thread was given',
      files: { a: 'a'.repeat(2_000_000) },
      prepare: root => linkSync(join(root, 'a'), join(root, 'a2')),
      steps: ['a', 'a2'].map((path): Step => ({
        operation: 'edit',
        apart: true,
        target: { path },
        plan: async original => {
          // As a thread does: what it was given is of no use any more, and comes back as something else.
          const back = Buffer.from(original)
          original.fill(0)
          return ok({ pieces: [back, Buffer.from('1\n')], description: null, original: back })
        }
      })),
      after: Object.fromEntries(['a', 'a2'].map(name => [name, hashOf('a'.repeat(2_000_000) + '1\n')])),
      answer: { ok: true },
      also: (t, { root }) => t.ok(areLinked(root, 'a', 'a2'))
    },
    {
      name: 'several steps of one file, each on what the one before it made',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('a', '1\n', hashOf('a\n')), edit('b', '1\n'), edit('a', '2\n', hashOf('a\n'))],
      after: { a: 'a\n1\n2\n', b: 'b\n1\n' },
      answer: {
        ok: true,
        value: {
          steps: [
            { path: 'a', changed: true, description: '1\n', hash_before: hashOf('a\n'), new_hash: hashOf('a\n1\n2\n') },
            { path: 'b', changed: true, file_hash: hashOf('b\n1\n'), file_size: 4 },
            { path: 'a', changed: true, description: '2\n', hash_before: hashOf('a\n'), file_size: 6, warnings: [] }
          ]
        }
      }
    },
    {
      name: 'a symbolic link and its target are one file, and the link stays',
      files: { a: 'a\n' },
      prepare: root => symlinkSync('a', join(root, 'link')),
      steps: [edit('a', '1\n'), edit('link', '2\n'), edit('./a', '3\n')],
      after: { a: 'a\n1\n2\n3\n', link: 'a\n1\n2\n3\n' },
      answer: { value: { steps: [{}, { path: 'link', resolved_path: 'a' }, { path: 'a' }] } },
      also: (t, { root }) => t.ok(lstatSync(join(root, 'link')).isSymbolicLink())
    },
    {
      name: 'two hard links stay one file',
      files: { a: 'a\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'b')),
      steps: [edit('a', '1\n'), edit('b', '2\n')],
      after: { a: 'a\n1\n2\n', b: 'a\n1\n2\n' },
      answer: { value: { steps: [{ warnings: [] }, { warnings: [] }] } },
      also: (t, { root }, done) => {
        t.equal(statSync(join(root, 'a')).ino, statSync(join(root, 'b')).ino)
        t.equal(statSync(join(root, 'a')).nlink, 2)
        t.strictSame(
          done!.steps.map(({ warnings }) => warnings),
          [[], []]
        )
      }
    },
    {
      name: 'a hard link that isn’t named is left',
      files: { a: 'a\n' },
      prepare: root => {
        for (const name of ['b', 'c']) linkSync(join(root, 'a'), join(root, name))
      },
      steps: [edit('a', '1\n'), edit('b', '2\n')],
      after: { a: 'a\n1\n2\n', b: 'a\n1\n2\n', c: 'a\n' },
      answer: { value: { steps: [{ warnings: ['links_left'] }, { warnings: ['links_left'] }] } }
    },
    {
      name: 'new files, with folders',
      files: { a: 'a\n' },
      steps: [
        create('d/e/new', 'x\n'),
        edit('d/e/new', 'y\n'),
        create('d/f', 'f\n', { create_parents: false }),
        edit('a', '1\n')
      ],
      after: { a: 'a\n1\n', 'd/e/new': 'x\ny\n', 'd/f': 'f\n' },
      answer: {
        value: {
          steps: [
            { created: true, new_hash: hashOf('x\ny\n') },
            { path: 'd/e/new', file_hash: hashOf('x\ny\n') },
            { created: true },
            {}
          ]
        }
      },
      also: (t, _, done) => {
        t.notOk('created' in done!.steps[1]!)
        t.notOk('hash_before' in done!.steps[0]!)
      }
    },
    {
      name: 'a file that is replaced with its hash',
      files: { a: 'a\n' },
      steps: [create('a', 'new\n', { overwrite: true, expected_hash: hashOf('a\n') }), edit('a', '1\n')],
      after: { a: 'new\n1\n' },
      answer: { value: { steps: [{ created: false, changed: true }, { changed: true }] } }
    },
    {
      name: 'steps that change nothing, beside one that does',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('a', ''), edit('b', '1\n')],
      after: { a: 'a\n', b: 'b\n1\n' },
      answer: { value: { steps: [{ changed: false }, { changed: true }] } }
    },
    {
      name: 'synced, as shipped',
      files: { a: 'a\n', 'd/b': 'b\n' },
      options: { durability: 'full', history: 'full' },
      steps: [edit('a', '1\n'), edit('d/b', '1\n'), create('d/n/c', 'c\n')],
      after: { a: 'a\n1\n', 'd/b': 'b\n1\n', 'd/n/c': 'c\n' },
      answer: { value: { batch_id: String, steps: [{ edit_id: String, warnings: [] }, { edit_id: String }, {}] } }
    },
    {
      name: 'an expected hash is asked of files that were there',
      files: { a: 'a\n' },
      options: { requireHash: true },
      steps: [edit('a', '1\n', hashOf('a\n')), create('b', 'b\n'), edit('b', '1\n')],
      after: { a: 'a\n1\n', b: 'b\n1\n' },
      answer: { ok: true }
    },
    {
      name: 'a large file among small ones',
      files: { a: 'a\n', large: Buffer.alloc(5_000_000, 'x\n'), b: 'b\n' },
      steps: [
        edit('a', '1\n'),
        { operation: 'edit', target: { path: 'large' }, plan: throughThread('y\n') },
        { operation: 'edit', target: { path: 'large' }, plan: throughThread('z\n') },
        edit('b', '1\n')
      ],
      after: { a: 'a\n1\n', b: 'b\n1\n', large: shown('x\n'.repeat(2_500_000) + 'y\nz\n') },
      answer: { value: { steps: [{}, { file_size: 5_000_004 }, {}, {}] } }
    },
    {
      name: 'a planner that gave its buffer away and changes nothing',
      files: { large: Buffer.alloc(3_000_000, 'x\n') },
      steps: [{ operation: 'edit', target: { path: 'large' }, plan: throughThread('') }, edit('large', 'end\n')],
      after: { large: shown('x\n'.repeat(1_500_000) + 'end\n') },
      answer: { value: { steps: [{ changed: false }, { changed: true }] } }
    }
  ]
  for (const one of cases) await check(t, one)
})

/** As a planner that gives its buffer to a thread: the memory is another one afterwards. */
function throughThread(text: string) {
  return async (original: Buffer): Promise<Result<Planned<string>, never>> => {
    const { length } = original
    const moved = structuredClone(original.buffer as ArrayBuffer, { transfer: [original.buffer as ArrayBuffer] })
    const bytes = Buffer.from(moved, original.byteOffset, length)
    await new Promise(setImmediate)
    const pieces = text === '' ? [bytes] : [bytes, Buffer.from(text)]
    return ok({ pieces, description: text, original: bytes })
  }
}

t.test('changes nothing', async t => {
  const LATER = [create('n/m/new', 'n\n'), edit('b', '1\n')]
  const cases: Case[] = [
    {
      name: 'a dry run of a removal',
      files: { a: 'a\n' },
      steps: [gone('a')],
      ask: DRY,
      answer: { ok: true, value: { steps: [{ path: 'a', changed: true, warnings: [] }] } }
    },
    {
      name: 'a step of a file that an earlier one removes',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('b', '1\n'), gone('a'), edit('a', '1\n')],
      answer: { ok: false, at: 2, path: 'a', failure: { code: 'FILE_NOT_FOUND' } }
    },
    {
      name: 'a removal before a plan that fails',
      files: { a: 'a\n', b: 'b\n' },
      steps: [gone('a'), failing('b')],
      answer: { ok: false, at: 1, failure: { code: 'NO_MATCH' } }
    },
    {
      name: 'a file that isn’t there',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('a', '1\n'), ...LATER, edit('none', '1\n')],
      answer: { ok: false, at: 3, path: 'none', failure: { code: 'FILE_NOT_FOUND' } }
    },
    {
      name: 'a plan that fails',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('a', '1\n'), failing('a'), ...LATER],
      answer: { ok: false, at: 1, path: 'a', file_hash: hashOf('a\n'), failure: { code: 'NO_MATCH' } }
    },
    {
      name: 'another hash than was expected',
      files: { a: 'a\n', b: 'b\n' },
      steps: [...LATER, edit('a', '1\n', hashOf('x'))],
      answer: {
        at: 2,
        file_hash: hashOf('a\n'),
        failure: { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: hashOf('x') }
      }
    },
    {
      name: 'the hash that an earlier step made is not the one before the batch',
      files: { a: 'a\n', b: 'b\n' },
      steps: [edit('a', '1\n'), edit('a', '2\n', hashOf('a\n1\n'))],
      answer: { at: 1, failure: { code: 'STALE_FILE' } }
    },
    {
      name: 'a hash of a file that this batch makes',
      files: { b: 'b\n' },
      steps: [create('new', 'x\n'), edit('new', '2\n', hashOf('x\n'))],
      answer: { at: 1, failure: { code: 'STALE_FILE', reason: 'expected_hash' } }
    },
    {
      name: 'a hash that is missing',
      files: { a: 'a\n', b: 'b\n' },
      options: { requireHash: true },
      steps: [edit('a', '1\n', hashOf('a\n')), edit('b', '1\n')],
      answer: { at: 1, file_hash: hashOf('b\n'), failure: { code: 'PRECONDITION_REQUIRED' } }
    },
    {
      name: 'a file that must not be written',
      files: { a: 'a\n', b: 'b\n' },
      prepare: root => chmodSync(join(root, 'a'), 0o444),
      steps: [...LATER, edit('a', '1\n')],
      answer: { at: 2, file_hash: hashOf('a\n'), failure: { code: 'PERMISSION_DENIED', reason: 'read_only_file' } }
    },
    {
      name: 'a protected file',
      files: { '.env': 'a\n', b: 'b\n' },
      options: { protect: ['.env'] },
      steps: [...LATER, edit('.env', '1\n')],
      answer: { at: 2, failure: { code: 'PROTECTED_PATH' } }
    },
    {
      name: 'a path outside the root',
      files: { b: 'b\n' },
      steps: [...LATER, create('../x', '1\n')],
      answer: { at: 2, failure: { code: 'PATH_NOT_ALLOWED' } }
    },
    {
      name: 'a binary file',
      files: { a: Buffer.from([0, 1, 2, 0]), b: 'b\n' },
      steps: [...LATER, edit('a', '1\n')],
      answer: { at: 2, failure: { code: 'BINARY_FILE', file_size: 4 } }
    },
    {
      name: 'a file that is too large',
      files: { a: 'a'.repeat(200), b: 'b\n' },
      options: { maxFileSize: 100 },
      steps: [...LATER, edit('a', '1\n')],
      answer: { at: 2, failure: { code: 'FILE_TOO_LARGE', limit: 100, actual: 200 } }
    },
    {
      name: 'a folder',
      files: { 'd/a': 'a\n', b: 'b\n' },
      steps: [...LATER, edit('d', '1\n')],
      answer: { at: 2, failure: { code: 'NOT_A_FILE', type: 'directory' } }
    },
    {
      name: 'a file in the way of a folder',
      files: { a: 'a\n', b: 'b\n' },
      steps: [...LATER, create('a/x', '1\n')],
      answer: { at: 2, failure: { code: 'NOT_A_FILE', type: 'not_a_directory' } }
    },
    {
      name: 'a new file in the way of a folder',
      files: { b: 'b\n' },
      steps: [create('x', 'x\n'), create('x/y', 'y\n')],
      answer: { at: 1, failure: { code: 'NOT_A_FILE', type: 'not_a_directory' } }
    },
    {
      name: 'a new folder in the way of a file',
      files: { b: 'b\n' },
      steps: [create('x/y', 'y\n'), create('x', 'x\n')],
      answer: { at: 1, failure: { code: 'NOT_A_FILE', type: 'directory' } }
    },
    {
      name: 'a file that is made twice',
      files: { b: 'b\n' },
      steps: [create('x', 'y\n'), create('x', 'x\n')],
      answer: { at: 1, failure: { code: 'ALREADY_EXISTS', reason: 'made' } }
    },
    {
      name: 'a file that is made, and replaced',
      files: { b: 'b\n' },
      steps: [create('x', 'y\n'), create('x', 'x\n', { overwrite: true, expected_hash: hashOf('y\n') })],
      answer: { at: 1, failure: { code: 'ALREADY_EXISTS', reason: 'made' } }
    },
    {
      name: 'a file that is there already',
      files: { b: 'b\n' },
      steps: [create('x', 'y\n'), create('b', 'x\n')],
      answer: { at: 1, failure: { code: 'ALREADY_EXISTS', reason: 'exists' }, file_hash: hashOf('b\n') }
    },
    {
      name: 'a folder that isn’t made',
      files: { b: 'b\n' },
      steps: [edit('b', '1\n'), create('x/y', 'y\n', { create_parents: false }), create('x/z', 'z\n')],
      answer: { at: 1, failure: { code: 'FILE_NOT_FOUND', missing: 'parent' } }
    },
    {
      name: 'an edit of a file that a later step makes',
      files: { b: 'b\n' },
      steps: [edit('b', '1\n'), edit('x', '1\n'), create('x', 'y\n')],
      answer: { at: 1, failure: { code: 'FILE_NOT_FOUND' } }
    },
    {
      name: 'a link to nothing',
      files: { b: 'b\n' },
      prepare: root => symlinkSync('nowhere', join(root, 'link')),
      steps: [edit('b', '1\n'), create('link', 'y\n')],
      answer: { at: 1, resolved_path: 'nowhere', failure: { code: 'ALREADY_EXISTS' } }
    },
    {
      name: 'a read-only server',
      files: { b: 'b\n' },
      options: { readOnly: true },
      steps: [edit('b', '1\n')],
      answer: { at: 0, path: 'b', failure: { code: 'READ_ONLY' } }
    },
    {
      name: 'a dry run',
      files: { a: 'a\n', b: 'b\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'other')),
      ask: DRY,
      options: { history: 'full' },
      steps: [edit('a', '1\n'), create('n/m/new', 'n\n'), edit('a', '2\n')],
      answer: {
        ok: true,
        value: {
          steps: [
            { changed: true, hash_before: hashOf('a\n'), file_hash: hashOf('a\n'), new_hash: hashOf('a\n1\n2\n') },
            { created: true, new_hash: hashOf('n\n'), warnings: [] },
            { changed: true, warnings: ['links_left'] }
          ]
        }
      },
      also: (t, { state }, done) => {
        t.notOk('batch_id' in done! || 'file_hash' in done!.steps[1]!)
        t.strictSame(readdirSync(join(state, 'locks')), [])
      }
    },
    {
      name: 'steps that change nothing',
      files: { a: 'a\n' },
      options: { history: 'full' },
      steps: [edit('a', '')],
      answer: { ok: true, value: { steps: [{ changed: false, new_hash: hashOf('a\n') }] } },
      also: (t, _, done) => t.notOk('batch_id' in done!)
    },
    {
      name: 'steps that together change nothing',
      files: { a: 'a\n' },
      steps: [edit('a', '1\n'), { operation: 'edit', target: { path: 'a' }, plan: become('a\n') }],
      answer: { ok: true, value: { steps: [{ changed: true }, { changed: true, new_hash: hashOf('a\n') }] } }
    }
  ]
  for (const one of cases) await check(t, one)
})

/** A workspace over these files. */
async function workspaceOf(
  t: Test,
  files: Record<string, string | Buffer>,
  options: Partial<WorkspaceOptions> = {}
): Promise<{ workspace: Workspace; folders: Folders; at: (name: string) => string }> {
  const folders = makeFolders()
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folders.root, path), text)
  const workspace = await open(folders, options)
  t.teardown(() => removeFolders(folders))
  t.teardown(() => workspace.close())
  return { workspace, folders, at: name => join(folders.root, name) }
}

t.test('lets others run between its steps', async t => {
  const { workspace } = await workspaceOf(t, { a: 'a\n', b: 'b\n' })
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn++
    if (!isOver) setImmediate(next)
  }
  next()
  const turns = new Set<number>()
  const steps = Array.from({ length: 10 }, (_, i): Step => {
    const step = edit(i % 2 === 0 ? 'a' : 'b', `${i}\n`)
    return {
      ...step,
      plan(original, file) {
        turns.add(turn)
        return step.plan(original, file)
      }
    }
  })
  t.match(await workspace.batch(steps, REAL), { ok: true })
  isOver = true
  t.equal(turns.size, steps.length)
})

t.test('counts what large files take together', { skip: ONLY_CI }, async t => {
  const { workspace, folders } = await workspaceOf(t, {}, { maxFileSize: 2e8 })
  const size = 130_000_000
  for (const name of ['a', 'b']) writeFileSync(join(folders.root, name), Buffer.alloc(size, 'x\n'))
  t.match(await workspace.batch([edit('a', '1'), edit('b', '1')], REAL), {
    at: 0,
    failure: { code: 'FILE_TOO_LARGE', limit: 256e6, actual: 2 * size, together: true }
  })
})

t.test('waits for the memory of large files, but not for long', { skip: ONLY_CI }, async t => {
  const { workspace, at } = await workspaceOf(t, {}, { maxFileSize: 2e8, lockTimeout: 50 })
  for (const name of ['a', 'b']) writeFileSync(at(name), Buffer.alloc(130_000_000, 'x\n'))
  const first = await heldEdit(workspace, 'a', DRY, append(''))
  t.match(await workspace.batch([edit('b', '1')], DRY), {
    at: 0,
    failure: { code: 'NOT_READY', reason: 'large_files' }
  })
  first.goOn()
  await first.done
})

t.test('keeps a record of each name, which can be found and is of this batch', async t => {
  const { workspace, folders, at } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { history: 'full' })
  linkSync(at('a'), at('a2'))
  const done = await workspace.batch([edit('a', '1\n'), edit('a2', '2\n'), edit('b', '1\n'), create('d/new', 'n\n')], {
    dry_run: false,
    origin: { operation: 'batch', agent: 'me' }
  })
  if (!done.ok) throw new Error('not done')
  const page = await workspace.history({ limit: 10, texts: true })
  if (!page.ok) throw new Error('no history')
  const found = page.value.edits.map(({ record, state }) => [
    record.path.toString(),
    record.operation,
    record.agent,
    record.batch_id,
    record.hash_before,
    record.hash_after,
    record.made_folders?.map(String),
    state
  ])
  const { batch_id } = done.value
  const row = (path: string, before: string | null, after: string, folders?: string[]) => [
    path,
    'batch',
    'me',
    batch_id,
    before === null ? null : hashOf(before),
    hashOf(after),
    folders,
    'applied'
  ]
  t.ok(batch_id)
  t.strictSame(
    found.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    [
      row('a', 'a\n', 'a\n1\n2\n'),
      row('a2', 'a\n', 'a\n1\n2\n'),
      row('b', 'b\n', 'b\n1\n'),
      row('d/new', null, 'n\n', ['d'])
    ]
  )
  t.strictSame(
    done.value.steps.map(
      ({ edit_id }) => page.value.edits.find(({ record }) => record.edit_id === edit_id)?.record.path + ''
    ),
    ['a', 'a2', 'b', 'd/new']
  )
  t.strictSame(
    page.value.edits.map(({ record }) => record.splices?.length),
    [1, 1, 1, 1],
    'with their texts'
  )
  // The next edit finds nothing that was done outside.
  t.match(await workspace.batch([edit('a', '3\n'), edit('b', '2\n')], REAL), { ok: true })
  const next = await workspace.history({ limit: 20 })
  t.equal(next.ok && next.value.edits.length, 6)
  t.equal(slots(folders), '')
})

t.test('records a removal', async t => {
  const { workspace } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { history: 'full' })
  const toggles = [{ edit_id: 'x' }]
  const plan = () => ok({ pieces: [], removes: true as const, toggles, description: null })
  const done = await workspace.batch([edit('b', '1\n'), { operation: 'edit', target: { path: 'a' }, plan }], REAL)
  t.match(done, { ok: true, value: { batch_id: String, steps: [{ edit_id: String }, { edit_id: String }] } })
  const page = await workspace.history({ path: 'a', limit: 10 })
  const [first] = page.ok ? page.value.edits : []
  t.match(first?.record, { hash_before: /./, hash_after: null, size_after: 0, toggles, lines_removed: 1 })
  t.equal(first?.record.made_folders, undefined)
  // What makes it again finds nothing that was done outside.
  const target = { path: 'a', overwrite: false, create_parents: true }
  t.match(await workspace.create(target, REAL, become('a\n')), { ok: true })
  const next = await workspace.history({ path: 'a', limit: 10 })
  t.equal(next.ok && next.value.edits.length, 2)
})

t.test('gives planners the history of the file', async t => {
  const { workspace } = await workspaceOf(t, { a: 'a\n' }, { history: 'full' })
  await workspace.edit({ path: 'a' }, REAL, append('1\n'))
  const seen: unknown[] = []
  const plan = async (original: Buffer, file: PlannedFile): Promise<Result<Planned<null>, never>> => {
    seen.push([file.path, file.exists, (await file.history()).records.length])
    return ok({ pieces: [original, Buffer.from('2\n')], description: null })
  }
  t.match(await workspace.batch([{ operation: 'edit', target: { path: 'a' }, plan }], REAL), { ok: true })
  t.strictSame(seen, [['a', true, 1]])
})

t.test('changes nothing where the history can’t be written', async t => {
  const { workspace, folders } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { history: 'full' })
  await workspace.edit({ path: 'a' }, REAL, append('0\n'))
  const before = picture(folders.root)
  await workspace.close()
  const events: string[] = []
  const next = await open(folders, { history: 'full', report: ({ event }) => events.push(event) })
  t.teardown(() => next.close())
  // Where its segments go there is a file now.
  const mend = breakFolder(join(folders.state, 'history'))
  t.match(await next.batch([edit('a', '1\n'), edit('b', '1\n'), create('d/c', 'c\n')], REAL), {
    ok: false,
    failure: { code: 'NOT_READY', reason: 'history_unwritable' }
  })
  mend()
  t.strictSame(picture(folders.root), before)
  t.equal(slots(folders), '')
  t.ok(events.includes('unrecorded'))
  t.match(await next.batch([edit('a', '1\n'), edit('b', '1\n')], REAL), { ok: true }, 'and works again')
})

t.test('keeps the answer to a key', async t => {
  const { workspace, at } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { history: 'full' })
  let runs = 0
  const send = (key: string, text: string) =>
    workspace.keyed({ scope: 'batch', key, fingerprint: text }, async held => {
      runs++
      const done = await workspace.batch([edit('a', text), edit('b', text)], {
        dry_run: false,
        origin: { operation: 'batch', key: held },
        outcome: ({ batch_id, steps }) => ({
          batch_id: batch_id ?? null,
          ids: steps.map(({ edit_id }) => edit_id ?? null)
        })
      })
      return done.ok ? done.value : null
    })
  for (const text of ['1\n', '']) {
    const first = await send(`key of ${text}`, text)
    const again = await send(`key of ${text}`, text)
    if (!first.ok || !again.ok || !('done' in first.value) || !('replayed' in again.value)) throw new Error('not kept')
    t.strictSame(again.value.replayed, {
      batch_id: first.value.done?.batch_id ?? null,
      ids: first.value.done?.steps.map(({ edit_id }) => edit_id ?? null)
    })
  }
  t.equal(runs, 2)
  t.equal(readFileSync(at('a'), 'utf8') + readFileSync(at('b'), 'utf8'), 'a\n1\nb\n1\n')
})

t.test('notes once what a keyed undo toggles in each file whose bytes stay as they are', async t => {
  for (const [paths, notes] of [
    [
      ['a', 'b'],
      ['a undo false', 'b undo true']
    ],
    [['a'], ['a undo true']]
  ] as const) {
    const { workspace } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { history: 'full' })
    const made = await workspace.batch([edit('a', '1\n'), edit('b', '1\n')], REAL)
    if (!made.ok) throw new Error('not made')
    const steps = made.value.steps.filter(({ path }) => (paths as readonly string[]).includes(path))
    const undo = () =>
      workspace.keyed({ scope: 'undo', key: 'k', fingerprint: '' }, async key => {
        const done = await workspace.batch(
          steps.map(({ path, edit_id }): Step => {
            const plan = (original: Buffer) =>
              ok({ pieces: [original], toggles: [{ edit_id: edit_id! }], description: null })
            return { operation: 'edit', target: { path }, plan }
          }),
          { dry_run: false, origin: { operation: 'undo', key }, outcome: done => done }
        )
        return done.ok ? done.value : null
      })
    const [first, again] = [await undo(), await undo()]
    if (!first.ok || !again.ok || !('done' in first.value) || !('replayed' in again.value)) throw new Error('not kept')
    const page = await workspace.history({ limit: 10 })
    const records = (page.ok ? page.value.edits : []).map(({ record }) => record)
    const undos = records.filter(({ operation }) => operation === 'undo')
    t.strictSame(undos.map(({ path, operation, key }) => `${path} ${operation} ${key !== undefined}`).sort(), notes)
    t.match(again.value.replayed, JSON.parse(JSON.stringify(first.value.done)), 'the kept answer is the answer')
    t.strictSame(
      first.value.done?.steps.map(({ edit_id }) => records.find(record => record.edit_id === edit_id)?.path.toString()),
      paths
    )
    t.strictSame(
      new Set(undos.map(({ batch_id }) => batch_id)),
      new Set([first.value.done?.batch_id]),
      'they are of one batch'
    )
  }
})

t.test('looks again where a file has come, gone or changed meanwhile', async t => {
  interface Meanwhile {
    name: string
    step: Step
    /** While it is planned for the first time. */
    does(at: (name: string) => string): void
    answer: object
    after: Record<string, string>
  }
  const cases: Meanwhile[] = [
    {
      name: 'a file has come where one is to be made',
      step: create('d/new', 'n\n'),
      does: at => {
        mkdirSync(at('d'))
        writeFileSync(at('d/new'), 'theirs\n')
      },
      answer: { ok: false, at: 1, failure: { code: 'ALREADY_EXISTS' } },
      after: { a: 'a\n', b: 'b\n', 'd/new': 'theirs\n' }
    },
    {
      name: 'a folder has come',
      step: create('d/new', 'n\n'),
      does: at => mkdirSync(at('d')),
      answer: { ok: true },
      after: { a: 'a\n1\n', b: 'b\n', 'd/new': 'n\n' }
    },
    {
      name: 'a file was saved by a rename',
      step: edit('b', '1\n'),
      does: at => {
        writeFileSync(at('x'), 'theirs\n')
        renameSync(at('x'), at('b'))
      },
      answer: {
        ok: false,
        at: 1,
        file_hash: hashOf('theirs\n'),
        failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' }
      },
      after: { a: 'a\n', b: 'theirs\n' }
    },
    {
      name: 'a file was saved in place',
      step: edit('b', '1\n'),
      does: at => writeFileSync(at('b'), 'theirs\n'),
      answer: { ok: false, at: 1, failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } },
      after: { a: 'a\n', b: 'theirs\n' }
    },
    {
      name: 'a file has gone',
      step: edit('b', '1\n'),
      does: at => rmSync(at('b')),
      answer: { ok: false, at: 1, failure: { code: 'STALE_FILE' } },
      after: { a: 'a\n' }
    }
  ]
  for (const { name, step, does, answer, after } of cases) {
    await t.test(name, async t => {
      const { workspace, folders, at } = await workspaceOf(t, { a: 'a\n', b: 'b\n' })
      let planned = 0
      const plan: Step['plan'] = (original, file) => {
        if (planned++ === 0) does(at)
        return step.plan(original, file)
      }
      t.match(await workspace.batch([edit('a', '1\n'), { ...step, plan }], REAL), answer)
      t.strictSame(textsIn(folders.root), after)
      t.equal(slots(folders), '')
    })
  }
})

/** A request that fails, and why, whether it is sent alone or as the step of a batch. */
const REFUSED: [what: string, step: Step, options: Partial<WorkspaceOptions>, failure: object][] = [
  ['a binary file without a hash, where one is required', edit('nul', ''), HASHES, { code: 'PRECONDITION_REQUIRED' }],
  ['a binary file', edit('nul', '', hashOf(NUL)), HASHES, { code: 'BINARY_FILE' }],
  ['a binary file that may not be replaced', create('nul', ''), {}, { code: 'ALREADY_EXISTS', reason: 'exists' }],
  ['a new binary file', create('nul', '', REPLACE), HASHES, { code: 'BINARY_FILE' }],
  ['a file that may not be replaced', create('a', ''), HASHES, { code: 'ALREADY_EXISTS', reason: 'exists' }],
  ['a file replaced without a hash', create('a', '', { overwrite: true }), HASHES, { reason: 'needs_expected_hash' }],
  ['a read-only file without a hash', edit('closed', ''), HASHES, { code: 'PERMISSION_DENIED' }],
  ['a read-only file that may not be replaced', create('closed', ''), {}, { code: 'ALREADY_EXISTS' }],
  ['a file that is too large', edit('long', ''), HASHES, { code: 'FILE_TOO_LARGE' }],
  ['one that is too large and may not be replaced', create('long', ''), {}, { code: 'ALREADY_EXISTS' }],
  ['another text than was expected', edit('a', '', hashOf('')), {}, { code: 'STALE_FILE' }],
  [
    'another text, in which nothing is found',
    { operation: 'edit', target: STALE, plan: () => fail({ code: 'NO_MATCH' }) },
    {},
    { code: 'NO_MATCH' }
  ],
  ['a file that is not there', edit('none', ''), HASHES, { code: 'FILE_NOT_FOUND' }]
]

t.test('refuses a step for what the same request is refused for alone', async t => {
  for (const [what, step, options, failure] of REFUSED) {
    const files = { a: 'a\n', nul: NUL, closed: 'c\n', long: 'x'.repeat(2000) }
    const { workspace, at } = await workspaceOf(t, files, { maxFileSize: 1000, ...options })
    chmodSync(at('closed'), 0o444)
    for (const how of [DRY, REAL]) {
      const { operation, target, plan } = step as Extract<Step, { operation: 'edit' | 'create' }>
      const alone = await (operation === 'edit'
        ? workspace.edit(target, how, plan)
        : workspace.create(target as CreateTarget, how, plan))
      t.match(alone, { ok: false, failure }, what)
      const inBatch: object = await workspace.batch([step], how)
      // The batch says which step it is, too.
      const { at: _, others: __, untried: ___, ...found } = inBatch as Record<string, unknown>
      t.strictSame(found, { ...alone }, what)
    }
  }
})

t.test('gives a planner the same facts of a file, alone or in a batch', async t => {
  const { workspace, at } = await workspaceOf(t, {})
  mkdirSync(at('d'))
  writeFileSync(at('d/a'), 'a\n')
  symlinkSync('d', at('link'))
  for (const step of [edit('d/a', ''), edit('link/a', ''), create('link/b', 'b\n'), create('d/b', 'b\n')]) {
    const given: object[] = []
    const plan = (_: Buffer, file: PlannedFile) => {
      given.push({ ...file, history: null })
      return fail({ code: 'SEEN' })
    }
    if (step.operation === 'create') await workspace.create(step.target, REAL, plan)
    else await workspace.edit(step.target, REAL, plan)
    await workspace.batch([{ ...step, plan }], REAL)
    const [alone, inBatch] = given
    t.ok(alone, step.target.path)
    t.strictSame(inBatch, alone, step.target.path)
  }
})

t.test('tells of no losses where a file is to be removed, alone or in a batch', async t => {
  const { workspace, at } = await workspaceOf(t, { a: 'a\n' })
  linkSync(at('a'), at('b'))
  const [edited, removed] = [edit('a', 'x'), gone('a')].map(step => async () => {
    const alone = await workspace.edit(step.target, DRY, step.plan)
    const inBatch = await workspace.batch([step], DRY)
    return [alone.ok && alone.value.warnings, inBatch.ok && inBatch.value.steps[0]?.warnings]
  })
  t.strictSame(await edited!(), [['links_left'], ['links_left']])
  t.strictSame(await removed!(), [[], []])
})

t.test('counts the bytes that it reads', async t => {
  let read = 0
  const unheard = () => {}
  const meter = { locked: unheard, tookOver: unheard, committed: unheard, history: unheard, closed: unheard }
  const counting = {
    ...meter,
    read(bytes: number) {
      read += bytes
    }
  }
  const { workspace } = await workspaceOf(t, { a: '12345', b: '123' }, { meter: counting })
  t.ok((await workspace.batch([edit('a', '6'), edit('a', '7'), edit('b', '4'), create('c', 'new')], REAL)).ok)
  t.equal(read, 8)
})

t.test('says which file is locked, and changes none', async t => {
  const { workspace, folders } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { lockTimeout: 50 })
  const before = picture(folders.root)
  const first = await heldEdit(workspace, 'b', REAL, append(''))
  t.match(await workspace.batch([edit('a', '1\n'), edit('b', '1\n')], REAL), {
    at: 1,
    path: 'b',
    failure: { code: 'FILE_LOCKED', reason: 'timeout' },
    file_hash: hashOf('b\n')
  })
  first.goOn()
  await first.done
  t.strictSame(picture(folders.root), before)
  t.notOk(existsSync(join(folders.root, 'd')))
})

t.test('changes what a path leads to once its file is free', async t => {
  const { workspace, at } = await workspaceOf(t, { a: 'a\n', b: 'b\n' })
  symlinkSync('a', at('link'))
  const first = await heldEdit(workspace, 'a', REAL, append('0\n'))
  const done = workspace.batch([edit('link', '1\n')], REAL)
  await sleep(50)
  rmSync(at('link'))
  symlinkSync('b', at('link'))
  first.goOn()
  t.match(await done, { ok: true, value: { steps: [{ path: 'link', resolved_path: 'b' }] } })
  t.match(await first.done, { ok: true })
  t.equal(readFileSync(at('a'), 'utf8') + readFileSync(at('b'), 'utf8'), 'a\n0\nb\n1\n')
})

t.test('makes a folder of the state again that is gone', async t => {
  const { workspace, folders } = await workspaceOf(t, { a: 'a\n', b: 'b\n' })
  rmSync(join(folders.state, 'journal'), { recursive: true })
  t.match(await workspace.batch([edit('b', '1\n'), edit('a', '1\n')], REAL), { ok: true })
  t.equal(slots(folders), '')
})

t.test('writes no batch record where one name changes, however many steps there are', async t => {
  const { workspace, folders } = await workspaceOf(t, { a: 'a\n', b: 'b\n' }, { allowDelete: true })
  const journal = join(folders.state, 'journal')
  const named: string[] = []
  const watcher = watch(journal, (_, name) => named.push(String(name)))
  t.teardown(() => watcher.close())
  t.match(await workspace.batch([edit('a', '1\n'), edit('a', '2\n'), edit('b', '')], REAL), { ok: true })
  t.match(await workspace.batch([create('new', 'x\n')], REAL), { ok: true })
  t.match(await workspace.batch([gone('new')], REAL), { ok: true })
  // Events of this folder arrive in order.
  writeFileSync(join(journal, 'between'), '')
  t.match(await workspace.batch([edit('a', '3\n'), edit('b', '3\n')], REAL), { ok: true })
  while (!named.some(name => name.endsWith('.batch'))) await sleep(10)
  t.ok(named.findIndex(name => name.endsWith('.batch')) > named.indexOf('between'))
  t.not(named.indexOf('between'), -1)
  rmSync(join(journal, 'between'))
})
