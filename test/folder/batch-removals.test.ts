// Files that a batch removes: what is gone and stays, what is recorded, and what is refused because nothing could bring
// the file back. What undo makes of it is in test/operations/apply-patch.test.ts.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ok } from '../../src/result.ts'
import type { BatchStep, FileAttributes, Planner, WorkspaceOptions } from '../../src/workspace/api.ts'
import { append, become, DRY, isRoot, makeFolders, open, REAL, removeFolders, UNPLANNED } from './support/open.ts'

type Step = BatchStep<unknown, { code: string }>

/** The plan for a removed file: only its description is used. */
const told: Planner<string, never> = original =>
  ok({ pieces: [Buffer.from('not written')], description: `${original}` })
const gone = (path: string, expected_hash?: string): Step => ({
  operation: 'remove',
  target: { path, ...(expected_hash !== undefined && { expected_hash }) },
  plan: told
})
const unplanned = (path: string): Step => ({ operation: 'remove', target: { path }, plan: UNPLANNED })
const edit = (path: string, text: string): Step => ({ operation: 'edit', target: { path }, plan: append(text) })
const create = (path: string, text: string): Step => ({
  operation: 'create',
  target: { path, overwrite: false, create_parents: true },
  plan: become(text)
})

/** The steps that move a file: what it holds and is gets another name. */
function move(from: string, to: string): Step[] {
  let held: { original: Buffer; attributes?: FileAttributes } = { original: Buffer.alloc(0) }
  return [
    {
      operation: 'remove',
      target: { path: from },
      plan: (original, { attributes }) => {
        held = { original, ...(attributes !== undefined && { attributes }) }
        return ok({ pieces: [original], description: 'from' })
      }
    },
    {
      operation: 'create',
      target: { path: to, overwrite: false, create_parents: true },
      plan: () => {
        const { original, ...others } = held
        return ok({ pieces: [original], ...others, description: 'to' })
      }
    }
  ]
}

const textsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(join(folder, name)).isFile())
      .sort()
      .map(name => [name, readFileSync(join(folder, name), 'utf8')])
  )

interface Case {
  name: string
  /** Text by path. */
  files: Record<string, string>
  prepare?: (root: string) => void
  steps: Step[]
  options?: Partial<WorkspaceOptions>
  dry?: boolean
  /** All texts afterwards; absent: as before. */
  after?: Record<string, string>
  answer: object
  also?: (t: Test, root: string) => void
  /** What the history has of it, newest first. */
  recorded?: object[]
}

async function check(t: Test, one: Case): Promise<void> {
  const { name, files, prepare, steps, options = {}, dry = false, answer, also, recorded } = one
  await t.test(name, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folders.root, path, '..'), { recursive: true })
      writeFileSync(join(folders.root, path), text)
    }
    prepare?.(folders.root)
    const workspace = await open(folders, { allowDelete: true, history: 'full', ...options })
    t.teardown(() => workspace.close())
    const before = textsIn(folders.root)
    t.match(await workspace.batch(steps, dry ? DRY : REAL), answer)
    t.strictSame(textsIn(folders.root), one.after ?? before)
    t.strictSame(readdirSync(join(folders.state, 'journal')), [], 'nothing is left in the journal')
    also?.(t, folders.root)
    if (recorded === undefined) return
    const history = await workspace.history({ limit: 10, texts: true })
    t.match(history.ok && history.value.edits, recorded)
  })
}

