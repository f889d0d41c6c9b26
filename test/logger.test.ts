// How a log line looks on a terminal, and that it is JSON everywhere else.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { columns, printable } from '../src/logger.ts'
import { COMMAND, start } from './running.ts'

const time = '2026-11-23T12:04:31.123Z'
const clock = new Date(time).toTimeString().slice(0, 8)

/** The entry is shown as these lines, after the time. */
function check(t: Test, entry: object, ...lines: string[]) {
  const [first, ...others] = columns(`${JSON.stringify({ level: 30, time, ...entry })}\n`).split('\n')
  t.strictSame([first, ...others], [`${clock}  ${lines[0]}`, ...lines.slice(1), ''], JSON.stringify(entry))
}

t.test('shows a request in columns', async t => {
  const request = { request_id: 'r', method: 'POST', route: '/edit', status: 200, duration_ms: 4.2 }
  const call = { operation: 'edit_file', path: 'src/app.js', hash_before: 'a', hash_after: 'b' }
  check(t, { ...request, ...call }, 'info   200  edit_file     src/app.js                4.2 ms')
  check(
    t,
    { ...request, ...call, status: 422, code: 'NO_MATCH' },
    'info   422  edit_file     src/app.js                NO_MATCH  4.2 ms'
  )
  check(t, request, 'info   200  POST /edit                              4.2 ms')
  check(
    t,
    { ...request, ...call, status: undefined, aborted: true },
    'info        edit_file     src/app.js                client gone  4.2 ms'
  )
  check(t, { ...call, request_id: 'r', duration_ms: 1 }, 'info        edit_file     src/app.js                1 ms')
  check(t, { ...request, path: 'a/'.repeat(15) }, `info   200  POST /edit    ${'a/'.repeat(15)}  4.2 ms`)
})

t.test('shows all that anything else holds', async t => {
  check(t, { event: 'stopping', signal: 'SIGINT' }, 'info        stopping  signal=SIGINT')
  check(t, { level: 40, event: 'unknown_variable', msg: 'No.' }, 'warn        unknown_variable  No.')
  check(
    t,
    { level: 40, event: 'temp_file_removed', path: 'a.txt', age: { s: 1 } },
    'warn        temp_file_removed  a.txt  age={"s":1}'
  )
  check(t, { request_id: 'r', status: 408, code: 'X' }, 'info   408  X  request_id=r')
  check(
    t,
    { level: 50, request_id: 'r', error: 'TypeError', stack: ['at a', 'at b'], msg: 'bug' },
    'error       bug  request_id=r  error=TypeError',
    '    at a',
    '    at b'
  )
  check(t, { level: 35, event: 'x' }, '            x')
})

t.test('lets nothing control a terminal or begin a line', async t => {
  t.equal(
    printable('a\x1b[2J\n\r\x9b\u2028\u202e\ud800é 語\u{1f600}'),
    'a\\u{1b}[2J\\u{a}\\u{d}\\u{9b}\\u{2028}\\u{202e}\\u{d800}é 語\u{1f600}'
  )
  check(t, { event: 'x', 'na\nme': 'va\x1blue' }, 'info        x  na\\u{a}me=va\\u{1b}lue')
  check(t, { msg: 'bug', stack: ['at \x1b'] }, 'info        bug', '    at \\u{1b}')
})

/** A folder for a root and a state folder, removed at the end. */
function folder(t: Test) {
  const path = mkdtempSync(join(tmpdir(), 'editd-log-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

const hasScript = spawnSync('script', ['--version']).status === 0

t.test('is in columns on a terminal', { skip: hasScript ? false : 'needs script (util-linux)' }, async t => {
  const at = folder(t)
  const quoted = [...COMMAND, join(at, 'root'), '--port', '0', '--no-auth', '--state-dir', join(at, 'state')]
    .map(word => `'${word}'`)
    .join(' ')
  const child = spawn('script', ['-qfec', `exec ${quoted}`, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let shown = ''
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(shown)
        if (match !== null) resolve(match)
      }
      child.stdout.on('data', look)
      child.once('close', () => {
        reject(new Error(`ended: ${shown}`))
      })
      look()
    })
  child.stdout.setEncoding('utf8').on('data', chunk => {
    shown += chunk
  })
  const [, url] = await until(/listening on (http:\S+) /)
  await fetch(`${url}/inspect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'no/app.js' })
  })
  await until(/^\d\d:\d\d:\d\d {2}info {3}404 {2}inspect_file {2}no\/app\.js {17}FILE_NOT_FOUND {2}[\d.]+ ms\r$/m)
  const ended = new Promise(resolve => {
    child.once('close', resolve)
  })
  // Ctrl-C.
  child.stdin.write('\x03')
  await ended
  t.match(shown, /info {8}stopping {2}signal=SIGINT\r\n.*info {8}stopped\r\n/)
  t.notMatch(shown, '"level"')
})

t.test('is JSON everywhere else', async t => {
  const at = folder(t)
  const server = await start(join(at, 'root'), join(at, 'state'))
  await server.post('/create', { path: 'a.txt', content: 'one\n' })
  t.equal(await server.stop(), 0)
  // The client may have its answer, and stop the server, before the request is logged.
  const line = server
    .log()
    .split('\n')
    .find(text => text.includes('create_file'))
  t.match(JSON.parse(line ?? '{}'), { level: 30, time: String, operation: 'create_file', path: 'a.txt', status: 200 })
})

t.test('writes every line, also where the process ends at once', async t => {
  const script = `
    import { openLog } from '${new URL('../src/logger.ts', import.meta.url).href}'
    const { logger } = openLog('info')
    for (let i = 0; i < 100; i++) logger.info({ event: 'x'.repeat(i), i })
    process.exit(0)`
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, '--input-type=module', '-e', script], {
    encoding: 'utf8'
  })
  const lines = stderr.trimEnd().split('\n')
  // What another thread is just writing may come after the rest, which is written as the process ends.
  t.strictSame(
    lines.map(line => (JSON.parse(line) as { i: number }).i).sort((a, b) => a - b),
    Array.from({ length: 100 }, (_, i) => i)
  )
})
