// Which object a path leads to, in both kinds of confinement: rows 1-5, 8, 10, 13-17 of docs/threats.md.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import { getSystemErrorName } from 'node:util'
import t from 'tap'
import { failureOf, Raced } from '../../../src/workspace/errno.ts'
import { similarPaths, type Speakable } from '../../../src/folder/root/similar-paths.ts'
import { ensureDir } from '../../../src/folder/commit/ensure-dir.ts'
import { below, relativePath } from '../../../src/workspace/path.ts'
import { makePolicy } from '../../../src/workspace/policy.ts'
import { codeOf } from '../../../src/error-code.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { testFolder } from '../../folder.ts'
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
  type Folders
} from '../support/open.ts'
import type { WorkspaceOptions } from '../../../src/workspace/api.ts'

const kinds = onLinux ? (['proc', 'portable'] as const) : (['portable'] as const)

/** Every path may be revealed. */
const ALL: Speakable = { offers: () => true, shows: () => true }

/** An answer in a word or two: the code and its reason, or what was edited. */
function gist(answer: {
  ok: boolean
  failure?: object
  path?: string
  value?: { path: string; resolved_path?: string }
}): string {
  if (answer.value !== undefined) return 'ok ' + (answer.value.resolved_path ?? answer.value.path)
  const { code, reason, type, pattern } = { code: '', reason: '', type: '', pattern: '', ...answer.failure }
  return [code, reason, type, pattern ?? 'of editd'].filter(word => word !== '').join(' ')
}

/** A root with one of everything, and a folder outside. */
function fill({ base, root }: Folders): void {
  const inRoot = (...names: string[]): string => join(root, ...names)
  mkdirSync(join(base, 'outside'))
  mkdirSync(join(base, 'root-evil'))
  writeFileSync(join(base, 'outside', 'secret.txt'), 'secret')
  writeFileSync(join(base, 'root-evil', 'x'), 'evil')
  for (const folder of ['src', 'src/deep', '.git', '.vscode', '.vscode/sub', 'sub', 'sub/.git', 'pkg', 'pkg/.Claude']) {
    mkdirSync(inRoot(folder))
  }
  for (const file of [
    'a.txt',
    'src/b.ts',
    'src/deep/c.ts',
    '.git/config',
    '.vscode/settings.json',
    'sub/.git/HEAD',
    'pkg/.Claude/x',
    '.mcp.json',
    '%2e%2e',
    '..\\x',
    'a (deleted)',
    'new\nline',
    'caf\u00e9.txt',
    'cafe\u0301.txt',
    'A.TXT',
    'C:x',
    'x::$DATA',
    'NUL',
    'dot.',
    '..x',
    'src/.0123456789abcdef01234567.tmp',
    '.G\u200cIT',
    'pkg/.git'
  ]) {
    writeFileSync(inRoot(file), 'text of ' + file)
  }
  writeFileSync(Buffer.concat([Buffer.from(root + '/'), Buffer.from([0x66, 0xff])]), 'not UTF-8')
  const links: [string, string][] = [
    ['link.ts', 'src/b.ts'],
    ['chain', 'link.ts'],
    ['folder', 'src'],
    ['absolute', inRoot('src/b.ts')],
    ['up', 'src/../src/b.ts'],
    ['out-file', '../outside/secret.txt'],
    ['out-absolute', join(base, 'outside/secret.txt')],
    ['out-folder', '../outside'],
    ['out-chain', 'out-file'],
    ['out-missing', '../outside/nothing'],
    ['out-missing-absolute', join(base, 'outside/nothing')],
    ['out-missing-up', 'src/../../outside/nothing'],
    ['out-missing-chain', 'out-missing'],
    ['dangling', 'src/nothing'],
    ['dangling-absolute', inRoot('nothing')],
    ['dangling-git', '.git/nothing'],
    ['loop', 'loop'],
    ['to-git', '.git/config'],
    ['zero', '/dev/zero'],
    ['environment', '/proc/self/environ'],
    ['evil', '../root-evil/x'],
    ['under-file', 'a.txt/x/../../../outside'],
    ['by-fd', '/proc/self/fd/0'],
    ['to-bytes', 'f\u00ff']
  ]
  for (const [name, target] of links) symlinkSync(target, inRoot(name))
}

