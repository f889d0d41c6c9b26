// Several clients, servers or programs at the same time, and signals. Rows 25 to 29, 39, 40, 44 and 47 to 49 of docs/threats.md;
// `npm run test:updates -- --clients N --increments N --flood N` for more.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
  writeSync
} from 'node:fs'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { hasLoop, loop } from '../folder/support/machine.ts'
import { Intents } from '../../src/folder/commit/intents.ts'
import { thisOwner } from '../../src/folder/locks/owner.ts'
import { Random, SEED } from '../random.ts'
import { SERVER, start } from '../running.ts'
import {
  canMount,
  startServer,
  hashOf,
  many,
  makeFolders,
  row,
  sender,
  tally,
  tempFiles,
  checkDocument,
  type TestServer,
  type Send
} from './harness.ts'

const INCREMENTS = many('increments', 8)
const CLIENTS = many('clients', 20)

// All rows but the last share three servers on one root; row 27 kills one of them.
const onLinux = process.platform === 'linux' ? false : 'needs Linux'
const at = makeFolders(t, { n: 'n = 0;\n', m: 'n = 0;\n', all: '', f: '', other: 'one\n' })
const { root, state } = at
const flags = ['--lock-timeout', '4s', '--log-level', 'info']
const [one, two, three] = await Promise.all(
  [[], ['--durability', 'fast'], ['--durability', 'fast']].map(more =>
    ONLY_CI ? undefined! : startServer(t, at, ...flags, ...more)
  ) as [Promise<TestServer>, Promise<TestServer>, Promise<TestServer>]
)

/**
 * Each client reads the number in a file and sends it increased by one, with the hash of what it read. In the end the
 * number has to be the count of the answers with 200.
 */
async function increments(
  t: Test,
  sends: Send[],
  file: string,
  read: () => string,
  expected = ['200', 'STALE_FILE']
): Promise<void> {
  const random = new Random(SEED)
  t.comment(`SEED=${SEED}`)
  const codes: string[] = []
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let i = 0; i < INCREMENTS; i++) {
        const send = random.pick(sends)
        const { content, file_hash } = JSON.parse((await send('/inspect', { path: file, start_line: 1 })).text)
        const now = Number(/n = (\d+)/.exec(content)![1])
        if (random.chance(30)) await sleep(random.int(3))
        const { code } = await send('/edit', {
          path: file,
          old_text: `n = ${now};`,
          new_text: `n = ${now + 1};`,
          expected_hash: file_hash
        })
        codes.push(code)
      }
    })
  )
  const done = codes.filter(code => code === '200').length
  t.equal(Number(/n = (\d+)/.exec(read())![1]), done, `every 200 is in the file (SEED=${SEED})`)
  for (const code of new Set(codes)) t.ok(expected.includes(code), code)
  t.ok(done > 0 && done < codes.length, 'some of both')
  t.comment(tally(codes))
}

row(
  25,
  'lost update, one server',
  {
    done:
      `${CLIENTS} clients × ${INCREMENTS} increments with \`expected_hash\`; ` +
      '`npm run test:updates -- --clients N --increments N` for more'
  },
  async t => {
    await increments(t, [sender(t, two.url, CLIENTS)], 'n', () => two.text('n'))
    return 'the number in the file is that of the `200`s; all others are `STALE_FILE`'
  }
)

row(
  26,
  'lost update, several servers on one root',
  {
    done: `3 servers, ${CLIENTS} clients × ${INCREMENTS} increments with \`expected_hash\`; then 60 edits at once without`,
    skip: onLinux
  },
  async t => {
    const sends = [one, two, three].map(({ url }) => sender(t, url, CLIENTS))
    // Several servers have no common queue: a request that is unlucky for 4 s gives up.
    await increments(t, sends, 'm', () => one.text('m'), ['200', 'STALE_FILE', 'FILE_LOCKED'])
    const added = Array.from({ length: 60 }, (_, i) => `line ${i}`)
    await Promise.all(
      added.map(async (line, i) => {
        const add = { path: 'all', start_line: 1, end_line: 0, new_text: `${line}\n` }
        // On a busy machine 60 edits take longer than the unlucky wait: as clients do, they send again.
        let code: string
        do ({ code } = await sends[i % 3]!('/edit-lines', add))
        while (code === 'FILE_LOCKED')
        t.equal(code, '200')
      })
    )
    const lines = readFileSync(join(root, 'all'), 'utf8').split('\n')
    t.strictSame(lines.filter(line => line.startsWith('line ')).sort(), added.sort(), 'each is there once')
    return '0 lost: the number in the file is that of the `200`s; 60 of 60 lines are there'
  }
)

