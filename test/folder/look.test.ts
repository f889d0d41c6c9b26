// Reading in chunks, and the entries of folders; in both kinds of confinement. Rows 14, 16, 29 and 38 of
// docs/threats.md.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { ok } from '../../src/result.ts'
import type { FileFailure } from '../../src/workspace/failure.ts'
import { listFolder } from '../../src/folder/list.ts'
import { openRoot } from '../../src/folder/root/root.ts'
import type { Consumer, FailedAccess, Listing, Looked, Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import {
  collect,
  descriptors,
  DRY,
  makeFolders,
  isRoot,
  look,
  onLinux,
  open,
  removeFolders,
  UNPLANNED,
  type Folders
} from './support/open.ts'

const kinds = onLinux ? (['proc', 'portable'] as const) : (['portable'] as const)
const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

interface Fresh extends Folders {
  workspace: Workspace
  in: (name: string) => string
  scan<R>(path: string, file: () => Consumer<R>): Promise<{ ok: true; value: Looked<R> } | FailedAccess<FileFailure>>
}

async function fresh(
  t: { teardown(work: () => unknown): void },
  options: Partial<WorkspaceOptions> = {}
): Promise<Fresh> {
  const folders = makeFolders()
  const workspace = await open(folders, options)
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return {
    ...folders,
    workspace,
    in: name => join(folders.root, name),
    scan: (path, file) => workspace.look({ path }, { file, directory: { limit: 1 } })
  }
}

/** Counts the turns that others have until it is asked. */
function turns(): () => number {
  let count = 0
  let going = true
  const next = (): void => {
    count++
    if (going) setImmediate(next)
  }
  setImmediate(next)
  return () => {
    going = false
    return count
  }
}

/** All pages, `limit` entries each. */
async function pages(workspace: Workspace, path: string, limit: number): Promise<Listing[]> {
  const all: Listing[] = []
  for (let after: string | undefined; ;) {
    const page = await look(workspace, { path }, { limit, ...(after !== undefined && { after }) })
    if (!page.ok || page.value.type !== 'directory') throw new Error('the folder is not listed')
    all.push(page.value)
    if (!page.value.truncated) return all
    after = page.value.next_entry
  }
}

const MIB = 1024 * 1024

for (const confinement of kinds) {
  t.test(`reads the same in chunks as an edit reads whole (${confinement})`, async t => {
    const { workspace, in: inRoot } = await fresh(t, { confinement, maxFileSize: 3 * MIB })
    for (const [size, chunks] of [
      [0, []],
      [1, [1]],
      [MIB, [MIB]],
      [MIB + 1, [MIB, 1]],
      [3 * MIB, [MIB, MIB, MIB]]
    ] as const) {
      const bytes = Buffer.alloc(size, 'abc\n')
      writeFileSync(inRoot('f'), bytes)
      let whole: Buffer | undefined
      const [scanned, planned] = [
        await look(workspace, { path: 'f' }),
        await workspace.edit({ path: 'f' }, DRY, original => {
          whole = Buffer.from(original)
          return ok({ pieces: [original], description: null })
        })
      ]
      if (!scanned.ok || scanned.value.type !== 'file' || !planned.ok) return t.fail('is read')
      const { value, file_size, file_hash, modified_at, ...facts } = scanned.value
      t.strictSame(facts, { type: 'file', path: planned.value.path }, `${size} bytes`)
      t.same(modified_at, new Date(Math.floor(statSync(inRoot('f')).mtimeMs)))
      t.equal(file_hash, hashOf(bytes))
      t.equal(file_hash, planned.value.file_hash)
      t.equal(file_size, size)
      t.equal(file_size, planned.value.file_size)
      t.ok(whole !== undefined && value.bytes.equals(whole))
      t.ok(value.bytes.equals(bytes))
      t.strictSame(value.chunks, chunks)
    }
    writeFileSync(inRoot('f'), 'x')
    symlinkSync('f', inRoot('link'))
    t.match(await look(workspace, { path: 'link', expected_hash: hashOf('x') }), {
      value: { path: 'link', resolved_path: 'f' }
    })
    t.match(await look(workspace, { path: 'f', expected_hash: '0'.repeat(16) }), {
      failure: { code: 'STALE_FILE', reason: 'expected_hash' },
      file_hash: hashOf('x')
    })
    truncateSync(inRoot('f'), 3 * MIB + 1)
    t.match(await look(workspace, { path: 'f' }), {
      failure: { code: 'FILE_TOO_LARGE', limit: 3 * MIB, actual: 3 * MIB + 1 }
    })
    t.match(await look(workspace, { path: '.git/config' }), { failure: { code: 'PROTECTED_PATH' } })
    t.match(await workspace.edit({ path: '.' }, DRY, UNPLANNED), {
      failure: { code: 'NOT_A_FILE', type: 'directory' }
    })
  })

  t.test(`lists a folder in byte order (${confinement})`, async t => {
    const { workspace, root, in: inRoot } = await fresh(t, { confinement, allowExtensions: ['.txt'] })
    for (const folder of ['Dir', 'dir', '.git', 'dir/empty']) mkdirSync(inRoot(folder))
    for (const name of [
      'b.txt',
      'a.md',
      'B.txt',
      'é',
      'z',
      '.hidden',
      '.0123456789abcdef01234567.tmp',
      '\u{1f600}',
      '\uffff'
    ]) {
      writeFileSync(inRoot(name), name)
    }
    symlinkSync('b.txt', inRoot('link'))
    symlinkSync('nothing', inRoot('broken'))
    symlinkSync('dir', inRoot('to-dir'))
    symlinkSync('..', inRoot('out'))
    execFileSync('mkfifo', [inRoot('fifo')])
    const list = await look(workspace, { path: '.' }, { limit: 100 })
    t.strictSame(list, {
      ok: true,
      value: {
        type: 'directory',
        path: '.',
        entries: [
          { name: '.git', type: 'directory' },
          { name: '.hidden', type: 'file', file_size: 7 },
          { name: 'B.txt', type: 'file', file_size: 5 },
          { name: 'Dir', type: 'directory' },
          { name: 'a.md', type: 'file', file_size: 4 },
          { name: 'b.txt', type: 'file', file_size: 5 },
          { name: 'broken', type: 'symlink' },
          { name: 'dir', type: 'directory' },
          { name: 'fifo', type: 'other' },
          { name: 'link', type: 'symlink' },
          { name: 'out', type: 'symlink' },
          { name: 'to-dir', type: 'symlink' },
          { name: 'z', type: 'file', file_size: 1 },
          { name: 'é', type: 'file', file_size: 2 },
          { name: '\uffff', type: 'file', file_size: 3 },
          { name: '\u{1f600}', type: 'file', file_size: 4 }
        ],
        truncated: false
      }
    })
    for (const limit of [1, 3, 15, 16]) {
      const all = await pages(workspace, '.', limit)
      t.equal(all.length, Math.ceil(16 / limit))
      t.strictSame(
        all.flatMap(({ entries }) => entries),
        list.ok && list.value.type === 'directory' && list.value.entries,
        `${limit} at a time`
      )
    }
    t.strictSame(await look(workspace, { path: 'dir/empty' }, { limit: 1 }), {
      ok: true,
      value: { type: 'directory', path: 'dir/empty', entries: [], truncated: false }
    })
    t.match(await look(workspace, { path: 'to-dir' }, { limit: 1 }), {
      value: { path: 'to-dir', resolved_path: 'dir', entries: [{ name: 'empty' }], truncated: false }
    })
    t.match(await look(workspace, { path: root }, { limit: 1, after: 'y' }), {
      value: { path: '.', entries: [{ name: 'z' }], truncated: true, next_entry: 'z' }
    })
    t.match(await look(workspace, { path: '.' }, { limit: 1, after: '\u{1f601}' }), {
      value: { entries: [], truncated: false }
    })
    for (const [path, failure] of [
      ['', { code: 'INVALID_PATH', reason: 'empty' }],
      ['.git', { code: 'PROTECTED_PATH' }],
      ['out', { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
      ['..', { code: 'PATH_NOT_ALLOWED' }],
      ['b.txt/', { code: 'NOT_A_FILE', type: 'file_as_directory' }],
      ['fifo', { code: 'PATH_NOT_ALLOWED', reason: 'extension' }],
      ['nothing.txt', { code: 'FILE_NOT_FOUND' }]
    ] as const) {
      t.match(await look(workspace, { path }, { limit: 1 }), { ok: false, failure }, path)
    }
  })

  t.test(`tells a file from a folder with one open (${confinement})`, async t => {
    const { workspace, in: inRoot } = await fresh(t, { confinement })
    mkdirSync(inRoot('d'))
    writeFileSync(inRoot('d/f'), 'text')
    symlinkSync('nowhere', inRoot('broken'))
    const use = { file: collect, directory: { limit: 10 } }
    const open = onLinux ? descriptors() : 0
    t.match(await workspace.look({ path: 'd/f' }, use), {
      value: { type: 'file', path: 'd/f', file_hash: hashOf('text'), value: { chunks: [4] } }
    })
    t.match(await workspace.look({ path: 'd' }, use), {
      value: { type: 'directory', path: 'd', entries: [{ name: 'f' }], truncated: false }
    })
    for (const [path, expected_hash, failure] of [
      ['d', '0'.repeat(16), { code: 'NOT_A_FILE', type: 'directory' }],
      ['d/f', '0'.repeat(16), { code: 'STALE_FILE' }],
      ['d/x', undefined, { code: 'FILE_NOT_FOUND', did_you_mean: ['d/f'] }],
      ['d/e/longer', undefined, { code: 'FILE_NOT_FOUND', folder: 'd' }],
      ['longer', undefined, { code: 'FILE_NOT_FOUND', folder: undefined }],
      ['broken', undefined, { code: 'FILE_NOT_FOUND', missing: 'link_target' }],
      ['.git', undefined, { code: 'PROTECTED_PATH' }]
    ] as const) {
      t.match(
        await workspace.look({ path, ...(expected_hash !== undefined && { expected_hash }) }, use),
        { ok: false, failure },
        path
      )
    }
    for (const path of ['d/f/', 'd/f/.', 'd/f//', 'd//f/./', 'd/f/x/..']) {
      const expected = {
        ok: false,
        path: 'd/f',
        file_hash: hashOf('text'),
        failure: { code: 'NOT_A_FILE', type: 'file_as_directory' }
      }
      t.match(await workspace.look({ path }, use), expected, path)
      t.match(await workspace.edit({ path }, DRY, UNPLANNED), expected, path)
    }
    for (const path of ['d/', 'd/.', 'd//', 'd/x/..', './']) {
      t.match(
        await workspace.look({ path }, use),
        { value: { type: 'directory', path: path === './' ? '.' : 'd', resolved_path: undefined } },
        path
      )
    }
    t.match(await workspace.look({ path: 'd/x/' }, use), { ok: false, failure: { code: 'FILE_NOT_FOUND' } })
    if (onLinux) t.equal(descriptors(), open, 'leaves no descriptor open')
  })

  t.test(`stops if the folder leaves the root while it is listed (${confinement})`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    mkdirSync(join(folders.root, 'd'))
    for (const name of ['a', 'b']) writeFileSync(join(folders.root, 'd', name), '')
    const root = openRoot(folders.root, confinement)
    t.teardown(() => root.close())
    const folder = root.openFolder(Buffer.from('d'))
    t.teardown(() => folder.close())
    t.strictSame(
      await listFolder(folder, { limit: 1 }, name => {
        unlinkSync(join(folders.root, 'd', name.toString()))
        return false
      }),
      { entries: [], truncated: true, next_entry: 'a' },
      'leaves out what has gone'
    )
    writeFileSync(join(folders.root, 'd/a'), '')
    await t.rejects(
      listFolder(folder, { limit: 1 }, () => {
        renameSync(join(folders.root, 'd'), join(folders.base, 'd'))
        return false
      }),
      { code: 'RACED' }
    )
  })
}

t.test(
  'pages through names that aren’t UTF-8, each once',
  { skip: onLinux ? false : 'the file system takes only UTF-8' },
  async t => {
    const { workspace, root } = await fresh(t)
    const names = [
      [0x61],
      [0x66, 0x80],
      [0x66, 0xff],
      [0x66, 0xff, 0x2e],
      [0x66, 0xef, 0xbf, 0xbd],
      [0x66, 0xef, 0xbf, 0xbe],
      [0x67]
    ]
    for (const name of names) {
      writeFileSync(Buffer.concat([Buffer.from(root + '/'), Buffer.from(name)]), Buffer.from(name))
    }
    const shown = ['a', 'f\ufffd', 'f\ufffd', 'f\ufffd.', 'f\ufffd', 'f\ufffe', 'g']
    for (const limit of [1, 2, 3, 10]) {
      const all = await pages(workspace, '.', limit)
      const entries = all.flatMap(page => page.entries)
      t.strictSame(entries.map(({ name }) => name).sort(), [...shown].sort(), `${limit} at a time`)
      t.strictSame(entries.map(({ file_size }) => file_size).sort(), names.map(name => name.length).sort())
      for (const page of all) {
        t.equal(
          page.lossy ?? false,
          page.entries.some(({ name, file_size }) => Buffer.byteLength(name) !== file_size),
          'says on which page'
        )
      }
    }
    t.match(await look(workspace, { path: '.' }, { limit: 3 }), { value: { lossy: true } })
  }
)

for (const confinement of kinds) {
  t.test(`refuses a protected name that is a link to what is not protected (${confinement})`, async t => {
    const { workspace, in: inRoot } = await fresh(t, { protect: ['.git', '.vscode/**'], confinement })
    mkdirSync(inRoot('elsewhere'))
    mkdirSync(inRoot('sub'))
    writeFileSync(inRoot('elsewhere/config'), 'x')
    symlinkSync('elsewhere', inRoot('.git'))
    symlinkSync('../elsewhere', inRoot('sub/.vscode'))
    const views = { all: workspace, some: workspace.limitedTo(['**']) }
    const gitRefused = { ok: false, failure: { code: 'PROTECTED_PATH', pattern: '.git' } }
    for (const [whose, view] of Object.entries(views)) {
      for (const path of ['.git/config', '.git']) {
        t.strictSame(await look(view, { path }), { ...gitRefused, path }, `${whose}: look at ${path}`)
      }
      for (const [path, pattern] of [
        ['.git/config', '.git'],
        ['.git/hooks/new', '.git'],
        ['sub/.vscode/config', '.vscode/**']
      ] as const) {
        const refused = { ok: false, failure: { code: 'PROTECTED_PATH', pattern }, path }
        t.strictSame(await view.edit({ path }, DRY, UNPLANNED), refused, `${whose}: edit ${path}`)
      }
      t.match(await look(view, { path: 'elsewhere/config' }), { ok: true }, whose)
      t.match(await look(view, { path: 'sub/.vscode/config' }), { value: { resolved_path: 'elsewhere/config' } }, whose)
      t.strictSame(
        await view.edit({ path: '.gitt/config' }, DRY, UNPLANNED),
        { ok: false, failure: { code: 'FILE_NOT_FOUND', did_you_mean: ['elsewhere/config'] }, path: '.gitt/config' },
        `${whose}: offers no name that is refused`
      )
    }
  })
}

t.test('shows none of its own files', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'cache'))
  writeFileSync(join(folders.root, 'cache/state.txt'), '')
  const workspace = await open({ ...folders, state: join(folders.root, 'cache/state') })
  t.teardown(() => workspace.close())
  t.match(await look(workspace, { path: 'cache' }, { limit: 9 }), {
    value: { entries: [{ name: 'state.txt' }], truncated: false }
  })
  t.match(await look(workspace, { path: '.' }, { limit: 9 }), { value: { entries: [{ name: 'cache' }] } })
  t.match(await look(workspace, { path: 'cache/state' }, { limit: 9 }), { failure: { code: 'PROTECTED_PATH' } })
})