const NAME = 'x'.repeat(255)
const paths: [path: string, gist: string][] = [
  // 1, 2: by their letters alone
  ['../x', 'PATH_NOT_ALLOWED outside'],
  ['a/../../x', 'PATH_NOT_ALLOWED outside'],
  ['..', 'PATH_NOT_ALLOWED outside'],
  ['src/../..', 'PATH_NOT_ALLOWED outside'],
  ['../root-evil/x', 'PATH_NOT_ALLOWED outside'],
  ['../root/a.txt', 'PATH_NOT_ALLOWED outside'],
  ['/etc/passwd', 'PATH_NOT_ALLOWED outside'],
  ['%2e%2e', 'ok %2e%2e'],
  ['%2e%2e/x', 'FILE_NOT_FOUND'],
  ['..\\x', 'ok ..\\x'],
  ['..\\y', 'FILE_NOT_FOUND'],
  ['./a.txt', 'ok a.txt'],
  ['src//deep/../b.ts', 'ok src/b.ts'],
  ['a.txt/', 'NOT_A_FILE file_as_directory'],
  // 3, 4: links that lead out
  ['out-file', 'PATH_NOT_ALLOWED outside'],
  ['out-absolute', 'PATH_NOT_ALLOWED outside'],
  ['out-folder/secret.txt', 'PATH_NOT_ALLOWED outside'],
  ['out-chain', 'PATH_NOT_ALLOWED outside'],
  ['out-missing', 'PATH_NOT_ALLOWED outside'],
  ['out-missing-absolute', 'PATH_NOT_ALLOWED outside'],
  ['out-missing-up', 'PATH_NOT_ALLOWED outside'],
  ['out-missing-chain', 'PATH_NOT_ALLOWED outside'],
  ['out-folder/nothing', 'PATH_NOT_ALLOWED outside'],
  ['evil', 'PATH_NOT_ALLOWED outside'],
  ['under-file', 'PATH_NOT_ALLOWED outside'],
  ['dangling', 'FILE_NOT_FOUND'],
  ['dangling-absolute', 'FILE_NOT_FOUND'],
  ['loop', 'FILE_NOT_FOUND'],
  ['a.txt/x', 'FILE_NOT_FOUND'],
  // 5: links inside
  ['link.ts', 'ok src/b.ts'],
  ['chain', 'ok src/b.ts'],
  ['folder/b.ts', 'ok src/b.ts'],
  ['absolute', 'ok src/b.ts'],
  ['up', 'ok src/b.ts'],
  // 10: what is no file
  ['src', 'NOT_A_FILE directory'],
  ['.', 'NOT_A_FILE directory'],
  ['fifo', 'NOT_A_FILE fifo'],
  ['socket', 'NOT_A_FILE socket'],
  ['zero', 'PATH_NOT_ALLOWED outside'],
  ['environment', 'PATH_NOT_ALLOWED outside'],
  ['by-fd', 'PATH_NOT_ALLOWED outside'],
  // 13: malformed
  ['', 'INVALID_PATH empty'],
  ['a\0b', 'INVALID_PATH nul'],
  [NAME, 'FILE_NOT_FOUND'],
  [NAME + 'x', 'INVALID_PATH too_long'],
  ['x/'.repeat(3000), 'INVALID_PATH too_long'],
  ['/' + NAME + 'x', 'INVALID_PATH too_long'],
  // 14: exact bytes
  ['caf\u00e9.txt', 'ok caf\u00e9.txt'],
  ['cafe\u0301.txt', 'ok cafe\u0301.txt'],
  ['A.TXT', 'ok A.TXT'],
  ['a (deleted)', 'ok a (deleted)'],
  ['new\nline', 'ok new\nline'],
  ['f\ufffd', 'FILE_NOT_FOUND'],
  ['to-bytes', 'FILE_NOT_FOUND'],
  // 15: Windows forms are names here
  ['C:x', 'ok C:x'],
  ['x::$DATA', 'ok x::$DATA'],
  ['NUL', 'ok NUL'],
  ['dot.', 'ok dot.'],
  ['..x', 'ok ..x'],
  // 16: protected
  ['.git/config', 'PROTECTED_PATH .git'],
  ['.git', 'PROTECTED_PATH .git'],
  ['.git/nothing', 'PROTECTED_PATH .git'],
  ['to-git', 'PROTECTED_PATH .git'],
  ['dangling-git', 'PROTECTED_PATH .git'],
  ['.GIT/config', 'PROTECTED_PATH .git'],
  ['.G\u200cIT', 'PROTECTED_PATH .git'],
  ['sub/.git/HEAD', 'PROTECTED_PATH .git'],
  ['pkg/.git', 'PROTECTED_PATH .git'],
  ['.vscode/settings.json', 'PROTECTED_PATH .vscode/**'],
  ['.vscode', 'NOT_A_FILE directory'],
  ['pkg/.claude/x', 'PROTECTED_PATH .claude/**'],
  ['pkg/.Claude/x', 'PROTECTED_PATH .claude/**'],
  ['.mcp.json', 'PROTECTED_PATH .mcp.json'],
  ['.envrc', 'PROTECTED_PATH .envrc'],
  ['deep/er/.ENVRC', 'PROTECTED_PATH .envrc'],
  ['.husky/pre-commit', 'PROTECTED_PATH .husky/**'],
  ['src/.0123456789abcdef01234567.tmp', 'PROTECTED_PATH of editd'],
  ['.gitignore', 'FILE_NOT_FOUND']
]

