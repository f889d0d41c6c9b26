// Servers with --audit-required that are killed at random moments under load: every content that is found in a file has
// its line, and the next start says what became of what was begun. `npm run test:audit -- --kills N` for more.
// runs in .ci/run
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { startBare } from '../running.ts'
import { many, sender } from '../threats/harness.ts'

const KILLS = many('kills', 12, 4)
t.setTimeout(0)

type Line = Record<string, string | null | undefined>
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Empty: the kernel ends a write of several pages between two of them where its process is killed. */
function parse(line: string): [] | [Line] {
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
}

for (const [name, flags] of [
  ['with a history', []],
  ['without a history', ['--history', 'off']]
] as const) {
  t.test(`has a line on the disk before each rename, ${name}`, { skip: ONLY_CI }, async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const base = mkdtempSync(join(tmpdir(), 'editd-audited-'))
    t.teardown(() => rmSync(base, { recursive: true, force: true }))
    const [root, path] = [join(base, 'root'), join(base, 'audit.jsonl')]
    mkdirSync(root)
    const start = () =>
      startBare(root, join(base, 'state'), '--audit', path, '--audit-required', '--log-level', 'error', ...flags)
    let server = await start()
    t.teardown(() => server.child.kill('SIGKILL'))
    let made = 0
    let files = 0
    const open = new Set<Line[string]>()
    for (let kill = 0; kill < KILLS; kill++) {
      const load = { on: true, answered: 0 }
      const send = sender(t, server.url, 8)
      const work = async (next: () => Parameters<typeof send>): Promise<void> => {
        while (load.on) {
          const { status } = await send(...next())
          if (status === 0) return
          load.answered++
        }
      }
      const paths = ['a', 'b', 'c']
      const working = Promise.all([
        ...paths.map(path =>
          work(() => ['/create', { path: `new/${path}${made++}`, content: `${made}\n`, create_parents: true }])
        ),
        ...paths.map(path =>
          work(() => ['/edit-lines', { path, start_line: 1, end_line: 1, new_text: `${path} ${made++}\n` }])
        ),
        work(() => [
          '/batch',
          {
            operations: ['d', 'e'].map(path => ({
              operation: 'edit_lines',
              path,
              start_line: 1,
              end_line: 1,
              new_text: `${made++}\n`
            }))
          }
        ])
      ])
      if (kill === 0) {
        for (const path of [...paths, 'd', 'e']) await send('/create', { path, content: '0\n' })
      }
      const enough = random.int(40) + 5
      while (load.answered < enough && server.child.exitCode === null) await sleep(1)
      await sleep(random.int(20))
      server.child.kill('SIGKILL')
      await once(server.child, 'close')
      load.on = false
      await working
      const all = readFileSync(path, 'utf8').split('\n').filter(Boolean)
      const lines = all.flatMap(parse)
      // A kill may cut off one line; then the file that it describes was not renamed yet.
      if (all.length - lines.length > kill + 1) t.fail('more lines are cut off than servers were killed')
      const told = new Set(lines.map(({ path, hash_after }) => `${path} ${hash_after}`))
      const names = [...new Set(lines.map(({ path }) => path!))].filter(name => existsSync(join(root, name)))
      for (const name of names) {
        if (!told.has(`${name} ${hashOf(readFileSync(join(root, name)))}`)) t.fail(`${name} has no line (SEED=${SEED})`)
        files++
      }
      const ended = new Set(lines.filter(({ outcome }) => outcome !== 'intent').map(({ change_id }) => change_id))
      const cut = lines.filter(
        ({ outcome, change_id }) => outcome === 'intent' && !ended.has(change_id) && !open.has(change_id)
      )
      for (const { change_id } of cut) open.add(change_id)
      server = await start()
      if (flags.length > 0) continue
      await sleep(100)
      const since = readFileSync(path, 'utf8').split('\n').filter(Boolean).slice(all.length).flatMap(parse)
      for (const { path: name, edit_id, hash_after } of cut) {
        const found = since.find(line => line.edit_id === edit_id && 'recovered' in line)
        // The record of a change may not have been written yet, when its line was: then nothing was renamed.
        const is = existsSync(join(root, name!)) && hashOf(readFileSync(join(root, name!))) === hash_after
        if (is && found?.outcome !== 'done') t.fail(`${name} is not said to be done: ${JSON.stringify(found)}`)
        if (!is && found?.outcome === 'done' && !since.some(line => line.path === name && line !== found)) {
          t.fail(`${name} is said to be done`)
        }
      }
    }
    t.ok(files > KILLS * 5)
    t.comment(`held for ${KILLS} cases: ${files} contents looked at, ${open.size} changes were cut off`)
    t.equal(await server.stop(), 0)
  })
}
