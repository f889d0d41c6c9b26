// The planner of patches against examples: every case of the table in which other appliers differ, and what comes of
// line breaks, marks and bytes that aren't UTF-8.
import t from 'tap'
import type { HunkFailure } from '../../../src/engine/failure.ts'
import { parseDiff } from '../../../src/engine/patch/v4a.ts'
import { planHunks } from '../../../src/engine/plan/apply-hunks.ts'
import { planTask, replanOnCurrent, type Task } from '../../../src/engine/task.ts'

const LIMIT = 1 << 20

function plan(file: string | Buffer, diff: string, limit = LIMIT, line_break?: '\r\n') {
  const parsed = parseDiff(diff)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure))
  return planHunks(Buffer.from(file), parsed.value, { max_result_size: limit, line_break })
}

/** Applies a diff; compares the file, or the members of the failure that are named. */
function check(name: string, file: string | Buffer, diff: string, expected: string | Buffer | object): void {
  t.test(name, async t => {
    const planned = plan(file, diff)
    if (typeof expected === 'string' || Buffer.isBuffer(expected)) {
      t.ok(planned.ok, planned.ok ? '' : JSON.stringify(planned.failure))
      const bytes = planned.ok ? Buffer.concat(planned.value.pieces) : Buffer.alloc(0)
      t.equal(bytes.toString('latin1'), Buffer.from(expected).toString('latin1'))
      return
    }
    t.match(planned.ok ? planned.value : planned.failure, expected)
    if (planned.ok) return
    // An empty list would match any.
    if ('diffs' in expected) {
      t.equal((planned.failure as HunkFailure).diffs.length, (expected.diffs as unknown[]).length)
    }
    for (const { diff: corrected } of (planned.failure as HunkFailure).diffs) t.ok(plan(file, corrected).ok, corrected)
  })
}

/** A failure with these diffs instead. */
const refused = (code: string, what: string, diffs: string[], more: object = {}) => ({
  code,
  what,
  ...more,
  diffs: diffs.length === 0 ? [] : diffs.map(diff => ({ diff }))
})

const F = 'def f():\n    a\n\ndef g():\n    a\n'