for (const confinement of kinds) {
  t.test(`resolves each path (${confinement})`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    fill(folders)
    const socket = createServer().listen(join(folders.root, 'socket'))
    t.teardown(() => socket.close())
    execFileSync('mkfifo', [join(folders.root, 'fifo')])
    const workspace = await open(folders, { confinement })
    t.teardown(() => workspace.close())

    const before = onLinux ? descriptors() : 0
    for (const [path, expected] of paths) {
      for (const options of [DRY, REAL]) {
        const answer = await workspace.edit({ path }, options, append('.'))
        t.equal(gist(answer), expected, JSON.stringify(path.slice(0, 40)))
      }
    }
    if (confinement === 'proc') {
      t.equal(
        gist(await workspace.edit({ path: 'y/'.repeat(2047) + 'z' }, DRY, append('.'))),
        'INVALID_PATH too_long',
        'reports what is too long for the system'
      )
    }
    for (const absolute of [join(folders.root, 'src/b.ts'), join(folders.root, 'src', '..', 'a.txt')]) {
      t.match(
        gist(await workspace.edit({ path: absolute }, DRY, append('.'))),
        /^ok (src\/b.ts|a.txt)$/,
        'takes an absolute path inside the root'
      )
    }
    // Closing a replaced file's descriptor is left to another thread.
    await new Promise(resolve => setTimeout(resolve, 50))
    if (onLinux) t.equal(descriptors(), before, 'leaks no descriptor')

    t.equal(readFileSync(join(folders.base, 'outside/secret.txt'), 'utf8'), 'secret', 'changes nothing outside')
    t.equal(readlinkSync(join(folders.root, 'link.ts')), 'src/b.ts', 'keeps links')
    t.ok(lstatSync(join(folders.root, 'out-missing')).isSymbolicLink(), 'makes nothing behind a dangling link')
    t.equal(
      readFileSync(join(folders.root, 'src/b.ts'), 'utf8'),
      'text of src/b.ts' + '.'.repeat(6),
      'edits what the links lead to'
    )
  })

  t.test(`allows reading protected files except git’s and its own state (${confinement})`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    fill(folders)
    const workspace = await open({ ...folders, state: join(folders.root, 'state') }, { confinement })
    t.teardown(() => workspace.close())
    for (const [path, expected] of [
      ['.vscode/settings.json', 'ok .vscode/settings.json'],
      ['.mcp.json', 'ok .mcp.json'],
      ['.git/config', 'PROTECTED_PATH .git'],
      ['to-git', 'PROTECTED_PATH .git'],
      ['state/secret', 'PROTECTED_PATH of editd'],
      ['state/nothing', 'PROTECTED_PATH of editd'],
      ['out-file', 'PATH_NOT_ALLOWED outside'],
      ['src', 'ok src'],
      ['nothing', 'FILE_NOT_FOUND']
    ] as const) {
      t.equal(gist(await look(workspace, { path })), expected, path)
    }
    t.equal(gist(await workspace.edit({ path: 'state/secret' }, REAL, append('.'))), 'PROTECTED_PATH of editd')
    t.equal(gist(await workspace.edit({ path: 'src' }, REAL, append('.'))), 'NOT_A_FILE directory')
    t.notMatch(
      await look(workspace, { path: '.git/config' }),
      { file_hash: String },
      'reveals no hash of what may not be read'
    )
  })

  t.test(`stays with the root that was opened (${confinement})`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    writeFileSync(join(folders.root, 'a.txt'), 'old root')
    const workspace = await open(folders, { confinement })
    t.teardown(() => workspace.close())
    renameSync(folders.root, join(folders.base, 'moved'))
    mkdirSync(folders.root)
    writeFileSync(join(folders.root, 'a.txt'), 'new root')
    const expected = confinement === 'proc' ? 'ok a.txt' : 'NOT_READY root_gone'
    t.equal(gist(await workspace.edit({ path: 'a.txt' }, REAL, append('!'))), expected)
    t.equal(readFileSync(join(folders.root, 'a.txt'), 'utf8'), 'new root', 'leaves the new one alone')
    rmSync(join(folders.base, 'moved'), { recursive: true })
    t.equal(gist(await workspace.edit({ path: 'a.txt' }, REAL, append('!'))), 'NOT_READY root_gone')
    t.match(await workspace.ready(), { code: 'NOT_READY', reason: 'root_gone' })
  })

  t.test(`stays with the file that is pinned (${confinement})`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    mkdirSync(join(folders.root, 'd'))
    writeFileSync(join(folders.root, 'd/f'), 'f')
    const root = openRoot(folders.root, confinement)
    t.teardown(() => root.close())
    const pinned = root.pin(Buffer.from('d/f'))
    if (!pinned.ok) return t.fail('is pinned')
    const folder = root.openFolder(Buffer.from('d'))
    t.ok(pinned.value.inPlace() && folder.inPlace())
    await folder.sync()
    renameSync(join(folders.root, 'd'), join(folders.base, 'away'))
    t.notOk(pinned.value.inPlace(), 'sees that a file has left the root')
    t.notOk(folder.inPlace(), 'sees that a folder has left the root')
    symlinkSync('../away', join(folders.root, 'd'))
    t.notOk(folder.inPlace(), 'is not deceived by a link in its place')
    t.throws(() => root.openFolder(Buffer.from('d')), 'opens no folder through a link')
    mkdirSync(join(folders.root, 'e'))
    symlinkSync('e', join(folders.root, 'l'))
    mkdirSync(join(folders.root, 'e/g'))
    t.throws(() => root.openFolder(Buffer.from('l/g')), { code: 'RACED' }, 'nor one below a link')
    pinned.value.close()
    folder.close()
    writeFileSync(join(folders.root, 'x (deleted)'), '')
    const odd = root.pin(Buffer.from('x (deleted)'))
    t.ok(odd.ok && odd.value.inPlace(), 'knows a name that only looks deleted')
    unlinkSync(join(folders.root, 'x (deleted)'))
    t.notOk(odd.ok && odd.value.inPlace(), 'and sees when it is')
    if (confinement === 'portable' && odd.ok) {
      writeFileSync(join(folders.root, 'other'), '')
      renameSync(join(folders.root, 'other'), join(folders.root, 'x (deleted)'))
      t.throws(() => odd.value.open(0), { code: 'RACED' }, 'opens no other file of its name')
    }
    if (odd.ok) odd.value.close()
  })
}

