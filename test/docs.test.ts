// The two commands of the README, and every example of the documents: its answer compared with the printed one.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { start } from './running.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCUMENTS = ['README.md', 'docs/conversations.md', 'docs/tools.md']
/** With DOCS=write the answers are written into the documents; read them before you commit. */
const WRITES = process.env.DOCS === 'write'

/** What differs from run to run. */
const settled = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer, (key, value) =>
  key === 'request_id' ? '3f0c9e1a-…' : key === 'modified_at' ? '2026-11-21T10:00:00.000Z' : value))

for (const name of DOCUMENTS) {
  t.test(`answers as ${name} says`, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'editd-docs-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const workspace = join(folder, 'workspace')
    mkdirSync(workspace)
    let text = readFileSync(join(ROOT, name), 'utf8')
    for (const [, path, content] of text.matchAll(/<!-- file: (\S+)\n([^]*?)-->/g)) {
      mkdirSync(dirname(join(workspace, path!)), { recursive: true })
      writeFileSync(join(workspace, path!), content!)
      utimesSync(join(workspace, path!), 0, 0)
    }
    const server = await start(workspace, join(folder, 'state'))
    let run = 0
    for (const [whole, command, printed] of [...text.matchAll(/```sh run\n([^]*?)```\n\n```json\n([^]*?)```/g)]) {
      const env = { ...process.env, EDITD_URL: server.url, EDITD_TOKEN: 'a-token-for-tests' }
      const answer = settled(JSON.parse(execFileSync('bash', ['-c', command!], { cwd: folder, env, encoding: 'utf8' })))
      if (WRITES) text = text.replace(whole, () => `\`\`\`sh run\n${command}\`\`\`\n\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\``)
      else t.strictSame(answer, JSON.parse(printed!), command!)
      run++
    }
    t.equal(run, text.match(/```sh run/g)?.length, 'every example has an answer')
    if (WRITES) writeFileSync(join(ROOT, name), text)
    t.equal(await server.stop(), 0)
  })
}

t.test('drains when npm start is told to end', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-npm-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  // Without its prestart, which would build what other tests run.
  const npm = spawn('npm', ['start', '--ignore-scripts', '--silent', '--', join(folder, 'root'), '--port', '0', '--state-dir', join(folder, 'state'), '--token', 'secret'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  npm.stderr.setEncoding('utf8').on('data', chunk => { log += chunk })
  const [line] = await once(createInterface({ input: npm.stdout }), 'line')
  const url = String(line).match(/http:\S+/)![0]
  t.equal((await fetch(`${url}/healthz`)).status, 200)
  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await t.rejects(fetch(`${url}/healthz`), 'nothing listens any more')
  t.match(log, /"event":"stopped"/)
})