t.test(
  'holds only a page of a big folder, and doesn’t block other requests',
  { skip: ONLY_CI, timeout: 120_000 },
  async t => {
    const { workspace, in: inRoot } = await fresh(t)
    mkdirSync(inRoot('many'))
    const count = 40_000
    execFileSync('sh', ['-c', `seq 1 ${count} | xargs touch`], { cwd: inRoot('many') })
    const sorted = Array.from({ length: count }, (_, i) => `${i + 1}`).sort()
    const had = turns()
    const first = await look(workspace, { path: 'many' }, { limit: 500 })
    const middle = await look(workspace, { path: 'many' }, { limit: 500, after: '5' })
    t.ok(had() > (2 * count) / 1100, 'a turn after each thousand names')
    if (!first.ok || first.value.type !== 'directory') return t.fail('is listed')
    if (!middle.ok || middle.value.type !== 'directory') return t.fail('is listed')
    t.strictSame(
      first.value.entries.map(({ name }) => name),
      sorted.slice(0, 500)
    )
    t.strictSame(
      middle.value.entries.map(({ name }) => name),
      sorted.slice(sorted.indexOf('5') + 1, sorted.indexOf('5') + 501)
    )
    t.match(middle.value, { truncated: true, next_entry: middle.value.entries.at(-1)?.name })
  }
)