const LARGE = 30_000_000
const large = (first: string) =>
  Buffer.concat([Buffer.from(`${first}\n`), Buffer.alloc(LARGE, 'some line of text\n'), Buffer.from('\nthe end\n')])
/** Whether somebody has a lock, or a lock is just being taken. */
const isLocked = (state: string) => readdirSync(join(state, 'locks')).some(name => !name.includes('.'))

/** Resolves when somebody has a lock; only one file is being edited. */
async function untilLocked(state: string): Promise<void> {
  while (!isLocked(state)) await new Promise(setImmediate)
}

/** Saves another program's version in the middle of edits of a large file in this folder, and counts the edits' codes. */
async function saveMeanwhile(t: Test, folder: string, byRename: (i: number) => boolean): Promise<void> {
  const path = join(folder, 'big')
  const file = join(root, path)
  const send = sender(t, two.url, 4)
  const codes: string[] = []
  let lost = 0
  for (let i = 0; i < 6; i++) {
    writeFileSync(file, large('first'))
    const save = Buffer.from(`saved ${i}\n`)
    const whole = Buffer.concat([save, Buffer.alloc(1000, 'x')])
    const running = send('/edit', { path, old_text: 'the end', new_text: 'changed' })
    await untilLocked(state)
    await sleep(i * 10)
    if (byRename(i)) {
      writeFileSync(file + '.new', whole)
      renameSync(file + '.new', file)
    } else {
      const fd = openSync(file, 'r+')
      writeSync(fd, save)
      closeSync(fd)
    }
    const { code } = await running
    codes.push(code)
    if (!readFileSync(file, 'utf8').startsWith(`saved ${i}\n`)) lost++
    // NO_MATCH: the save came before the file was read.
    t.ok(['STALE_FILE', '200', 'NO_MATCH'].includes(code), code)
    while (isLocked(state)) await sleep(5)
  }
  t.comment(tally(codes))
  t.ok(codes.includes('STALE_FILE'))
  t.equal(lost, 0)
}

row(
  28,
  'another program saves the file between check and rename',
  {
    done:
      '6 saves (in place, by rename) while a large edit has the lock; what slips through between the last check and ' +
      'the rename waits for the history',
    skip: onLinux
  },
  async t => {
    await saveMeanwhile(t, '', i => i % 2 === 1)
    return '`STALE_FILE` where the save came first; 0 of 6 saves lost'
  }
)

row(
  29,
  'another program is writing while the file is read',
  { done: '150 edits and reads of a file of 300 KB that another process overwrites in place all the time' },
  async t => {
    const versions = ['a', 'b'].map(letter => Buffer.alloc(300_000, `${letter.repeat(99)}\n`))
    const path = join(root, 'rewritten')
    writeFileSync(path, versions[0]!)
    // It prints from when to when it wrote: for some writes, and for each that took a millisecond or more.
    const writer = spawn(
      process.execPath,
      [
        '-e',
        `
    const fs = require('fs')
    const versions = ['a', 'b'].map(letter => Buffer.alloc(300000, letter.repeat(99) + '\\n'))
    const now = () => performance.timeOrigin + performance.now()
    for (let i = 0; ; i++) {
      const fd = fs.openSync(${JSON.stringify(path)}, 'r+')
      const start = now()
      fs.writeSync(fd, versions[i % 2], 0, 300000, 0)
      const end = now()
      fs.closeSync(fd)
      if (end > start + 1 || i % 50 === 0) fs.writeSync(1, start + ' ' + end + '\\n')
      if (i % 50 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }`
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] }
    )
    t.teardown(() => {
      writer.kill('SIGKILL')
    })
    let printed = ''
    writer.stdout.on('data', data => {
      printed += data
    })
    const send = sender(t, two.url, 2)
    const codes: string[] = []
    const torn: { what: string; from: number; to: number }[] = []
    const whole = new Set(versions.map(hashOf))
    for (let i = 0; i < 150; i++) {
      const from = Date.now()
      const { code, text } =
        i % 3 === 0
          ? await send('/inspect', { path: 'rewritten', start_line: 1, end_line: 1 })
          : await send('/edit-lines', { path: 'rewritten', start_line: 1, end_line: 1, new_text: 'mine'.padEnd(99) })
      codes.push(code)
      t.ok(['200', 'STALE_FILE'].includes(code), code)
      const { hash_before, file_hash } = JSON.parse(text)
      if (code !== '200') continue
      // What was edited is a version of the writer's or the result of an edit of one, never a mixture.
      if (!whole.has(hash_before ?? file_hash)) {
        torn.push({ what: hash_before === undefined ? 'read' : 'edited', from, to: Date.now() })
      }
      if (hash_before !== undefined) whole.add(file_hash)
    }
    // It prints a slow write only when that has ended.
    const until = Date.now()
    while (!(Number(printed.trimEnd().split(/\s/).at(-1)) > until)) await sleep(10)
    writer.kill('SIGKILL')
    const slowWrites = printed
      .trimEnd()
      .split('\n')
      .map(line => line.split(' ').map(Number) as [number, number])
      .filter(([start, end]) => end > start + 1)
    t.comment(
      `${tally(codes)}; torn: ${tally(torn.map(({ what }) => what))}; ` +
        `${slowWrites.length} writes that took a millisecond or more`
    )
    // While a write is held up halfway for as long as an edit takes, no reader can tell it from a finished one.
    for (const { from, to } of torn.filter(({ what }) => what === 'edited')) {
      t.ok(
        slowWrites.some(([start, end]) => start <= to && end >= from),
        'an edited mixture is a write that was held up halfway'
      )
    }
    t.ok(codes.includes('200'))
    return (
      'each `200` or `STALE_FILE`; every edit was applied to one whole version, or, where the system held the writer ' +
      'up in the middle of its write, to what the file held then'
    )
  }
)

