// Large files and hostile misses over HTTP: other requests go on, problems stay small, nothing of a protected file is
// shown.
// runs in .ci/run
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { check, startServer } from './test-server.ts'

const MB = 1 << 20
/** Bytes of any problem: what an agent reads in one go; more where JSON writes six for one, of control characters. */
const PROBLEM = 64 * 1024
const ESCAPED = 160 * 1024

t.test('answers other requests while a miss in a large file is explained', { skip: ONLY_CI }, async t => {
  const server = await startServer(t, { files: { 'small.txt': 'one\n' } })
  writeFileSync(join(server.root, 'large.txt'), Buffer.alloc(6 * MB, 'a'))
  const order: string[] = []
  const large = check(
    t,
    server,
    '/edit',
    { path: 'large.txt', old_text: 'a'.repeat(4900) + 'b' + 'a'.repeat(80), new_text: 'x' },
    422,
    { code: 'NO_MATCH' }
  ).then(() => order.push('large'))
  // The large one is on its way when the first of these is answered.
  for (let i = 0; i < 3; i++) await server.call('GET', '/healthz')
  await check(t, server, '/edit', { path: 'small.txt', old_text: 'one', new_text: 'two' }, 200, { changed: true })
  order.push('small')
  await large
  t.strictSame(order, ['small', 'large'])
})

t.test('edits a large file as it does a small one', { skip: ONLY_CI }, async t => {
  const server = await startServer(t)
  const path = join(server.root, 'large.txt')
  writeFileSync(path, `${'line of text\n'.repeat(100_000)}the end\n`)
  const { body: dry } = await check(
    t,
    server,
    '/preview',
    { operation: 'edit', path: 'large.txt', old_text: 'the end', new_text: 'it' },
    200,
    { changed: true, dry_run: true }
  )
  const { body } = await check(
    t,
    server,
    '/edit',
    { path: 'large.txt', old_text: 'the end', new_text: 'it', show_diff: true, expected_hash: dry.file_hash },
    200,
    { file_hash: dry.new_hash, diff: dry.diff, changes: [{ start_line: 100_001 }] }
  )
  t.equal(readFileSync(path, 'utf8'), `${'line of text\n'.repeat(100_000)}it\n`)
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'large.txt', start_line: 1, end_line: 1, new_text: 'x', expected_text: 'line of test\n' },
    422,
    { code: 'EXPECTED_TEXT_MISMATCH' }
  )
  await check(
    t,
    server,
    '/create',
    { path: 'large.txt', content: 'short\n', overwrite: true, expected_hash: body.file_hash },
    200,
    { created: false }
  )
})

t.test('keeps problems small, whatever is in the file and in the request', { skip: ONLY_CI }, async t => {
  const server = await startServer(t)
  const files: Record<string, Buffer> = {
    line: Buffer.alloc(2 * MB, 'word('),
    letters: Buffer.alloc(MB, 'a'),
    lines: Buffer.alloc(MB, '    item.set("key", value, options.default) // same\n'),
    latin: Buffer.from(Array.from({ length: 300_000 }, (_, i) => 1 + ((i * 7919) % 255))),
    twins: Buffer.from(`${'\u0001'.repeat(5000)}a( b )\n`.repeat(3)),
    wide: Buffer.from('\u2028é"\\\u0001字'.repeat(100_000))
  }
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(server.root, name), bytes)
  let largest = 0
  const isSmall = (text: string, what: string) => {
    largest = Math.max(largest, Buffer.byteLength(text))
    t.ok(
      Buffer.byteLength(text) <= (/^(?:latin|twins|wide)/.test(what) ? ESCAPED : PROBLEM),
      `${what}: ${Buffer.byteLength(text)} bytes`
    )
  }
  const long = 'word( "\\\u0001\u2028'.repeat(100_000)
  const near = '    item.get("key", value, options.default) // same\n'
  for (const path of Object.keys(files)) {
    for (const [old_text, new_text] of [
      [long, long],
      ['a(b)', 'c'],
      ['a( b )', '\u0001'.repeat(9000)],
      [`${'\u0001'.repeat(5000)}a(b)`, 'c'],
      ['word(word(word)', long],
      [near.repeat(200), near.repeat(300)],
      [near, near],
      ['a'.repeat(50) + 'b', 'x'],
      ['){};,;()=>{}[]', '字'.repeat(40_000)],
      [' \t \n x', ' '],
      ['"\\\u0001字\u2028é'.repeat(500), '\u0001'.repeat(15_000)]
    ] as const) {
      const { text, status } = await server.call('POST', '/edit', { body: { path, old_text, new_text } })
      if (status !== 200) isSmall(text, path)
    }
    const edits = Array.from({ length: 1000 }, (_, i) => ({
      old_text: i === 999 ? near.repeat(20) : `${near}${i}`,
      new_text: long.slice(0, 1000)
    }))
    const { text, status } = await server.call('POST', '/edit', { body: { path, edits } })
    t.equal(status, 422)
    isSmall(text, `${path}, 1000 edits`)
    for (const body of [
      { start_line: 1, end_line: 1, new_text: long, expected_text: long },
      { start_line: 1, end_line: 1, new_text: 'x', expected_text: near.repeat(300) }
    ]) {
      const { text, status } = await server.call('POST', '/edit-lines', { body: { path, ...body } })
      t.equal(status, 422)
      isSmall(text, `${path}, lines`)
    }
  }
  t.comment(`the largest has ${largest} bytes`)
})

t.test('shows nothing of a protected file after a miss', { skip: ONLY_CI }, async t => {
  const canary = 'CANARY-4711'
  const server = await startServer(t, {
    files: { '.git': { config: `[user]\n  SECRET=${canary}\n` }, keys: { 'a.pem': `SECRET=${canary}\n` } },
    settings: { protect: ['.git', '*.pem'], readProtect: ['.git', '*.pem'] }
  })
  for (const path of ['.git/config', 'keys/a.pem']) {
    for (const [route, body] of [
      ['/edit', { old_text: 'token = x', new_text: 'y' }],
      ['/edit', { old_text: 'SECRET = ', new_text: 'y' }],
      ['/edit-lines', { start_line: 1, end_line: 1, new_text: 'x', expected_text: 'SECRET' }],
      ['/preview', { operation: 'edit', old_text: 'SECRET = ', new_text: 'y' }]
    ] as const) {
      const { text } = await check(t, server, route, { path, ...body }, 403, { code: 'PROTECTED_PATH' })
      t.notMatch(text, canary)
      t.notMatch(text, /similar_content|file_preview|file_hash/)
    }
  }
  t.notMatch(JSON.stringify(server.log), canary)
})
