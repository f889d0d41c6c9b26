// Moving files and folders: what is where afterwards, what is answered and recorded, and what is refused.
import { hash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stateOf } from './support/folder-state.ts'
import { ALLOWED, type Files } from './support/patched.ts'
import { serveOperations } from './support/serve-operations.ts'
import type { WorkspaceOptions } from '../../src/workspace/api.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0xff, 0xfe, 0])
const TREE: Files = { 'd/a.txt': 'a\n', 'd/e/b.txt': 'b\r\n', 'd/e/%20c .txt': '', 'other.txt': 'o\n' }

t.test('moves a file with its bytes and mode, and an undo moves it back', async t => {
  const { root, call } = await serveOperations(t, { 'a.txt': 'one\n' })
  writeFileSync(join(root, 'p.png'), PNG)
  chmodSync(join(root, 'p.png'), 0o751)
  for (const [path, to] of [
    ['a.txt', 'new/dir/b.txt'],
    ['p.png', 'new/q.png'],
    ['a.txt', 'A.txt']
  ] as const) {
    const before = stateOf(root)
    const { body, text } = await call('move', { path, to })
    const moved = { path: to, moved_from: path, changed: true, changes: [], edit_id: /./, batch_id: /./ }
    t.match(body, { ...moved, message: `Moved ${path} to ${to}.` })
    t.equal(text, `Moved ${path} to ${to}. file_hash: ${String(body.file_hash)} edit_id: ${String(body.edit_id)}`)
    t.equal(stateOf(root)[to], before[path])
    t.notOk(existsSync(join(root, path)))
    await call('undo', { path: to })
    t.strictSame(stateOf(root), before)
    await call('redo', { batch_id: body.batch_id })
    t.equal(stateOf(root)[to], before[path])
    await call('undo', { batch_id: body.batch_id })
    t.strictSame(stateOf(root), before)
  }
  t.match((await call('history', { limit: 1, path: 'new/q.png' })).body, { edits: [{}] })
})

