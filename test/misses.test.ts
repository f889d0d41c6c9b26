// docs/misses.md: every cause of a miss on the built server, the text that a model gets, and whether the first call in
// it leads to the wanted result.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withInvisibleNamed } from '../src/http/answers/invisible.ts'
import { followFirstCall, type Call } from './agent.ts'
import { checkMarked } from './marked.ts'
import { MISSES, type Miss } from './misses.ts'
import { start } from './running.ts'

const DOCUMENT = fileURLToPath(new URL('../docs/misses.md', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'editd-misses-'))
const server = await start(folder, mkdtempSync(join(tmpdir(), 'editd-misses-state-')))
t.teardown(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const call: Call = (route, body) => server.post(route, body)

const path = 'example.txt'

/** Sends the edit, then the first call of the answer. */
async function walk(miss: Miss): Promise<{ text: string; how: string; result: string }> {
  const { file, encoding = 'utf8', old_text, new_text, line_endings, wanted } = miss
  writeFileSync(join(folder, path), file, encoding)
  const options = { path, ...(line_endings && { line_endings }) }
  const first = await call('/tools/edit_file', { ...options, old_text, new_text })
  const { how, edit } = await followFirstCall(call, first.text, {
    path,
    edit: { old_text, new_text },
    wanted: wanted ?? (() => new_text)
  })
  if (miss.result !== null) await call('/tools/edit_file', edit)
  return { text: first.text, how, result: readFileSync(join(folder, path), encoding) }
}

/** The first sentence, but for what all have in common. */
const sentenceOf = (text: string) =>
  text
    .split('\n', 1)[0]!
    .replace(/^old_text was not found in \S+[:;] /, '')
    .replace(/\. \[NO_MATCH\]$/, '')

const row = (...cells: string[]) => `| ${cells.join(' | ')} |\n`
const HEAD = row('cause', '`old_text`', 'the file', 'what the answer says of it', 'what follows')
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', '⏎')
const code = (text: string) => {
  const part = text.length > 90 ? `…${text.slice(-70)}` : text
  return `\`${withInvisibleNamed(cell(part).replaceAll('\t', '→').replaceAll('\r', '␍'))}\``
}
const FIX: Record<string, string> = {
  complete: 'the call to send, complete',
  own_new_text: 'the call to send without `new_text`, and why that is left to you',
  read: 'the lines of the file'
}

t.test('names each cause in its own words, with a fix that leads to what was wanted', async t => {
  const rows: string[] = []
  for (const miss of MISSES) {
    const { text, how, result } = await walk(miss)
    t.match(text, /\[NO_MATCH\]\n/, miss.cause)
    t.ok(text.includes(miss.says), text)
    t.equal(result, miss.result ?? miss.file, `${miss.cause}: ${text}`)
    t.equal(how === 'read', miss.result === null, miss.cause)
    const says = cell(sentenceOf(text))
    rows.push(row(miss.title, code(miss.old_text), code(miss.file), says, `${FIX[how]}`))
  }
  checkMarked(t, DOCUMENT, 'causes', [HEAD, '|---|---|---|---|---|\n', ...rows].join(''))
})
