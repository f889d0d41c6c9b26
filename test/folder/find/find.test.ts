// Finding in a folder: what counts, what is skipped, what ends it, and that nothing outside is found.
import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import iconv from 'iconv-lite'
import t, { type Test } from 'tap'
import type { FindQuery, Workspace, WorkspaceOptions } from '../../../src/workspace/api.ts'
import { Finder } from '../../../src/folder/find/finder.ts'
import { unreadableIn, type FindPlace } from '../../../src/folder/find/list-names.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { limitPolicy, makePolicy } from '../../../src/workspace/policy.ts'
import { often, ONLY_CI } from '../../often.ts'
import { find, found, MATCHES, pathsIn, queryOf, seeker, textOf } from '../support/finding.ts'
import { build } from '../support/native.ts'
import { descriptors, makeFolders, onLinux, open, removeFolders, type Folders } from '../support/open.ts'

type Files = Record<string, string | Buffer>

/** A workspace with these files. */
async function workspaceOf(
  t: Test,
  files: Files,
  options: Partial<WorkspaceOptions> = {}
): Promise<{ workspace: Workspace; folders: Folders }> {
  const folders = makeFolders()
  write(folders.root, files)
  const workspace = await open(folders, options)
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return { workspace, folders }
}

/** Finds in a root with these files, for as long as it takes. */
function seekerOf(t: Test, files: Files) {
  const folders = makeFolders()
  write(folders.root, files)
  const workspace = seeker(folders.root)
  t.teardown(() => {
    workspace.close()
    removeFolders(folders)
  })
  return { workspace, folders }
}

function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')
const foo = textOf('foo')

/** What is found in these files, as `path start-end,…`. */
async function check(t: Test, files: Files, query: Partial<FindQuery>, expected: readonly string[]): Promise<void> {
  const { workspace } = seekerOf(t, files)
  const { files: all } = await found(workspace, query)
  const told = all.map(({ path, value }) => `${path} ${value.map(({ start, end }) => `${start}-${end}`).join()}`.trim())
  t.strictSame(told, expected, JSON.stringify(query))
}

t.test('finds text and expressions in every encoding that is text', async t => {
  const files = {
    'a.txt': 'foo Foo\nfoobar\n',
    'b/crlf.txt': 'foo\r\nbar\r\n',
    'b/mac.txt': 'x\rfoo\rbar',
    'mark.txt': '\ufefffoo',
    'wide.txt': utf16('é foo'),
    'latin.txt': Buffer.from('caf\xe9s et th\xe9 \xe0 foo\n', 'latin1'),
    'odd.txt': Buffer.from([0xff, 0x66, 0x6f, 0x6f, 0x80, 0xc3])
  }
  const all = (more: object, ...expected: string[]) => check(t, files, more, expected)
  await all(
    { text: foo },
    'a.txt 0-3,8-11',
    'b/crlf.txt 0-3',
    'b/mac.txt 2-5',
    'latin.txt 18-21',
    'mark.txt 3-6',
    'odd.txt 2-5',
    'wide.txt 6-9'
  )
  await all({ text: textOf('FOO', { ignore_case: true, whole_word: true }), include: ['a*'] }, 'a.txt 0-3,4-7')
  await all({ text: textOf('foo\nbar') }, 'b/crlf.txt 0-8', 'b/mac.txt 2-9')
  await all({ text: textOf('^foo$', { regex: true }), path: 'b' }, 'b/crlf.txt 0-3', 'b/mac.txt 2-5')
  await all({ text: textOf('foo\0') })
  await all({ text: foo, path: 'b/mac.txt' }, 'b/mac.txt 2-5')
  await all({ include: ['b/**'], exclude: ['mac*'] }, 'b/crlf.txt')
  await all({ text: foo, path: 'b', exclude: ['mac*'] }, 'b/crlf.txt 0-3')
})

