// Another process swaps files, folders and the root for symlinks while the server works on them. Rows 6 to 9 of
// docs/threats.md; `npm run test:races -- --attempts N` for more.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { build } from '../folder/support/native.ts'
import {
  startServer,
  descriptorsOf,
  many,
  makeFolders,
  row,
  sender,
  tempFiles,
  checkDocument,
  type TestServer
} from './harness.ts'

/** Requests in rows 6 to 8 together, in CI: a quarter, a half and a quarter. */
const USUAL = 1280
const ATTEMPTS = many('attempts', USUAL, USUAL / 2)
/** After so many requests, the next get new folders and a new server: so folders stay small in a long run. */
const ROUND = 20_000
const attacker = build('attacker')
const skip = attacker === null ? 'needs Linux and a C compiler' : false
const SECRET = 'secret'

interface Attempt {
  kind: string
  route: string
  body: object
}

/**
 * Exchanges two names until the returned function is called, which resolves with how often. It sleeps between the
 * exchanges: so it also wakes in the middle of the server's work where both share one core.
 */
function swap(one: string, other: string): () => Promise<number> {
  const child = spawn(attacker ?? '', [one, other, '0', '600'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  return async () => {
    child.kill('SIGTERM')
    await ended
    return Number(printed)
  }
}

/** How a request may be refused. */
const ALLOWED = new Set([
  'PATH_NOT_ALLOWED',
  'STALE_FILE',
  'FILE_NOT_FOUND',
  'NOT_A_FILE',
  'ALREADY_EXISTS',
  'NO_MATCH',
  'WRONG_COUNT',
  'NOT_READY',
  'PERMISSION_DENIED'
])

/**
 * Sends `count` requests while names are being exchanged, then stops `attacks`. No answer may show anything from
 * outside; where `mixed`, some requests have to succeed and some to be refused. Returns how many answers did show
 * something.
 */
async function race(
  t: Test,
  server: TestServer,
  count: number,
  kinds: ((i: number) => Attempt)[],
  attacks: (() => Promise<number>)[],
  mixed = true
): Promise<number> {
  const send = sender(t, server.url, 8)
  const before = descriptorsOf(server.child.pid)
  const [done, refused, codes] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  let seen = 0
  let next = 0
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < count) {
        const i = next++
        const attempt = kinds[i % kinds.length]!(i)
        const { status, text } = await send(attempt.route, attempt.body)
        const into = status === 200 ? done : refused
        into.set(attempt.kind, (into.get(attempt.kind) ?? 0) + 1)
        const code = /"code":"(\w+)"/.exec(text)?.[1] ?? String(status)
        codes.set(code, (codes.get(code) ?? 0) + 1)
        if (text.includes(SECRET)) seen++
        if (status !== 200 && !ALLOWED.has(code)) t.fail(`${attempt.kind}: ${text.slice(0, 300)}`)
      }
    })
  )
  const swaps = await Promise.all(attacks.map(stop => stop()))
  const counts = [done, refused, codes].map(map => JSON.stringify([...map]))
  t.comment(`${swaps.join(', ')} swaps; done ${counts[0]}; refused ${counts[1]}; ${counts[2]}`)
  t.ok(
    swaps.every(number => number > 50),
    'the attacker was at work'
  )
  // With few attempts one kind may always win.
  const each = count > 5000 ? kinds.map(make => make(0).kind) : []
  if (mixed) {
    t.ok(done.size > 0 && refused.size > 0 && each.every(kind => done.has(kind) && refused.has(kind)), 'some of both')
  }
  t.equal(seen, 0, 'nothing from outside is answered')
  t.strictSame(tempFiles(server.base), [], 'no temp file is left')
  await sleep(100)
  t.ok(descriptorsOf(server.child.pid) <= before + 16, 'no descriptor leaks')
  return seen
}