// Where the vendors' appliers differ.
check('refuses a trimmed match, and corrects the indentation of all lines', 'if x:\n\ta\n\tb\n', '@@\n-  a\n+  c\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-\ta\n+\tc\n']),
  cause: { type: 'indentation', expected: '  ', found: '\t' }
})
check('refuses a match but for white space at the end', 'x  \ny\n', '@@\n x\n-y\n+z\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n x  \n-y\n+z\n']),
  cause: { type: 'trailing_space', expected: 'x', found: 'x  ' }
})
check('refuses a match but for punctuation', 'say “x”\n', '@@\n-say "x"\n+say "y"\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-say “x”\n+say “y”\n'])
})
check('refuses lines that are there twice', F, '@@\n-    a\n+    b\n', {
  ...refused('WRONG_COUNT', 'lines', ['@@\n def f():\n-    a\n+    b\n', '@@\n def g():\n-    a\n+    b\n']),
  actual_occurrences: 2,
  match_lines: [2, 5]
})
check('refuses an anchor that is missing', F, '@@ def nope():\n-    a\n+    b\n', {
  ...refused('NO_MATCH', 'anchor', ['@@\n def f():\n-    a\n+    b\n', '@@\n def g():\n-    a\n+    b\n']),
  search_text: 'def nope():'
})
check('refuses one of several anchors that is missing', F, '@@ class A\n@@ def g():\n-    a\n+    b\n', {
  ...refused('NO_MATCH', 'anchor', []),
  search_text: 'class A',
  diffs: [{}, {}]
})
check('proposes first what stands below a line like the anchor', F, '@@ def  g( ):\n-    a\n+    b\n', {
  ...refused('NO_MATCH', 'anchor', ['@@\n def g():\n-    a\n+    b\n', '@@\n def f():\n-    a\n+    b\n'])
})
check(
  'puts an addition below its anchor',
  F,
  '@@ def g():\n+    new\n',
  'def f():\n    a\n\ndef g():\n    new\n    a\n'
)
check('refuses an addition without anchor', 'a\nb\n', '@@\n+x\n', {
  ...refused('NO_MATCH', 'place', ['@@\n+x\n*** End of File\n', '@@\n+x\n a\n'])
})
check('puts additions below hunks that follow them', 'a\nb\nc\n', '@@\n+x\n@@\n-b\n+y\n@@\n+z\n', {
  ...refused('NO_MATCH', 'place', ['@@\n-b\n+y\n@@\n+x\n*** End of File\n@@\n+z\n*** End of File\n'])
})
check('corrects the hunks that follow additions too', 'a\n  b\nc\n', '@@\n+x\n@@\n-b\n+y\n', {
  ...refused('NO_MATCH', 'place', ['@@\n-  b\n+  y\n@@\n+x\n*** End of File\n', '@@\n+x\n a\n@@\n-  b\n+  y\n'])
})
check('puts additions alone below each other', 'a\n', '@@\n+x\n@@\n+z\n', {
  ...refused('NO_MATCH', 'place', ['@@\n+x\n*** End of File\n@@\n+z\n*** End of File\n'])
})
check('puts additions nowhere where a hunk that follows has no place', 'a\nb\n', '@@\n+x\n@@\n-quite another\n+y\n', {
  ...refused('NO_MATCH', 'place', [])
})
for (const [file, diff, corrected] of [
  ['foo   \nbar\t\t\n', '-foo\n-bar\n+FOO\n+BAR\n', '-foo   \n-bar\t\t\n+FOO\n+BAR\n'],
  ['f(1)  \ng(2)  \n', '-f(1)\n-g(2)\n+f(1, 2)\n+g(2, 3)\n', '-f(1)  \n-g(2)  \n+f(1, 2)  \n+g(2, 3)  \n'],
  ['foo  \nx\t\n', '-foo\n x\n+y\n', '-foo  \n x\t\n+y\n']
] as const) {
  check(`ends changed lines alike: ${JSON.stringify(file)}`, file, `@@\n${diff}`, {
    ...refused('NO_MATCH', 'lines', [`@@\n${corrected}`])
  })
}
check('puts an addition at the end of the file', 'a\nb\n', '@@\n+x\n*** End of File\n', 'a\nb\nx\n')
check('puts an addition into an empty file', '', '@@\n+x\n', 'x\n')
check('changes the end of the file', 'a\nb\na\nb\n', '@@\n-b\n+c\n*** End of File\n', 'a\nb\na\nc\n')
check('refuses what is not at the end of the file', 'a\nb\na\nq\n', '@@\n-b\n+c\n*** End of File\n', {
  ...refused('NO_MATCH', 'end', ['@@\n-b\n+c\n'])
})
check('refuses what is nowhere, also at the end', 'a\n', '@@\n-b\n+c\n*** End of File\n', {
  ...refused('NO_MATCH', 'lines', [])
})
check('leaves a missing final break missing', 'a\nb', '@@\n a\n-b\n+c\n', 'a\nc')
check('leaves a final break there', 'a\nb\n', '@@\n a\n-b\n+c', 'a\nc\n')
check('takes a header of git as @@', 'a\nb\n', '@@ -1,2 +1,2 @@ foo\n a\n-b\n+c\n', 'a\nc\n')