t.test('finds what only the decoded text of a file holds', async t => {
  const french = Buffer.from('Un caf\xe9 et un th\xe9 \xe0 la cr\xe8me, \x93alpha\x94\n', 'latin1')
  const encoded = (text: string, encoding: string) => iconv.encode(text, encoding)
  const files = {
    french,
    'koi8.txt': encoded('Привет, как твои дела сегодня? Всё хорошо.\n', 'koi8-r'),
    'japanese.txt': encoded('これは日本語の文章です、foo。表示して予約します。\n', 'shift_jis'),
    'chinese.txt': encoded('这是一个中文句子，我们在这里工作。\n', 'gb18030'),
    'utf8.txt': 'éfoo alphabet',
    'image.png': Buffer.from([0x89, 0x50, 0, 0xff, 0xe9, 0x80])
  }
  const { workspace } = seekerOf(t, files)
  const isLimited = [workspace, workspace.limitedTo(['**'])]
  const seen = async (text: FindQuery['text'], ...expected: string[]) => {
    for (const view of isLimited) {
      const { files, skipped } = await found(view, { text })
      const told = files.map(({ path, value }) => `${path} ${value.map(({ matched }) => matched).join()}`)
      t.strictSame(told, expected, JSON.stringify(text))
      t.equal(skipped.binary, 0)
    }
  }
  await seen(textOf('café'), 'french café')
  await seen(textOf('CAFÉ', { ignore_case: true }), 'french café')
  await seen(textOf('caf.', { regex: true }), 'french café')
  await seen(textOf('alpha', { whole_word: true }), 'french alpha')
  await seen(textOf('дела'), 'koi8.txt дела')
  await seen(textOf('日本語'), 'japanese.txt 日本語')
  // In Shift_JIS, these are the second bytes of characters.
  await seen(textOf('\\'))
  await seen(textOf('foo', { whole_word: true }), 'japanese.txt foo')
  await seen(textOf('中文'), 'chinese.txt 中文')
})

t.test('says that the only file to look in is binary', async t => {
  const wide = Buffer.from('alpha', 'utf16le')
  const { workspace } = seekerOf(t, { 'd/nul': 'x\0alpha', 'd/wide': wide, 'd/text': 'alpha' })
  for (const path of ['d/nul', 'd/wide']) {
    const none = { total_files: 0, searched_files: 0, skipped: { binary: 1 } }
    t.match(await found(workspace, { path, text: textOf('alpha') }), none)
  }
  t.match(await found(workspace, { text: textOf('alpha') }), {
    total_files: 1,
    searched_files: 2,
    skipped: { binary: 1 }
  })
})

t.test('reads the ignore files from the root on, and not those above it', async t => {
  const files = {
    '.gitignore': 'out\n*.log',
    'a/.ignore': '!b.log',
    'a/b.log': 'foo',
    'out/c': 'foo',
    'd.log': 'foo',
    '.e': 'foo'
  }
  const { workspace, folders } = seekerOf(t, files)
  writeFileSync(join(folders.base, '.gitignore'), '*')
  write(folders.root, { '.git/f': 'foo', 'a/.git/g': 'foo' })
  t.strictSame(await pathsIn(workspace, { text: foo }), ['.e', 'a/b.log'])
  t.strictSame(await pathsIn(workspace, { text: foo, path: 'out' }), [])
  t.strictSame(await pathsIn(workspace, { text: foo, path: 'd.log' }), ['d.log'])
  t.strictSame(await pathsIn(workspace, { text: foo, ignored: true }), ['.e', 'a/b.log', 'd.log', 'out/c'])
  t.strictSame(await pathsIn(workspace, { text: foo, ignored: true, path: 'out' }), ['out/c'])
})

