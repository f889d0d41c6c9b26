// What counts as broken syntax: by examples of data, and by laws on random texts against JSON.parse and what `yaml` and
// `smol-toml` write.
import { stringify as tomlOf } from 'smol-toml'
import t from 'tap'
import { stringify as yamlOf } from 'yaml'
import { dataFault } from '../../../src/engine/syntax/data.ts'
import { newFault } from '../../../src/engine/syntax/new-fault.ts'
import { Random, SEED } from '../../random.ts'
import { rounds } from '../rounds.ts'

const parsed: string[] = []
/** Only languages of data have a parser that needs no thread. */
const faultOf = async (source: string, language: string) => {
  parsed.push(source)
  return (await dataFault(source, language))!
}
const check = (language: string, after: string, before: string | null) => newFault({ after, before }, language, faultOf)

t.test('finds where data is broken that was not', async t => {
  const cases: [language: string, before: string | null, after: string, fault: object | string][] = [
    ['json', '{}', '{\n  "a": 1\n  "b": 2\n}', { line: 3, column: 3, text: '"b": 2', reason: 'comma expected' }],
    ['json', '{}', '{ "a": 1, }', { line: 1, column: 11, text: '{ "a": 1, }', reason: 'property name expected' }],
    ['json', '[]', "['a']", { line: 1, column: 2, text: "['a']", reason: 'invalid symbol' }],
    ['json', '[]', '["a\n"]', { line: 1, column: 2, reason: 'unexpected end of string' }],
    ['json', ' \n', '{', { line: 1, column: 2, reason: 'close brace expected' }],
    ['json', null, '{"a": 1,}', { line: 1, column: 9 }],
    ['json', null, '// why\n{"a": 1,}', 'nothing'],
    ['json', '{\n// why\n"a": 1}', '{\n// why\n"a": 1,}', 'nothing'],
    ['json', '{\n// why\n"a": 1}', '{\n// why\n"a" 1,}', { line: 3, column: 5, reason: 'colon expected' }],
    ['json', '{"a": 1}', '{"a": 1} // why', { line: 1, column: 10, reason: 'invalid comment token' }],
    ['json', '{"a": 1', '{"a": 2', 'errors_before'],
    ['json', '{}', '{}', 'nothing'],
    ['json', '{}', '', 'nothing'],
    ['json', '{}', '{\n  {{ fields }}\n}', 'template'],
    ['jsonc', '{}', '{ /* why */ "a": [1,], }', 'nothing'],
    ['jsonc', '{}', '{ "a": [1,, }', { line: 1, column: 11, reason: 'value expected' }],
    ['json5', '{}', "{ // why\n  a: 'b',\n}", 'nothing'],
    ['json5', '{}', "{\n  a: 'b'\n  c: 1\n}", { line: 3, column: 3, text: 'c: 1', reason: "invalid character 'c'" }],
    ['json5', '{}', '{\n  a: "\n', { line: 2, column: 7, text: 'a: "', reason: "invalid character '\\n'" }],
    ['json5', '{}', '{ a: 1', { line: 1, column: 7, reason: 'invalid end of input' }],
    ['yaml', 'a: 1\n', 'a: 1\n---\nb: [1,\n  2]\n...\n', 'nothing'],
    ['yaml', 'a: 1\n', `a: 1\na: 2\nb: !Ref c\nd: \${{ e }}\n`, 'nothing'],
    ['yaml', 'a:\n  b: 1\n', 'a:\n\tb: 1\n', { line: 2, column: 1, text: 'b: 1', reason: /^Tabs are not allowed/ }],
    ['yaml', 'a: 1\n', 'a: 1\n---\nb: c: d\n', { line: 3, column: 4, text: 'b: c: d' }],
    ['yaml', 'a: 1\n', 'a: "1\n', { line: 2, column: 1, text: '', reason: /^Missing closing/ }],
    ['yaml', 'a: "{{ b }}"\n', 'a: {{ b }}-c\n', 'template'],
    ['yaml', 'a: 1\n', '{% if b %}\na: [1\n{% endif %}\n', 'template'],
    ['yaml', 'a: "{{ b }}"\n', 'a: "{{ b }}\n', { line: 2, column: 1 }],
    ['yaml', 'a: [\n', 'a: [[\n', 'errors_before'],
    ['toml', '[a]\nb = 1\n', '[a]\nb =\n', { line: 2, column: 4, text: 'b =' }],
    [
      'toml',
      '[a]\nb = 1\n',
      '[a]\nb = 1\nb = 2\n',
      { line: 3, column: 1, text: 'b = 2', reason: /^trying to redefine/ }
    ],
    ['toml', '[a]\n', '[a]\nb = {{ c }}\n', 'template'],
    ['toml', '[a\n', '[b\n', 'errors_before']
  ]
  for (const [language, before, after, expected] of cases) {
    const found = await check(language, after, before)
    t.match(
      found,
      typeof expected === 'string' ? { found: expected } : { found: 'fault', fault: expected },
      `${language} ${JSON.stringify(after)}: ${JSON.stringify(found)}`
    )
  }
})