// Anchors and blocks.
check('finds an anchor but for white space around it', F, '@@ def g():  \n-    a\n+    b\n', F.replace(/a\n$/, 'b\n'))
check('takes the one match in the block of an anchor', F, '@@ def f():\n-    a\n+    b\n', F.replace('a', 'b'))
check(
  'refuses two matches in the block of an anchor',
  'def f():\n    a\n    a\nb\na\n',
  '@@ def f():\n-    a\n+    b\n',
  {
    ...refused('WRONG_COUNT', 'lines', []),
    below: 1,
    diffs: [{}, {}]
  }
)
check('refuses a second match below an anchor that begins no block', 'x\na\ny\na\n', '@@ x\n-a\n+b\n', {
  ...refused('WRONG_COUNT', 'lines', ['@@\n x\n-a\n+b\n', '@@\n y\n-a\n+b\n'])
})
check('takes one match below an anchor, however far', 'x\n1\n2\n3\na\n', '@@ x\n-a\n+b\n', 'x\n1\n2\n3\nb\n')
check('refuses an anchor that is there twice', 'x\na\nx\nb\n', '@@ x\n-b\n+c\n', {
  ...refused('WRONG_COUNT', 'anchor', ['@@\n-b\n+c\n']),
  match_lines: [1, 3]
})
check('puts an addition below each of two anchors', 'x\na\nx\nb\n', '@@ x\n+n\n', {
  ...refused('WRONG_COUNT', 'anchor', ['@@\n x\n+n\n a\n', '@@\n x\n+n\n b\n'])
})
const CLASSES = 'class A:\n  def f():\n    a\n  def g():\n    a\nclass B:\n  def f():\n    a\n'
check(
  'finds an anchor in the block of the one before',
  CLASSES,
  '@@ class A:\n@@ def f():\n-    a\n+    b\n',
  CLASSES.replace('a\n', 'b\n')
)
check('refuses an anchor twice in such a block', CLASSES, '@@ class A:\n@@ a\n+    b\n', {
  ...refused('WRONG_COUNT', 'anchor', []),
  search_text: 'a',
  below: 1,
  diffs: [{}, {}, {}]
})
check('refuses an anchor above the one before', 'y\nx\na\n', '@@ x\n@@ y\n-a\n+b\n', {
  ...refused('NO_MATCH', 'anchor', ['@@\n-a\n+b\n']),
  below: 2
})
check(
  'changes one function twice, each time below its name',
  F,
  '@@ def f():\n-    a\n+    b\n@@ def f():\n \n def g():\n+    c\n',
  F.replace('a\n\ndef g():\n', 'b\n\ndef g():\n    c\n')
)
const BRACES = 'f() {\n  a\n} else {\n  a2\n}\nfunction g(\n  x,\n) {\n  a\n}\nvoid h()\n{\n  a\n}\n'
check('sees a block with braces', BRACES, '@@ f() {\n-  a\n+  b\n', BRACES.replace('a\n', 'b\n'))
check(
  'sees a block below parameters',
  BRACES,
  '@@ function g(\n-  a\n+  b\n',
  BRACES.replace('{\n  a\n}\nv', '{\n  b\n}\nv')
)
check(
  'sees a block whose brace has a line of its own',
  `${BRACES}  a\n`,
  '@@ void h()\n-  a\n+  b\n',
  `${BRACES.replace(/a\n\}\n$/, 'b\n}\n')}  a\n`
)
check('sees no block where the next line can not be compared', '    f:\n\tb\nb\n\tb\n', '@@ f:\n-\tb\n+c\n', {
  ...refused('WRONG_COUNT', 'lines', []),
  diffs: [{}, {}]
})
check('sees no block where an inner line can not be compared', '\tf:\n\t\tb\n  x\nb\n\t\tb\n', '@@ f:\n-\t\tb\n+c\n', {
  ...refused('WRONG_COUNT', 'lines', []),
  diffs: [{}, {}]
})

