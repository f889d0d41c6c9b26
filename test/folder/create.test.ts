// Making files and folders, and what is refused; in both kinds of confinement. Rows 4, 7, 13, 16, 19, 20 and 24 of
// runs alone: it changes the umask of its process
// docs/threats.md.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
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
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { fail, ok } from '../../src/result.ts'
import type { CreateTarget, Planner, Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { canMount } from './support/machine.ts'
import {
  append,
  become,
  descriptors,
  DRY,
  makeFolders,
  isRoot,
  onLinux,
  open,
  REAL,
  removeFolders,
  UNPLANNED,
  type Folders
} from './support/open.ts'
import { startWorker } from './support/process.ts'

const kinds = onLinux ? (['proc', 'portable'] as const) : (['portable'] as const)
const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const target = (path: string, rest: Partial<CreateTarget> = {}): CreateTarget => ({
  path,
  overwrite: false,
  create_parents: true,
  ...rest
})

interface Fresh extends Folders {
  workspace: Workspace
  in: (name: string) => string
}

/** A root with a file, folders, links and something outside. */
async function fresh(
  t: { teardown(work: () => unknown): void },
  options: Partial<WorkspaceOptions> = {}
): Promise<Fresh> {
  const folders = makeFolders()
  const inRoot = (name: string): string => join(folders.root, name)
  mkdirSync(join(folders.base, 'outside'))
  for (const folder of ['src', '.git']) mkdirSync(inRoot(folder))
  writeFileSync(inRoot('a.txt'), 'hello\n')
  writeFileSync(inRoot('nul'), 'a\0b')
  const links: [string, string][] = [
    ['folder', 'src'],
    ['link.txt', 'a.txt'],
    ['dangling', 'src/nothing'],
    ['to-nowhere', 'nowhere'],
    ['loop', 'loop'],
    ['to-file', 'a.txt'],
    ['out', '../outside'],
    ['out-new', '../outside/new'],
    ['out-deep', '../outside/deep/new'],
    ['to-git', '.git'],
    ['dangling-git', '.git/new']
  ]
  for (const [name, to] of links) symlinkSync(to, inRoot(name))
  const workspace = await open(folders, options)
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return { ...folders, workspace, in: inRoot }
}

/** All names below a folder. */
const tree = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

const HELLO = hashOf('hello\n')
const REFUSED: [path: string, rest: Partial<CreateTarget>, failure: object, file_hash?: string][] = [
  ['a.txt', {}, { code: 'ALREADY_EXISTS', reason: 'exists' }, HELLO],
  ['a.txt', { expected_hash: HELLO }, { code: 'ALREADY_EXISTS', reason: 'needs_overwrite' }, HELLO],
  ['a.txt', { overwrite: true }, { code: 'ALREADY_EXISTS', reason: 'needs_expected_hash' }, HELLO],
  [
    'a.txt',
    { overwrite: true, expected_hash: HELLO, if_none_match: true },
    { code: 'ALREADY_EXISTS', reason: 'exists', if_none_match: true },
    HELLO
  ],
  [
    'a.txt',
    { overwrite: true, expected_hash: '0'.repeat(16) },
    { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '0'.repeat(16) },
    HELLO
  ],
  ['link.txt', {}, { code: 'ALREADY_EXISTS' }, HELLO],
  ['nul', {}, { code: 'ALREADY_EXISTS' }, hashOf('a\0b')],
  ['nul', { overwrite: true, expected_hash: hashOf('a\0b') }, { code: 'BINARY_FILE' }],
  ['new', { overwrite: true, expected_hash: HELLO }, { code: 'FILE_NOT_FOUND' }],
  ['A.txt', { expected_hash: HELLO }, { code: 'FILE_NOT_FOUND', did_you_mean: ['a.txt'] }],
  ['x/new', { create_parents: false }, { code: 'FILE_NOT_FOUND', missing: 'parent' }],
  ['folder/x/new', { create_parents: false }, { code: 'FILE_NOT_FOUND', missing: 'parent' }],
  ['src', {}, { code: 'NOT_A_FILE', type: 'directory' }],
  ['.', {}, { code: 'NOT_A_FILE', type: 'directory' }],
  ['newdir/', {}, { code: 'NOT_A_FILE', type: 'trailing_slash' }],
  ['newdir/.', {}, { code: 'NOT_A_FILE', type: 'trailing_slash' }],
  ['newdir/x/..', {}, { code: 'NOT_A_FILE', type: 'trailing_slash' }],
  ['a.txt/', {}, { code: 'NOT_A_FILE', type: 'file_as_directory' }, HELLO],
  ['a.txt/.', { overwrite: true, expected_hash: HELLO }, { code: 'NOT_A_FILE', type: 'file_as_directory' }, HELLO],
  ['fifo', {}, { code: 'NOT_A_FILE', type: 'fifo' }],
  ['a.txt/new', {}, { code: 'NOT_A_FILE', type: 'not_a_directory' }],
  ['to-file/x/new', {}, { code: 'NOT_A_FILE', type: 'not_a_directory' }],
  ['fifo/new', {}, { code: 'NOT_A_FILE', type: 'not_a_directory' }],
  ['dangling', {}, { code: 'ALREADY_EXISTS', reason: 'exists' }],
  ['dangling', { if_none_match: true }, { code: 'ALREADY_EXISTS', if_none_match: true }],
  ['loop', {}, { code: 'ALREADY_EXISTS', reason: 'exists' }],
  ['to-nowhere/new', {}, { code: 'NOT_A_FILE', type: 'not_a_directory' }],
  ['loop/new', {}, { code: 'NOT_A_FILE', type: 'not_a_directory' }],
  ['out/new', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['out/x/new', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['out-new', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['out-deep', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['out-new/x', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['../outside/new', {}, { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
  ['.git/new', {}, { code: 'PROTECTED_PATH' }],
  ['to-git/hooks/new', {}, { code: 'PROTECTED_PATH' }],
  ['dangling-git', {}, { code: 'PROTECTED_PATH' }],
  ['x/y/.envrc', {}, { code: 'PROTECTED_PATH' }],
  ['src/.0123456789abcdef01234567.tmp', {}, { code: 'PROTECTED_PATH' }],
  ['x'.repeat(256), {}, { code: 'INVALID_PATH', reason: 'too_long' }],
  ['', {}, { code: 'INVALID_PATH', reason: 'empty' }],
  ['a\0b', {}, { code: 'INVALID_PATH', reason: 'nul' }]
]

for (const confinement of kinds) {
  t.test(`creates nothing where that isn’t allowed (${confinement})`, async t => {
    const { workspace, root, base, in: inRoot } = await fresh(t, { confinement })
    execFileSync('mkfifo', [inRoot('fifo')])
    const [before, open] = [tree(root), onLinux ? descriptors() : 0]
    for (const [path, rest, failure, file_hash] of REFUSED) {
      for (const options of [DRY, REAL]) {
        const answer = await workspace.create(target(path, rest), options, UNPLANNED)
        t.match(
          answer,
          { ok: false, failure, ...(file_hash !== undefined && { file_hash }) },
          `${path.slice(0, 40)} ${JSON.stringify(rest)}`
        )
      }
    }
    t.strictSame(tree(root), before)
    t.strictSame(tree(join(base, 'outside')), [])
    if (onLinux) t.equal(descriptors(), open, 'leaks no descriptor')
  })

  for (const durability of ['fast', 'full'] as const) {
    t.test(`creates files and folders, and reports them (${confinement}, ${durability})`, async t => {
      const { workspace, root, base, in: inRoot } = await fresh(t, { confinement, durability })
      const check = async (path: string, text: string, resolved_path?: string): Promise<void> => {
        const before = tree(root)
        const planner: Planner<string, never> = (original, file) =>
          ok({ pieces: [original, Buffer.from(text)], description: `${original.length} ${file.path}` })
        const expected = {
          path: path.replace('./', ''),
          ...(resolved_path !== undefined && { resolved_path }),
          changed: true,
          new_hash: hashOf(text),
          file_size: Buffer.byteLength(text),
          description: `0 ${path.replace('./', '')}`,
          warnings: [],
          created: true
        }
        t.strictSame(await workspace.create(target(path), DRY, planner), { ok: true, value: expected }, `${path}, dry`)
        t.strictSame(tree(root), before, 'makes nothing')
        t.strictSame(
          await workspace.create(target(path), REAL, planner),
          { ok: true, value: { ...expected, file_hash: hashOf(text) } },
          path
        )
        t.equal(readFileSync(inRoot(path), 'utf8'), text)
        t.match(await workspace.create(target(path), REAL, planner), {
          failure: { code: 'ALREADY_EXISTS' },
          file_hash: hashOf(text),
          ...(resolved_path !== undefined && { resolved_path })
        })
      }
      await check('new.txt', 'text\n')
      await check('./empty', '')
      await check('src/x', 'x')
      await check('p/q/r/deep', 'x')
      await check('folder/y', 'y', 'src/y')
      await check('folder/z/y', 'y', 'src/z/y')
      await check('big', 'x'.repeat(3_000_000))
      await check('...', 'odd')
      t.match(await workspace.create(target('src/../p/q/new', { create_parents: false }), REAL, become('x')), {
        value: { path: 'p/q/new' }
      })
      t.match(await workspace.create(target(join(root, 'absolute')), REAL, become('x')), {
        value: { path: 'absolute' }
      })
      t.strictSame(
        tree(root).filter(name => name.includes('.tmp')),
        []
      )
      t.strictSame(tree(join(base, 'outside')), [])
    })
  }
}

t.test('replaces the content whose hash was given, as an edit does', async t => {
  const { workspace, in: inRoot } = await fresh(t)
  chmodSync(inRoot('a.txt'), 0o640)
  const whole = target('link.txt', { overwrite: true, expected_hash: HELLO })
  const expected = {
    path: 'link.txt',
    resolved_path: 'a.txt',
    changed: true,
    hash_before: HELLO,
    new_hash: hashOf('hello\nnew'),
    file_size: 9,
    description: 'new',
    warnings: [],
    created: false
  }
  t.strictSame(await workspace.create(whole, DRY, append('new')), {
    ok: true,
    value: { ...expected, file_hash: HELLO }
  })
  t.strictSame(await workspace.create(whole, REAL, append('new')), {
    ok: true,
    value: { ...expected, file_hash: expected.new_hash }
  })
  t.equal(readFileSync(inRoot('a.txt'), 'utf8'), 'hello\nnew')
  t.equal(statSync(inRoot('a.txt')).mode & 0o777, 0o640)
  t.ok(lstatSync(inRoot('link.txt')).isSymbolicLink())
  t.match(
    await workspace.create(
      target('a.txt', { overwrite: true, expected_hash: expected.new_hash }),
      REAL,
      become('hello\nnew')
    ),
    { value: { changed: false, created: false } }
  )
})

t.test('refuses on a read-only server and by extension; needs no hash for a new file', async t => {
  const { workspace: reader, root, state, in: inRoot } = await fresh(t, { readOnly: true })
  t.match(await reader.create(target('new'), DRY, become('x')), { failure: { code: 'READ_ONLY' } })
  const strict = await open({ base: '', root, state }, { allowExtensions: ['.ts'], requireHash: true })
  t.teardown(() => strict.close())
  t.match(await strict.create(target('x/new.md'), REAL, become('x')), {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'extension' }
  })
  t.notOk(existsSync(inRoot('x')))
  t.match(await strict.create(target('x/new.ts'), REAL, become('x')), { ok: true })
})

t.test(
  'applies the umask, and inherits what folders pass on',
  { skip: onLinux ? false : 'needs a second process' },
  async t => {
    const { workspace, root, in: inRoot } = await fresh(t)
    for (const umask of [0o022, 0o077, 0o002]) {
      const before = process.umask(umask)
      await workspace.create(target(`u${umask}/d/f`), REAL, become('x'))
      process.umask(before)
      t.equal(statSync(inRoot(`u${umask}/d/f`)).mode & 0o777, 0o666 & ~umask)
      for (const folder of [`u${umask}`, `u${umask}/d`]) t.equal(statSync(inRoot(folder)).mode & 0o777, 0o777 & ~umask)
    }
    if (!isRoot) return
    execFileSync('chgrp', ['1234', join(root, 'src')])
    chmodSync(join(root, 'src'), 0o2775)
    await workspace.create(target('src/sub/f'), REAL, become('x'))
    t.match(statSync(inRoot('src/sub/f')), { gid: 1234 })
  }
)

t.test('creates a name once, however many ask for it', async t => {
  const { workspace, root, in: inRoot } = await fresh(t)
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => workspace.create(target('p/q/one'), REAL, become(`${i}`)))
  )
  const won = answers.flatMap((answer, i) => (answer.ok ? [`${i}`] : []))
  t.equal(won.length, 1)
  t.equal(readFileSync(inRoot('p/q/one'), 'utf8'), won[0])
  for (const answer of answers) {
    if (!answer.ok) {
      t.match(answer, { failure: { code: 'ALREADY_EXISTS', reason: 'exists' }, file_hash: hashOf(won[0] ?? '') })
    }
  }
  t.strictSame(readdirSync(join(root, 'p/q')), ['one'])
  const many = await Promise.all(
    Array.from({ length: 50 }, (_, i) => workspace.create(target(`same/parents/for/f${i}`), REAL, become('x')))
  )
  t.ok(
    many.every(answer => answer.ok),
    'and lets all make the same folders'
  )
})

for (const lock of ['shared', 'local'] as const) {
  t.test(
    `makes a name once, whichever process is first (${lock})`,
    { skip: ONLY_CI || (onLinux ? false : 'needs abstract sockets (Linux)') },
    async t => {
      const folders = makeFolders()
      t.teardown(() => removeFolders(folders))
      const workers = ['one', 'two'].map(name =>
        startWorker({ ...folders, file: 'made/here/f', count: 100, name, lock, creates: true })
      )
      await Promise.all(workers.map(worker => worker.ended))
      const lines = workers.flatMap(worker => worker.lines)
      t.strictSame(
        lines.filter(line => line.startsWith('failed')),
        []
      )
      t.equal(lines.filter(line => line.startsWith('exists')).length, 100)
      const done = lines.filter(line => line.startsWith('done')).map(line => line.slice(5))
      t.strictSame(
        done.sort(),
        readdirSync(join(folders.root, 'made/here'))
          .map(name => readFileSync(join(folders.root, 'made/here', name), 'utf8').trim())
          .sort()
      )
      t.equal(done.length, 100)
    }
  )
}

t.test('notices whatever appears while it plans', async t => {
  const { workspace, root, base, state, in: inRoot } = await fresh(t)
  const check = async (path: string, does: () => void, expected: object): Promise<void> => {
    let first = true
    const answer = await workspace.create(target(path), REAL, (original, file) => {
      if (first) does()
      first = false
      return become('mine')(original, file)
    })
    t.match(answer, expected, path)
  }
  await check('taken', () => writeFileSync(inRoot('taken'), 'theirs'), {
    failure: { code: 'ALREADY_EXISTS' },
    file_hash: hashOf('theirs')
  })
  t.equal(readFileSync(inRoot('taken'), 'utf8'), 'theirs')
  await check('linked', () => symlinkSync('../outside/new', inRoot('linked')), {
    failure: { code: 'PATH_NOT_ALLOWED' }
  })
  await check(
    'src/new',
    () => {
      renameSync(inRoot('src'), join(base, 'outside/src'))
      symlinkSync('../outside/src', inRoot('src'))
    },
    { failure: { code: 'PATH_NOT_ALLOWED' } }
  )
  await check('gone/x/new', () => mkdirSync(inRoot('gone')), { value: { created: true } })
  await check('p/new', () => writeFileSync(inRoot('p'), ''), {
    failure: { code: 'NOT_A_FILE', type: 'not_a_directory' }
  })
  await check('moved/new', () => rmSync(inRoot('folder')), { value: { created: true } })
  await check(
    'lost/new',
    () => {
      for (const name of readdirSync(join(state, 'locks'))) rmSync(join(state, 'locks', name), { recursive: true })
    },
    { failure: { code: 'FILE_LOCKED', reason: 'lost' }, file_hash: undefined }
  )
  t.notOk(existsSync(inRoot('lost')), 'takes back its folders')
  t.strictSame(tree(join(base, 'outside')), ['src'])
  t.strictSame(
    tree(root).filter(name => name.includes('.tmp')),
    []
  )
})

t.test('gives up on a folder that others remove each time', async t => {
  const { workspace, in: inRoot } = await fresh(t)
  let plans = 0
  mkdirSync(inRoot('d'))
  const answer = await workspace.create(target('d/new'), REAL, (original, file) => {
    rmSync(inRoot('d'), { recursive: true })
    mkdirSync(inRoot('d2'), { recursive: true })
    renameSync(inRoot('d2'), inRoot('d'))
    plans++
    if (plans < 10) {
      setImmediate(() => {
        rmSync(inRoot('d'), { recursive: true, force: true })
      })
    }
    return become('x')(original, file)
  })
  t.ok(answer.ok || answer.failure.code === 'STALE_FILE')
})

t.test('returns the failure of the planner, and removes no folder that others use', async t => {
  const { workspace, in: inRoot } = await fresh(t)
  for (const options of [DRY, REAL]) {
    t.strictSame(await workspace.create(target('p/new'), options, () => fail({ code: 'NO' as const })), {
      ok: false,
      failure: { code: 'NO' },
      path: 'p/new'
    })
  }
  await t.rejects(
    workspace.create(target('p/new'), REAL, () => {
      throw new Error('bug')
    }),
    { message: 'bug' }
  )
  t.notOk(existsSync(inRoot('p')))
})

t.test('leaves nothing behind on a full disk', { skip: canMount ? false : 'needs to mount' }, async t => {
  const { workspace, root } = await fresh(t)
  mkdirSync(join(root, 'small'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', join(root, 'small')])
  t.teardown(() => spawnSync('umount', [join(root, 'small')]))
  for (const size of [100_000, 3_000_000]) {
    t.match(await workspace.create(target('small/x/y/new'), REAL, become(Buffer.alloc(size, 'x'))), {
      failure: { code: 'NO_SPACE' },
      path: 'small/x/y/new'
    })
    t.strictSame(readdirSync(join(root, 'small')), [])
  }
  t.match(await workspace.create(target('small/x/y/new'), REAL, become('x')), {
    value: { created: true, warnings: [] }
  })
  execFileSync('mount', ['-o', 'remount,ro', join(root, 'small')])
  for (const options of [DRY, REAL]) {
    t.match(
      await workspace.create(target('small/another'), options, become('x')),
      { failure: { code: 'PERMISSION_DENIED' } },
      'nor on one that is read-only'
    )
  }
})

t.test(
  'reports what it isn’t allowed to create',
  { skip: isRoot && onLinux ? false : 'needs root on Linux' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    chmodSync(folders.base, 0o777)
    for (const [name, mode] of [
      ['closed', 0o555],
      ['unlisted', 0o333],
      ['shut', 0o000]
    ] as const) {
      mkdirSync(join(folders.root, name))
      chmodSync(join(folders.root, name), mode)
    }
    process.setegid?.(65534)
    process.seteuid?.(65534)
    t.teardown(() => {
      process.seteuid?.(0)
      process.setegid?.(0)
    })
    const workspace = await open(folders, { durability: 'full' })
    t.teardown(() => workspace.close())
    for (const path of ['new', 'closed/new', 'closed/x/new', 'shut/new']) {
      t.match(
        await workspace.create(target(path), REAL, become('x')),
        { failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' } },
        path
      )
    }
    t.match(await workspace.create(target('unlisted/x/new'), REAL, become('x')), {
      value: { created: true, warnings: ['unsynced_creation'] }
    })
  }
)

t.test('removes temp files of a creator that was killed', { skip: ONLY_CI }, async t => {
  const { workspace, root, base, in: inRoot } = await fresh(t)
  const second = startWorker({
    root,
    state: join(base, 'state'),
    file: 'k/f',
    count: 100_000,
    name: 'k',
    creates: true
  })
  await second.printed('done')
  second.child.kill('SIGKILL')
  await second.ended
  utimesSync(inRoot('k'), 0, 0)
  t.match(await workspace.create(target('k/after'), REAL, become('x')), { ok: true })
  await workspace.close()
  const next = await open({ base, root, state: join(base, 'state') })
  await next.close()
  t.strictSame(
    readdirSync(inRoot('k')).filter(name => name.endsWith('.tmp')),
    []
  )
  unlinkSync(inRoot('k/after'))
  for (const name of readdirSync(inRoot('k'))) {
    if (!/^k\d+\n$/.test(readFileSync(inRoot('k/' + name), 'utf8'))) t.fail(`${name} is torn`)
  }
})

t.test('creates folders as deep as a path can be, and removes them again', { skip: ONLY_CI }, async t => {
  const { workspace, root, in: inRoot } = await fresh(t)
  const deep = 'y/'.repeat(1000)
  t.match(await workspace.create(target(deep + 'new'), REAL, become('x')), { value: { created: true } })
  t.equal(readFileSync(inRoot(deep + 'new'), 'utf8'), 'x')
  const deeper = 'z/'.repeat(2040)
  t.match(await workspace.create(target(deeper + 'new'), REAL, become('x')), {
    failure: { code: /INVALID_PATH|STALE_FILE/ }
  })
  t.notOk(readdirSync(root).includes('z'))
})
