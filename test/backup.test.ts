// The commands of docs/operators.md that back up a root and its state folder and restore them, run as they are written:
// at another place, and at the same one.
// runs in .ci/run
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from './often.ts'
import { start, type Running } from './running.ts'

const DOCUMENT = readFileSync(join(import.meta.dirname, '../docs/operators.md'), 'utf8')
const commandsOf = (name: string) => new RegExp(`\`\`\`sh ${name}\\n([^]*?)\`\`\``).exec(DOCUMENT)![1]!
const START = 'npx editd "$ROOT" --state-dir "$STATE"\n'

const OPTIONS = { skip: ONLY_CI || (!existsSync('/dev/shm') && 'needs a second file system') }

t.test('what was copied goes on as if nothing had happened', OPTIONS, async t => {
  const folder = (parent: string) => {
    const path = mkdtempSync(join(parent, 'editd-copy-'))
    t.teardown(() => rmSync(path, { recursive: true }))
    return path
  }
  const first = folder(tmpdir())
  // Another file system, so that all numbers of files and folders are others.
  const second = folder('/dev/shm')
  const COPY = join(folder(tmpdir()), 'copy')
  const placed = (at: string) => ({ ROOT: join(at, 'root'), STATE: join(at, 'state'), COPY })
  const started = ({ ROOT, STATE }: { ROOT: string; STATE: string }) => start(ROOT, STATE)
  const bash = (command: string, variables: Record<string, string>) =>
    execFileSync('bash', ['-euc', command], { env: { ...process.env, ...variables } })
  const restore = commandsOf('restore')
  t.ok(restore.endsWith(START))

  const before = placed(first)
  mkdirSync(before.ROOT)
  writeFileSync(join(before.ROOT, 'a.txt'), 'one\n', { mode: 0o640 })
  const original = await started(before)
  const edit = async (server: Running, old_text: string, new_text: string, more: object = {}) => {
    const { status, body, headers } = await server.post('/edit', { path: 'a.txt', old_text, new_text, ...more })
    t.equal(status, 200, String(body.detail))
    return { id: String(body.edit_id), hash: String(body.file_hash), replayed: headers.get('idempotency-replayed') }
  }
  const { body: now } = await original.post('/changes', {})
  const keyed = { idempotency_key: 'a-key' }
  const { id: firstId } = await edit(original, 'one', 'two', keyed)
  const { hash } = await edit(original, 'two', 'three')
  t.equal(await original.stop(), 0)
  bash(commandsOf('copy'), before)

  for (const place of [second, first]) {
    rmSync(before.ROOT, { recursive: true, force: true })
    rmSync(before.STATE, { recursive: true, force: true })
    const at = placed(place)
    bash(restore.replace(START, ''), at)
    const server = await started(at)
    t.match(
      await edit(server, 'one', 'two', keyed),
      { id: firstId, replayed: 'true' },
      'what was done is not done again'
    )
    const { body: told } = await server.post('/changes', { after: now.next_after })
    t.match(told, { changes: { length: 2 } }, 'cursors go on')
    await edit(server, 'three', 'four', { expected_hash: hash })
    const undone = await server.post('/undo', { edit_ids: [firstId] })
    t.equal(undone.status, 409, 'later changes stand on it')
    for (const text of ['three\n', 'two\n', 'one\n']) {
      t.match(await server.post('/undo', { path: 'a.txt' }), { status: 200 })
      t.equal(readFileSync(join(at.ROOT, 'a.txt'), 'utf8'), text)
    }
    t.notMatch(server.log(), /"event":"(?!stop)|"level":"(warn|error)/)
    t.equal(await server.stop(), 0)
  }
})
