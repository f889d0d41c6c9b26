// What an edit does to a file and what it keeps; what is refused; what is left when it fails. Rows 8, 9, 11, 12, 18-20,
// 28 and 29 of docs/threats.md.
// runs alone: it becomes another user, and limits the size of files
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
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
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../../often.ts'
import { fail, ok } from '../../../src/result.ts'
import type { WorkspaceOptions } from '../../../src/workspace/api.ts'
import { canMount } from '../support/machine.ts'
import {
  append,
  become,
  descriptors,
  DRY,
  makeFolders,
  isRoot,
  look,
  onLinux,
  open,
  REAL,
  removeFolders,
  UNPLANNED,
  type Folders
} from '../support/open.ts'

const needsRoot = { skip: isRoot && onLinux ? false : 'needs root on Linux' }
const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const HELLO = hashOf('hello\n')

interface Fresh extends Folders {
  workspace: Awaited<ReturnType<typeof open>>
  file: string
  text: () => string
  events: { event: string; [key: string]: unknown }[]
}

/** A root with `a.txt` in it, and a workspace on it. */
async function fresh(
  t: { teardown(work: () => unknown): void },
  options: Partial<WorkspaceOptions> = {}
): Promise<Fresh> {
  const folders = makeFolders()
  const file = join(folders.root, 'a.txt')
  writeFileSync(file, 'hello\n')
  const events: Fresh['events'] = []
  const workspace = await open(folders, { report: event => events.push(event), ...options })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return { ...folders, workspace, file, events, text: () => readFileSync(file, 'utf8') }
}

for (const durability of ['fast', 'full'] as const) {
  for (const confinement of onLinux ? (['proc', 'portable'] as const) : (['portable'] as const)) {
    t.test(`writes what was planned, and reports it (${durability}, ${confinement})`, async t => {
      const { workspace, text, root } = await fresh(t, { durability, confinement })
      const expected = {
        path: 'a.txt',
        changed: true,
        hash_before: HELLO,
        new_hash: hashOf('hello\nworld'),
        file_size: 11,
        description: 'world',
        warnings: []
      }
      t.strictSame(await workspace.edit({ path: './a.txt' }, DRY, append('world')), {
        ok: true,
        value: { ...expected, file_hash: HELLO }
      })
      t.equal(text(), 'hello\n')
      t.strictSame(await workspace.edit({ path: './a.txt', expected_hash: HELLO }, REAL, append('world')), {
        ok: true,
        value: { ...expected, file_hash: expected.new_hash }
      })
      t.equal(text(), 'hello\nworld')
      t.strictSame(readdirSync(root), ['a.txt'])
      const read = await look(workspace, { path: 'a.txt', expected_hash: expected.new_hash })
      t.match(read, {
        ok: true,
        value: {
          path: 'a.txt',
          file_hash: expected.new_hash,
          file_size: 11,
          value: { bytes: Buffer.from('hello\nworld') },
          modified_at: Date
        }
      })
    })
  }
}

t.test('writes in any folder, from many pieces and large ones', async t => {
  const { workspace, root } = await fresh(t)
  mkdirSync(join(root, 'd'))
  const bytes = Buffer.alloc(3_000_001, 'abc\n')
  writeFileSync(join(root, 'd/big'), bytes)
  const pieces = [
    Buffer.from('first\n'),
    Buffer.alloc(0),
    bytes.subarray(0, 1_500_000),
    ...Array.from({ length: 3000 }, (_, i) => Buffer.from(`${i}\n`)),
    bytes.subarray(1_500_000)
  ]
  const plan = (): { ok: true; value: { pieces: Buffer[]; description: null } } => ok({ pieces, description: null })
  const answer = await workspace.edit({ path: 'd/big' }, REAL, plan)
  const whole = Buffer.concat(pieces)
  t.match(answer, { value: { new_hash: hashOf(whole), file_size: whole.length } })
  t.ok(readFileSync(join(root, 'd/big')).equals(whole))
  t.match(await workspace.edit({ path: 'd/big' }, REAL, become('')), { value: { file_size: 0, new_hash: hashOf('') } })
  t.match(await workspace.edit({ path: 'd/big' }, REAL, append('x')), { value: { file_size: 1 } })
})