t.test(
  'says why it stops at a folder that it can’t enter',
  { skip: !onLinux || !isRoot ? 'needs Linux and root to become another user' : false },
  async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    mkdirSync(join(folders.root, 'closed'))
    mkdirSync(join(folders.root, 'unlisted'))
    writeFileSync(join(folders.root, 'unlisted/f'), 'f')
    writeFileSync(join(folders.root, 'unreadable'), 'x')
    symlinkSync('closed/x', join(folders.root, 'into-closed'))
    chmodSync(folders.base, 0o777)
    chmodSync(folders.root, 0o777)
    chmodSync(join(folders.root, 'closed'), 0o600)
    chmodSync(join(folders.root, 'unlisted'), 0o333)
    chmodSync(join(folders.root, 'unlisted/f'), 0o666)
    chmodSync(join(folders.root, 'unreadable'), 0o200)
    process.seteuid?.(65534)
    t.teardown(() => process.seteuid?.(0))
    for (const confinement of kinds) {
      const workspace = await open({ ...folders, state: join(folders.base, 'state-' + confinement) }, { confinement })
      for (const [path, expected] of [
        ['closed/x', 'PERMISSION_DENIED not_permitted'],
        ['into-closed', 'PERMISSION_DENIED not_permitted'],
        ['unreadable', 'PERMISSION_DENIED not_permitted']
      ] as const) {
        t.equal(gist(await look(workspace, { path })), expected, `${path} (${confinement})`)
      }
      await workspace.close()
    }
    const root = openRoot(folders.root, 'proc')
    const folder = root.openFolder(Buffer.from('unlisted'))
    t.ok(folder.inPlace(), 'opens a folder that can only be written in')
    await t.rejects(folder.sync(), 'and says that it can’t be synced')
    folder.close()
    root.close()
  }
)