/** Makes files with a secret outside the root; returns a check that they haven't changed. */
function outside(t: Test, base: string, names: string[]): () => void {
  mkdirSync(join(base, 'outside'))
  for (const name of names) writeFileSync(join(base, 'outside', name), SECRET)
  return () => {
    t.strictSame(readdirSync(join(base, 'outside')).sort(), [...names].sort(), 'nothing is made outside')
    for (const name of names) {
      t.equal(readFileSync(join(base, 'outside', name), 'utf8'), SECRET, 'nothing is changed outside')
    }
  }
}

const edit =
  (path: string) =>
  (i: number): Attempt => ({
    kind: `edit ${path}`,
    route: '/edit-lines',
    body: { path, start_line: 1, end_line: 1, new_text: `inside ${i}` }
  })
const inspect = (path: string) => (): Attempt => ({
  kind: `inspect ${path}`,
  route: '/inspect',
  body: { path, start_line: 1 }
})
const preview =
  (path: string) =>
  (i: number): Attempt => ({
    kind: `preview ${path}`,
    route: '/preview',
    body: { operation: 'edit_lines', ...edit(path)(i).body }
  })
const list = (path: string) => (): Attempt => ({ kind: `list ${path}`, route: '/inspect', body: { path } })
const make =
  (folder: string, below = '') =>
  (i: number): Attempt => ({
    kind: `create ${folder}${below}`,
    route: '/create',
    body: { path: `${folder}/${below.replaceAll('N', String(i))}new${i}`, content: 'mine' }
  })

/** Sends the requests in rounds; `work` returns how many answers had anything from outside. */
async function rounds(t: Test, requests: number, work: (t: Test, count: number) => Promise<number>): Promise<string> {
  let [sent, seen] = [0, 0]
  while (sent < requests) {
    const count = Math.min(ROUND, requests - sent)
    await t.test(`${count} requests`, async t => {
      seen += await work(t, count)
    })
    sent += count
    t.comment(`${sent} requests so far, ${seen} with anything from outside`)
  }
  return `${seen} answers with anything from outside`
}

row(
  6,
  'file swapped for a symlink while it is read or written',
  {
    done:
      `${USUAL / 4} requests (edit, inspect, preview) against one attacker with \`RENAME_EXCHANGE\` in a loop; ` +
      '`npm run test:races -- --attempts N` for more',
    skip
  },
  async t => {
    const result = await rounds(t, ATTEMPTS / 4, async (t, count) => {
      const at = makeFolders(t, { leaf: 'inside' })
      const unchanged = outside(t, at.base, ['leaf'])
      symlinkSync('../outside/leaf', join(at.root, 'leaf-link'))
      const server = await startServer(t, at, '--durability', 'fast', '--lock', 'local', '--log-level', 'error')
      const seen = await race(
        t,
        server,
        count,
        [edit('leaf'), inspect('leaf'), edit('leaf'), preview('leaf')],
        [swap(join(at.root, 'leaf'), join(at.root, 'leaf-link'))]
      )
      unchanged()
      return seen
    })
    return `${result}, 0 writes outside, 0 temp files, 0 descriptors leaked`
  }
)

row(
  7,
  'directory swapped for a symlink during read, write, create, mkdir',
  {
    done: `${USUAL / 2} requests (edit, inspect, create, create with directories) on two layouts against two attackers`,
    skip
  },
  async t => {
    const result = await rounds(t, ATTEMPTS / 2, async (t, count) => {
      const at = makeFolders(t, { 'd/f': 'inside', 'a/b/c/f': 'inside' })
      const unchanged = outside(t, at.base, ['f'])
      symlinkSync('../outside', join(at.root, 'd-link'))
      mkdirSync(join(at.base, 'outside2/c'), { recursive: true })
      writeFileSync(join(at.base, 'outside2/c/f'), SECRET)
      symlinkSync(join(at.base, 'outside2'), join(at.root, 'a/b-link'))
      const server = await startServer(t, at, '--durability', 'fast', '--log-level', 'error')
      const kinds = [
        edit('d/f'),
        inspect('d/f'),
        make('d'),
        make('d', 'madeN/deep/'),
        edit('a/b/c/f'),
        inspect('a/b/c/f'),
        make('a/b/c'),
        make('a/b', 'otherN/')
      ]
      const seen = await race(t, server, count, kinds, [
        swap(join(at.root, 'd'), join(at.root, 'd-link')),
        swap(join(at.root, 'a/b'), join(at.root, 'a/b-link'))
      ])
      unchanged()
      t.strictSame(readdirSync(join(at.base, 'outside2'), { recursive: true }).map(String).sort(), ['c', 'c/f'])
      t.equal(readFileSync(join(at.base, 'outside2/c/f'), 'utf8'), SECRET)
      return seen
    })
    return `${result}, 0 writes outside, 0 temp files, 0 descriptors leaked`
  }
)