t.test('says what it skips', async t => {
  const long = 'x'.repeat(1_100_000)
  const files = { nul: 'foo\0', long: `${long} foo`, lines: `${'y\n'.repeat(600_000)}foo`, text: 'foo' }
  const { workspace, folders } = seekerOf(t, files)
  writeFileSync(join(folders.root, 'huge'), '')
  truncateSync(join(folders.root, 'huge'), 2 ** 30)
  for (const view of [workspace, workspace.limitedTo(['**'])]) {
    const text = await found(view, { text: foo })
    t.match(text, { total_files: 2, total_matches: 2, searched_files: 3, skipped: { binary: 1, too_large: 2 } })
    const names = await found(view, {})
    t.match(names, { total_files: 4, searched_files: 4, skipped: { binary: 0, too_large: 1 } })
    // Of such a line, ripgrep would write hundreds of megabytes.
    t.match(await found(view, { text: textOf('.', { regex: true }), include: ['long', 'text'] }), {
      total_files: 1,
      skipped: { too_large: 1 }
    })
  }
  write(folders.root, { many: `${'z'.repeat(1000)}\n`.repeat(120), wide: 'z'.repeat(300_000) })
  t.match(await found(workspace, { text: textOf('z'), include: ['many', 'wide', 'text'] }), {
    files: [
      { path: 'many', count: 120_000, value: { length: 100_000 } },
      { path: 'wide', count: 300_000 }
    ],
    skipped: { too_large: 0 }
  })
  // Of matches that span lines and touch each other, ripgrep writes at once.
  write(folders.root, { few: 'y\ny\n' })
  t.match(await found(workspace, { text: textOf('y\n'), include: ['few', 'lines'] }), {
    files: [{ path: 'few', count: 2 }],
    skipped: { too_large: 1 }
  })
  const few = { select: async (_: Buffer, matches: readonly { start: number; end: number }[]) => matches.slice(0, 2) }
  const selected = await workspace.find(queryOf({ text: textOf('z'), include: ['many'] }), { ...MATCHES, ...few })
  t.match(selected, { ok: true, value: { total_matches: 2, truncated: 'size', files: [{ count: 2 }] } })
  t.strictSame(
    unreadableIn('rg: ./a: b: Permission denied (os error 13)\nrg: c: No such file or directory (os error 2)\n').map(
      String
    ),
    ['a: b']
  )
})

t.test('returns those that are selected, with their hashes', async t => {
  const { workspace } = seekerOf(t, { a: 'foo foo', b: 'foo', c: 'foo foo foo' })
  const seen: string[] = []
  const result = await workspace.find(queryOf({ text: foo, max_files: 1 }), {
    select: async (text, matches, path) => {
      seen.push(`${path} ${text.length}`)
      return matches.slice(1)
    },
    cut: (text, matches) => text.length + matches.length
  })
  t.match(result, {
    value: {
      files: [{ path: 'a', count: 1, value: 8, file_size: 7, file_hash: /^[0-9a-f]{64}$/, modified_at: Date }],
      total_files: 2,
      total_matches: 3,
      truncated: 'limit',
      next_after: 'a'
    }
  })
  t.strictSame(seen, ['a 7', 'b 3', 'c 11'])
})

t.test('orders by path, or the newest first, and goes on', async t => {
  const { workspace, folders } = seekerOf(t, { 'a/b': '', 'a-b/c': '', 'a.c': '', 'a/é': '' })
  if (onLinux) writeFileSync(Buffer.concat([Buffer.from(`${folders.root}/a/`), Buffer.from([0x78, 0xff])]), 'foo')
  const odd = onLinux ? ['a/x\ufffd'] : []
  t.strictSame(await pathsIn(workspace, {}), ['a/b', ...odd, 'a/é', 'a-b/c', 'a.c'])
  t.strictSame(await pathsIn(workspace, { text: foo }), odd)
  t.strictSame(await pathsIn(workspace.limitedTo(['a/**']), { text: foo }), odd)
  const pages = async (sort: 'path' | 'modified') => {
    const paths: string[] = []
    for (let after: string | undefined; ;) {
      const page = await found(workspace, { sort, max_files: 1, ...(after !== undefined && { after }) })
      paths.push(...page.files.map(({ path }) => path))
      after = page.next_after
      if (after === undefined) return paths
    }
  }
  t.strictSame(await pages('path'), await pathsIn(workspace, {}))
  await sleep(20)
  write(folders.root, { 'a.c': 'new' })
  const newest = await pathsIn(workspace, { sort: 'modified' })
  t.equal(newest[0], 'a.c')
  t.strictSame(await pages('modified'), newest)
})

