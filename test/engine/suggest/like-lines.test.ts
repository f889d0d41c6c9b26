// A single line that was rewritten: that the line with most of its words is found, before parts of others.
import t from 'tap'
import { Budget } from '../../../src/engine/suggest/budget.ts'
import { Haystack } from '../../../src/engine/suggest/haystack.ts'
import { likeLines } from '../../../src/engine/suggest/like-lines.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'

/** Expects the part of `file` between « and » as the first suggestion. */
const check = (name: string, sought: string, file: string): void => {
  const text = Buffer.from(file.replace(/[«»]/g, ''))
  const [best] = suggest(text, sought).candidates
  const found = best && text.toString('utf8', best.start, best.end)
  t.equal(found, file.slice(file.indexOf('«') + 1, file.indexOf('»')), name)
}

check(
  'sets the same, not the end of a longer name',
  'opacity: $button-faded-opacity;',
  '  --x-faded-opacity: #{$button-faded-opacity};\n}\n.x {\n  «opacity: var(--x-button-faded-opacity);»\n}\n'
)
check(
  'has the same words, below one that has more others',
  "if (node.fields[key]) return 'shown'",
  '  if (node.parts.hasOwnProperty(key) && node.fields.hasOwnProperty(key) && (node.fields[key] as any).name) {\n' +
    "    return split ? 'other' : 'shown'\n  }\n  «if (node.fields.hasOwnProperty(key)) return 'shown'»\n" +
    "  if (node.parts.hasOwnProperty(key)) return 'plain'\n"
)
check(
  'has a constant instead of a text, which the file has elsewhere',
  'reader.hooks.finish.tap("InnerTreeReader", () => {',
  'const NAME = "InnerTreeReader";\n\n  «reader.hooks.finish.tap(PLUGIN_CODE, () => {»\n    done()\n  })\n'
)
check(
  'is one line, where a word of old_text stands lines below it',
  'server.hooks.finishModules.run("ConnectionTable", () => {',
  'x\n  «server.hooks.finishModules.run(NAME, () => {»\n    log.end("open")\n  })\n}\n\nmodule.exports = ConnectionTable;\n'
)

const lines = (file: string, sought: string, budget = new Budget(1e9)): string[] => {
  const haystack = new Haystack(Buffer.from(file))
  return likeLines(haystack, sought, budget).map(({ start, end }) => haystack.text(start, end))
}

t.test('takes lines with indentation and break where old_text has them, by the share of words', async t => {
  t.strictSame(lines('é\r\n\t const a = compute(b)  \r\n// none\n', 'const a = compute(c)'), ['const a = compute(b)'])
  t.strictSame(lines('x\r\n\t const a = compute(b)  \r\ny\n', '  const a = compute(c)\n'), [
    '\t const a = compute(b)  \r\n'
  ])
  t.strictSame(lines('alpha beta\nalpha beta gamma\n', 'alpha beta gamma'), ['alpha beta gamma', 'alpha beta'])
})

t.test('takes six lines at most', async t => {
  t.equal(lines('alpha beta 1\n'.repeat(20), 'alpha beta gamma').length, 6)
})

t.test('takes no word that is everywhere', async t => {
  t.strictSame(lines('alpha\n'.repeat(600), 'alpha be'), [])
  t.strictSame(lines(`${'alpha\n'.repeat(600)}alpha beta\n`, 'alpha beta'), ['alpha beta'])
})

t.test('is for short lines of small files', async t => {
  const long = 'word '.repeat(60)
  t.strictSame(lines(`${long}other\n`, long), [])
  t.strictSame(lines(`word other ${long}\n`, 'word other'), [], 'not from a long line')
  t.strictSame(lines(`${long}other words\n`, 'other words'), [], 'not at its end')
  t.strictSame(lines('alpha beta\n', 'alpha beta\ngamma'), [], 'not of several lines')
  t.strictSame(lines('alpha beta\n'.repeat(100_000), 'alpha beta gamma'), [], 'not in more than 1 MiB')
  t.strictSame(lines('a b\n', 'a b'), [], 'not of short words')
})

t.test('stops when the budget is used up', async t => {
  t.strictSame(lines('alpha beta\n'.repeat(9), 'alpha beta gamma', new Budget(10)), [])
  t.equal(lines('alpha beta\n'.repeat(9), 'alpha beta gamma', new Budget(300)).length, 1)
})
