// Somebody else's hands in the history, and in the files while they are edited. Rows 41 and 53 of docs/threats.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { has } from '../folder/support/machine.ts'
import type { Answer, Running } from '../running.ts'
import { checkDocument, codeOf, makeFolders, many, row, startServer, tally } from './harness.ts'

const FIRST = 'one\ntwo\nthree\n'
const SECRET = 'a secret outside\n'

/** What is done to the one segment of a server that has ended; `secret`: a file outside the root and the state. */
const TAMPERING: Record<string, (segment: string, secret: string) => void> = {
  'cut in half': segment => truncateSync(segment, Math.floor(readFileSync(segment).length / 2)),
  'a byte changed': segment => {
    const bytes = readFileSync(segment)
    bytes[Math.floor(bytes.length / 3)]! ^= 1
    writeFileSync(segment, bytes)
  },
  'a text exchanged': segment => writeFileSync(segment, readFileSync(segment, 'utf8').replaceAll('TWO', 'two')),
  emptied: segment => truncateSync(segment, 0),
  'no JSON': segment => writeFileSync(segment, '\0\n'.repeat(10_000)),
  removed: segment => rmSync(segment),
  'a link': (segment, secret) => {
    rmSync(segment)
    symlinkSync(secret, segment)
  },
  'readable by all': segment => chmodSync(segment, 0o644)
}

row(
  41,
  'history tampered with, or growing for ever',
  {
    done:
      `two edits, then the segment is ${Object.keys(TAMPERING).join(', ')}; the next server edits, undoes that, and ` +
      'undoes the first edit; size: `npm run test:history -- --records N` holds the history under its cap'
  },
  async t => {
    const outcomes: string[] = []
    for (const [how, tamper] of Object.entries(TAMPERING)) {
      const folders = makeFolders(t, { 'a.txt': FIRST })
      const secret = join(folders.base, 'secret')
      writeFileSync(secret, SECRET)
      const before = await startServer(t, folders)
      const made = await before.post('/edit', { path: 'a.txt', old_text: 'two', new_text: 'TWO', agent: 'ann' })
      t.equal(made.status, 200, how)
      t.equal((await before.post('/edit', { path: 'a.txt', old_text: 'three', new_text: 'THREE' })).status, 200, how)
      await before.stop()
      const history = join(folders.state, 'history')
      for (const name of readdirSync(history)) {
        if (name.endsWith('.ndjson')) tamper(join(history, name), secret)
        else if (name.endsWith('.index')) rmSync(join(history, name))
      }
      const server = await startServer(t, folders)
      const later = await server.post('/edit', { path: 'a.txt', old_text: 'one', new_text: 'ONE' })
      t.equal(later.status, 200, how)
      const listed = await server.post('/history', { path: 'a.txt', show_diff: true })
      t.equal(listed.status, 200, how)
      t.notMatch(JSON.stringify(listed.body), /secret/, how)
      t.equal((await server.post('/undo', { edit_id: later.body.edit_id })).status, 200, how)
      t.equal(server.text('a.txt'), 'one\nTWO\nTHREE\n', how)
      const undone = await server.post('/undo', { edit_id: made.body.edit_id })
      outcomes.push(codeOf(undone))
      t.equal(server.text('a.txt'), undone.status === 200 ? 'one\ntwo\nTHREE\n' : 'one\nTWO\nTHREE\n', how)
      t.equal(readFileSync(secret, 'utf8'), SECRET, how)
      await server.stop()
    }
    return (
      `the server starts, edits, and undoes what it knows; of the first edit ${tally(outcomes)}, and never other bytes ` +
      'than those that were there; a file behind a link is neither read nor written'
    )
  }
)

/**
 * Another program: it counts in a line of its own, and saves by exchanging the file with a new one, `argv[2]` times. What an
 * edit made of the file since it was read is lost with it.
 */