t.test('removes files', async t => {
  const cases: Case[] = [
    {
      name: 'what only this batch makes',
      files: { b: 'b\n' },
      steps: [create('n/a', 'a\n'), gone('n/a'), gone('b')],
      after: {},
      answer: { ok: true, value: { steps: [{ created: true }, {}, { path: 'b' }] } },
      also: (t, root) => t.notOk(existsSync(join(root, 'n'))),
      recorded: [{ record: { path: Buffer.from('b') } }]
    },
    {
      name: 'also a binary one',
      files: { a: 'a\0', b: 'b\n' },
      steps: [gone('a')],
      after: { b: 'b\n' },
      answer: { ok: true, value: { steps: [{ path: 'a', changed: true }] } },
      recorded: [{ record: { hash_after: null, size_before: 2 } }]
    },
    {
      name: 'and their folders stay',
      files: { 'd/a': 'a\n', b: 'b\n' },
      steps: [gone('d/a'), edit('b', '1\n')],
      options: { durability: 'full' },
      after: { b: 'b\n1\n' },
      answer: {
        ok: true,
        value: { steps: [{ path: 'd/a', changed: true, file_size: 0, description: 'a\n', warnings: [] }, {}] }
      },
      also: (t, root) => t.strictSame(readdirSync(join(root, 'd')), []),
      recorded: [
        { record: { hash_before: /./, hash_after: /./ } },
        {
          record: {
            path: Buffer.from('d/a'),
            hash_after: null,
            lines_removed: 1,
            attributes: { mode: 0o644 },
            splices: [{ start: 0, old: Buffer.from('a\n'), insert: Buffer.alloc(0) }]
          }
        }
      ]
    },
    {
      name: 'after a change of it, which is recorded with it',
      files: { a: 'a\n' },
      steps: [edit('a', '1\n'), gone('a')],
      after: {},
      answer: { ok: true, value: { steps: [{}, { description: 'a\n1\n' }] } },
      recorded: [{ record: { splices: [{ start: 0, old: Buffer.from('a\n') }] } }]
    },
    { name: 'without text', files: { a: '' }, steps: [gone('a')], after: {}, answer: { ok: true } },
    {
      name: 'not in a dry run',
      files: { a: 'a\n' },
      steps: [gone('a')],
      dry: true,
      answer: { ok: true, value: { steps: [{ changed: true, description: 'a\n' }] } }
    },
    {
      name: 'by one name, while another one is changed, before it',
      files: { a: 'a\n' },
      prepare: root => linkSync(join(root, 'a'), join(root, 'a2')),
      steps: [gone('a'), edit('a2', '1\n')],
      after: { a2: 'a\n1\n' },
      answer: { ok: true }
    },
    {
      name: 'or after it, and a third one stays',
      files: { a: 'a\n' },
      prepare: root => {
        linkSync(join(root, 'a'), join(root, 'a2'))
        linkSync(join(root, 'a'), join(root, 'a3'))
      },
      steps: [edit('a2', '1\n'), gone('a'), edit('a3', '2\n')],
      after: { a2: 'a\n1\n2\n', a3: 'a\n1\n2\n' },
      answer: { ok: true },
      also: (t, root) => t.equal(statSync(join(root, 'a2')).ino, statSync(join(root, 'a3')).ino)
    }
  ]
  for (const one of cases) await check(t, one)
})

t.test('moves files', async t => {
  const isMode = (t: Test, root: string, path: string, mode: number) =>
    t.equal(statSync(join(root, path)).mode & 0o7777, mode)
  const cases: Case[] = [
    {
      name: 'with their mode, into a folder that is made',
      files: { a: 'a\n' },
      prepare: root => chmodSync(join(root, 'a'), 0o4751),
      steps: move('a', 'd/b'),
      after: { 'd/b': 'a\n' },
      answer: { ok: true, value: { steps: [{}, { path: 'd/b', created: true, file_size: 2 }] } },
      also: (t, root) => isMode(t, root, 'd/b', 0o751)
    },
    {
      name: 'and what a later step does to them there keeps it',
      files: { a: 'a\n' },
      prepare: root => chmodSync(join(root, 'a'), 0o640),
      steps: [...move('a', 'b'), edit('b', '1\n')],
      after: { b: 'a\n1\n' },
      answer: { ok: true },
      also: (t, root) => isMode(t, root, 'b', 0o640)
    },
    {
      name: 'not over another file',
      files: { a: 'a\n', b: 'b\n' },
      steps: move('a', 'b'),
      answer: { ok: false, at: 1, path: 'b', failure: { code: 'ALREADY_EXISTS' } }
    },
    {
      name: 'not where nothing is any more',
      files: { a: 'a\n' },
      steps: [...move('a', 'b'), ...move('a', 'c')],
      answer: { ok: false, at: 2, path: 'a', failure: { code: 'FILE_NOT_FOUND', missing: 'removed' } }
    }
  ]
  for (const one of cases) await check(t, one)
  if (!isRoot) return
  await check(t, {
    name: 'with their owner',
    files: { a: 'a\n' },
    prepare: root => chownSync(join(root, 'a'), 1234, 1235),
    steps: move('a', 'b'),
    after: { b: 'a\n' },
    answer: { ok: true },
    also: (t, root) => {
      const { uid, gid } = statSync(join(root, 'b'))
      t.strictSame([uid, gid], [1234, 1235])
    }
  })
})