t.test('writes nothing where nothing changes', async t => {
  const { workspace, file } = await fresh(t)
  utimesSync(file, 1000, 1000)
  const before = statSync(file)
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, become('hello\n')), {
    value: { changed: false, file_hash: HELLO, new_hash: HELLO, warnings: [] }
  })
  t.equal(statSync(file).mtimeMs, 1_000_000)
  t.equal(statSync(file).ino, before.ino)
})

t.test('returns the failure of the planner, with the hash', async t => {
  const { workspace, text } = await fresh(t)
  for (const options of [DRY, REAL]) {
    t.strictSame(await workspace.edit({ path: 'a.txt' }, options, () => fail({ code: 'NO_MATCH' as const })), {
      ok: false,
      failure: { code: 'NO_MATCH' },
      path: 'a.txt',
      file_hash: HELLO
    })
  }
  await t.rejects(
    workspace.edit({ path: 'a.txt' }, REAL, () => {
      throw new Error('bug')
    }),
    { message: 'bug' }
  )
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, become('after a bug')), { ok: true })
  t.equal(text(), 'after a bug')
})

t.test('refuses before it plans, in dry runs too', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const files: [name: string, content: string | Buffer, mode: number][] = [
    ['a.txt', 'hello\n', 0o644],
    ['readonly.txt', 'hello\n', 0o444],
    ['nul', 'a\0b', 0o644],
    ['utf16', Buffer.from([0xff, 0xfe, 0x41]), 0o644],
    ['big', 'x'.repeat(101), 0o644]
  ]
  for (const [name, content, mode] of files) {
    writeFileSync(join(folders.root, name), content)
    chmodSync(join(folders.root, name), mode)
  }
  const check = async (
    options: Partial<WorkspaceOptions>,
    target: { path: string; expected_hash?: string },
    expected: object
  ): Promise<void> => {
    const workspace = await open(folders, { maxFileSize: 100, ...options })
    for (const options of [DRY, REAL]) {
      t.match(
        await workspace.edit(target, options, UNPLANNED),
        { ok: false, path: target.path, ...expected },
        `${target.path} ${JSON.stringify(expected)}`
      )
    }
    await workspace.close()
  }
  await check({ readOnly: true }, { path: 'a.txt' }, { failure: { code: 'READ_ONLY' } })
  await check(
    { requireHash: true },
    { path: 'a.txt' },
    { failure: { code: 'PRECONDITION_REQUIRED' }, file_hash: HELLO }
  )
  await check(
    {},
    { path: 'a.txt', expected_hash: '0'.repeat(16) },
    { failure: { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '0'.repeat(16) }, file_hash: HELLO }
  )
  await check(
    {},
    { path: 'readonly.txt' },
    { failure: { code: 'PERMISSION_DENIED', reason: 'read_only_file' }, file_hash: HELLO }
  )
  await check(
    {},
    { path: 'nul' },
    { failure: { code: 'BINARY_FILE', encoding: 'binary', file_size: 3 }, file_hash: hashOf('a\0b') }
  )
  await check({}, { path: 'utf16' }, { failure: { code: 'BINARY_FILE', encoding: 'utf-16le' } })
  await check(
    {},
    { path: 'big' },
    { failure: { code: 'FILE_TOO_LARGE', limit: 100, actual: 101 }, file_hash: undefined }
  )

  const workspace = await open(folders, { maxFileSize: 100 })
  t.teardown(() => workspace.close())
  t.match(
    await look(workspace, { path: 'nul' }),
    { value: { value: { bytes: Buffer.from('a\0b') } } },
    'reads what it won’t edit'
  )
  t.match(await look(workspace, { path: 'big' }), { failure: { code: 'FILE_TOO_LARGE' } })
  t.match(await look(workspace, { path: 'a.txt', expected_hash: 'f'.repeat(16) }), {
    failure: { code: 'STALE_FILE' },
    file_hash: HELLO
  })
})