t.test('refuses a root in its state folder', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const root of [folders.state, join(folders.state, 'locks')]) {
    mkdirSync(root, { recursive: true })
    await t.rejects(open({ ...folders, root }), /the root must not lie in the state folder/)
  }
  const workspace = await open({ ...folders, state: join(folders.root, '.state') })
  await workspace.close()
})

t.test('answers at once, however many requests name a FIFO', { skip: !onLinux ? 'needs mkfifo' : false }, async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  execFileSync('mkfifo', [join(folders.root, 'fifo')])
  writeFileSync(join(folders.root, 'a'), 'a')
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  const asked = await Promise.all(Array.from({ length: 50 }, () => look(workspace, { path: 'fifo' })))
  t.ok(asked.every(answer => gist(answer) === 'NOT_A_FILE fifo'))
  t.equal(gist(await workspace.edit({ path: 'a' }, REAL, append('b'))), 'ok a')
})

t.test('allows only some extensions, also of files that don’t exist', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const name of ['a.ts', 'b.TS', 'c.md', 'Makefile']) writeFileSync(join(folders.root, name), 'x')
  mkdirSync(join(folders.root, 'dir'))
  symlinkSync('c.md', join(folders.root, 'link.ts'))
  const workspace = await open(folders, { allowExtensions: ['.ts'] })
  t.teardown(() => workspace.close())
  for (const [path, expected] of [
    ['a.ts', 'ok a.ts'],
    ['b.TS', 'ok b.TS'],
    ['c.md', 'PATH_NOT_ALLOWED extension'],
    ['missing.md', 'PATH_NOT_ALLOWED extension'],
    ['missing.ts', 'FILE_NOT_FOUND'],
    ['link.ts', 'PATH_NOT_ALLOWED extension'],
    ['Makefile', 'PATH_NOT_ALLOWED extension'],
    ['dir', 'PATH_NOT_ALLOWED extension'],
    ['.', 'NOT_A_FILE directory']
  ] as const) {
    t.equal(gist(await workspace.edit({ path }, DRY, append('.'))), expected, path)
  }
  t.match(await look(workspace, { path: 'c.md' }), { failure: { allowed_extensions: ['.ts'] } })
})