const FLOOD = many('flood', 1300)
/**
 * With so many connections, on a busy machine, the system resets some, has no descriptors for others, and some requests
 * aren't read in time.
 */
const REFUSED = ['FILE_LOCKED', 'ECONNRESET', 'EMFILE', 'REQUEST_TIMEOUT']

row(
  39,
  'flood on one file',
  {
    done:
      `${FLOOD} edits of one file at once, each on its own connection; ` +
      '`npm run test:updates -- --flood N` for more'
  },
  async t => {
    const server = one
    const send = sender(t, server.url, FLOOD)
    const flood = Array.from({ length: FLOOD }, (_, i) =>
      send('/edit-lines', { path: 'f', start_line: 1, end_line: 0, new_text: `${i}\n` })
    )
    const other = await send('/edit', { path: 'other', old_text: 'one', new_text: 'two' })
    t.equal(other.code, '200', 'another file is edited meanwhile')
    const answers = await Promise.all(flood)
    const lines = new Set(server.text('f').split('\n'))
    for (const [i, { code, headers, text }] of answers.entries()) {
      if (code !== '200' && !REFUSED.includes(code)) t.fail(`${code} ${text}`)
      if (lines.has(String(i)) !== (code === '200')) t.fail(`${i}: ${code}, but in the file: ${lines.has(String(i))}`)
      if (code === 'FILE_LOCKED' && !(Number(headers['retry-after']) > 0)) t.fail('no Retry-After')
    }
    t.comment(tally(answers.map(({ code }) => code)))
    t.ok(answers.some(({ code }) => code === '200'))
    t.ok(
      answers.some(({ code }) => code === 'FILE_LOCKED'),
      'the queue is bounded'
    )
    return (
      'each `200` and in the file, or `FILE_LOCKED` with `Retry-After` and not in the file; another file is edited ' +
      'meanwhile'
    )
  }
)

