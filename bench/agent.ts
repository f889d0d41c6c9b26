// npm run bench:agent -- cases.jsonl: an agent does exactly what the first call in the answer to a miss says; counts
// how often its second request is right.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { followFirstCall, marked, withoutTrailingSpace, type FixKind } from '../test/agent.ts'
import { start } from '../test/running.ts'
import { casesIn, type Case } from './cases.ts'

interface Outcome {
  how: FixKind | 'applied'
  right: boolean
  accepted: boolean
}

const [list] = process.argv.slice(2)
const cases = casesIn(list).filter(({ kind }) => kind !== 'none')

/** Ignores kinds of line breaks, which are not part of the intended edit. */
const plain = (text: string): string => withoutTrailingSpace(text.replaceAll('\r\n', '\n'))

const folder = mkdtempSync(join(tmpdir(), 'editd-bench-agent-'))
const root = join(folder, 'root')
const server = await start(root, join(folder, 'state'), '--durability', 'fast', '--lock', 'local')

async function judge({ file, old_text, start_byte, end_byte, alts }: Case): Promise<Outcome> {
  const bytes = readFileSync(join(dirname(resolve(list!)), file))
  const path = `case${extname(file)}`
  writeFileSync(join(root, path), bytes)
  const right = () => {
    const result = plain(readFileSync(join(root, path), 'utf8'))
    return (alts ?? [{ start_byte, end_byte }]).some(({ start_byte: from, end_byte: to }) => {
      const [before, region, after] = [
        bytes.toString('utf8', 0, from),
        bytes.toString('utf8', from, to),
        bytes.toString('utf8', to)
      ]
      // The agent reads whole lines: if part of a line was meant, the mark may be at the end of the line.
      const rest = /^[^\n]*/.exec(after)![0]
      return (
        result === plain(before + marked(region) + after) ||
        result === plain(before + region + marked(rest) + after.slice(rest.length))
      )
    })
  }
  const first = await server.post('/tools/edit_file', { path, old_text, new_text: marked(old_text) })
  if (first.status === 200) return { how: 'applied', right: right(), accepted: true }
  const { how, edit } = await followFirstCall((route, body) => server.post(route, body), first.text, {
    path,
    edit: { old_text },
    wanted: marked
  })
  const second = await server.post('/tools/edit_file', edit)
  return { how, right: second.status === 200 && right(), accepted: second.status === 200 }
}

const byClass = new Map<string, Outcome[]>()
for (const one of cases) {
  const outcome = await judge(one)
  byClass.set(one.cls, [...(byClass.get(one.cls) ?? []), outcome])
  if (process.env.VERBOSE && !outcome.right) process.stdout.write(`${one.id} ${one.cls} ${JSON.stringify(outcome)}\n`)
}
await server.stop()
rmSync(folder, { recursive: true })

const percent = (outcomes: readonly Outcome[], holds: (outcome: Outcome) => boolean): string =>
  ((100 * outcomes.filter(holds).length) / Math.max(1, outcomes.length)).toFixed(1)
const HOWS = ['complete', 'own_new_text', 'read', 'applied', 'nothing'] as const
/** A line of the table: the name, then numbers; the columns by kind of second request are wider. */
const columns = (name: string, n: string, shares: readonly string[], counts: readonly string[]): string =>
  [
    name.padEnd(18),
    n.padStart(6),
    ...shares.map(share => share.padStart(9)),
    ...counts.map(count => count.padStart(14))
  ].join('')
const row = (name: string, outcomes: readonly Outcome[]): string =>
  columns(
    name,
    String(outcomes.length),
    [percent(outcomes, ({ right }) => right), percent(outcomes, ({ right, accepted }) => accepted && !right)],
    HOWS.map(how => String(outcomes.filter(outcome => outcome.how === how).length))
  )
const lines = [
  columns('class', 'n', ['right', 'elsewhere'], HOWS),
  ...[...byClass].map(([cls, outcomes]) => row(cls, outcomes)),
  row('all', [...byClass.values()].flat())
]
process.stdout.write(`${lines.join('\n')}\n`)