t.test('suggests similar paths', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'src'))
  for (const name of ['src/app.ts', 'src/App.tsx', 'Readme.md', 'src/other.ts', '.envrc']) {
    writeFileSync(join(folders.root, name), 'x')
  }
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  for (const [path, near] of [
    ['src/ap.ts', ['src/app.ts']],
    ['README.md', ['Readme.md']],
    ['workspace/src/app.ts', ['src/app.ts']],
    ['src\\app.ts', ['src/app.ts', 'src/App.tsx']],
    ['C:\\work\\src\\app.ts', ['src/app.ts']],
    ['src/other', ['src/other.ts']],
    ['Readme', ['Readme.md']],
    ['/workspace/src/app.ts', ['src/app.ts']],
    ['/Readme.md', ['Readme.md']],
    ['/workspace/src', undefined],
    ['/workspace/.envrc', undefined],
    ['/workspace/nowhere.ts', undefined],
    ['/workspace/../Readme.md', undefined],
    ['../Readme.md', undefined],
    ['nowhere/x.ts', undefined],
    ['.envr', undefined],
    ['src', undefined]
  ] as const) {
    const answer = await workspace.edit({ path }, DRY, append('.'))
    t.strictSame(
      answer.ok ? null : 'did_you_mean' in answer.failure ? answer.failure.did_you_mean : undefined,
      near,
      path
    )
  }
})

t.test('suggests what is inside the root where a path outside it ends alike', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, 'src/.git'), { recursive: true })
  mkdirSync(join(folders.root, 'etc'))
  for (const name of ['src/app.ts', 'app.ts', 'src/.git/config', 'secret']) writeFileSync(join(folders.root, name), 'x')
  symlinkSync('/etc/passwd', join(folders.root, 'etc/passwd'))
  const workspace = await open(folders)
  t.teardown(() => workspace.close())
  for (const [path, near] of [
    ['/workspace/src/app.ts', ['src/app.ts', 'app.ts']],
    ['/workspace/src/', ['src']],
    ['/workspace', undefined],
    ['/', undefined],
    ['/repo/src/.git/config', undefined],
    ['/etc/passwd', undefined],
    [`${'/x'.repeat(1000)}/secret`, ['secret']]
  ] as const) {
    const answer = await look(workspace, { path })
    t.match(answer, { ok: false, failure: { code: 'PATH_NOT_ALLOWED', reason: 'outside' } }, path)
    t.strictSame(answer.ok || !('did_you_mean' in answer.failure) ? undefined : answer.failure.did_you_mean, near, path)
  }
})

t.test('finds the same name in other folders', t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  for (const folder of ['src/components', 'node_modules/x', '.hidden', 'lib']) {
    mkdirSync(join(folders.root, folder), { recursive: true })
  }
  for (const file of ['src/components/Button.tsx', 'node_modules/x/Button.tsx', '.hidden/other']) {
    writeFileSync(join(folders.root, file), '')
  }
  symlinkSync('../src', join(folders.root, 'lib/src'))
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  for (const path of ['Button.tsx', 'src/Button.tsx', 'src/component/Button.tsx', 'SRC/components/button.tsx']) {
    t.equal(similarPaths(root, Buffer.from(path), ALL)[0], 'src/components/Button.tsx', path)
  }
  t.strictSame(similarPaths(root, Buffer.from('Button.tsx'), ALL), [
    'src/components/Button.tsx',
    'node_modules/x/Button.tsx'
  ])
  t.strictSame(similarPaths(root, Buffer.from('a/Nowhere.tsx'), ALL), [])
  for (let i = 0; i < 30; i++) {
    mkdirSync(join(folders.root, `many/${i}`), { recursive: true })
    writeFileSync(join(folders.root, `many/${i}/same`), '')
  }
  t.equal(similarPaths(root, Buffer.from('same'), ALL).length, 3)
  const { pin } = root
  const gone = join('src', 'components', 'Button.tsx')
  Object.assign(root, {
    pin(path: Buffer) {
      if (path.toString() === gone) throw new Raced('the folder was moved')
      return pin.call(root, path)
    }
  })
  t.strictSame(
    similarPaths(root, Buffer.from('Button.tsx'), ALL),
    ['node_modules/x/Button.tsx'],
    'what goes while it is looked at is not offered'
  )
  t.end()
})