t.test('moves a folder with all its files, and an undo moves it back', async t => {
  const { root, call } = await serveOperations(t, TREE)
  writeFileSync(join(root, 'd/e/p.png'), PNG)
  mkdirSync(join(root, 'd/empty'))
  const before = stateOf(root)
  const dry = await call('move', { path: 'd', to: 'x/y/', dry_run: true })
  t.match(dry.text, /^Would move d with 4 files to x\/y; nothing was written\.\nd\/a\.txt\n/)
  t.strictSame(stateOf(root), before)
  const { body } = await call('move', { path: 'd', to: 'x/y/' })
  t.match(body, {
    path: 'x/y',
    moved_from: 'd',
    message: 'Moved d with 4 files to x/y, with the same hashes.',
    files: [{ path: 'x/y/a.txt', moved_from: 'd/a.txt', file_hash: /./ }, {}, {}, {}]
  })
  t.notOk(existsSync(join(root, 'd')))
  for (const [path, state] of Object.entries(before)) {
    if (path.startsWith('d/') && path !== 'd/empty') t.equal(stateOf(root)[path.replace('d/', 'x/y/')], state)
  }
  const { text } = await call('history', { limit: 2 })
  t.match(text, / {2}x\/y\/\S+ {2}move from d\//)
  t.match((await call('history', { path: 'd/a.txt' })).text, / {2}d\/a\.txt {2}move to x\/y\/a\.txt {2}batch /)
  await call('undo', { batch_id: body.batch_id })
  const { 'd/empty': _, ...recorded } = before
  t.strictSame(stateOf(root), recorded)
})

interface Refusal {
  name: string
  prepare?: (root: string) => void
  options?: Partial<WorkspaceOptions>
  body: Record<string, unknown>
  answer: object
  text?: RegExp | string
}

async function checkRefused(t: Test, { name, prepare, options, body, answer, text = /./ }: Refusal): Promise<void> {
  await t.test(name, async t => {
    const { root, call } = await serveOperations(t, TREE, { ...ALLOWED, ...options })
    prepare?.(root)
    const before = stateOf(root)
    const refused = await call('move', body)
    t.match(refused.body, answer)
    t.match(refused.text, text)
    t.strictSame(stateOf(root), before)
  })
}

const EXISTS = { code: 'ALREADY_EXISTS', detail: /already exists, and a move replaces nothing/ }

t.test('replaces nothing, and says which path was probably meant', async t => {
  const cases: Refusal[] = [
    { name: 'a file', body: { path: 'd/a.txt', to: 'other.txt' }, answer: { ...EXISTS, path: 'other.txt' } },
    {
      name: 'a file of another letter case',
      prepare: root => writeFileSync(join(root, 'OTHER.txt'), ''),
      body: { path: 'other.txt', to: 'OTHER.txt' },
      answer: { ...EXISTS, detail: /only letter case.*another name first/ }
    },
    { name: 'a file with a slash', body: { path: 'd/a.txt', to: 'other.txt/' }, answer: EXISTS },
    { name: 'a file by a folder', body: { path: 'd', to: 'other.txt' }, answer: { ...EXISTS, path: 'other.txt' } },
    {
      name: 'a folder',
      body: { path: 'other.txt', to: 'd' },
      answer: { code: 'NOT_A_FILE', path: 'd', detail: /"to": "d\/other\.txt"/ },
      text: '{"path":"other.txt","to":"d/other.txt"}'
    },
    {
      name: 'a folder that is missing',
      body: { path: 'other.txt', to: 'new/' },
      answer: { code: 'NOT_A_FILE' },
      text: '{"path":"other.txt","to":"new/other.txt"}'
    },
    {
      name: 'a folder by a folder',
      prepare: root => mkdirSync(join(root, 'x')),
      body: { path: 'd', to: 'x' },
      answer: { code: 'NOT_A_FILE' },
      text: '{"path":"d","to":"x/d"}'
    },
    {
      name: 'a link to nothing',
      prepare: root => symlinkSync('none', join(root, 'l')),
      body: { path: 'other.txt', to: 'l/b' },
      answer: { code: 'NOT_A_FILE' }
    }
  ]
  for (const one of cases) await checkRefused(t, one)
})

t.test('refuses a path that can not be', async t => {
  const cases: Refusal[] = [
    { name: 'itself', body: { path: 'd', to: './d/' }, answer: { code: 'INVALID_REQUEST', detail: /same|already/ } },
    {
      name: 'in itself, with a link',
      prepare: root => symlinkSync('/etc', join(root, 'd/link')),
      body: { path: 'd', to: 'd/e/f' },
      answer: { code: 'INVALID_REQUEST', detail: /into itself/ }
    },
    {
      name: 'to a folder, with a link',
      prepare: root => {
        symlinkSync('/etc', join(root, 'd/link'))
        mkdirSync(join(root, 'x'))
      },
      body: { path: 'd', to: 'x' },
      answer: { code: 'NOT_A_FILE', path: 'x', detail: /"to": "x\/d"/ }
    },
    {
      name: 'a folder with a link',
      prepare: root => symlinkSync('/etc', join(root, 'd/link')),
      body: { path: 'd', to: 'x' },
      answer: { code: 'NOT_A_FILE', path: 'd/link', detail: /is a symbolic link/ }
    },
    { name: 'in itself', body: { path: 'd', to: 'd/e/f' }, answer: { code: 'INVALID_REQUEST', detail: /into itself/ } },
    {
      name: 'an odd name',
      body: { path: 'other.txt', to: ' b.txt' },
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/to', message: /white space; send "b\.txt"/ }] }
    },
    {
      name: 'an odd name of a folder',
      body: { path: 'd', to: 'x\\y' },
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/to' }] }
    },
    {
      name: 'NUL',
      body: { path: 'other.txt', to: 'b\0' },
      answer: { code: 'INVALID_REQUEST', errors: [{ pointer: '/to', message: /NUL/ }] }
    },
    { name: 'outside', body: { path: 'other.txt', to: '/tmp/other.txt' }, answer: { code: 'PATH_NOT_ALLOWED' } },
    { name: 'protected', body: { path: 'other.txt', to: '.git/x' }, answer: { code: 'PROTECTED_PATH' } },
    {
      name: 'no parent',
      body: { path: 'other.txt', to: 'x/y', create_parents: false },
      answer: { code: 'FILE_NOT_FOUND', path: 'x/y', detail: /directory for x\/y was not found/ }
    },
    {
      name: 'no parent of a folder',
      body: { path: 'd', to: 'x/y', create_parents: false },
      answer: { code: 'FILE_NOT_FOUND', path: 'x/y' }
    },
    {
      name: 'no file',
      body: { path: 'oter.txt', to: 'x' },
      answer: { code: 'FILE_NOT_FOUND' },
      text: '"path":"other.txt"'
    },
    {
      name: 'no files',
      prepare: root => mkdirSync(join(root, 'empty')),
      body: { path: 'empty', to: 'x' },
      answer: { code: 'NOT_A_FILE', detail: /without any file, and only files can be moved/ }
    },
    {
      name: 'a protected file in it',
      prepare: root => mkdirSync(join(root, 'd/.git')),
      body: { path: 'd', to: 'x' },
      answer: { code: 'PROTECTED_PATH', path: 'd/.git' }
    },
    {
      name: 'another hash',
      body: { path: 'other.txt', to: 'x', expected_hash: '0'.repeat(16) },
      answer: { code: 'STALE_FILE' }
    },
    {
      name: 'another hash of a binary file',
      prepare: root => writeFileSync(join(root, 'other.txt'), PNG),
      body: { path: 'other.txt', to: 'x', expected_hash: '0'.repeat(16) },
      answer: { code: 'STALE_FILE' }
    },
    {
      name: 'not allowed',
      options: { allowDelete: false },
      body: { path: 'd', to: 'x' },
      answer: { code: 'DELETE_NOT_ALLOWED' }
    }
  ]
  for (const one of cases) await checkRefused(t, one)
})

t.test('takes the names that models send', async t => {
  const { call, texts } = await serveOperations(t, { a: 'a\n' })
  let at = 'a'
  for (const [i, [from, to]] of [
    ['source', 'destination'],
    ['from', 'to'],
    ['old_path', 'new_path'],
    ['file_path', 'dest'],
    ['path', 'target']
  ].entries()) {
    const { body } = await call('move', { [from!]: at, [to!]: `f${i}` })
    t.match(body, { path: `f${i}`, moved_from: at })
    at = `f${i}`
  }
  t.match((await call('delete', { file_path: at, command: 'delete' })).body, { removed: true })
  t.strictSame(texts(), {})
})

t.test('is a part of a batch, in order', async t => {
  const { call, texts, root } = await serveOperations(t, { a: 'a\n', b: 'b\n', 'd/c': 'c\n', 'd/e': 'e\n' })
  const { body, text } = await call('batch', {
    operations: [
      edit('a', 'a', 'A'),
      move('a', 'n/a'),
      edit('n/a', 'A', 'AA'),
      { operation: 'delete', path: 'b' },
      move('d', 'x'),
      edit('x/c', 'c', 'C')
    ]
  })
  t.strictSame(texts(), { 'n/a': 'AA\n', 'x/c': 'C\n', 'x/e': 'e\n' })
  t.match(body.results, [
    { operation: 'edit' },
    { operation: 'move', path: 'n/a', moved_from: 'a' },
    { operation: 'edit' },
    { operation: 'delete', path: 'b', removed: true },
    { operation: 'move', path: 'x', moved_from: 'd', files: [{ path: 'x/c' }, { path: 'x/e' }] },
    { operation: 'edit', path: 'x/c' }
  ])
  t.match(text, /^6 operations changed/)
  t.notOk(existsSync(join(root, 'd')))
  await call('undo', { batch_id: body.batch_id })
  t.strictSame(texts(), { a: 'a\n', b: 'b\n', 'd/c': 'c\n', 'd/e': 'e\n' })
})

type Step = Record<string, unknown>
const edit = (path: string, old_text: string, new_text: string, more: Step = {}): Step => ({
  operation: 'edit',
  path,
  old_text,
  new_text,
  ...more
})
const move = (path: string, to: string, more: Step = {}): Step => ({ operation: 'move', path, to, ...more })
const remove = (path: string): Step => ({ operation: 'delete', path, recursive: true })
const create = (path: string, content: string): Step => ({ operation: 'create', path, content })

interface InBatch {
  name: string
  operations: Step[]
  /** The texts afterwards; absent: the batch is refused. */
  after?: Files
  /** Folders that are left without a file. */
  empty?: string[]
  answer: object
}

const IN_BATCH: Files = { a: 'a\n', 'd/b': 'b\n', 'd/e/c': 'c\n', 'g/h': 'h\n' }
const HASH = Object.fromEntries(
  Object.entries(IN_BATCH).map(([path, text]) => [path, hash('sha256', text, 'hex').slice(0, 16)])
)

/** Sends a batch as a dry run, then in earnest, and undoes it. */
async function checkInBatch(t: Test, { name, operations, after, empty = [], answer }: InBatch): Promise<void> {
  await t.test(name, async t => {
    const { call, texts, root } = await serveOperations(t, IN_BATCH)
    const before = stateOf(root)
    const dry = await call('batch', { operations, dry_run: true })
    t.strictSame(stateOf(root), before)
    const { body } = await call('batch', { operations })
    t.match(body, answer)
    t.strictSame(texts(), after ?? IN_BATCH)
    if (after === undefined) {
      t.match(dry.body, answer)
      return
    }
    t.match(dry.body, { dry_run: true })
    const files = Object.keys(after)
    const isEmpty = (path: string): boolean => !files.some(file => file === path || file.startsWith(`${path}/`))
    t.strictSame(Object.keys(stateOf(root)).filter(isEmpty), empty)
    await call('undo', { batch_id: body.batch_id })
    t.strictSame(texts(), IN_BATCH)
    await call('redo', { batch_id: body.batch_id })
    t.strictSame(texts(), after)
  })
}

t.test('takes a directory as the earlier operations of the batch leave it', async t => {
  const { 'd/b': b, 'd/e/c': c, ...others } = IN_BATCH
  const { 'g/h': h, ...withoutG } = IN_BATCH
  const cases: InBatch[] = [
    {
      name: 'a file moved out, then deleted',
      operations: [move('d/b', 'n/b'), remove('d')],
      after: { ...others, 'n/b': b! },
      answer: { results: [{}, { files: [{ path: 'd/e/c' }] }] }
    },
    {
      name: 'a file moved out by another spelling, then moved',
      operations: [move('./d//b', 'b'), move('d/', 'n')],
      after: { ...others, b: b!, 'n/e/c': c! },
      answer: { results: [{}, { files: [{ path: 'n/e/c' }] }] }
    },
    {
      name: 'a file deleted, then deleted',
      operations: [remove('d/e/c'), remove('d')],
      after: others,
      answer: { results: [{}, { files: [{ path: 'd/b' }] }] }
    },
    {
      name: 'a directory deleted, then moved',
      operations: [remove('d/e'), move('d', 'n')],
      after: { ...others, 'n/b': b! },
      answer: {
        results: [{}, { files: [{ path: 'n/b' }], message: 'Moved d with 1 file to n, with the same hashes.' }]
      }
    },
    {
      name: 'a file edited, then moved',
      operations: [edit('d/b', 'b', 'B'), move('d', 'n')],
      after: { ...others, 'n/b': 'B\n', 'n/e/c': c! },
      answer: { results: [{}, { message: 'Moved d with 2 files to n.' }] }
    },
    {
      name: 'all files moved out, then deleted',
      operations: [move('d/b', 'b'), move('d/e/c', 'c'), remove('d')],
      after: { ...others, b: b!, c: c! },
      answer: { results: [{}, {}, { path: 'd', removed: true, files: [] }] }
    },
    {
      name: 'all files moved out of two',
      operations: [move('d/e/c', 'c'), remove('d/e'), move('d/b', 'b'), remove('d'), move('g/h', 'h'), remove('g')],
      after: { a: 'a\n', b: b!, c: c!, h: h! },
      answer: { results: [] }
    },
    {
      name: 'all files moved out',
      operations: [move('g/h', 'h')],
      after: { ...withoutG, h: h! },
      empty: ['g'],
      answer: { results: [{}] }
    },
    {
      name: 'deleted twice',
      operations: [remove('d'), remove('d')],
      after: others,
      answer: { results: [{ files: [{}, {}] }, { files: [] }] }
    },
    {
      name: 'moved, and moved on',
      operations: [move('d', 'n'), move('n', 'm'), edit('m/b', 'b', 'B', { expected_hash: HASH['d/b'] })],
      after: { ...others, 'm/b': 'B\n', 'm/e/c': c! },
      answer: { results: [{}, { path: 'm', moved_from: 'n', files: [{}, {}] }, {}] }
    },
    {
      name: 'moved, and deleted there',
      operations: [move('d', 'n'), remove('n')],
      after: others,
      answer: { results: [{}, { path: 'n', removed: true, files: [{ path: 'n/b' }, {}] }] }
    },
    {
      name: 'a file made in it and in a new one, then deleted',
      operations: [create('d/new', 'n\n'), create('d/f/new', ''), create('k/new', ''), remove('d'), remove('k')],
      after: others,
      answer: { results: [{}, {}, {}, { files: { length: 4 } }, { files: [{ path: 'k/new' }] }] }
    },
    {
      name: 'a file made in it, then moved',
      operations: [create('d/new', 'n\n'), move('a', 'd/a'), move('d', 'n')],
      after: { 'g/h': h!, 'n/b': b!, 'n/e/c': c!, 'n/new': 'n\n', 'n/a': 'a\n' },
      answer: { results: [] }
    },
    {
      name: 'moved to where another was',
      operations: [move('g', 'x'), move('d', 'g')],
      after: { a: 'a\n', 'x/h': h!, 'g/b': b!, 'g/e/c': c! },
      answer: { results: [{}, { path: 'g' }] }
    },
    {
      name: 'moved into one that is made',
      operations: [move('a', 'n/a'), move('d', 'n/d', { create_parents: false })],
      after: { 'g/h': h!, 'n/a': 'a\n', 'n/d/b': b!, 'n/d/e/c': c! },
      answer: { results: [] }
    },
    {
      name: 'nothing but a file made and deleted',
      operations: [create('k/new', 'n\n'), remove('k')],
      after: IN_BATCH,
      answer: { results: [{}, { removed: true }] }
    },
    {
      name: 'moved without a file',
      operations: [remove('d'), move('d', 'n')],
      answer: { code: 'NOT_A_FILE', operation_index: 1, path: 'd', detail: /leave no file in d/ }
    },
    {
      name: 'moved to one that is made',
      operations: [move('d', 'n'), move('g', 'n')],
      answer: { code: 'NOT_A_FILE', operation_index: 1, detail: /"to": "n\/g"/ }
    },
    {
      name: 'moved to where a file was',
      operations: [move('a', 'n'), move('d', 'a')],
      answer: { code: 'FILE_NOT_FOUND', operation_index: 1, path: 'a', detail: /moves a to n\./ }
    }
  ]
  for (const one of cases) await checkInBatch(t, one)
})

t.test('compares an expected hash with the file that the batch moved there', async t => {
  const { a: _, ...others } = IN_BATCH
  const expecting = (path: string) => ({ expected_hash: HASH[path]! })
  const cases: InBatch[] = [
    {
      name: 'a file',
      operations: [move('a', 'n'), edit('n', 'a', 'A', expecting('a'))],
      after: { ...others, n: 'A\n' },
      answer: { results: [{ path: 'n' }, { path: 'n', file_hash: /./ }] }
    },
    {
      name: 'of a directory',
      operations: [move('d', 'n'), edit('n/e/c', 'c', 'C', expecting('d/e/c'))],
      after: { a: 'a\n', 'g/h': 'h\n', 'n/b': 'b\n', 'n/e/c': 'C\n' },
      answer: { results: [] }
    },
    {
      name: 'twice',
      operations: [move('a', 'n', expecting('a')), move('n', 'm', expecting('a')), edit('m', 'a', 'A', expecting('a'))],
      after: { ...others, m: 'A\n' },
      answer: { results: [{ path: 'n', moved_from: 'a' }, { path: 'm', moved_from: 'n' }, {}] }
    },
    {
      name: 'of another file',
      operations: [move('a', 'n'), edit('n', 'a', 'A', expecting('d/b'))],
      answer: { code: 'STALE_FILE', operation_index: 1, path: 'a', detail: /a has changed: its hash is/ }
    }
  ]
  for (const one of cases) await checkInBatch(t, one)
})

t.test('gives the hash of an edited file at its new path only', async t => {
  const { call } = await serveOperations(t, IN_BATCH)
  const operations = [edit('a', 'a', 'A'), move('a', 'n'), edit('d/b', 'b', 'B'), remove('d/b')]
  for (const dry_run of [true, false]) {
    const { body } = await call('batch', { operations, dry_run })
    const [first, second, third] = body.results as [Step, Step, Step]
    t.equal(first.file_hash, dry_run ? HASH.a : undefined)
    t.equal(first.new_hash, undefined)
    t.match(dry_run ? second.new_hash : second.file_hash, /^[0-9a-f]{16}$/)
    t.equal(third.new_hash, undefined)
  }
})

t.test('fails with the operation of the batch that fails', async t => {
  const { call, texts } = await serveOperations(t, { a: 'a\n', 'd/b': 'b\n', 'd/c': 'c\n' })
  const before = texts()
  for (const [operations, answer] of [
    [
      [
        { operation: 'delete', path: 'a' },
        { operation: 'create', path: 'a', content: '' }
      ],
      { code: 'FILE_NOT_FOUND', operation_index: 1, detail: /earlier operation/ }
    ],
    [
      [
        { operation: 'edit', path: 'a', old_text: 'a', new_text: 'b' },
        { operation: 'delete', path: 'd' }
      ],
      { code: 'NOT_A_FILE', operation_index: 1, detail: /^operations\[1\] \(delete of d\): d is a directory/ }
    ],
    [
      [move('a', 'x'), edit('a', 'a', 'A')],
      { code: 'FILE_NOT_FOUND', operation_index: 1, detail: /moves a to x\. .*use the path x;/ }
    ],
    [
      [move('a', 'x'), move('d/b', 'a')],
      {
        code: 'FILE_NOT_FOUND',
        operation_index: 1,
        path: 'a',
        detail: /^operations\[1\] \(move of d\/b\): .*moves a to x\. .*in its place, send a second request/
      }
    ],
    [
      [move('d/b', 'a')],
      { code: 'ALREADY_EXISTS', path: 'a', detail: /^operations\[0\] \(move of d\/b\): a already exists/ }
    ],
    [[{ operation: 'move', path: 'a', to: 'd' }], { code: 'NOT_A_FILE', operation_index: 0, detail: /"to": "d\/a"/ }],
    [
      [
        { operation: 'move', path: 'a', to: 'x' },
        { operation: 'move', path: 'd', to: 'x' }
      ],
      { code: 'NOT_A_FILE', operation_index: 1, detail: /operations\[0\] \(move of a\)|operations\[1\]/ }
    ]
  ] as const) {
    t.match((await call('batch', { operations })).body, answer)
    t.strictSame(texts(), before)
  }
})
