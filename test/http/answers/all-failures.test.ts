// all-failures.txt: what callers of routes are told of each failure of a request for src/app.ts. Written by this test with
// DOCS=write, and read as a diff.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { toProblem } from '../../../src/http/answers/problem.ts'
import { validator } from '../test-server.ts'
import { EXAMPLES, FAILURES, type Described } from './all-failures.ts'

const FILE = fileURLToPath(new URL('all-failures.txt', import.meta.url))
const faultsOf = validator(parse(readFileSync(new URL('../../../openapi.yaml', import.meta.url), 'utf8')))

const problemOf = ({ failure, context }: Described) =>
  toProblem(failure, { instance: '/edit', request_id: 'r-1', path: 'src/app.ts', ...context }).body

/** The members that tell it from others of its code, and what is said: a sentence a line. */
function shown(described: Described): string {
  const { code, ...members } = described.failure
  const example = EXAMPLES[code] as Record<string, unknown>
  const isTold = ([name, value]: [string, unknown]) =>
    typeof value !== 'object' || !isDeepStrictEqual(value, example[name])
  const own = { ...Object.fromEntries(Object.entries(members).filter(isTold)), ...described.context }
  const form = Object.keys(own).length === 0 ? '' : ` ${JSON.stringify(own)}`
  const sentences = problemOf(described).detail.replaceAll(/(?<=[\w"')\]}][.?]) /g, '\n')
  return `${code}${form.length > 240 ? `${form.slice(0, 240)}…` : form}\n${sentences}\n`
}

t.test('makes a valid problem of each failure', async t => {
  for (const described of FAILURES) t.strictSame(faultsOf('Problem', problemOf(described)), [], shown(described))
})

t.test('says of each failure what is wrong and what to do next', async t => {
  const now = FAILURES.map(shown).join('\n')
  if (process.env.DOCS === 'write') writeFileSync(FILE, now)
  else t.equal(readFileSync(FILE, 'utf8'), now, 'if that is what it should say, run this with DOCS=write')
})
