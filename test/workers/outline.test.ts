// What leaves the thread that parses: of an outline only what is shown, since all of it may be a million items.
import t from 'tap'
import { Outliner } from '../../src/workers/outline.ts'

const outliner = new Outliner()
t.teardown(() => outliner.close())

const many = (count: number, line: (i: number) => string) =>
  Buffer.from(Array.from({ length: count }, (_, i) => line(i)).join('\n'))
const HEADINGS = many(3000, i => `# h${i}`)
const FUNCTIONS = many(1000, i => `function f${i} () {\n}`)

t.test('gives the items that are request for, and how many there are', async t => {
  const heading = (name: string, line: number) => ({
    kind: 'heading',
    name,
    level: 1,
    start_line: line,
    end_line: line
  })
  t.strictSame(await outliner.items(HEADINGS, 'markdown', { start: 1999, end: 2001 }), {
    ok: true,
    value: { items: [heading('h1999', 2000), heading('h2000', 2001)], total: 3000, syntax_error_lines: [] }
  })
  t.match(await outliner.items(FUNCTIONS, 'javascript', { start: 999, end: 2001 }), {
    value: { items: { length: 1 }, total: 1000 }
  })
})

t.test('gives the edit of a section, and of the outline only what was meant', async t => {
  const request = { action: 'append', new_text: 'Text.', line_endings: 'adapt', max_result_size: 1e6 } as const
  t.strictSame(await outliner.section(HEADINGS, 'markdown', { ...request, target: { heading: 'h7' } }), {
    ok: true,
    value: {
      ok: true,
      value: {
        edit: { start_line: 9, end_line: 8, new_text: 'Text.' },
        section: { entry: { kind: 'heading', name: 'h7', level: 1, start_line: 8, end_line: 8 }, errors_before: [] }
      }
    }
  })
  t.match(await outliner.section(FUNCTIONS, 'javascript', { ...request, target: { symbol: 'g' } }), {
    ok: true,
    value: { ok: false, failure: { code: 'TARGET_NOT_FOUND', outline: { length: 100 }, total: 1000 } }
  })
})

t.test('refuses a text that an edit made too large to parse', async t => {
  const small = new Outliner({ size: 10 })
  const request = { action: 'append', new_text: 'x'.repeat(9), line_endings: 'adapt', max_result_size: 1e6 } as const
  t.match(await small.section(Buffer.from('# h\n'), 'markdown', { ...request, target: { heading: 'h' } }), {
    ok: false,
    failure: { reason: 'too_large', limit: 10 }
  })
  await small.close()
})

t.test('gives the name of the symbol on just these lines', async t => {
  t.strictSame(await outliner.symbolOn(FUNCTIONS, 'javascript', [3, 4]), { ok: true, value: { symbol: 'f1' } })
  t.strictSame(await outliner.symbolOn(FUNCTIONS, 'javascript', [3, 5]), { ok: true, value: null })
  t.strictSame(await outliner.symbolOn(HEADINGS, 'markdown', [3, 3]), { ok: true, value: null })
})
