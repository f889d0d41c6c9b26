// docs/misses.md: every cause of a miss against the built server, what it answers, and whether the first fix leads to
// what was wanted.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Problem } from '../schemas/problem.ts'
import { CAUSES } from '../src/engine/suggest/classify.ts'
import { withInvisibleNamed } from '../src/http/answers/invisible.ts'
import { followFirstFix, type Call } from './agent.ts'
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

/** Sends the edit, then what the first fix says. */
async function walk(miss: Miss): Promise<{ problem: Problem; how: string; result: string }> {
  const { file, encoding = 'utf8', old_text, new_text, line_endings, wanted } = miss
  writeFileSync(join(folder, path), file, encoding)
  const options = { path, ...(line_endings && { line_endings }) }
  const first = await call('/edit', { ...options, old_text, new_text })
  const problem = first.body as unknown as Problem
  const { how, edit } = await followFirstFix(call, problem, {
    path,
    edit: { old_text, new_text },
    wanted: wanted ?? (() => new_text)
  })
  if (miss.result !== null) await call('/edit', { ...options, ...edit })
  return { problem, how, result: readFileSync(join(folder, path), encoding) }
}

/** What detail says between what was searched and what to do next. */
const sentencesOf = (detail: string) =>
  detail
    .replace(/^old_text was not found in \S+: "(?:[^"\\]|\\.)*"\. /, '')
    .replace(/ The file has "(?:[^"\\]|\\.)*" there\./, '')
    .replace(/ (?:If so, |First |Send |Read )[^]*$/, '')
    .replace(/ Nothing was written\.$/, '')

const row = (...cells: string[]) => `| ${cells.join(' | ')} |\n`
const HEAD = row('cause', '`old_text`', 'the file', 'what `detail` says of it', 'the first fix')
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', '⏎')
const code = (text: string) => {
  const part = text.length > 90 ? `…${text.slice(-70)}` : text
  return `\`${withInvisibleNamed(cell(part).replaceAll('\t', '→').replaceAll('\r', '␍'))}\``
}
const FIX: Record<string, string> = {
  complete: '`suggested_fixes[0].edit`, complete: send it',
  own_new_text: '`suggested_fixes[0].edit` has `old_text`, and says why `new_text` is left to you',
  read: 'read what `suggested_fixes[0].example` shows, then decide'
}

t.test('names each cause in its own words, with a fix that leads to what was wanted', async t => {
  t.strictSame(MISSES.map(({ cause }) => cause).sort(), [...CAUSES].sort(), 'every cause has an example')
  const rows: string[] = []
  for (const miss of MISSES) {
    const { problem, how, result } = await walk(miss)
    t.match(problem, { code: 'NO_MATCH', status: 422 }, miss.cause)
    t.ok(problem.detail.includes(miss.says), problem.detail)
    t.equal(result, miss.result ?? miss.file, `${miss.cause}: ${problem.detail}`)
    t.equal(how === 'read', miss.result === null, miss.cause)
    const says = cell(sentencesOf(problem.detail))
    rows.push(row(miss.title, code(miss.old_text), code(miss.file), says, `${FIX[how]}`))
  }
  const table = [HEAD, '|---|---|---|---|---|\n', ...rows].join('')
  const text = readFileSync(DOCUMENT, 'utf8')
  const now = text.replace(/(<!-- causes -->\n)[^]*?(<!-- end -->)/, (_, before, after) => `${before}${table}${after}`)
  if (process.env.DOCS === 'write') writeFileSync(DOCUMENT, now)
  else t.equal(text, now, 'docs/misses.md is what the server answers')
})