t.test('keeps mode and links, and warns of what it can’t keep', async t => {
  const { workspace, root, base, file } = await fresh(t)
  for (const mode of [0o600, 0o640, 0o755, 0o200, 0o1644]) {
    if (!isRoot && mode === 0o200) continue
    chmodSync(file, mode)
    t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('.')), { value: { warnings: [] } })
    t.equal(statSync(file).mode & 0o7777, mode)
  }
  chmodSync(file, 0o6755)
  t.match(await workspace.edit({ path: 'a.txt' }, DRY, append('.')), { value: { warnings: ['set_id_dropped'] } })
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('.')), { value: { warnings: ['set_id_dropped'] } })
  t.equal(statSync(file).mode & 0o7777, 0o755)

  writeFileSync(join(base, 'outside'), 'out')
  linkSync(join(base, 'outside'), join(root, 'hard'))
  t.match(await workspace.edit({ path: 'hard' }, DRY, append('.')), { value: { warnings: ['links_left'] } })
  t.match(await workspace.edit({ path: 'hard' }, REAL, append('.')), { value: { warnings: ['links_left'] } })
  t.equal(readFileSync(join(base, 'outside'), 'utf8'), 'out')
  t.equal(readFileSync(join(root, 'hard'), 'utf8'), 'out.')

  symlinkSync('a.txt', join(root, 'link'))
  t.match(await workspace.edit({ path: 'link' }, REAL, append('!')), {
    value: { path: 'link', resolved_path: 'a.txt' }
  })
  t.ok(lstatSync(join(root, 'link')).isSymbolicLink())
  t.match(await workspace.edit({ path: 'link', expected_hash: 'f'.repeat(16) }, REAL, append('!')), {
    ok: false,
    path: 'link',
    resolved_path: 'a.txt',
    file_hash: String
  })
})

t.test('notices any change of the file between reading and renaming', async t => {
  const { workspace, file, root, base, text } = await fresh(t)
  const meanwhile: [name: string, does: () => void, left: string | null][] = [
    ['written in place', () => writeFileSync(file, 'HELLO\n'), 'HELLO\n'],
    [
      'written in place, same size, same times',
      () => {
        const { atime, mtime } = statSync(file)
        writeFileSync(file, 'jello\n')
        utimesSync(file, atime, mtime)
      },
      'jello\n'
    ],
    [
      'replaced by rename',
      () => {
        writeFileSync(join(root, 'new'), 'hello\n')
        renameSync(join(root, 'new'), file)
      },
      'hello\n'
    ],
    ['removed', () => unlinkSync(file), null],
    [
      'a link in its place',
      () => {
        renameSync(file, join(root, 'moved'))
        symlinkSync('moved', file)
      },
      'hello\n'
    ],
    [
      'its folder moved',
      () => {
        renameSync(root, join(base, 'elsewhere'))
        mkdirSync(root)
        writeFileSync(file, 'hello\n')
      },
      null
    ]
  ]
  for (const [name, does, left] of meanwhile.slice(0, -1)) {
    rmSync(file, { force: true })
    writeFileSync(file, 'hello\n')
    const answer = await workspace.edit({ path: 'a.txt' }, REAL, original => {
      does()
      return append('mine')(original)
    })
    t.match(answer, { ok: false, failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } }, name)
    t.equal('file_hash' in answer ? answer.file_hash : undefined, left === null ? undefined : hashOf(left))
    if (left !== null) t.equal(text(), left)
    t.strictSame(
      readdirSync(root).filter(name => name.endsWith('.tmp')),
      []
    )
    rmSync(join(root, 'moved'), { force: true })
  }
  mkdirSync(join(root, 'd'))
  writeFileSync(join(root, 'd/f'), 'f')
  const answer = await workspace.edit({ path: 'd/f' }, REAL, original => {
    renameSync(join(root, 'd'), join(base, 'd'))
    return append('mine')(original)
  })
  t.match(answer, { failure: { code: 'STALE_FILE' } })
  t.strictSame(readdirSync(join(base, 'd')), ['f'])
  writeFileSync(file, 'hello\n')
  const removed = await workspace.edit({ path: 'a.txt' }, REAL, original => {
    rmSync(root, { recursive: true })
    return append('mine')(original)
  })
  t.match(removed, { failure: { code: 'STALE_FILE' } })
  t.notOk(existsSync(root), 'it is not made again')
})

t.test('notices a change of an older file by its times alone', async t => {
  const { workspace, text, file } = await fresh(t)
  await new Promise(resolve => setTimeout(resolve, 50))
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('1')), { ok: true })
  await new Promise(resolve => setTimeout(resolve, 50))
  t.match(
    await workspace.edit({ path: 'a.txt' }, REAL, original => {
      chmodSync(file, 0o600)
      return append('2')(original)
    }),
    { failure: { code: 'STALE_FILE' } }
  )
  t.equal(text(), 'hello\n1')
})