t.test('bounds the search for similar paths', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  mkdirSync(join(folders.root, '1/2/3/4/5/6/7/8'), { recursive: true })
  writeFileSync(join(folders.root, '1/2/3/4/5/6/7/8/f'), '')
  writeFileSync(join(folders.root, 'f'), '')
  const root = openRoot(folders.root)
  t.teardown(() => root.close())
  let asked = 0
  const near = (path: string): string[] =>
    similarPaths(root, Buffer.from(path), { offers: () => ++asked > 0, shows: () => true })
  t.strictSame(near('x/1/2/3/4/5/6/7/8/f'), ['f'], 'its last eight names')
  t.strictSame(near('x/'.repeat(800) + 'f'), ['f'])
  t.equal(asked, 2)
  for (let i = 0; i < 5100; i++) writeFileSync(join(folders.root, `n${i}`), '')
  t.ok(near('n0x').length <= 3)
})

for (const confinement of kinds) {
  t.test(
    `keeps nothing open where a path is too long for the system (${confinement})`,
    { skip: onLinux ? false : 'needs /proc' },
    async t => {
      const folders = makeFolders()
      t.teardown(() => {
        execFileSync('rm', ['-rf', folders.base])
      })
      const workspace = await open(folders, { confinement })
      t.teardown(() => workspace.close())
      const create = (path: string): ReturnType<typeof workspace.create<null, never>> =>
        workspace.create({ path, overwrite: false, create_parents: true }, REAL, become('x'))
      const name = 'n'.repeat(250)
      const rest = 4095 - folders.root.length - 1
      // Of exactly so many bytes, in names that are short enough.
      const ofLength = (length: number): string =>
        (name + '/').repeat(Math.floor(length / 251)) + 'f'.repeat(length % 251)
      t.equal(gist(await create(ofLength(rest))), 'ok ' + ofLength(rest))
      t.equal(
        gist(await look(workspace, { path: ofLength(rest) })),
        'ok ' + ofLength(rest),
        'what can be made can be read'
      )
      t.equal(gist(await create(ofLength(rest + 1))), 'INVALID_PATH too_long')
      // By other means there can be such a file.
      const deep = Array.from({ length: 15 }, () => name).join('/')
      mkdirSync(join(folders.root, deep), { recursive: true })
      execFileSync('sh', [
        '-c',
        `cd "$0" && mkdir -p ${name} && cd -P ${name} && echo x > ${'f'.repeat(200)}`,
        join(folders.root, deep)
      ])
      symlinkSync(deep, join(folders.root, 'deep'))
      // The system can't tell where one leads whose path is too long. Those of other tests may be closed meanwhile.
      const opened = (): number =>
        readdirSync('/proc/self/fd').filter(fd => {
          try {
            return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folders.base)
          } catch (error) {
            return codeOf(error) !== 'ENOENT'
          }
        }).length
      const before = opened()
      for (let i = 0; i < 20; i++) {
        t.equal(gist(await look(workspace, { path: `deep/${name}/${'f'.repeat(200)}` })), 'INVALID_PATH too_long')
      }
      t.equal(opened(), before)
    }
  )
}

t.test('judges a path by its text', async t => {
  const roots = ['/w/a', '/given']
  const check = (path: string, expected: string, platform = 'linux'): void => {
    const result = relativePath(path, roots, platform)
    t.equal(result.ok ? result.value : gist(result), expected, `${platform} ${path}`)
  }
  check('/w/a', '')
  check('/w/a/x', 'x')
  check('/given/x/../y', 'y')
  check('/w/a/../a-evil/x', 'PATH_NOT_ALLOWED outside')
  check('/w/ab', 'PATH_NOT_ALLOWED outside')
  check('/../w/a/x', 'x')
  t.same(relativePath('/x', ['/']), { ok: true, value: 'x' })
  for (const path of ['C:x', 'x::$DATA', 'NUL', 'a/con.txt', 'x.', 'x ', 'a\\aux', 'COM1', 'a|b']) {
    check(path, 'PATH_NOT_ALLOWED outside', 'win32')
  }
  check('a\\b\\..\\c', 'a/c', 'win32')
  check('..\\x', 'PATH_NOT_ALLOWED outside', 'win32')
  const inside = (root: string, path: string): string | undefined =>
    below(Buffer.from(root), Buffer.from(path))?.toString()
  t.equal(inside('/w/a', '/w/a'), '')
  t.equal(inside('/w/a', '/w/a/b'), 'b')
  t.equal(inside('/w/a', '/w/ab'), undefined)
  t.equal(inside('/', '/b'), 'b')
})