// Several hunks.
check('applies hunks in order', 'a\nb\nc\nd\n', '@@\n-a\n+A\n@@\n-d\n+D\n', 'A\nb\nc\nD\n')
check('looks for a hunk below the one before', 'a\nx\na\n', '@@\n-x\n+y\n@@\n-a\n+b\n', 'a\ny\nb\n')
check('puts hunks out of order into order', 'a\nb\nc\nd\n', '@@\n-d\n+D\n@@\n-b\n+B\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-b\n+B\n@@\n-d\n+D\n']),
  edit_index: 1,
  total_edits: 2,
  diff_line: 4
})
check('puts an addition above the hunk before into order', 'a\nb\nc\n', '@@\n-c\n+C\n@@ a\n+x\n', {
  ...refused('NO_MATCH', 'order', ['@@ a\n+x\n@@\n-c\n+C\n'])
})
check('refuses hunks that overlap', 'a\nb\nc\n', '@@\n a\n-b\n+B\n@@\n b\n-c\n+C\n', {
  code: 'NO_MATCH',
  what: 'lines'
})
check('corrects all hunks that need it', 'a b\nc\nd e\n', '@@\n-a  b\n+x\n@@\n-c\n+y\n@@\n-d  e\n+z\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-a b\n+x\n@@\n-c\n+y\n@@\n-d e\n+z\n']),
  diffs: [{ corrected: [0, 2] }]
})
check(
  'offers no diff where another hunk can not be corrected',
  F,
  '@@\n-    a\n+    b\n@@\n-quite another thing\n+z\n',
  {
    ...refused('WRONG_COUNT', 'lines', []),
    also_unplaced: [{ edit_index: 1, total_edits: 2, diff_line: 4 }]
  }
)

check('offers no diff that would change nothing', 'if x:\n    a()\n    }\nend\n', '@@\n   a()\n-  }\n+  }\n', {
  ...refused('NO_MATCH', 'lines', [])
})

t.test('offers a diff for each place of another hunk', async t => {
  const bad = '@@\n-    x\n+    y\n'
  const file = `${'  x\n'}${F}`
  const failed = (diff: string) => (plan(file, diff) as { failure: HunkFailure }).failure.diffs
  t.equal(failed(bad).length, 1)
  const either = failed(`${bad}@@\n-    a\n+    b\n`)
  t.match(either, [
    { lines: [3, 3], hunk_index: 1, corrected: [0, 1] },
    { lines: [6, 6], hunk_index: 1, corrected: [0, 1] }
  ])
  t.equal(either.length, 2)
  for (const { diff } of either) t.ok(plan(file, diff).ok, diff)
  const twice = `@@\n-    a\n+    b\n`
  t.strictSame(failed(`${bad}${twice}@@\n-    q\n+    c\n`), [], 'not where a third has none')
  const below = failed(`${bad}@@ def g():\n-    a\n+    b\n`)
  t.equal(below.length, 1, 'but where it has one')
  const order = failed(`${bad}@@\n-    a\n+    b\n@@\n-def g():\n+def h():\n`)
  t.strictSame(
    order[0]?.diff,
    '@@\n-  x\n+  y\n@@\n def f():\n-    a\n+    b\n@@\n-def g():\n+def h():\n',
    'for the order of the hunks'
  )
})

check('puts several hunks out of order into order', 'a\nb\nc\nd\ne\n', '@@\n-e\n+E\n@@\n-c\n+C\n@@\n-a\n+A\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-a\n+A\n@@\n-c\n+C\n@@\n-e\n+E\n']),
  diffs: [{ lines: [3, 3], corrected: [0, 2] }]
})
check('puts no hunks into order that overlap then', 'a\nb\nc\nd\n', '@@\n-d\n+D\n@@\n-b\n-c\n+x\n@@\n a\n-b\n+y\n', {
  ...refused('NO_MATCH', 'lines', [])
})

t.test('names the hunks behind that have no place either', async t => {
  const hunk = (old: string, by = 'z'): string => `@@\n-${old}\n+${by}\n`
  const unplaced = (file: string, ...hunks: string[]) => {
    const { failure } = plan(file, hunks.join('')) as { failure: HunkFailure }
    t.strictSame(failure.diffs, [])
    return failure.also_unplaced?.map(({ edit_index }) => edit_index)
  }
  const [none, other] = [hunk('quite another thing'), hunk('something else again')]
  const file = 'alpha\nbeta\ngamma\nbeta\n'
  t.strictSame(unplaced(file, none, hunk('alpha'), other, hunk('gamma')), [2])
  t.strictSame(unplaced(file, hunk('alpha'), none, other), [2])
  t.equal(unplaced(file, none, hunk('alpha')), undefined)
  t.equal(unplaced(file, none, hunk('beta')), undefined, 'not one that is there twice, which the one before may decide')
  t.strictSame(unplaced(file, hunk('gamma'), none, hunk('alpha'), other), [3], 'not one that is out of order')
  t.strictSame(unplaced(file, none, '@@ nowhere\n+x\n', '@@\n+x\n', '@@\n-alpha\n+x\n*** End of File\n'), [1, 2, 3])
  t.strictSame(unplaced(file, none, hunk('alpha'), hunk('beta'), other), [3], 'behind one that is there twice')
  t.strictSame(unplaced(file, none, ...[1, 2, 3, 4, 5, 6].map(i => hunk(`line ${i} of nowhere`))), [1, 2, 3, 4], 'four')
})

