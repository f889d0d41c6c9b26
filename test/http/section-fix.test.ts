// A miss of a whole symbol: the fix that replaces it by its name, and where there is none.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SuggestedFix } from '../../schemas/problem.ts'
import { bytesOf, check as request, startServer } from './test-server.ts'

const server = await startServer(t, {})

const SYNC = ['function sync(list) {', '  const target = open(list)', '  copy(list, target)', '}']
const GROWN = [
  'function sync(list) {',
  '  const target = await openAll(list, { create: true })',
  '  if (target.isFull) {',
  '    throw new Error("full")',
  '  }',
  '  await copyEverything(list, target)',
  '}'
]
const old_text = SYNC.join('\n')
const new_text = old_text.replace('copy(list', 'move(list')

/** Expects the USE_SECTION fix to have this symbol (and line), or that there is none. */
const check = (
  name: string,
  path: string,
  lines: readonly string[],
  section: { symbol: string; at_line?: number } | undefined,
  edit: object = { old_text, new_text }
) =>
  t.test(name, async t => {
    writeFileSync(join(server.root, path), `${lines.join('\n')}\n`)
    const { body } = await request(t, server, '/edit', { path, ...edit }, 422, { code: 'NO_MATCH' })
    const call = (body.suggested_fixes as SuggestedFix[]).find(({ type }) => type === 'USE_SECTION')?.call
    t.strictSame(call, section && { name: '/edit-section', arguments: { path, action: 'replace', ...section } })
    if (section === undefined) return
    t.match(body.detail as string, `${JSON.stringify(section.symbol)} is lines `)
    const asked = { body: { path, ...edit }, headers: { accept: 'text/plain' } }
    const { text } = await server.call('POST', '/tools/edit_file', asked)
    const called = JSON.stringify({ name: 'edit_section', arguments: call!.arguments })
    t.ok(text.includes(`to replace all of it, send this with a new_text of your own:\n${called}\n`), text)
    await request(t, server, '/edit-section', { ...call!.arguments, new_text }, 200, {})
    t.match(bytesOf(server, path), 'move(list')
  })

const indented = (lines: readonly string[]) => lines.map(line => `  ${line}`)
check('names a function that has grown', 'a.ts', ['// x', ...GROWN, 'sync([])'], { symbol: 'sync' })
check(
  'names a method by its path',
  'b.ts',
  ['class Disk {', ...indented(GROWN).map(line => line.replace('function ', '')), '}'],
  { symbol: 'Disk.sync' },
  { old_text: old_text.replace('function ', ''), new_text }
)
check(
  'names a line where there are two of the name',
  'c.ts',
  ['function sync(a: string): void', ...GROWN, 'namespace other {', '  function sync() {}', '}', 'function sync() {}'],
  { symbol: 'sync', at_line: 2 }
)
check('names none in a language without symbols', 'd.txt', GROWN, undefined)
check('names none where the block is no symbol', 'e.ts', ['if (x) {', ...GROWN.slice(1)], undefined, {
  old_text: old_text.replace('function sync(list)', 'if (x)'),
  new_text
})
check(
  'names none where an edit is ready',
  'f.ts',
  SYNC.join('\n').replace('target)', 'target, 1)').split('\n'),
  undefined
)
check('names none for a part of a symbol', 'g.ts', GROWN, undefined, {
  old_text: '  const target = open(list, { create: true })',
  new_text: 'x'
})

/** A function, and one of its name with other parameters and another body, in which no line is alike. */
const REWRITTEN: [file: string, symbol: string, old: string, now: string][] = [
  [
    'h.ts',
    'save',
    'function save(data) {\n  write(data)\n  flush()\n}',
    'export async function save(\n  key: string,\n  rows: Row[]\n): Promise<void> {\n  for (const row of rows) {\n    if (row.ok) row.go()\n  }\n}'
  ],
  [
    'i.py',
    'save',
    'def save(data):\n    db.put(data)\n    db.commit()',
    '@cached\ndef save(path, rows):\n    with open(path) as f:\n        for row in rows:\n            f.write(row)'
  ],
  [
    'j.go',
    'Save',
    'func Save(data Data) {\n\tdb.Put(data)\n\tdb.Commit()\n}',
    'func Save(path string, rows []Row) error {\n\tfor _, r := range rows {\n\t\temit(r)\n\t}\n\treturn nil\n}'
  ],
  [
    'k.rs',
    'save',
    'fn save(data: Data) {\n    db.put(data);\n    db.commit();\n}',
    '#[inline]\npub async fn save<W: Write>(rows: &[Row], out: &mut W) -> Result<()> {\n    for row in rows {\n        out.emit(row)?;\n    }\n    Ok(())\n}'
  ],
  [
    'l.java',
    'Store.save',
    '    public void save(Data data) {\n        db.put(data);\n        db.commit();\n    }',
    '    @Override\n    public List<Row> save(Path path, List<Row> rows) throws IOException {\n        for (Row row : rows) {\n            emit(row);\n        }\n        return rows;\n    }'
  ]
]
for (const [file, symbol, old, now] of REWRITTEN) {
  const isJava = file.endsWith('.java')
  const lines = isJava
    ? ['class Store {', '    int a;', '', now, '}']
    : file.endsWith('.go')
      ? ['package a', '', now]
      : [now]
  const edit = { old_text: old, new_text: `${old}\n` }
  check(`names a function that was rewritten, in ${file}`, file, [...lines, ''], { symbol }, edit)
}
check(
  'names none of several that have the name',
  'm.py',
  [
    'class A:',
    '    def save(self, a):',
    '        return one(a)',
    '',
    'class B:',
    '    def save(self, b):',
    '        return two(b)'
  ],
  undefined,
  {
    old_text: 'def save(data):\n    db.put(data)\n    db.commit()',
    new_text: 'x'
  }
)