row(
  27,
  'lock holder killed, or suspended',
  {
    done:
      '2 servers: kill -9 while one holds the lock of a file of 30 MB; SIGSTOP for 15 s, while four batches of 20 ' +
      'edits in turn wait for the lock timeout',
    skip: onLinux
  },
  async t => {
    writeFileSync(join(root, 'big'), large('first'))
    const edit = (server: TestServer, old_text: string, new_text: string) =>
      sender(t, server.url, 4)('/edit', { path: 'big', old_text, new_text })
    const killed = edit(one, 'the end', 'the killed one')
    await untilLocked(state)
    one.child.kill('SIGKILL')
    const next = await edit(two, 'first', 'second')
    t.equal((await killed).status, 0)
    t.equal(next.code, '200', 'the next edit gets the lock before its timeout')
    t.match(readFileSync(join(root, 'big'), 'utf8').slice(0, 10), /^second\n/)

    const held = edit(three, 'the end', 'the end.')
    await untilLocked(state)
    three.child.kill('SIGSTOP')
    const hash = hashOf(readFileSync(join(root, 'big')))
    // Each batch gives up at the same moment, and each answer has to say what the file is now.
    const send = sender(t, two.url, 20)
    // Longer than its heartbeat of ten seconds: it is silent, and still not taken for dead.
    for (let i = 0; i < 4; i++) {
      for (const { code, headers, text } of await Promise.all(
        Array.from({ length: 20 }, () => send('/edit', { path: 'big', old_text: 'second', new_text: 'third' }))
      )) {
        t.equal(code, 'FILE_LOCKED')
        t.ok(Number(headers['retry-after']) > 0)
        t.equal(JSON.parse(text).file_hash, hash)
      }
    }
    three.child.kill('SIGCONT')
    t.equal((await held).code, '200')
    t.equal((await edit(two, 'second', 'third')).code, '200')
    const text = readFileSync(join(root, 'big'), 'utf8')
    t.ok(text.startsWith('third\n') && text.endsWith('\nthe end.\n'), 'both edits are there')
    t.strictSame(tempFiles(root), [], 'the killed one’s temp file is gone, or it had none')
    return (
      'after the kill, the next one goes on at once; while the holder is suspended, the others get `FILE_LOCKED` with ' +
      '`Retry-After`; both edits are in the file'
    )
  }
)

row(
  40,
  'SIGTERM with 50 edits running',
  { done: '50 edits of 50 files of 1 MB, all waiting for somebody else’s lock; the signal; the locks released' },
  async t => {
    const locks = join(state, 'locks')
    // Beside another server, each edit takes a lock file.
    const another = new Intents(join(state, 'intents'), thisOwner())
    t.teardown(() => another.close())
    const server = await startServer(t, at, '--lock-timeout', '60s', '--log-level', 'info')
    const send = sender(t, server.url, 60)
    for (let i = 0; i < 50; i++) writeFileSync(join(root, `f${i}`), Buffer.alloc(1_000_000, 'old line\n'))
    // The name of a file's lock shows in the folder while it is held.
    const keys = new Set<string>()
    const watcher = watch(locks, (_, name) => {
      if (name !== null && !name.includes('.')) keys.add(name)
    })
    for (let i = 0; i < 50; i++) {
      t.equal(
        (await send('/edit-lines', { path: `f${i}`, start_line: 1, end_line: 1, new_text: 'first line' })).code,
        '200'
      )
    }
    while (keys.size < 50) await sleep(10)
    watcher.close()
    // In one step, as servers do it: an empty one would be swept.
    const made = join(locks, '..', 'made')
    for (const key of keys) {
      mkdirSync(made)
      writeFileSync(join(made, 'somebody'), JSON.stringify(thisOwner()))
      renameSync(made, join(locks, key))
    }
    let done = 0
    const running = Array.from({ length: 50 }, (_, i) =>
      send('/edit-lines', { path: `f${i}`, start_line: 1, end_line: 1, new_text: 'new line' }).finally(() => {
        done++
      })
    )
    // Requests are read in the order in which they were sent: after the third answer, the server has all fifty.
    for (let i = 0; i < 3; i++) await fetch(`${server.url}/healthz`)
    t.equal(done, 0, 'none is answered at the signal')
    const exit = server.stop()
    while (!server.log().includes('"stopping"')) await sleep(1)
    const late = await send('/edit-lines', { path: 'f0', start_line: 2, end_line: 2, new_text: 'late' })
    for (const key of keys) rmSync(join(locks, key), { recursive: true })
    const answers = await Promise.all(running)
    t.equal(await exit, 0)
    for (const [i, { code }] of answers.entries()) {
      t.equal(code, '200')
      t.ok(readFileSync(join(root, `f${i}`), 'utf8').startsWith('new line'), `f${i} holds it`)
    }
    t.comment(late.code)
    t.ok(['NOT_READY', 'ECONNREFUSED', 'ECONNRESET'].includes(late.code), late.code)
    t.strictSame(tempFiles(root), [])
    t.strictSame(readdirSync(locks), [])
    return '50 × `200`, all in their files; a later request gets `NOT_READY`; exit status 0, no temp file, no lock'
  }
)