check(
  'says that a hunk seems to be applied',
  'const total = 1 + offset\n',
  '@@\n-const total = 1\n+const total = 1 + offset\n',
  {
    ...refused('NO_MATCH', 'lines', []),
    applied_lines: [1, 1]
  }
)

// Line breaks, marks, other bytes.
check('applies LF to CRLF', 'a\r\nb\r\nc\r\n', '@@\n a\n-b\n+B\n+C\n', 'a\r\nB\r\nC\r\nc\r\n')
check('applies CRLF to LF', 'a\nb\n', '@@\r\n a\r\n-b\r\n+B\r\n', 'a\nB\n')
check('keeps mixed breaks', 'a\r\nb\nc\r\nd', '@@\n a\n-b\n+B\n c\n-d\n+D\n', 'a\r\nB\nc\r\nD')
check('takes a lone CR as a break', 'a\rb\rc', '@@\n a\n-b\n+B\n+C\n', 'a\rB\rC\rc')
check('leaves a byte-order mark', '\ufeffa\nb\n', '@@\n-a\n+A\n', '\ufeffA\nb\n')
check(
  'leaves bytes that are not UTF-8',
  Buffer.from('\xff\na\n\xfe\n', 'latin1'),
  '@@\n-a\n+é\n',
  Buffer.concat([Buffer.from('\xff\n', 'latin1'), Buffer.from('é\n'), Buffer.from('\xfe\n', 'latin1')])
)
check('writes no context that is not UTF-8', Buffer.from('\xff\na\n\xfe\na\n', 'latin1'), '@@\n-a\n+b\n', {
  ...refused('WRONG_COUNT', 'lines', [])
})
check('takes an empty kept line for the one behind the end', 'a\n', '@@\n-a\n+b\n\n', 'b\n')
check('makes a line of it where another is added below', 'a\n', '@@\n a\n \n+b\n', 'a\n\nb\n')
check('refuses to remove the line behind the end', 'a\n', '@@\n a\n-\n', { code: 'NO_MATCH' })
check('counts the line behind the end as a place, not as a line', 'x\n\ny\n', '@@\n \n+c\n', {
  ...refused('WRONG_COUNT', 'lines', ['@@\n x\n \n+c\n', '@@\n y\n+c\n']),
  actual_occurrences: 2,
  match_lines: [2],
  match_locations: [{ line_number: 2 }],
  behind_end: 4
})
check('seeks no line behind the end where the end was said', 'x\ny\n', '@@\n \n+c\n*** End of File\n', {
  code: 'NO_MATCH',
  what: 'lines'
})
check('shows the last line where old lines are not the last ones', 'x\n\ny\n', '@@\n-\n+c\n*** End of File\n', {
  code: 'NO_MATCH',
  what: 'end',
  file_preview: { highlights: [{ start_line: 3, end_line: 3 }] }
})
check('adds an empty line at the end', 'a', '@@\n a\n+\n', 'a\n\n')
check('removes the last line', 'a\nb', '@@\n a\n-b\n', 'a')
check('removes all lines', 'a\nb\n', '@@\n-a\n-b\n', '')
check('adds before and after', 'a\n', '@@\n+x\n a\n+y\n', 'x\na\ny\n')