t.test('scans 100 MB in little memory, and doesn’t block other requests', async t => {
  const { scan, in: inRoot } = await fresh(t)
  writeFileSync(inRoot('big'), Buffer.alloc(100 * 1000 * 1000, 'line\n'))
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const had = turns()
  const answer = await scan('big', () => {
    let size = 0
    return {
      push(chunk) {
        size += chunk.length
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      },
      finish: () => size
    }
  })
  t.ok(had() > 90, 'a turn after each chunk')
  t.match(answer, { value: { value: 100_000_000, file_size: 100_000_000 } })
  t.ok(most < 8 * MIB, `${most} bytes more`)
})

t.test('starts again with a new consumer when the file changes, and gives up unless it only grows', async t => {
  const { scan, in: inRoot } = await fresh(t)
  const check = async (changes: number, expected: object, does: (n: number) => void): Promise<void> => {
    writeFileSync(inRoot('f'), Buffer.alloc(2 * MIB, 'x'))
    let made = 0
    const answer = await scan('f', () => {
      const n = made++
      let bytes = 0
      return {
        push(chunk) {
          if (bytes === 0 && n < changes) does(n)
          bytes += chunk.length
        },
        finish: () => bytes
      }
    })
    t.match(answer, expected)
  }
  await check(1, { value: { value: 2 * MIB + 1 } }, () => writeFileSync(inRoot('f'), 'y', { flag: 'a' }))
  await check(2, { value: { value: 100 } }, n => truncateSync(inRoot('f'), 101 - n))
  await check(9, { value: { value: 2 * MIB + 1, file_size: 2 * MIB + 1 } }, () =>
    writeFileSync(inRoot('f'), 'y', { flag: 'a' })
  )
  const changed = { failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } }
  await check(9, changed, n => truncateSync(inRoot('f'), 101 - n))
  await check(9, changed, n => writeFileSync(inRoot('f'), Buffer.alloc(2 * MIB + n + 1, String(n))))
  await t.rejects(
    scan('f', () => ({
      push() {
        throw new Error('bug')
      },
      finish() {}
    })),
    { message: 'bug' }
  )
  rmSync(inRoot('f'))
})

t.test(
  'reports a folder that it isn’t allowed to list',
  { skip: isRoot && onLinux ? false : 'needs root on Linux' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    chmodSync(folders.base, 0o777)
    mkdirSync(join(folders.root, 'unlisted'))
    chmodSync(join(folders.root, 'unlisted'), 0o333)
    process.seteuid?.(65534)
    t.teardown(() => process.seteuid?.(0))
    const workspace = await open(folders)
    t.teardown(() => workspace.close())
    t.match(await look(workspace, { path: 'unlisted' }, { limit: 1 }), {
      failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
    })
    t.equal(spawnSync('true').status, 0)
  }
)