t.test('refuses what could not be brought back, and what it may not do', async t => {
  const refused = (code: string, more: object = {}, at = 0) => ({ ok: false, at, failure: { code, ...more } })
  const notAllowed = (reason: string) => refused('DELETE_NOT_ALLOWED', { reason })
  const cases: Case[] = [
    {
      name: 'where the setting is off, before anything is looked at',
      files: { a: 'a\n' },
      steps: [edit('a', '1\n'), unplanned('missing')],
      options: { allowDelete: false },
      answer: { ...refused('DELETE_NOT_ALLOWED', { reason: 'setting' }, 1), path: 'missing' }
    },
    {
      name: 'without a history',
      files: { a: 'a\n' },
      steps: [unplanned('a')],
      options: { history: 'off' },
      answer: notAllowed('history_off')
    },
    {
      name: 'without its texts',
      files: { a: 'a\n' },
      steps: [unplanned('a')],
      options: { history: 'meta' },
      answer: notAllowed('texts_not_kept')
    },
    {
      name: 'without the texts of this file',
      files: { a: 'a\n', 'x.pem': 'x\n' },
      steps: [gone('a'), unplanned('x.pem')],
      options: { historyPrivate: ['*.pem'] },
      answer: { ...notAllowed('texts_not_kept'), at: 1 }
    },
    {
      name: 'what a link leads to',
      files: { a: 'a\n' },
      prepare: root => symlinkSync('a', join(root, 'link')),
      steps: [unplanned('link')],
      answer: { ...refused('NOT_A_FILE', { type: 'link' }), resolved_path: 'a' }
    },
    {
      name: 'a folder',
      files: { 'd/a': 'a\n' },
      steps: [unplanned('d')],
      answer: refused('NOT_A_FILE', { type: 'directory' })
    },
    { name: 'what is not there', files: {}, steps: [unplanned('a')], answer: refused('FILE_NOT_FOUND') },
    {
      name: 'a new file in its place',
      files: { a: 'a\n' },
      steps: [gone('a'), create('a', 'b\n')],
      answer: refused('FILE_NOT_FOUND', { missing: 'removed' }, 1)
    },
    {
      name: 'a protected file',
      files: { a: 'a\n', '.git/b': 'b\n' },
      steps: [gone('a'), unplanned('.git/b')],
      answer: refused('PROTECTED_PATH', {}, 1)
    },
    {
      name: 'a read-only file',
      files: { a: 'a\n' },
      prepare: root => chmodSync(join(root, 'a'), 0o444),
      steps: [unplanned('a')],
      answer: refused('PERMISSION_DENIED', { reason: 'read_only_file' })
    },
    {
      name: 'another content than was expected',
      files: { a: 'a\n' },
      steps: [gone('a', '0123456789abcdef')],
      answer: refused('STALE_FILE')
    },
    {
      name: 'any where a hash is required',
      files: { a: 'a\n' },
      steps: [unplanned('a')],
      options: { requireHash: true },
      answer: refused('PRECONDITION_REQUIRED')
    },
    {
      name: 'any where nothing may be changed',
      files: { a: 'a\n' },
      steps: [unplanned('a')],
      options: { readOnly: true },
      answer: refused('READ_ONLY')
    }
  ]
  for (const one of cases) await check(t, one)
})

t.test('refuses a file whose owner it could not give back', { skip: !isRoot && 'only root can be others' }, async t => {
  const { getgroups, geteuid, getegid, seteuid, setegid, setgroups } = process
  const [user, group, groups] = [geteuid!(), getegid!(), getgroups!()]
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const folder of [folders.base, folders.root]) chmodSync(folder, 0o777)
  const paths = ['ours', 'of our group', 'of others']
  for (const path of paths) writeFileSync(join(folders.root, path), 'a\n')
  chownSync(join(folders.root, 'ours'), 1234, 1234)
  chownSync(join(folders.root, 'of our group'), 1234, 1236)
  chownSync(join(folders.root, 'of others'), 1235, 1234)
  for (const path of paths) chmodSync(join(folders.root, path), 0o666)
  setgroups!([1236])
  setegid!(1234)
  seteuid!(1234)
  try {
    const workspace = await open(folders, { allowDelete: true, history: 'full' })
    const denied = { ok: false, failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' } }
    t.match(await workspace.batch([unplanned('of others')], REAL), denied)
    t.match(await workspace.batch([gone('ours'), gone('of our group')], REAL), { ok: true })
    await workspace.close()
  } finally {
    seteuid!(user)
    setegid!(group)
    setgroups!(groups)
  }
  t.strictSame(
    paths.map(path => existsSync(join(folders.root, path))),
    [false, false, true]
  )
})
