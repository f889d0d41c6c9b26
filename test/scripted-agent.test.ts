// How often an agent succeeds that does exactly what the first call in an answer says: real files of packages, texts as
// models misremember them, the built server.
// runs in .ci/run
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { asSent, type Call, type FixKind, followFirstCall, marked, takeBack, withoutTrailingSpace } from './agent.ts'
import { often, ONLY_CI } from './often.ts'
import { Random } from './random.ts'
import { start } from './running.ts'

const PACKAGES = fileURLToPath(new URL('../node_modules/', import.meta.url))
const FILES = [
  'fastify/lib/reply.js',
  'fastify/lib/content-type-parser.js',
  'fastify/docs/Reference/Hooks.md',
  'pino/lib/tools.js',
  'pino/docs/api.md',
  'ajv/lib/core.ts',
  'ajv/lib/compile/validate/index.ts',
  'diff/libesm/patch/apply.js',
  'diff/README.md',
  'typescript/lib/lib.es5.d.ts',
  'proper-lockfile/lib/lockfile.js',
  '@fastify/cors/index.js'
]
const EACH = often(3, 2)
/** Every run has the same cases: the rate depends only on the code. */
const random = new Random(4)

type Mutation = (lines: string[]) => string[] | undefined

const someLine = (lines: string[], change: (line: string) => string) => {
  const at = random.int(lines.length)
  return lines.map((line, i) => (i === at ? change(line) : line))
}

/** How models change a text that they send back; undefined where that doesn't change this text. */
const MUTATIONS: Record<string, Mutation> = {
  duplicate: lines => lines,
  indentation_lost: lines => lines.map(line => line.trimStart()),
  indentation_shifted: lines => lines.map(line => (line === '' ? '' : `  ${line}`)),
  tabs: lines =>
    lines.some(line => line.startsWith('  '))
      ? lines.map(line => line.replace(/^ +/, blank => '\t'.repeat(Math.ceil(blank.length / 2))))
      : undefined,
  trailing_space: lines => lines.map(line => `${line}  `),
  inner_space: lines => someLine(lines, line => line.replace(/(\S) (\S)/, '$1  $2')),
  quotes: lines => (lines.join().includes("'") ? lines.map(line => line.replaceAll("'", '"')) : undefined),
  typographic: lines =>
    /['-]/.test(lines.join()) ? lines.map(line => line.replaceAll("'", '’').replaceAll(' - ', ' – ')) : undefined,
  entities: lines =>
    /[<>&]/.test(lines.join())
      ? lines.map(line => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
      : undefined,
  escaped: lines => [lines.map(line => line.replaceAll('"', '\\"')).join('\\n')],
  line_numbers: lines => lines.map((line, i) => `${String(41 + i).padStart(4)}\t${line}`),
  elided: lines =>
    lines.length > 4 ? [...lines.slice(0, 2), '// ... existing code ...', ...lines.slice(-2)] : undefined,
  fence: lines => ['```', ...lines, '```'],
  case: lines => lines.map(line => line.toLowerCase()),
  typo: lines => someLine(lines, line => line.replace(/(\w)(\w)(\w{3,})/, '$2$1$3')),
  renamed: lines => {
    const name = /[a-z]{4,}/.exec(lines.join('\n'))?.[0]
    return name && lines.map(line => line.replaceAll(name, 'someOtherName'))
  },
  line_dropped: lines => (lines.length > 3 ? lines.toSpliced(1 + random.int(lines.length - 2), 1) : undefined),
  line_added: lines => (lines.length > 3 ? lines.toSpliced(2, 0, '  log.debug("here we are")') : undefined),
  comment_added: lines => (lines.length > 3 ? lines.toSpliced(2, 0, '  // See the note above.') : undefined),
  joined: lines => [lines.map((line, i) => (i === 0 ? line : line.trim())).join(' ')]
} as Record<string, Mutation>

t.test('leads to the right result where the first call of its answer is followed', { skip: ONLY_CI }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-agent-'))
  const state = mkdtempSync(join(tmpdir(), 'editd-agent-state-'))
  const server = await start(folder, state, '--durability', 'fast', '--lock', 'local')
  t.teardown(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
    rmSync(state, { recursive: true })
  })
  const call: Call = (route, body) => server.post(route, body)
  const outcomes: { mutation: string; how: FixKind; right: boolean; accepted: boolean }[] = []
  const wrong: unknown[] = []
  for (const path of FILES) {
    const file = readFileSync(join(PACKAGES, path), 'utf8').replaceAll('\r\n', '\n')
    const lines = file.split('\n')
    for (const [mutation, mutate] of Object.entries(MUTATIONS)) {
      for (let made = 0, tries = 0; made < EACH && tries < 60; tries++) {
        const from = random.int(lines.length - 8)
        const block = lines.slice(from, from + 2 + random.int(6))
        const text = block.join('\n')
        const places = file.split(text).length - 1
        if (
          block[0]!.trim() === '' ||
          block.at(-1)!.trim().length < 3 ||
          text.replace(/\s/g, '').length < 60 ||
          (places === 1) === (mutation === 'duplicate')
        ) {
          continue
        }
        const old_text = mutate(block)?.join('\n')
        if (old_text === undefined || (mutation !== 'duplicate' && file.includes(old_text))) continue
        made++
        writeFileSync(join(folder, 'file.txt'), file)
        const sent = { path: 'file.txt', old_text, new_text: marked(old_text) }
        const first = await call('/tools/edit_file', asSent(sent, outcomes.length))
        if (first.status === 200) {
          t.fail(`${mutation} was applied at once: ${old_text}`)
          continue
        }
        const { how, edit } = await followFirstCall(call, first.text, {
          path: 'file.txt',
          edit: { old_text },
          wanted: marked
        })
        const second = await call('/tools/edit_file', asSent(edit, outcomes.length, true))
        const result = withoutTrailingSpace(readFileSync(join(folder, 'file.txt'), 'utf8'))
        const right =
          second.status === 200 &&
          Array.from({ length: places }, (_, i) => nth(file, text, i)).some(
            at => result === withoutTrailingSpace(file.slice(0, at) + marked(text) + file.slice(at + text.length))
          )
        outcomes.push({ mutation, how, right, accepted: second.status === 200 })
        if (!right) wrong.push({ path, mutation, old_text, text: first.text, how, edit })
        const isBack = second.status !== 200 || (await takeBack(call, second.text))
        t.ok(isBack && readFileSync(join(folder, 'file.txt'), 'utf8') === file, `taken back: ${second.text}`)
      }
    }
  }
  const rate = outcomes.filter(({ right }) => right).length / outcomes.length
  const countOf = (how: FixKind) => outcomes.filter(outcome => outcome.how === how).length
  const kinds = `complete ${countOf('complete')}, own new_text ${countOf('own_new_text')}, read ${countOf('read')}`
  const misplaced = outcomes.filter(({ right, accepted }) => accepted && !right).length
  t.comment(
    `${outcomes.length} problems: ${(rate * 100).toFixed(1)} % right after the first fix (${kinds}), ` +
      `accepted in a wrong place ${misplaced}`
  )
  t.ok(outcomes.length > 400, `${outcomes.length} problems`)
  t.ok(rate >= 0.99, `${(rate * 100).toFixed(1)} %: ${JSON.stringify(wrong, null, 1)}`)
})

function nth(text: string, part: string, index: number): number {
  let at = text.indexOf(part)
  for (let i = 0; i < index; i++) at = text.indexOf(part, at + part.length)
  return at
}