const EXCHANGING = `
import ctypes, os, random, sys, time
libc = ctypes.CDLL(None, use_errno=True)
path, count = sys.argv[1], int(sys.argv[2])
for i in range(1, count + 1):
    lines = open(path).read().split('\\n')
    lines[0] = 'program: %d' % i
    open(path + '.new', 'w').write('\\n'.join(lines))
    if libc.renameat2(-100, (path + '.new').encode(), -100, path.encode(), 2) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    os.unlink(path + '.new')
    time.sleep(random.random() * 0.1)
`
const SAVES = many('saves', 100)

row(
  53,
  'another program exchanges the file while agents edit, undo and redo',
  {
    done: `two servers, three agents, each with a line of its own, and ${SAVES} exchanges (RENAME_EXCHANGE) at random moments`,
    skip: process.platform === 'linux' && has('python3') ? false : 'needs Linux and python3'
  },
  async t => {
    const folders = makeFolders(t, { 'a.txt': 'program: 0\nagent 0: 0\n-\nagent 1: 0\n-\nagent 2: 0\n' })
    const servers = [await startServer(t, folders), await startServer(t, folders)]
    const any = () => servers[Math.floor(Math.random() * servers.length)]!
    const made = await any().post('/edit', { path: 'a.txt', old_text: 'agent 0: 0', new_text: 'agent 0: 1' })
    const program = spawn('python3', ['-c', EXCHANGING, join(folders.root, 'a.txt'), `${SAVES}`], {
      stdio: ['ignore', 'inherit', 'inherit']
    })
    const ended = once(program, 'exit')
    const done = idsIn(made)
    const codes: string[] = []
    const agent = async (name: number): Promise<void> => {
      let [last, isUndone] = ['', false]
      while (program.exitCode === null && program.signalCode === null) {
        const line = any()
          .text('a.txt')
          .split('\n')
          .find(one => one.startsWith(`agent ${name}: `))!
        const edit = { path: 'a.txt', old_text: line, new_text: `${line}1` }
        const isEdit = last === '' || Math.random() < 0.5
        const route = isEdit ? '/edit' : isUndone ? '/redo' : '/undo'
        const answer = await any().post(route, isEdit ? edit : { edit_id: last })
        codes.push(`${route} ${codeOf(answer)}`)
        if (answer.status !== 200) continue
        const [edit_id] = idsIn(answer)
        done.push(edit_id!)
        isUndone = route === '/undo'
        if (isEdit) last = edit_id!
      }
    }
    await Promise.all([agent(0), agent(1), agent(2)])
    t.strictSame(await ended, [0, null])
    t.comment(tally(codes))
    t.ok(codes.includes('/edit 200') && codes.includes('/undo 200'))
    t.strictSame(
      codes.filter(code => code.includes('HISTORY_GONE')),
      []
    )
    const records = await recordsOf(servers[0]!)
    const edits = records.filter(({ operation }) => operation !== 'outside')
    t.strictSame(
      edits.map(({ edit_id }) => edit_id),
      done.toSorted(),
      'an edit is recorded if it was answered with 200'
    )
    const changes = records.filter(({ operation, state }) => operation !== 'outside' || state !== 'uncertain')
    t.strictSame(
      changes.filter(({ state, diff }) => state === 'uncertain' || diff === undefined),
      [],
      'each took place, and has its texts'
    )
    t.strictSame(
      changes.slice(1).map(({ hash_before }) => hash_before),
      changes.slice(0, -1).map(({ file_hash }) => file_hash),
      'each begins with what the one before it led to'
    )
    return '0 × `HISTORY_GONE`; exactly the acknowledged edits are recorded; 0 false records of other programs, 0 without texts'
  }
)

/** The ids of the records that an edit, undo or redo has made. */
const idsIn = ({ text }: Answer): string[] => Array.from(text.matchAll(/"edit_id":"(\w+)"/g), ([, id]) => id!)

/** All records of a.txt, oldest first. */
async function recordsOf({ post }: Running): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = []
  let before: unknown
  do {
    const { body } = await post('/history', {
      path: 'a.txt',
      show_diff: true,
      limit: 100,
      ...(before !== undefined && { before })
    })
    records.push(...(body.edits as Record<string, unknown>[]))
    before = body.next_before
  } while (before !== undefined)
  return records.reverse()
}

checkDocument()
