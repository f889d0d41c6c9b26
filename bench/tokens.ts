// npm run bench:tokens -- [cases.jsonl]: what answers cost a model, in tokens of o200k_base, compared with the limits.
// Misses are those of test/misses.ts and, if a list is given, all cases of the corpus kit that miss.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MISSES } from '../test/misses.ts'
import { startBare } from '../test/running.ts'
import { casesIn, type Case } from './cases.ts'
import { quantile } from './statistics.ts'

const TOOLS = fileURLToPath(new URL('../../.ci/tools/package.json', import.meta.url))
const { encode } = createRequire(TOOLS)('gpt-tokenizer/encoding/o200k_base') as { encode(text: string): number[] }

const [list] = process.argv.slice(2)
const cases = list === undefined ? [] : casesIn(list)
const folder = mkdtempSync(join(tmpdir(), 'editd-bench-tokens-'))
const root = join(folder, 'root')
mkdirSync(join(root, 'src'), { recursive: true })
const server = await startBare(root, join(folder, 'state'), '--durability', 'fast', '--lock', 'local')

interface Cost {
  code: string
  text: number
  json: number
}

/** The cost of a tool call on a file with this content, as text and as JSON. `code` is empty for a success. */
async function cost(tool: string, content: Buffer | string, args: object, ending = '.txt'): Promise<Cost> {
  const path = `src/example${ending}`
  const send = (accept: string) => {
    writeFileSync(join(root, path), content)
    return server.post(`/tools/${tool}`, { path, ...args }, { accept })
  }
  const [text, json] = [await send('text/plain'), await send('application/json')]
  const { code = '' } = json.body as { code?: string }
  return { code, text: encode(text.text).length, json: encode(json.text).length }
}

/** What the case's author changed: the longest word that the region has too; without one, the end of the text. */
function changed({ old_text, start_byte, end_byte }: Case, file: Buffer): string {
  const region = file.toString('utf8', start_byte, end_byte)
  const words = (old_text.match(/[\p{L}\p{N}_]{3,}/gu) ?? []).sort((a, b) => b.length - a.length)
  const word = words.find(each => region.includes(each))
  return word === undefined ? `${old_text}2` : old_text.replace(word, `${word}2`)
}

/** An edit of one line of the case's file that occurs once; undefined if the file has no such line. */
function lineEdit({ start_byte }: Case, file: Buffer): { old_text: string; new_text: string } | undefined {
  const text = file.toString()
  const lines = text.split(/\r?\n/)
  const from = file.toString('utf8', 0, start_byte).split('\n').length - 1
  const line = [...lines.slice(from), ...lines].find(
    each => each.length >= 20 && each.length <= 100 && text.split(each).length === 2 && /\w{3}/.test(each)
  )
  return line === undefined ? undefined : { old_text: line, new_text: line.replace(/\w{3,}/, word => `${word}2`) }
}

const successes: Cost[] = []
const scripted: Cost[] = []
const misses: Cost[] = []
for (const { file, old_text, new_text, line_endings } of MISSES) {
  scripted.push(await cost('edit_file', file, { old_text, new_text, ...(line_endings && { line_endings }) }))
}
for (const one of cases) {
  const file = readFileSync(join(dirname(resolve(list!)), one.file))
  const ending = extname(one.file)
  const missed = await cost('edit_file', file, { old_text: one.old_text, new_text: changed(one, file) }, ending)
  if (missed.code !== '') misses.push(missed)
  const edit = lineEdit(one, file)
  if (edit !== undefined) successes.push(await cost('edit_file', file, edit, ending))
}
const JS =
  'const port = 9090\nconst host = process.env.HOST\n\nif (host) {\n  listen(port, host)\n} else {\n  listen(port)\n}\n'
const one = await cost('edit_file', JS, { old_text: 'if (host)', new_text: 'if (host !== undefined)' }, '.js')
const twice = await cost('edit_file', JS, { old_text: 'listen(port', new_text: 'server.listen(port' }, '.js')
const long = JS.repeat(250)
const page = await cost('inspect_file', long, { start_line: 1 }, '.js')
const items = await cost(
  'inspect_file',
  Array.from({ length: 2000 }, (_, i) => `function item${i} () {}\n`).join(''),
  { structure: true },
  '.js'
)
await server.stop()
rmSync(folder, { recursive: true })

const row = (name: string, ...cells: (string | number)[]): void => {
  process.stdout.write(`${name.padEnd(44)}${cells.map(cell => String(cell).padStart(9)).join('')}\n`)
}
const rows = (name: string, costs: readonly Cost[], goals: readonly [share: number, goal?: number][]): void => {
  for (const [share, goal = ''] of costs.length === 0 ? [] : goals) {
    const of = (kind: 'text' | 'json') =>
      Math.round(
        quantile(
          costs.map(each => each[kind]),
          share
        )
      )
    row(`${name}, ${share === 0.5 ? 'median' : `${share * 100} %`} of ${costs.length}`, goal, of('text'), of('json'))
  }
}
row('', 'at most', 'text', 'JSON')
row('an edit of one line', 80, one.text, one.json)
rows('edits of one line', successes, [[0.5, 80], [0.9]])
row('two matches instead of one', 250, twice.text, twice.json)
rows('test/misses.ts', scripted, [
  [0.5, 300],
  [0.9, 600]
])
rows('misses of the corpus', misses, [
  [0.5, 300],
  [0.9, 600]
])
const codes = [...new Set(misses.map(({ code }) => code))]
for (const code of codes) {
  rows(
    `  ${code}`,
    misses.filter(each => each.code === code),
    [[0.5], [0.9]]
  )
}
row('inspect: a file of 2,000 lines', '', page.text, page.json)
row('inspect: the structure of 2,000 functions', '', items.text, items.json)