t.test('refuses what is no expression or no glob', async t => {
  const { workspace } = seekerOf(t, { a: 'foo' })
  const nothing = { include: ['nothing'] }
  for (const [view, more] of [
    [workspace, {}],
    [workspace, nothing],
    [workspace, { path: 'a' }],
    [workspace.limitedTo(['a']), {}],
    [workspace.limitedTo(['b/**']), nothing]
  ] as const) {
    t.match(await find(view, { text: textOf('(a', { regex: true }), ...more }), {
      failure: { code: 'BAD_REGEX', message: /unclosed group/ }
    })
  }
  const long = 'x'.repeat(200_000)
  t.match(await find(workspace, { text: textOf(long) }), { failure: { code: 'BAD_REGEX', message: /too long/ } })
  t.match(await find(workspace, { text: textOf(long), path: 'a' }), { failure: { code: 'BAD_REGEX' } })
  t.match(await find(workspace, { include: ['*', long] }), { failure: { code: 'BAD_GLOB', glob: long } })
  t.match(await find(workspace, { text: textOf('a\0', { regex: true }) }), { failure: { code: 'BAD_REGEX' } })
  for (const text of [undefined, foo]) {
    const bad = { ...(text && { text }), exclude: ['{a'] }
    t.match(await find(workspace, bad), { failure: { code: 'BAD_GLOB', glob: /\{a$/, message: /unclosed/ } })
  }
})

t.test('leaves out a file that never stays as it is, and passes on what its user throws', async t => {
  const { workspace, folders } = seekerOf(t, { a: 'foo', log: 'foo\n'.repeat(400_000) })
  let isOver = false
  const grow = (): void => {
    appendFileSync(join(folders.root, 'log'), 'y')
    if (!isOver) setImmediate(grow)
  }
  setImmediate(grow)
  t.match(await found(workspace, { text: foo }), { total_files: 1, skipped: { unreadable: 1 } })
  isOver = true
  const before = onLinux ? descriptors() : 0
  const broken = new Error('broken')
  const cut = (): never => {
    throw broken
  }
  await t.rejects(workspace.find(queryOf({ text: foo }), { cut }), broken)
  t.equal(onLinux ? descriptors() : 0, before)
})

t.test('lists very many names some at a time', { skip: ONLY_CI }, async t => {
  const files = Object.fromEntries(Array.from({ length: 20_300 }, (_, i) => [`${i % 203}/${i % 7}é/-${i}`, '']))
  const { workspace } = seekerOf(t, files)
  const whole = await found(workspace, {})
  t.equal(whole.total_files, 20_300)
  t.strictSame(
    whole.files.map(({ path }) => path),
    (await pathsIn(workspace, { max_files: 20_300 })).slice(0, 1000)
  )
  const after = '58/0é/-16'
  t.match(await found(workspace, { after, max_files: 1 }), { total_files: 20_300, truncated: 'limit' })
  t.equal((await found(workspace, { sort: 'modified' })).total_files, 20_300)
})

/** What a find of its own needs, in a root with these files. */
function placeOf(t: Test, files: Files, confinement?: 'proc' | 'portable') {
  const folders = makeFolders()
  write(folders.root, files)
  const root = openRoot(folders.root, confinement)
  const pinned = root.pin(Buffer.alloc(0))
  if (!pinned.ok) throw new Error('not pinned')
  const closing = new AbortController()
  t.teardown(() => {
    pinned.value.close()
    root.close()
    removeFolders(folders)
  })
  const policy = makePolicy({ protect: [], readProtect: [], allowExtensions: null, stateDir: Buffer.from('/x') })
  const place: FindPlace = {
    root,
    policy,
    readProtect: [],
    stateDir: Buffer.from('/x'),
    maxFileSize: 1e6,
    hasEndings: false,
    pin: pinned.value,
    closing: closing.signal
  }
  return { place, closing, folders }
}

const many = (count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i % 10}/f${i}`, `foo ${i}\n`]))

t.test('goes on where the time was over, and loses nothing', async t => {
  const { place } = placeOf(t, many(700))
  const finder = new Finder({ soon: 1, time: 600_000 })
  const all = await finder.find(place, queryOf({ text: foo }), MATCHES)
  t.match(all, { value: { total_files: 700, searched_files: 700, truncated: undefined } })
  const stopped = async (query: Partial<FindQuery>, at: number) => {
    let end = (): void => {}
    let cuts = 0
    const client = { isGone: () => false, onGone: (gone: () => void) => (end = gone) }
    return finder.find(place, queryOf({ ...query, client }), {
      cut: () => {
        if (++cuts === at) end()
      }
    })
  }
  const paths: string[] = []
  for (let after: string | undefined; ;) {
    const part = await stopped({ text: foo, ...(after !== undefined && { after }) }, 300)
    if (!part.ok) throw new Error(part.failure.code)
    paths.push(...part.value.files.map(({ path }) => path))
    after = part.value.next_after
    if (after === undefined) break
    t.equal(part.value.truncated, 'time')
  }
  t.strictSame(paths, all.ok && all.value.files.map(({ path }) => path))
  const names = await stopped({}, 10)
  t.match(names, { value: { files: { length: 10 }, truncated: 'time', next_after: 'd0/f170' } })
  let end = (): void => {}
  const leaving = { isGone: () => false, onGone: (gone: () => void) => (end = gone) }
  const selected = await finder.find(place, queryOf({ text: foo, client: leaving }), {
    ...MATCHES,
    async select(_, matches) {
      end()
      return matches
    }
  })
  t.match(selected, { value: { total_files: 1, files: { length: 1 }, truncated: 'time' } })
  const none = await new Finder({ time: 1 }).find(place, queryOf({ text: foo }), MATCHES)
  t.match(none, { value: { truncated: 'time' } })
})

t.test('runs a few finds at once, and ends those whose client has gone', async t => {
  const { place, closing } = placeOf(t, many(20))
  const finder = new Finder({ atOnce: 1, waiting: 1, time: 600_000 })
  const leaving: (() => void)[] = []
  let isGone = false
  const client = { isGone: () => isGone, onGone: (end: () => void) => leaving.push(end) }
  const first = finder.find(place, queryOf({ text: foo }), MATCHES)
  const second = finder.find(place, queryOf({ text: foo, client }), MATCHES)
  const third = finder.find(place, queryOf({ text: foo }), MATCHES)
  const busy = { ok: false, failure: { code: 'NOT_READY', reason: 'searching', retry_after: 1 } }
  t.match(await third, busy)
  leaving[0]!()
  t.match(await second, busy)
  t.match(await first, { value: { total_files: 20 } })
  const [before, after] = [finder.find(place, queryOf({}), MATCHES), finder.find(place, queryOf({}), MATCHES)]
  t.match([await before, await after], [{ value: { total_files: 20 } }, { value: { total_files: 20 } }])
  const late = new Finder({ atOnce: 0, time: 20 })
  t.match(await late.find(place, queryOf({}), MATCHES), busy)

  const running = finder.find(place, queryOf({ text: foo, client }), MATCHES)
  isGone = true
  leaving[1]!()
  t.match(await running, busy)
  t.match(await finder.find(place, queryOf({ client: { isGone: () => true, onGone: end => end() } }), MATCHES), busy)
  const ended = finder.find(place, queryOf({ text: foo }), MATCHES)
  closing.abort()
  t.match(await ended, { failure: { code: 'NOT_READY', reason: 'draining' } })
})

t.test('ends when the workspace closes', async t => {
  const folders = makeFolders()
  write(folders.root, many(100))
  const workspace = await open(folders)
  const running = find(workspace, { text: foo })
  await workspace.close()
  t.match(await running, { failure: { code: 'NOT_READY', reason: 'draining' } })
  removeFolders(folders)
})

t.test('finds what may be read, and tells nothing of the rest', async t => {
  const files = { 'a.ts': 'foo', 'b.md': 'foo', 'secret/c.ts': 'foo', 'docs/d.ts': 'foo', 'docs/nul.ts': 'foo\0' }
  const options = { readProtect: ['secret'], allowExtensions: ['.ts'] }
  const { workspace } = await workspaceOf(t, files, options)
  t.match(await found(workspace, { text: foo }), { total_files: 2, searched_files: 2, skipped: { binary: 1 } })
  t.match(await find(workspace, { path: 'secret' }), { failure: { code: 'PROTECTED_PATH' } })
  t.match(await find(workspace, { path: 'b.ts' }), { failure: { code: 'FILE_NOT_FOUND' } })
  t.match(await found(workspace, {}), { total_files: 3, searched_files: 3 })
  for (const paths of [['docs/*'], ['docs'], ['docs/d.ts', 'docs/n*']]) {
    const found_ = await found(workspace.limitedTo(paths), { text: foo })
    t.match(found_, { files: [{ path: 'docs/d.ts' }], total_files: 1, searched_files: 1, skipped: { binary: 1 } })
  }
  t.match(await found(workspace.limitedTo(['none/**']), { text: foo }), { total_files: 0, searched_files: 0 })
  const own = makeFolders()
  write(own.root, files)
  const inside = await open({ ...own, state: join(own.root, 'state') })
  t.strictSame(await pathsIn(inside, { include: ['state/**'] }), [])
  await inside.close()
  removeFolders(own)
})

t.test('is not supported where the program is not installed', t => {
  const script = `import { FINDER } from ${JSON.stringify(new URL('../../../src/folder/find/finder.ts', import.meta.url))}
    const place = { closing: new AbortController().signal }
    console.log(JSON.stringify(await FINDER.find(place, {}, {})))`
  const child = spawn(
    process.execPath,
    ['--import', new URL('../../typescript.js', import.meta.url).href, '--input-type=module', '--eval', script],
    {
      env: { ...process.env, npm_config_arch: 'none' },
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  let printed = ''
  child.stdout.on('data', part => (printed += part))
  child.once('close', () => {
    t.strictSame(JSON.parse(printed), { ok: false, failure: { code: 'FIND_NOT_SUPPORTED' } })
    t.end()
  })
})

const attacker = build('attacker')
const ATTACKS = often(100_000, 2000, 30)

t.test('finds nothing outside while folders are exchanged for links', { skip: attacker === null }, async t => {
  const { place, folders } = placeOf(t, { 'a/x': 'foo inside', 'b/y': 'foo inside', 'c/a/x': 'foo inside' })
  write(folders.base, { 'outside/x': 'foo secret', 'outside/only': 'foo secret', 'outside/a/x': 'foo secret' })
  for (const name of ['a', 'c']) symlinkSync(join(folders.base, 'outside'), join(folders.base, `link-${name}`))
  const children = ['a', 'c'].map(name =>
    spawn(attacker!, [join(folders.root, name), join(folders.base, `link-${name}`), '0', '600'], { stdio: 'ignore' })
  )
  const policy = limitPolicy(place.policy, ['**'])
  const before = descriptors()
  const finder = new Finder({ time: 600_000 })
  for (let i = 0; i < ATTACKS; i++) {
    const query = queryOf(i % 3 === 0 ? {} : { text: foo })
    const result = await finder.find(i % 2 === 0 ? place : { ...place, policy }, query, {
      cut: (text, _, path) => `${path} ${text}`
    })
    if (!result.ok) {
      t.match(result.failure, { code: 'STALE_FILE' })
      continue
    }
    for (const { path, value, file_size } of result.value.files) {
      t.notMatch(value, 'secret')
      t.ok(['a/x', 'b/y', 'c/a/x'].includes(path), path)
      t.equal(file_size, 10)
    }
    t.ok(result.value.total_files <= 3)
  }
  for (const child of children) child.kill('SIGTERM')
  t.equal(descriptors(), before)
})