// What distinguishes the diffs for several places.
const BODY = '    c\n    c\n    c\n    c\n    x\n    c\n    c\n    c\n    c\n'
check(
  'tells places by an anchor where a few lines do not',
  `def f():\n${BODY}def g():\n${BODY}`,
  '@@\n-    x\n+    y\n',
  {
    ...refused('WRONG_COUNT', 'lines', ['@@ def f():\n-    x\n+    y\n', '@@ def g():\n-    x\n+    y\n'])
  }
)
const FLAT = 'c\nc\nc\nc\nx\nc\nc\nc\nc\n'
check('tells places by more lines where there is no anchor', `A\n${FLAT}B\n${FLAT}`, '@@\n-x\n+y\n', {
  ...refused('WRONG_COUNT', 'lines', []),
  diffs: [{ lines: [6, 6] }, { lines: [16, 16] }]
})
check('proposes only the end where no line can be written', Buffer.from('\xff\n', 'latin1'), '@@\n+x\n', {
  ...refused('NO_MATCH', 'place', ['@@\n+x\n*** End of File\n'])
})
check('leaves new lines as they are where white space is changed by both', 'if:\n  x\t\n', '@@\n-  x  \n+  x\n+  y\n', {
  ...refused('NO_MATCH', 'lines', ['@@\n-  x\t\n+  x\n+  y\n'])
})
check(
  'puts no line in whose depth no line says',
  'if x:\n    if y:\n        a\n    b\n',
  '@@\n if y:\n a\n+c\n b\n',
  refused('NO_MATCH', 'lines', [])
)
check(
  'puts no line in that opens a block where nothing is indented',
  'if x:\n    a\n    b\n',
  '@@\n a\n+if y:\n b\n',
  refused('NO_MATCH', 'lines', [])
)
check(
  'puts a line in between two of one depth',
  'if x:\n    if y:\n        a\n        b\n',
  '@@\n if y:\n a\n+c\n b\n',
  refused('NO_MATCH', 'lines', ['@@\n     if y:\n         a\n+        c\n         b\n'])
)
const MANY = Array.from({ length: 1500 }, (_, i) => `w${i} z`)
check(
  'corrects a hunk of many lines',
  MANY.map(line => `  ${line}\n`).join(''),
  `${MANY.map(line => `-${line}\n`).join('')}${MANY.map(line => `+${line.slice(0, -2)}\n`).join('')}`,
  { code: 'NO_MATCH', what: 'lines', diffs: [{ lines: [1, 1500], corrected: [0] }] }
)

check(
  'tells places by stacked anchors',
  `class A:\n  def f():\n${BODY}class B:\n  def f():\n${BODY}`,
  '@@\n-    x\n+    y\n',
  {
    ...refused('WRONG_COUNT', 'lines', [
      '@@ class A:\n@@ def f():\n-    x\n+    y\n',
      '@@ class B:\n@@ def f():\n-    x\n+    y\n'
    ])
  }
)

check('tells places in one block by more lines', `def f():\n${BODY}    d\n${BODY}`, '@@\n-    x\n+    y\n', {
  code: 'WRONG_COUNT',
  diffs: [{ lines: [6, 6] }, { lines: [16, 16] }]
})

t.test('is a change like others, which can be made for another state', async t => {
  const parsed = parseDiff('@@\n-b\n+B\n')
  if (!parsed.ok) throw new Error('not read')
  const task: Task = {
    change: { operation: 'apply_hunks', hunks: parsed.value },
    max_result_size: LIMIT,
    context_lines: 1,
    dry_run: false
  }
  t.match(planTask(Buffer.from('a\nb\n'), task, { path: 'x', exists: true }), {
    value: { description: { changes: { changes: [{ edit_index: 0, start_line: 2, end_line: 2 }] } } }
  })
  t.match(replanOnCurrent(Buffer.from('b\n'), task), { fits: true, places: [[1, 1]] })
  t.match(replanOnCurrent(Buffer.from('c\n'), task), { fits: false, failure: { code: 'NO_MATCH', what: 'lines' } })
})