t.test('parses the text before only where the one after has a fault', async t => {
  parsed.length = 0
  await check('yaml', 'a: 1\n', 'b: 1\n')
  t.strictSame(parsed, ['a: 1\n'])
  await check('yaml', 'a: [\n', 'b: 1\n')
  t.strictSame(parsed.slice(1), ['a: [\n', 'b: 1\n'])
})

t.test('leaves a failure of a parser to who asked', async t => {
  await t.rejects(check('json', '['.repeat(1e6), '{}'), RangeError)
  t.equal(await dataFault('', 'python'), undefined)
})

/** A random value that JSON, YAML and TOML can hold. */
function value(random: Random, depth: number): unknown {
  const kind = random.int(depth === 0 ? 4 : 6)
  if (kind === 0) return random.int(1000)
  if (kind === 1) return random.chance(50)
  if (kind < 4) return random.text(['a', ' ', ': ', '"', "'", '\n', '#', '- ', '{', ']', 'é', '\\'], 6)
  if (kind === 4) return Array.from({ length: random.int(4) }, () => value(random, depth - 1))
  return table(random, depth)
}
const table = (random: Random, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Array.from({ length: random.int(4) }, () => [random.text(['a', 'b', ' ', '.', '"'], 4), value(random, depth - 1)])
  )

const PARTS = ['{', '}', '[', ']', '"', "'", ':', ',', '=', ' ', '\n', '\t', '- ', '1', 'a', '\\', '#', '|']
/** The text with one stretch of it replaced. */
function changed(random: Random, text: string): string {
  const at = random.int(text.length + 1)
  return text.slice(0, at) + random.text(PARTS, 3) + text.slice(at + random.int(4))
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return text.trim() === ''
  }
}

t.test('law: has no fault in what is written as data', async t => {
  for (const round of rounds(t, 400)) {
    const random = new Random(SEED * 70_001 + round)
    const data = table(random, 3)
    for (const [language, text] of [
      ['json', JSON.stringify(data, null, random.int(3))],
      ['jsonc', JSON.stringify(data)],
      ['yaml', yamlOf(data)],
      ['yaml', JSON.stringify(data)],
      ['toml', tomlOf(data)]
    ] as const) {
      const found = await check(language, text, null)
      if (found.found !== 'nothing') t.fail(`${SEED} ${round} ${language} ${JSON.stringify(text)}`)
    }
  }
})

t.test('looks at no YAML that is nested so deeply that V8 could end the process', async t => {
  const fills: ((depth: number) => string)[] = [
    depth => `${'['.repeat(depth)}1${']'.repeat(depth)}`,
    depth => `${'- '.repeat(depth)}1`,
    depth => `${'? '.repeat(depth)}1`
  ]
  for (const fill of fills) {
    t.same(await faultOf(fill(300), 'yaml'), null)
    await t.rejects(faultOf(`a: 1\n---\n${fill(20_000)}\n`, 'yaml'), { message: 'YAML nested more than 1000 deep' })
  }
})

t.test('law: says that JSON is broken where JSON.parse takes only the text before', async t => {
  for (const round of rounds(t, 1000)) {
    const random = new Random(SEED * 70_003 + round)
    const before = JSON.stringify(table(random, 3), null, random.int(3))
    const after = changed(random, before)
    const { found } = await check('json', after, before)
    const expected = isJson(after) ? ['nothing'] : ['fault', 'template']
    if (!expected.includes(found)) t.fail(`${SEED} ${round} ${found} ${JSON.stringify(after)}`)
  }
})

t.test('law: a fault is at a place of the text; what had one before has no new one', async t => {
  for (const round of rounds(t, 600)) {
    const random = new Random(SEED * 70_005 + round)
    const data = table(random, 3)
    const language = random.pick(['json', 'jsonc', 'yaml', 'toml'])
    const before =
      language === 'yaml' ? yamlOf(data) : language === 'toml' ? tomlOf(data) : JSON.stringify(data, null, 1)
    const after = changed(random, before)
    const checked = await check(language, after, before)
    const lines = after.split('\n')
    if (checked.found === 'fault') {
      const { line, column, text } = checked.fault
      const isPlace = column >= 1 && column <= lines[line - 1]!.length + 1 && lines[line - 1]!.trim() === text
      if (!isPlace) t.fail(`${SEED} ${round} ${JSON.stringify(checked)} ${JSON.stringify(after)}`)
    }
    const again = await check(language, `${after}\n`, after)
    if (again.found === 'fault') t.fail(`${SEED} ${round} again ${JSON.stringify(after)}`)
  }
})
