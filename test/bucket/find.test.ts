// Finds objects by their names and text, in a store that a proxy disturbs where a test says so.
import { createHash } from 'node:crypto'
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import t, { type Test } from 'tap'
import type { BucketOptions } from '../../src/bucket/open.ts'
import { openBucket } from '../../src/bucket/open.ts'
import { Searcher } from '../../src/workers/search.ts'
import type { FindQuery, FoundUse, Workspace } from '../../src/workspace/api.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { OPTIONS } from '../folder/support/open.ts'
import { gate } from '../gate.ts'
import { ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'

type Objects = Record<string, string | Buffer>
/** A busy machine takes long to write the objects. */
const SLOW = { timeout: 280_000 }
const LIMITS = { time: 100_000, objects: 1000, bytes: 64e6, listed: 100_000 }

/** A bucket with these objects below `ws/`. */
async function serve(t: Test, objects: Objects, options: Partial<BucketOptions> = {}) {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const server = await startFauxqs({ port: 0, logger: false })
  server.createBucket('docs')
  const endpoint = `http://127.0.0.1:${server.port}`
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
  const put = (key: string, Body: string | Buffer) =>
    client.send(new PutObjectCommand({ Bucket: 'docs', Key: `ws/${key}`, Body }))
  const remove = (key: string) => client.send(new DeleteObjectCommand({ Bucket: 'docs', Key: `ws/${key}` }))
  for (const [key, body] of Object.entries(objects)) await put(key, body)
  const proxy = await startCuttingProxy(t, endpoint)
  const opened: Workspace[] = []
  t.teardown(async () => {
    for (const workspace of opened) await workspace.close()
    client.destroy()
    await server.stop()
  })
  const open = async (options: Partial<BucketOptions>) => {
    const workspace = await openBucket({
      ...OPTIONS,
      readOnly: true,
      address: { bucket: 'docs', prefix: 'ws' },
      endpoint: proxy.endpoint,
      region: null,
      searcher: new Searcher({ size: 2, time: 60_000, grace: 100 }),
      findLimits: LIMITS,
      ...options
    })
    opened.push(workspace)
    return workspace
  }
  return { workspace: await open(options), open, proxy, put, remove }
}

const QUERY: FindQuery = { path: '.', include: [], exclude: [], ignored: false, sort: 'path', max_files: 100 }
const text = (pattern: string, given: Partial<NonNullable<FindQuery['text']>> = {}) => ({
  text: { pattern, regex: false, ignore_case: false, whole_word: false, ...given }
})
/** The texts of the matches. */
const USE: FoundUse<string[]> = {
  cut: (bytes, matches) => matches.map(({ start, end }) => bytes.toString('utf8', start, end))
}
const find = (workspace: Workspace, query: Partial<FindQuery>, use = USE) => workspace.find({ ...QUERY, ...query }, use)

/** What is found: `files` by path; with a text, each with its matches. Or the code of the failure. */
async function check(t: Test, workspace: Workspace, query: Partial<FindQuery>, expected: object | string, use = USE) {
  const found = await find(workspace, query, use)
  if (!found.ok) return t.equal(found.failure.code, expected, JSON.stringify(found))
  const { files, ...others } = found.value
  const shown = query.text
    ? Object.fromEntries(files.map(({ path, value }) => [path, value.join()]))
    : files.map(({ path }) => path)
  return t.match({ files: shown, ...others }, expected)
}

t.test('finds files by name, as listings have them', SLOW, async t => {
  const { workspace } = await serve(t, {
    'a.ts': 'a',
    'a//b.ts': '',
    'a/': '',
    'a/../c.ts': '',
    '.editd/log/x.ts': '',
    '.GIT/x.ts': '',
    'src/.git': '',
    'src/.hidden/é.ts': 'é',
    'src/b.ts': 'bb',
    'src/c.md': '',
    'src.ts': ''
  })
  const all = ['a.ts', 'src.ts', 'src/.hidden/é.ts', 'src/b.ts', 'src/c.md']
  await check(t, workspace, {}, { path: '.', files: all, total_files: 5, total_matches: 0, searched_files: 5 })
  await check(t, workspace, { include: ['*.ts'] }, { files: all.slice(0, 4) })
  await check(t, workspace, { include: ['src/**'], exclude: ['.hidden'] }, { files: ['src/b.ts', 'src/c.md'] })
  await check(t, workspace, { path: 'src', include: ['b.*'] }, { path: 'src', files: ['src/b.ts'] })
  await check(t, workspace, { path: 'src/c.md', include: ['*.ts'] }, { files: ['src/c.md'] })
  await check(t, workspace, { path: 'src', exclude: ['/src'] }, { files: [], total_files: 0 })
  await check(t, workspace, { include: ['{a'] }, 'BAD_GLOB')
  await check(t, workspace, { exclude: ['a\\'] }, 'BAD_GLOB')
  await check(t, workspace, { path: 'none' }, 'FILE_NOT_FOUND')
  await check(t, workspace, { path: '.editd' }, 'PROTECTED_PATH')
  const found = await find(workspace, { path: 'src/b.ts' })
  const file_hash = createHash('sha256').update('bb').digest('hex')
  t.match(found, { value: { files: [{ file_hash, file_size: 2, modified_at: Date, count: 0, value: [] }] } })
  await check(
    t,
    workspace,
    { after: '.', max_files: 1 },
    { files: ['a.ts'], truncated: 'limit', next_after: 'a.ts', total_files: 5 }
  )
  await check(t, workspace, { after: 'a.ts', max_files: 3 }, { files: all.slice(1, 4), next_after: 'src/b.ts' })
  await check(t, workspace, { after: 'src/b.ts' }, { files: ['src/c.md'], truncated: undefined, next_after: undefined })
})

t.test('finds text in files, page by page', SLOW, async t => {
  const { workspace } = await serve(
    t,
    {
      'a.txt': 'foo\r\nbar Foo foobar\n',
      'b.txt': 'nothing',
      binary: 'foo\0',
      binary2: 'bar\0',
      'c/latin': Buffer.from('Das ist ein schöner Tag für eine große Übung, foo.\n', 'latin1'),
      'c/utf16': Buffer.from('\ufefffoo é\n', 'utf16le'),
      'd.txt': 'foo foo',
      large: 'foo'.repeat(1000)
    },
    { maxFileSize: 2000 }
  )
  const skipped = { binary: 1, too_large: 1, unreadable: 0 }
  const all = { 'a.txt': 'foo,foo', 'c/latin': 'foo', 'c/utf16': 'foo', 'd.txt': 'foo,foo' }
  await check(t, workspace, text('foo'), {
    files: all,
    total_files: 4,
    total_matches: 6,
    searched_files: 6,
    skipped,
    truncated: undefined
  })
  await check(t, workspace, { ...text('foo', { whole_word: true }), path: 'a.txt' }, { files: { 'a.txt': 'foo' } })
  await check(t, workspace, text('fo+', { regex: true, ignore_case: true, whole_word: true }), {
    files: { 'a.txt': 'foo,Foo' }
  })
  const binary = { files: {}, searched_files: 0, skipped: { ...skipped, too_large: 0 } }
  await check(t, workspace, { ...text('foo'), path: 'binary2' }, binary)
  await check(t, workspace, text('schöner'), { files: { 'c/latin': 'schöner' } })
  await check(t, workspace, text('ö|é', { regex: true }), { files: { 'c/latin': 'ö', 'c/utf16': 'é' } })
  await check(
    t,
    workspace,
    { ...text('foo'), max_files: 1 },
    { files: { 'a.txt': 'foo,foo' }, truncated: 'limit', next_after: 'a.txt', total_files: 4 }
  )
  await check(t, workspace, { ...text('foo'), after: 'c/latin' }, { files: { 'c/utf16': 'foo', 'd.txt': 'foo,foo' } })
  await check(t, workspace, { ...text('foo'), path: 'c', include: ['lat*'] }, { files: { 'c/latin': 'foo' } })
  await check(t, workspace, text('(', { regex: true }), 'BAD_REGEX')
  const select: FoundUse<string[]> = {
    ...USE,
    select: async (_text, matches, path) => (path === 'd.txt' ? matches.slice(1) : [])
  }
  await check(t, workspace, text('foo'), { files: { 'd.txt': 'foo' }, total_files: 1, total_matches: 1 }, select)
})

t.test('refuses an expression that takes too long to compile', SLOW, async t => {
  const { workspace } = await serve(t, {}, { searcher: new Searcher({ time: 1 }) })
  const slow = Array(20).fill('\\pL{1000}').join('|')
  await check(t, workspace, text(slow, { regex: true }), 'BAD_REGEX')
})

t.test('lists the newest first', SLOW, async t => {
  const { workspace, put } = await serve(t, { b: '', c: '' })
  await new Promise(resolve => setTimeout(resolve, 1100))
  await put('a', '')
  await new Promise(resolve => setTimeout(resolve, 1100))
  await put('c', 'new')
  const newest = (given: Partial<FindQuery>, files: string[], next_after?: string) =>
    check(t, workspace, { sort: 'modified', ...given }, { files, next_after })
  await newest({}, ['c', 'a', 'b'])
  await newest({ max_files: 1 }, ['c'], 'c')
  await newest({ max_files: 1, after: 'c' }, ['a'], 'a')
  await newest({ after: 'a' }, ['b'])
})

t.test('stops at its limits, and goes on without losing anything', SLOW, async t => {
  const objects = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${10 + i}`, 'foo'.repeat(i)]))
  const { open } = await serve(t, objects)
  const bounds = { objects: { objects: 4 }, bytes: { bytes: 60 }, listed: { listed: 1 } }
  for (const [name, bound] of Object.entries(bounds)) {
    const workspace = await open({ findLimits: { ...LIMITS, ...bound } })
    for (const query of [text('foo'), {}] as Partial<FindQuery>[]) {
      const paths: string[] = []
      let after: string | undefined
      do {
        const found = await find(workspace, { ...query, ...(after !== undefined && { after }) })
        if (!found.ok) return t.fail(JSON.stringify(found))
        paths.push(...found.value.files.map(({ path }) => path))
        after = found.value.next_after
        t.equal(found.value.truncated, after === undefined ? undefined : 'size', name)
      } while (after !== undefined)
      t.strictSame(paths, Object.keys(objects).slice(query.text ? 1 : 0), name)
    }
    const all = name === 'listed' ? { total_files: 1, truncated: 'size', next_after: undefined } : { total_files: 12 }
    await check(t, workspace, { sort: 'modified', max_files: 12 }, all)
  }
})

t.test('lists no folder in which nothing may be found', SLOW, async t => {
  const folder = (name: string) => Object.fromEntries(['1', '2', '3', '4', '5'].map(file => [`${name}/${file}`, '']))
  const objects = { ...folder('.editd'), ...folder('.git'), ...folder('a'), ...folder('b'), c: '' }
  const { workspace, proxy } = await serve(t, objects, { findLimits: { ...LIMITS, listed: 2 } })
  let lists = 0
  proxy.before = ({ path }) => {
    if (path.includes('list-type')) lists++
  }
  await check(t, workspace.limitedTo(['c']), {}, { files: ['c'], truncated: undefined })
  t.equal(lists, 5)
  await check(t, workspace, { exclude: ['a', 'b'] }, { files: [], truncated: 'size', next_after: 'a/2' })
})

t.test('tells a limited caller of no other file', SLOW, async t => {
  const { workspace } = await serve(t, {
    'a/x': 'foo',
    'docs/a.md': 'foo',
    'docs/b/c.md': 'foo',
    'docs/b/d.txt': 'foo',
    z: 'foo'
  })
  const of = (...paths: string[]) => workspace.limitedTo(paths)
  await check(t, of('docs/**'), text('foo'), {
    files: { 'docs/a.md': 'foo', 'docs/b/c.md': 'foo', 'docs/b/d.txt': 'foo' },
    total_files: 3,
    searched_files: 3
  })
  await check(t, of('docs/**/*.md'), {}, { files: ['docs/a.md', 'docs/b/c.md'], searched_files: 2 })
  await check(t, of('docs/**'), { path: 'a' }, 'PATH_NOT_ALLOWED')
  await check(t, of('docs/a.md'), { path: 'docs/a.md' }, { files: ['docs/a.md'] })
})

t.test('knows what happens to objects meanwhile', SLOW, async t => {
  const { workspace, proxy, put, remove } = await serve(
    t,
    { a: 'foo', b: 'foo', c: 'foo', d: 'foo' },
    { maxFileSize: 100 }
  )
  proxy.refuses = ({ path }) => path.includes('/ws/a')
  const changed = new Set<string>()
  proxy.before = async ({ method, path }) => {
    const key = /\/ws\/([bc])\b/.exec(path)?.[1]
    if (method !== 'GET' || key === undefined || changed.has(key)) return
    changed.add(key)
    await (key === 'b' ? remove(key) : put(key, 'foo'.repeat(100)))
  }
  await check(t, workspace, text('foo'), {
    files: { d: 'foo' },
    skipped: { too_large: 1, unreadable: 1 },
    searched_files: 1
  })
  proxy.refuses = () => false
  proxy.cuts = ({ method, path }) => method === 'GET' && path.includes('/ws/a')
  await check(t, workspace, text('foo'), 'NOT_READY')
})

t.test('runs two at once, and ends one whose client has gone', SLOW, async t => {
  const { workspace, proxy } = await serve(t, { a: 'foo' }, { lockTimeout: 300 })
  const hang = gate()
  const both = gate()
  let reads = 0
  proxy.before = ({ method, path }) => {
    if (method !== 'GET' || !path.includes('/ws/a')) return
    if (++reads === 2) both.open()
    return hang.opened
  }
  let isGone = false
  const ends: (() => void)[] = []
  const client = { isGone: () => isGone, onGone: (end: () => void) => ends.push(end) }
  const running = [find(workspace, { ...text('foo'), client }), find(workspace, { client })]
  await both.opened
  const searching = { ok: false, failure: { code: 'NOT_READY', reason: 'searching' } }
  t.match(await find(workspace, {}), searching)
  isGone = true
  for (const end of ends) end()
  t.match(await Promise.all(running), [searching, searching])
  hang.open()
  await check(t, workspace, text('foo'), { files: { a: 'foo' } })
})

t.test('passes over a text that takes all of its time, and goes on', { ...SLOW, skip: ONLY_CI }, async t => {
  const random = new Random(SEED)
  const slow = (length: number) => Array.from({ length }, () => random.pick(['a', 'b'])).join('')
  const lines = Array.from({ length: 10_000 }, () => slow(99)).join('\n')
  const { workspace } = await serve(
    t,
    { a: 'foo', lines, long: slow(1e6), z: 'foo' },
    { findLimits: { ...LIMITS, time: 4000 } }
  )
  const paths: string[] = []
  let skipped = 0
  let after: string | undefined
  do {
    const query = text('foo|a[ab]{900}[cd]', { regex: true })
    const found = await find(workspace, { ...query, ...(after !== undefined && { after }) })
    if (!found.ok) return t.fail(JSON.stringify(found))
    paths.push(...found.value.files.map(({ path }) => path))
    skipped += found.value.skipped.too_large
    after = found.value.next_after
    t.equal(found.value.truncated, after === undefined ? undefined : 'time')
  } while (after !== undefined)
  t.strictSame(paths, ['a', 'z'])
  t.equal(skipped, 2)
})

t.test('answers what it found when its time is over', SLOW, async t => {
  const objects = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [String.fromCodePoint(97 + i), 'foo']))
  const { workspace, proxy } = await serve(t, objects, { findLimits: { ...LIMITS, time: 4000 } })
  // Then the thread has started.
  await find(workspace, text('foo'))
  const hang = gate()
  proxy.before = ({ method, path }) => (method === 'GET' && path.includes('/ws/k') ? hang.opened : undefined)
  await check(t, workspace, text('foo'), { truncated: 'time', total_files: 8, next_after: 'h' })
  await check(t, workspace, {}, { truncated: 'time', total_files: 8, next_after: 'h' })
  proxy.before = ({ path }) => (path.includes('start-after') ? hang.opened : undefined)
  await check(t, workspace, { ...text('foo'), after: 'c' }, { files: {}, truncated: 'time', next_after: 'c' })
  proxy.before = ({ path }) => (path.includes('list-type') && !path.includes('max-keys=1&') ? hang.opened : undefined)
  await check(t, workspace, { sort: 'modified' }, { files: [], truncated: 'time', next_after: undefined })
  hang.open()
})