row(
  44,
  'two state folders on one root',
  {
    done:
      'a server on a root, and starts of others with another state folder on the same root, below it, above it and by ' +
      'a symlink, with `--lock local`, and as `editd mcp`; while the first is suspended; after SIGTERM and after kill -9; ' +
      'six starts at once with a state folder each. What another user’s sockets can do: ' +
      '`test/folder/locks/other-servers.test.ts`',
    skip: onLinux
  },
  async t => {
    const here = makeFolders(t, { 'sub/f': 'one\n' })
    const { base, root, state } = here
    symlinkSync(root, join(base, 'link'))
    symlinkSync(state, join(base, 'same-state'))
    let first = await startServer(t, here)
    const other = join(base, 'other')
    const files = () => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()
    const refused = async (at: string, stateDir: string, sentence: RegExp, ...flags: string[]) =>
      t.rejects(
        start(at, stateDir, ...flags),
        { message: new RegExp(`^ended with 1: editd: ${sentence.source}\n$`) },
        [at, stateDir, ...flags].join(' ')
      )
    const process = `process ${first.child.pid} on ${hostname()}`
    const same = new RegExp(
      `${root} is already served by ${process} with another state folder \\(--state-dir ${state}\\), ` +
        "so they could overwrite each other's edits: " +
        `start this one with --state-dir ${state}, or stop the other\\.`
    )
    const overlap = (relation: string) =>
      new RegExp(
        `${relation} another server, ${process} \\(root ${root}, --state-dir ${state}\\), ` +
          "so they .* use that server, choose a root that doesn't overlap, or stop the other\\."
      )
    await refused(root, other, same)
    await refused(join(base, 'link'), other, same)
    await refused(root, other, same, '--lock', 'local')
    await refused(join(root, 'sub'), other, overlap(`${root}/sub lies in the root of`))
    await refused(join(root, 'sub'), state, overlap(`${root}/sub lies in the root of`))
    await refused(base, `${base}-state`, overlap(`${base} contains the root of`))
    t.teardown(() => rmSync(`${base}-state`, { recursive: true, force: true }))
    const mcp = spawn(execPath, [SERVER, 'mcp', root, '--state-dir', other], { stdio: ['ignore', 'ignore', 'pipe'] })
    const [[code], said] = await Promise.all([once(mcp, 'close'), text(mcp.stderr)])
    t.equal(code, 1)
    t.match(said, new RegExp(`^editd: ${same.source}\n$`))
    t.strictSame(files(), ['sub', 'sub/f'], 'nothing is written below the root')

    // A second server with the same state folder goes on when the first has ended, and is found.
    const second = await startServer(t, { ...here, state: join(base, 'same-state') })
    t.equal(await first.stop(), 0)
    await refused(root, other, new RegExp(`${root} is already served by process ${second.child.pid} .*`))
    second.child.kill('SIGSTOP')
    await refused(
      root,
      other,
      new RegExp(
        `${root} is already served by process ${second.child.pid} with another state folder ` +
          "\\(it is stopped or busy and didn't say which\\), " +
          '.* start this one with the same --state-dir, or stop the other\\.'
      )
    )
    second.child.kill('SIGKILL')
    await once(second.child, 'close')
    first = await startServer(t, { ...here, state: other })
    t.equal(await first.stop(), 0)

    const six = await Promise.allSettled(
      Array.from({ length: 6 }, (_, i) => startServer(t, { ...here, state: join(base, `state${i}`) }))
    )
    const started = six.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    t.ok(started.length <= 1, `${started.length} of 6`)
    for (const one of six) {
      if (one.status === 'rejected') {
        t.match(one.reason.message, /^ended with 1: editd: .* is already served by process/)
      }
    }
    for (const server of started) await server.stop()
    const last = await startServer(t, here)
    t.equal((await last.post('/edit', { path: 'sub/f', old_text: 'one', new_text: 'two' })).status, 200)
    return (
      'refused at start with exit status 1; process, host and state folder of the other are named; nothing is written ' +
      'below the root; the same state folder by another path is accepted; of six at once, at most one serves; after a ' +
      'stop or a kill, another one starts at once'
    )
  }
)

/** Binds `outside` to names in the root, so that each of them has to be written in place. */
function bind(t: Test, outside: string, text: string, names: readonly string[]): void {
  writeFileSync(outside, text)
  for (const name of names) {
    writeFileSync(join(root, name), '')
    execFileSync('mount', ['--bind', outside, join(root, name)])
    t.teardown(() => spawnSync('umount', ['-l', join(root, name)]))
  }
}
const needsMount = canMount ? false : 'needs to mount'
const LINES = 'x'.repeat(99).concat('\n').repeat(80_000)