t.test('replaces only lines that differ', async t => {
  const planned = plan('a\nb\nc\nd\n', '@@\n-a\n-b\n-c\n+a\n+B\n+c\n d\n')
  t.ok(planned.ok)
  if (!planned.ok) return
  t.strictSame(planned.value.splices.list, [{ start: 2, end: 4, insert: Buffer.from('B\n') }])
  t.match(planned.value.placements, [{ edit_index: 0, operation: 'replace', new_start: 2, new_end: 4 }])
})

t.test('changes nothing where all lines are the same', async t => {
  const planned = plan('a\n', '@@\n-a\n+a\n')
  t.ok(planned.ok && planned.value.splices.list.length === 0)
})

t.test('says which hunk makes the result too large', async t => {
  const planned = plan('a\nb\n', `@@\n-a\n+A\n@@\n-b\n+${'x'.repeat(100)}\n`, 50)
  t.match(planned, { failure: { code: 'RESULT_TOO_LARGE', edit_index: 1, total_edits: 2, limit: 50 } })
})

t.test('leaves to a thread what takes long', async t => {
  const parsed = parseDiff('@@\n-nothing of the kind\n+x\n')
  if (!parsed.ok) throw new Error('not read')
  const long = Buffer.from('some line\n'.repeat(10_000))
  const within = (bytes: Buffer, work_within: number) =>
    planHunks(bytes, parsed.value, { max_result_size: LIMIT, work_within })
  t.match(within(long, 1_000_000), { failure: { code: 'TAKES_LONG' } })
  t.match(within(long, 1), { failure: { code: 'TAKES_LONG' } })
  t.match(within(Buffer.from('some line\n'), 1_000_000), { failure: { code: 'NO_MATCH' } })
  const numbered = (length: number, line: (n: number) => string) => Array.from({ length }, (_, n) => line(n)).join('')
  const many = parseDiff(numbered(20, n => `@@\n-line ${n}\n+x\n`))
  if (!many.ok) throw new Error('not read')
  const lines = Buffer.from(numbered(10_000, n => `line ${n}\n`))
  const planned = (work_within: number) => planHunks(lines, many.value, { max_result_size: LIMIT, work_within })
  t.match(planned(199_999), { failure: { code: 'TAKES_LONG' } })
  t.match(planned(200_000), { ok: true })
})

t.test('offers no diff that is too long, and says so', async t => {
  const planned = plan(F, `@@\n-    a\n${'+    b\n'.repeat(10_000)}`)
  t.match(planned, { failure: { code: 'WRONG_COUNT', diffs: [], too_long: true } })
})

t.test('corrects a hunk that puts in more lines than are compared with those there', async t => {
  const file = 'let one = 1\nlet  two = 2\nlet three = 3\n'
  const planned = plan(file, `@@\n let one = 1\n-let two = 2\n+let two = 4\n${'+\n'.repeat(2500)} let three = 3\n`)
  const { diffs } = (planned as { failure: HunkFailure }).failure
  const corrected = plan(file, diffs[0]?.diff ?? '')
  const pieces = corrected.ok ? corrected.value.pieces : []
  t.equal(Buffer.concat(pieces).toString(), `let one = 1\nlet  two = 4\n${'\n'.repeat(2500)}let three = 3\n`)
})

/** Applies a diff whose lines end with CRLF. */
for (const [file, diff, result] of [
  ['', '@@\n+a\n+b\n', 'a\r\nb\r\n'],
  ['\ufeff', '@@\n+a\n', '\ufeffa\r\n'],
  ['a', '@@\n a\n+b\n', 'a\r\nb'],
  ['a\n', '@@\n a\n+b\n', 'a\nb\n']
] as const) {
  t.test(`ends new lines with CRLF only where there is no break: ${JSON.stringify(file)}`, async t => {
    const planned = plan(file, diff, LIMIT, '\r\n')
    t.equal(planned.ok && Buffer.concat(planned.value.pieces).toString(), result)
  })
}
