// The laws of /replace on random trees: files get what replacing by hand gives, all else stays byte for byte, an undo
// brings all of it back, the number is that of the places, and nothing is mixed beside other servers and tokens.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { caller } from '../../src/http/call.ts'
import { makeOperations, type Operations } from '../../src/operations.ts'
import type { Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { makeFolders, open, removeFolders, type Folders } from '../folder/support/open.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'

type Body = Record<string, any>
type Tree = Record<string, string>

/** Names of folders and files, some with characters of globs. */
const NAMES = ['a', 'b.js', 'c[1]', 'd*', 'e{x}', 'f é', '!g', '#h', 'i\\j']
const LETTERS = ['foo', 'foo', 'bar', ' ', ' ', '_', '.', 'é', '字']
const BREAKS = ['\n', '\r\n', '\r']

const sender =
  (workspace: Workspace) =>
  async (name: keyof Operations, body: Body): Promise<Body> => {
    const operations = makeOperations(workspace, { max_edits: 1000, max_file_size: 1e6 })
    const call = caller(operations[name] as never)
    return (await call({ body, headers: {}, instance: `/${name}`, request_id: 'r' })).body
  }

async function serve(t: Test, folders: Folders, options: Partial<WorkspaceOptions> = {}) {
  const workspace = await open(folders, { history: 'full', lockTimeout: 30_000, ...options })
  t.teardown(() => workspace.close())
  return { workspace, send: sender(workspace) }
}

function foldersFor(t: Test): Folders {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  return folders
}

function write(root: string, tree: Tree): void {
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const read = (root: string): Tree =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map(path => [path.slice(root.length + 1), readFileSync(path, 'utf8')])
  )

function randomTree(random: Random): Tree {
  const tree: Tree = {}
  for (let i = 0; i < 1 + random.int(12); i++) {
    const folder = random.chance(50) ? '' : `${random.pick(['p', 'q[0]', 'r s'])}/`
    const breaks = random.pick([...BREAKS, ''])
    tree[`${folder}${i}${random.pick(NAMES)}`] = random.text([...LETTERS, breaks, breaks], 30)
  }
  return tree
}

const WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u

/** The text with all places replaced by hand, and their number. */
function byHand(text: string, { old_text, new_text, whole_word }: Body): { text: string; count: number } {
  const ending = BREAKS.find(
    ending => text.includes(ending) && text.replaceAll('\r\n', ending === '\r\n' ? '' : '\r\n').includes(ending)
  )
  const own = (sent: string) => sent.replaceAll('\n', /\r\n/.test(text) ? '\r\n' : /\r/.test(text) ? '\r' : '\n')
  const sought = own(old_text)
  if (old_text.includes('\n') && ending === undefined && !/[\r\n]/.test(text)) return { text, count: 0 }
  let result = ''
  let count = 0
  for (let at = 0; at < text.length;) {
    const before = [...text.slice(0, at)].at(-1) ?? ''
    const after = [...text.slice(at + sought.length)][0] ?? ''
    const isWhole = whole_word !== true || (!WORD.test(before) && !WORD.test(after))
    if (text.startsWith(sought, at) && isWhole) {
      result += own(new_text)
      at += sought.length
      count++
    } else result += text[at++]
  }
  return { text: result, count }
}

t.test('replaces as by hand, only if the number is right, and is taken back whole', async t => {
  let replaced = 0
  for (let round = 0; round < often(2000, 60, 15); round++) {
    const random = new Random(SEED * 50_021 + round)
    const folders = foldersFor(t)
    const tree = randomTree(random)
    write(folders.root, tree)
    const { send } = await serve(t, folders)
    const request = {
      old_text: random.pick(['foo', 'foo', 'é', 'foo foo', ' ', 'o\nf', 'o']),
      new_text: random.pick(['', 'x', 'ba\nr', 'foobar', '$&', '字']),
      ...(random.chance(40) && { whole_word: true })
    }
    const expected = Object.fromEntries(Object.entries(tree).map(([path, text]) => [path, byHand(text, request)]))
    const texts = Object.fromEntries(Object.entries(expected).map(([path, { text }]) => [path, text]))
    const count = Object.values(expected).reduce((sum, file) => sum + file.count, 0)
    const name = JSON.stringify({ seed: SEED, round, request, tree })
    const counted = await send('replace', request)
    // All of it may be there already, see `repeated`.
    if (counted.code === 'NOTHING_TO_REPLACE') {
      t.ok(count === 0 || request.new_text.includes(request.old_text), name)
      t.strictSame(read(folders.root), tree, name)
      continue
    }
    t.equal(counted.occurrences, count, name)
    const wrong = await send('replace', { ...request, occurrences: count + 1 })
    t.equal(wrong.code, 'WRONG_COUNT', name)
    t.strictSame(read(folders.root), tree, name)
    const done = await send('replace', { ...request, occurrences: count })
    t.equal(done.occurrences, count, name)
    t.strictSame(read(folders.root), texts, name)
    if (done.batch_id === undefined) continue
    replaced++
    const undone = await send('undo', { batch_id: done.batch_id })
    t.equal(undone.code, undefined, name)
    t.strictSame(read(folders.root), tree, name)
  }
  t.ok(replaced > 0)
})

t.test('leaves later edits of others when it is taken back', async t => {
  const folders = foldersFor(t)
  write(folders.root, { a: 'foo\n\n\nend\n', b: 'foo\n' })
  const { send } = await serve(t, folders)
  const { batch_id } = await send('replace', { old_text: 'foo', new_text: 'bar', occurrences: 2 })
  await send('edit', { path: 'a', old_text: 'end', new_text: 'END' })
  t.match(await send('undo', { batch_id }), { undone: { length: 2 } })
  t.strictSame(read(folders.root), { a: 'foo\n\n\nEND\n', b: 'foo\n' })
})

t.test('finds, counts and changes only what a limited token may use', async t => {
  const folders = foldersFor(t)
  const tree = { 'docs/a': 'foo foo\n', 'docs/b': 'foo\n', secret: 'foo\n', 'src/c': 'foo foo foo\n' }
  write(folders.root, tree)
  const { workspace } = await serve(t, folders)
  const send = sender(workspace.limitedTo(['docs/**']))
  const request = { old_text: 'foo', new_text: 'bar' }
  t.match(await send('replace', request), { occurrences: 3, results: [{ path: 'docs/a' }, { path: 'docs/b' }] })
  t.match(await send('replace', { ...request, occurrences: 7 }), { code: 'WRONG_COUNT', actual_occurrences: 3 })
  t.match(await send('replace', { ...request, path: 'src' }), { code: 'PATH_NOT_ALLOWED' })
  t.match(await send('replace', { ...request, occurrences: 3 }), { occurrences: 3 })
  t.strictSame(read(folders.root), { ...tree, 'docs/a': 'bar bar\n', 'docs/b': 'bar\n' })
  t.notMatch(await send('replace', request), /secret|src/)
})

t.test('has all files of one kind, whichever of two servers replaces at once', { skip: ONLY_CI }, async t => {
  const folders = foldersFor(t)
  const files = Array.from({ length: 20 }, (_, i) => `f${i}`)
  write(folders.root, Object.fromEntries(files.map(file => [file, 'w0\n'])))
  const servers = [await serve(t, folders), await serve(t, folders)]
  let made = 0
  const work = async ({ send }: (typeof servers)[number], own: string) => {
    for (let i = 0; i < often(200, 20); i++) {
      const found = readFileSync(join(folders.root, 'f0'), 'utf8').trim()
      const done = await send('replace', { old_text: found, new_text: `${own}${i}`, whole_word: true, occurrences: 20 })
      if (done.code === undefined) made++
      else t.match(done.code, /^(?:NOTHING_TO_REPLACE|WRONG_COUNT|STALE_FILE|FILE_LOCKED)$/)
    }
  }
  await Promise.all(servers.map((server, i) => work(server, `s${i}n`)))
  t.ok(made > 0)
  t.equal(new Set(Object.values(read(folders.root))).size, 1)
})