row(
  47,
  'one file by two names, each written in place',
  {
    done: 'a file of 8 MB, bound to two names: 10 times two edits at once, one by each name, at one server and at two',
    skip: needsMount
  },
  async t => {
    const file = join(at.base, 'bound-twice')
    bind(t, file, `A 0\n${LINES}B 0\n`, ['a', 'b'])
    const random = new Random(SEED)
    t.comment(`SEED=${SEED}`)
    const codes: string[] = []
    const made = { A: 0, B: 0 }
    for (let i = 0; i < 20; i++) {
      const edit = async (server: TestServer, path: string, name: 'A' | 'B'): Promise<void> => {
        await sleep(random.int(60))
        const { status, body } = await server.post('/edit', {
          path,
          old_text: `${name} ${made[name]}\n`,
          new_text: `${name} ${made[name] + 1}\n`
        })
        codes.push(String(body.code ?? status))
        if (status === 200) made[name]++
      }
      await Promise.all([edit(two, 'a', 'A'), edit(i < 10 ? two : three, 'b', 'B')])
      const lines = readFileSync(file, 'latin1').split('\n')
      t.equal(lines.length, 80_003)
      t.equal(lines[0], `A ${made.A}`)
      t.equal(lines.at(-2), `B ${made.B}`)
      t.equal(new Set(lines.slice(1, -2)).size, 1, 'no line is torn')
    }
    t.comment(tally(codes))
    t.ok(made.A > 0 && made.B > 0)
    for (const code of new Set(codes)) t.ok(['200', 'STALE_FILE', 'FILE_LOCKED', 'NO_MATCH'].includes(code), code)
    return '0 edits lost, 0 lines torn; the one that comes too late is `STALE_FILE` or `FILE_LOCKED`'
  }
)

row(
  48,
  'another program appends to a file while it is written in place',
  {
    done: 'a file of 8 MB that grows and shrinks by 40 edits, while a process appends a line five times a second',
    skip: needsMount
  },
  async t => {
    const file = join(at.base, 'appended')
    bind(t, file, `A 0\n${LINES}`, ['log'])
    const append = `
      const fs = require('fs')
      const ms = new Int32Array(new SharedArrayBuffer(4))
      for (let i = 0; ; i++) {
        Atomics.wait(ms, 0, 0, 50 + Math.random() * 250)
        fs.appendFileSync(process.argv[1], 'app ' + i + '\\n')
        fs.writeSync(1, '.')
      }`
    const program = spawn(execPath, ['-e', append, join(root, 'log')], { stdio: ['ignore', 'pipe', 'inherit'] })
    let appended = 0
    program.stdout.on('data', data => {
      appended += data.length
    })
    const codes: string[] = []
    let made = 0
    for (let i = 0; i < 40; i++) {
      const { status, body } = await two.post('/edit', {
        path: 'log',
        old_text: /^.*\n/.exec(readFileSync(file, 'latin1'))![0],
        new_text: `A ${made + 1}${made % 2 === 0 ? 'a'.repeat(5000) : ''}\n`
      })
      codes.push(String(body.code ?? status))
      if (status === 200) made++
    }
    program.kill('SIGKILL')
    await once(program, 'close')
    t.comment(tally(codes), `${appended} appended`)
    t.ok(made > 0)
    const lines = readFileSync(file, 'latin1').split('\n').slice(1, -1)
    const found = lines.filter(line => line.startsWith('app '))
    t.strictSame(
      found.slice(0, appended),
      Array.from({ length: appended }, (_, i) => `app ${i}`)
    )
    t.equal(new Set(lines.filter(line => !line.startsWith('app '))).size, 1, 'no line is torn')
    return 'each edit is made or `STALE_FILE`; 0 of the appended lines lost, 0 torn'
  }
)

row(
  49,
  'another program saves the file in the same second, and the file system keeps seconds only',
  {
    done: 'row 28 with 6 saves in place on an ext4 with inodes of 128 bytes',
    skip: hasLoop('ext4') ? false : 'needs loop devices, mkfs.ext4 and xfs_io'
  },
  async t => {
    loop(t, at.base, 'ext4', { mounted: join(root, 'coarse'), options: ['-I', '128'] })
    await saveMeanwhile(t, 'coarse', () => false)
    t.equal(statSync(join(root, 'coarse/big'), { bigint: true }).mtimeNs % 1_000_000_000n, 0n)
    return '`STALE_FILE` where the save came first; 0 of 6 saves lost'
  }
)

checkDocument()