row(
  8,
  'the root itself swapped or renamed',
  {
    done:
      `${USUAL / 4} requests against an attacker that exchanges the root and another directory; then the root renamed, and ` +
      'another directory in its place',
    skip
  },
  async t => {
    const result = await rounds(t, ATTEMPTS / 4, async (t, count) => {
      const at = makeFolders(t, { f: 'inside', 'd/f': 'inside' })
      const unchanged = outside(t, at.base, ['f', 'secret-g'])
      mkdirSync(join(at.base, 'outside/d'))
      const server = await startServer(t, at, '--durability', 'fast', '--log-level', 'error')
      const seen = await race(
        t,
        server,
        count,
        [edit('f'), inspect('f'), edit('d/f'), make('d'), list('.')],
        [swap(at.root, join(at.base, 'outside'))],
        false
      )
      // The last exchange may have left the two folders either way round.
      if (readdirSync(at.root).includes('secret-g')) {
        renameSync(at.root, join(at.base, 'x'))
        renameSync(join(at.base, 'outside'), at.root)
        renameSync(join(at.base, 'x'), join(at.base, 'outside'))
      }
      t.strictSame(readdirSync(join(at.base, 'outside/d')), [])
      renameSync(join(at.base, 'outside/d'), join(at.base, 'empty'))
      unchanged()
      renameSync(at.root, join(at.base, 'moved'))
      mkdirSync(at.root)
      const moved = await server.post('/edit-lines', { path: 'f', start_line: 1, end_line: 1, new_text: 'moved' })
      t.equal(moved.status, 200, 'keeps to the folder that it pinned')
      t.equal(readFileSync(join(at.base, 'moved/f'), 'utf8'), 'moved')
      t.strictSame(readdirSync(at.root), [])
      return seen
    })
    return `${result}, 0 writes in the other directory; it stays with the directory that it was started on`
  }
)

row(
  9,
  'predictable temp name, planted symlink',
  {
    done: '80 edits and creates while the directory is watched and every name that appears is replaced by a link that leads outside',
    skip
  },
  async t => {
    const at = makeFolders(t, { 'd/f': 'inside' })
    const unchanged = outside(t, at.base, ['f'])
    const server = await startServer(t, at, '--log-level', 'error')
    const names = new Set<string>()
    const watcher = { on: true }
    let planted = 0
    const watch = (async () => {
      while (watcher.on) {
        for (const name of readdirSync(join(at.root, 'd'))) {
          if (!/\.tmp$/.test(name) || names.has(name)) continue
          names.add(name)
          // An attacker who could predict names would plant a link at the next one.
          const next = name.replace(
            /^\.([0-9a-f]{24})/,
            (_, digits: string) => `.${(BigInt(`0x${digits}`) + 1n).toString(16).padStart(24, '0')}`
          )
          try {
            symlinkSync('../../outside/f', join(at.root, 'd', next))
            planted++
            names.add(next)
          } catch {}
        }
        await new Promise(setImmediate)
      }
    })()
    const send = sender(t, server.url, 8)
    for (let i = 0; i < 40; i++) {
      t.equal((await send('/edit-lines', edit('d/f')(i).body)).status, 200)
      t.equal((await send('/create', make('d')(i).body)).status, 200)
    }
    watcher.on = false
    await watch
    t.comment(`${names.size} names seen, ${planted} links planted`)
    unchanged()
    return '80 × `200`; each temp name 96 random bits, made with `O_EXCL` and `O_NOFOLLOW`; nothing written through a link'
  }
)

checkDocument()