t.test('leaves no descriptor open, whatever the outcome', { skip: onLinux ? false : 'counts in /proc' }, async t => {
  const { workspace, root } = await fresh(t, { maxFileSize: 1000 })
  writeFileSync(join(root, 'big'), Buffer.alloc(1001))
  writeFileSync(join(root, 'nul'), '\0')
  const before = descriptors()
  for (let i = 0; i < 20; i++) {
    for (const path of ['a.txt', 'big', 'nul', 'missing', '.git/x', '.']) {
      await workspace.edit({ path }, REAL, append('.'))
      await workspace.edit({ path, expected_hash: 'f'.repeat(16) }, REAL, append('.'))
      await workspace.edit({ path }, DRY, () => fail('no'))
      await look(workspace, { path })
    }
  }
  await new Promise(resolve => setTimeout(resolve, 50))
  t.equal(descriptors(), before)
})

t.test('keeps the owner of a file that belongs to another', needsRoot, async t => {
  const { workspace, file } = await fresh(t)
  chownSync(file, 1234, 2345)
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('.')), { value: { warnings: [] } })
  t.match(statSync(file), { uid: 1234, gid: 2345 })
})

/** Runs `work` as another user, who owns neither the files nor the folders unless they are given to him. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  process.setegid?.(65534)
  process.seteuid?.(65534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

t.test(
  'writes in place where a rename would change the owner or isn’t allowed, and refuses what it may not write',
  needsRoot,
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const { root } = folders
    mkdirSync(join(root, 'closed'))
    const files: [name: string, uid: number, mode: number][] = [
      ['theirs', 0, 0o666],
      ['closed/f', 65534, 0o644],
      ['not-ours', 0, 0o644],
      ['setuid', 0, 0o4777],
      ['closed/linked', 65534, 0o644]
    ]
    for (const [name, uid, mode] of files) {
      writeFileSync(join(root, name), 'hello, world\n')
      chownSync(join(root, name), uid, uid)
      chmodSync(join(root, name), mode)
    }
    linkSync(join(root, 'closed/linked'), join(root, 'closed/other'))
    writeFileSync(join(folders.base, 'outside'), 'hello, world\n', { mode: 0o666 })
    chmodSync(join(folders.base, 'outside'), 0o666)
    linkSync(join(folders.base, 'outside'), join(root, 'linked'))
    chmodSync(folders.base, 0o777)
    chmodSync(root, 0o777)
    await asNobody(async () => {
      for (const durability of ['full', 'fast'] as const) {
        const workspace = await open({ ...folders, state: join(folders.base, 'state-' + durability) }, { durability })
        for (const [name, warnings] of [
          ['theirs', []],
          ['closed/f', []]
        ] as const) {
          const before = statSync(join(root, name))
          t.strictSame(
            await workspace
              .edit({ path: name }, REAL, become(`hi ${durability}\n`))
              .then(answer => (answer.ok ? [answer.value.write_strategy, answer.value.warnings] : answer)),
            ['in_place', warnings],
            name
          )
          t.match(statSync(join(root, name)), { uid: before.uid, ino: before.ino, mode: before.mode })
          t.equal(readFileSync(join(root, name), 'utf8'), `hi ${durability}\n`)
        }
        // Each is written to all names of a file, which may lie outside.
        for (const [name, options] of [
          ['closed/linked', REAL],
          ['linked', REAL],
          ['linked', DRY]
        ] as const) {
          t.match(await workspace.edit({ path: name }, options, become('x')), {
            failure: { code: 'PERMISSION_DENIED', reason: 'several_names' },
            file_hash: hashOf('hello, world\n')
          })
        }
        t.equal(readFileSync(join(folders.base, 'outside'), 'utf8'), 'hello, world\n')
        t.match(await workspace.edit({ path: 'not-ours' }, REAL, become('x')), {
          failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' },
          file_hash: hashOf('hello, world\n')
        })
        t.match(
          await workspace.edit({ path: 'theirs' }, REAL, original => {
            writeFileSync(join(root, 'theirs'), 'another\n')
            return append('x')(original)
          }),
          { failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' }, file_hash: hashOf('another\n') }
        )
        t.match(await workspace.edit({ path: 'setuid' }, REAL, append(durability)), {
          value: { write_strategy: 'in_place' }
        })
        t.equal(statSync(join(root, 'setuid')).mode & 0o7777, 0o777)
        t.strictSame(readdirSync(join(folders.base, 'state-' + durability, 'journal')), [])
        await workspace.close()
      }
    })
    t.strictSame(readdirSync(root).sort(), ['closed', 'linked', 'not-ours', 'setuid', 'theirs'])
  }
)

t.test('warns if the folder can’t be synced', needsRoot, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'drop'))
  writeFileSync(join(folders.root, 'drop/f'), 'hello\n')
  chownSync(join(folders.root, 'drop/f'), 65534, 65534)
  chmodSync(join(folders.root, 'drop'), 0o333)
  chmodSync(folders.base, 0o777)
  await asNobody(async () => {
    const workspace = await open(folders, { durability: 'full' })
    t.match(await workspace.edit({ path: 'drop/f' }, REAL, append('x')), {
      value: { changed: true, warnings: ['unsynced_change'] }
    })
    await workspace.close()
  })
  t.equal(readFileSync(join(folders.root, 'drop/f'), 'utf8'), 'hello\nx')
})

t.test('notices a lock lost while it saves the old bytes', needsRoot, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'closed'))
  writeFileSync(join(folders.root, 'closed/f'), 'hello\n')
  chownSync(join(folders.root, 'closed/f'), 65534, 65534)
  chmodSync(folders.base, 0o777)
  chmodSync(folders.root, 0o777)
  await asNobody(async () => {
    const workspace = await open(folders)
    const locks = join(folders.state, 'locks')
    t.match(
      await workspace.edit({ path: 'closed/f' }, REAL, original => {
        for (const name of readdirSync(locks)) rmSync(join(locks, name), { recursive: true })
        return append('x')(original)
      }),
      { failure: { code: 'FILE_LOCKED', reason: 'lost' }, file_hash: HELLO }
    )
    await workspace.close()
  })
})

t.test('refuses immutable and append-only files', needsRoot, async t => {
  const { workspace, root, text, file } = await fresh(t)
  for (const flag of ['i', 'a']) {
    if (spawnSync('chattr', ['+' + flag, file]).status !== 0) {
      t.comment('the file system does not support attributes')
      continue
    }
    t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('.')), {
      failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' },
      file_hash: HELLO
    })
    execFileSync('chattr', ['-' + flag, file])
    t.equal(text(), 'hello\n')
    t.strictSame(readdirSync(root), ['a.txt'])
  }
})

t.test('leaves no temp file in a folder that keeps all names', needsRoot, async t => {
  const { workspace, root, text } = await fresh(t)
  if (spawnSync('chattr', ['+a', root]).status !== 0) {
    t.comment('the file system does not support attributes')
    return
  }
  t.teardown(() => execFileSync('chattr', ['-a', root]))
  const refused = { failure: { code: 'PERMISSION_DENIED', reason: 'names_kept' } }
  const target = { path: 'new.txt', overwrite: false, create_parents: true }
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('1')), { value: { write_strategy: 'in_place' } })
  t.match(await workspace.create(target, REAL, become('x')), refused)
  const [edit, create] = [
    { operation: 'edit' as const, target: { path: 'a.txt' }, plan: append('2') },
    { operation: 'create' as const, target, plan: become('x') }
  ]
  t.match(await workspace.batch([edit, create], REAL), refused)
  t.match(await workspace.batch([edit], REAL), { ok: true })
  t.equal(text(), 'hello\n12')
  t.strictSame(readdirSync(root), ['a.txt'])
  execFileSync('chattr', ['-a', root])
  t.match(await workspace.create(target, REAL, become('x')), { ok: true })
})

t.test(
  'edits files on mounts: in a mounted folder as usual, a bind-mounted file in place',
  { skip: canMount ? false : 'needs to mount' },
  async t => {
    const { workspace, root, base } = await fresh(t)
    writeFileSync(join(base, 'outside'), 'hello\n')
    writeFileSync(join(root, 'bound'), '')
    mkdirSync(join(root, 'tmpfs'))
    execFileSync('mount', ['--bind', join(base, 'outside'), join(root, 'bound')])
    t.teardown(() => spawnSync('umount', [join(root, 'bound')]))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', join(root, 'tmpfs')])
    t.teardown(() => spawnSync('umount', [join(root, 'tmpfs')]))

    const { ino } = statSync(join(base, 'outside'))
    t.match(await workspace.edit({ path: 'bound' }, REAL, append('world')), {
      value: { write_strategy: 'in_place', changed: true, file_hash: hashOf('hello\nworld') }
    })
    t.equal(readFileSync(join(base, 'outside'), 'utf8'), 'hello\nworld')
    t.equal(statSync(join(base, 'outside')).ino, ino)
    t.strictSame(readdirSync(root).sort(), ['a.txt', 'bound', 'tmpfs'])

    writeFileSync(join(root, 'tmpfs/f'), 'hello\n')
    const first = await workspace.edit({ path: 'tmpfs/f' }, REAL, append('world'))
    t.match(first, { ok: true })
    t.notOk(first.ok && first.value.write_strategy)
    for (const size of [100_000, 3_000_000]) {
      t.match(
        await workspace.edit({ path: 'tmpfs/f' }, REAL, become(Buffer.alloc(size, 'x'))),
        { failure: { code: 'NO_SPACE' }, file_hash: hashOf('hello\nworld') },
        `${size} bytes`
      )
      t.equal(readFileSync(join(root, 'tmpfs/f'), 'utf8'), 'hello\nworld')
      t.strictSame(readdirSync(join(root, 'tmpfs')), ['f'])
    }

    // A single file of a full file system: only writing in place is left, and that has to take back what it wrote.
    writeFileSync(join(root, 'bound-full'), '')
    execFileSync('mount', ['--bind', join(root, 'tmpfs/f'), join(root, 'bound-full')])
    t.teardown(() => spawnSync('umount', [join(root, 'bound-full')]))
    t.match(await workspace.edit({ path: 'bound-full' }, REAL, become(Buffer.alloc(100_000, 'x'))), {
      failure: { code: 'NO_SPACE' },
      file_hash: hashOf('hello\nworld')
    })
    t.equal(readFileSync(join(root, 'tmpfs/f'), 'utf8'), 'hello\nworld')
    t.strictSame(readdirSync(join(base, 'state/journal')), [])
    t.strictSame(readdirSync(join(base, 'state/intents')).length, 1)
  }
)

t.test(
  'reports a state folder that is full before anything is written',
  { skip: canMount ? false : 'needs to mount' },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    mkdirSync(folders.state)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folders.state])
    t.teardown(() => spawnSync('umount', [folders.state]))
    const bound = join(folders.root, 'bound')
    writeFileSync(bound, '')
    writeFileSync(join(folders.base, 'outside'), Buffer.alloc(200_000, 'x'))
    execFileSync('mount', ['--bind', join(folders.base, 'outside'), bound])
    t.teardown(() => spawnSync('umount', [bound]))
    // Beside another server each edit needs a lock file.
    const other = await open(folders)
    const workspace = await open(folders)
    t.match(await workspace.edit({ path: 'bound' }, REAL, append('y')), { failure: { code: 'NO_SPACE' } })
    t.equal(statSync(bound).size, 200_000)
    t.strictSame(readdirSync(join(folders.state, 'journal')), [])
    writeFileSync(join(folders.root, 'a'), 'a')
    spawnSync('sh', ['-c', `cat /dev/zero > ${join(folders.state, 'filler')}`])
    t.match(await workspace.edit({ path: 'a' }, REAL, append('y')), { failure: { code: 'NO_SPACE' } })
    t.equal(readFileSync(join(folders.root, 'a'), 'utf8'), 'a')
    await workspace.close()
    await other.close()
  }
)

t.test(
  'survives the limit on file size',
  { skip: onLinux && existsSync('/usr/bin/prlimit') ? false : 'needs prlimit' },
  async t => {
    const { workspace, text } = await fresh(t)
    execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=300000:unlimited'])
    const answer = await workspace.edit({ path: 'a.txt' }, REAL, become(Buffer.alloc(400_000, 'x')))
    execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited:unlimited'])
    t.match(answer, { failure: { code: 'NO_SPACE' }, file_hash: HELLO })
    t.equal(text(), 'hello\n')
  }
)

t.test('gives up on a file that never stops changing', { skip: ONLY_CI }, async t => {
  const { workspace, file } = await fresh(t)
  writeFileSync(file, Buffer.alloc(64_000_000, 'x'))
  let size = 64_000_000
  const timer = setInterval(() => truncateSync(file, --size), 0)
  const answer = await workspace.edit({ path: 'a.txt' }, DRY, UNPLANNED)
  clearInterval(timer)
  t.match(answer, { failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } })
})