t.test('matches patterns at every depth, and more than one name', async t => {
  const check = (pattern: string, path: string, expected: boolean): void => {
    const policy = makePolicy({
      protect: [pattern],
      readProtect: [],
      allowExtensions: null,
      stateDir: Buffer.from('/state')
    })
    t.equal(policy.judge('edit', Buffer.from('/r/' + path), Buffer.from(path)) !== null, expected, `${pattern} ${path}`)
    t.equal(policy.judge('read', Buffer.from('/r/' + path), Buffer.from(path)), null)
  }
  check('*.pem', 'a/b/Key.PEM', true)
  check('*.pem', 'a/pem', false)
  check('config/secret*', 'x/config/secrets/y', true)
  check('config/secret*', 'config/x/secret', false)
  check('a.b', 'axb', false)
  check('x/**', 'x', false)
  check('x/**', 'a/x/b', true)
  check('caf\u00e9', 'CAFE\u0301', true)
  check('', 'anything', false)
})

t.test('maps system errors to failures of a file', async t => {
  // As Node makes them: of some it has only the number.
  const error = (name: keyof typeof constants.errno): Error =>
    Object.assign(new Error(name), { errno: -constants.errno[name], code: getSystemErrorName(-constants.errno[name]) })
  const codes = {
    EACCES: 'PERMISSION_DENIED',
    EROFS: 'PERMISSION_DENIED',
    ENOSPC: 'NO_SPACE',
    EDQUOT: 'NO_SPACE',
    EFBIG: 'NO_SPACE',
    EMFILE: 'NOT_READY',
    ENFILE: 'NOT_READY',
    ENOENT: 'STALE_FILE',
    ESTALE: 'STALE_FILE',
    ENAMETOOLONG: 'INVALID_PATH'
  }
  for (const [name, expected] of Object.entries(codes)) {
    t.equal(failureOf(error(name as keyof typeof codes))?.code, expected, name)
  }
  t.equal(failureOf(new Raced('x'))?.code, 'STALE_FILE')
  for (const other of [error('EIO'), new Error('bug'), 'text']) t.equal(failureOf(other), null)
})

t.test('refuses roots and states that can’t work', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const refused = (options: Partial<WorkspaceOptions>): Promise<unknown> => t.rejects(open(folders, options))
  await refused({ root: join(folders.base, 'missing') })
  await refused({ stateDir: folders.base })
  mkdirSync(join(folders.base, 'bad'))
  writeFileSync(join(folders.base, 'bad/secret'), 'short')
  await refused({ stateDir: join(folders.base, 'bad') })
  linkSync(join(folders.base, 'bad/secret'), join(folders.base, 'file'))
  await refused({ stateDir: join(folders.base, 'file') })
  const workspace = await open(folders)
  t.equal(workspace.root, folders.root)
  t.equal(await workspace.ready(), null)
  t.equal(lstatSync(folders.state).mode & 0o777, 0o700)
  t.equal(lstatSync(join(folders.state, 'secret')).mode & 0o777, 0o600)
  await workspace.close()
  await workspace.close()
  t.equal(gist(await workspace.edit({ path: 'a' }, DRY, become(''))), 'NOT_READY draining')
  t.match(await workspace.ready(), { reason: 'draining' })
})

t.test('makes a folder with its parents, and stops if that fails', t => {
  const base = testFolder(t, { file: '' })
  ensureDir(join(base, 'a/b/c'))
  ensureDir(join(base, 'a/b'))
  t.strictSame(readdirSync(join(base, 'a/b')), ['c'])
  t.throws(() => ensureDir(join(base, 'file')), { code: 'EEXIST' })
  t.throws(() => ensureDir(join(base, 'file/below')), { code: 'ENOTDIR' })
  if (process.platform === 'linux') t.throws(() => ensureDir('/proc/nowhere/below'), { code: 'ENOENT' })
  t.end()
})
