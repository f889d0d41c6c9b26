// What looks like a mistake in a new text, and what doesn't.
import t from 'tap'
import { warningsOfNewText } from '../../../src/engine/edit/new-text-warnings.ts'

/** `put` in place of `replaced` gives these newTextWarnings, as `type:line`. */
function check(name: string, put: string, expected: string[], replaced = ''): void {
  t.strictSame(
    warningsOfNewText(put, Buffer.from(replaced), 0).map(({ type, line }) => `${type}:${line}`),
    expected,
    name
  )
}

for (const line of [
  '...',
  '…',
  '    ...',
  '// ...',
  '# ...',
  '/* ... */',
  '<!-- ... -->',
  '{/* ... */}',
  '// ... existing code ...',
  '// ...existing code...',
  '  # ... rest of the function ...',
  '// ... (rest of file)',
  '// rest of the code',
  '// existing code',
  '// existing imports',
  '# remaining methods unchanged',
  '// (unchanged)',
  '// same as before',
  '// no changes here',
  '-- ... keep the other columns ...',
  '% ... existing content ...',
  '; ...',
  '<!-- existing content -->',
  '{/* ... existing JSX ... */}',
  '// Rest of the implementation remains the same.',
  '/* rest of your styles */',
  '// … unchanged …',
  '[...]',
  '// code omitted for brevity',
  '/* rest unchanged */',
  '-- rest of query unchanged',
  '<!-- rest of the page unchanged -->',
  '[rest of the file unchanged]',
  '# rest remains the same',
  '// The rest of the switch statement stays the same.'
]) {
  check(`takes for a placeholder: ${line}`, `a\n${line}\nb`, ['placeholder:2'])
}

for (const line of [
  'const b = [...a]',
  'f(...rest)',
  '  ...rest,',
  '...props',
  'print("...")',
  'Wait...',
  '// Wait for it...',
  '// remaining bytes',
  '// the rest is for the caller',
  '// the rest of the bytes are unchanged by this call',
  '[rest]',
  '// existing users keep their token',
  '# Other options',
  'Existing customers',
  'type A = { ... }',
  'return ... ?? 1',
  'Loading…',
  '* ...and more',
  '// previous = next',
  'rest of the code',
  'unchanged',
  '// see RFC 9457 ...',
  '## Remaining work',
  '// unchanged since version 2, because nobody asked'
]) {
  check(`takes for text: ${line}`, `a\n${line}\nb`, [])
}

check(
  'takes no dots for a placeholder where Python has an empty body',
  'class A(Protocol):\n    def f(self) -> int:\n        ...\n\n    def g(self): ...',
  []
)
check('takes dots for a placeholder elsewhere', 'def f(self):\n    a = 1\n    ...\n', ['placeholder:3'])
check('takes a placeholder that was there as text', 'x\n// ...\n', [], '  // ...\ny')
check('finds one that was not there after one that was', '// ...\n# ...\n', ['placeholder:2'], '// ...')
check('takes no long line for a placeholder', `// ... ${'x'.repeat(300)} ...`, [])
check('finds numbers before the lines', '12\tconst a = 1\n13\tconst b = 2\n', ['line_numbers:1'])
check('finds numbers with arrows, after a blank line', '\n  12→a\n  13→b\n  14→c', ['line_numbers:2'])
check('takes one numbered line for text', '12\ta\n', [])
check("finds numbers in other viewers' forms", 'L3: a\nL4: b', ['line_numbers:1'])
check('finds numbers after a path', 'src/a.py:3:a\nsrc/a.py:4:b', ['line_numbers:1'])
check('takes the numbers of a list for text', '1. a\n2. b\n\n1) a\n2) b\n\n[1] a\n[2] b', [])
check('takes numbers for text where there were numbers', '1: a\n2: b\n3: c\n', [], '1: a\n2: b\n')
check('takes numbers that do not grow for text', '7\ta\n3\tb\n5\tc\n', [])
check('finds both', '1\ta\n2\tb\n3\tc\n// ...\n', ['placeholder:4', 'line_numbers:1'])

check(
  'takes a placeholder that was there after a byte-order mark and a long line as text',
  '// ...\n# ...\n',
  [],
  `\ufeff// ...\r\n${'x'.repeat(5000)}\r  # ...`
)
check(
  'takes numbers for text where a long text had them',
  '1: a\n2: b\n3: c\n',
  [],
  Array.from({ length: 20_000 }, (_, i) => `${i + 1}: line\n`).join('')
)

const HUNK = 'a\n@@ -1,2 +1,2 @@\n b\n-c\n+d\n'
check('finds a diff', HUNK, ['diff:2'], 'x\n')
check('takes a diff for text where nothing was replaced', HUNK, [])
check('takes a diff for text where there was one', HUNK, [], 'y\n@@ -7 +7 @@\n')
check('takes two signs for text', '@@ a\n@@\n', [], 'x\n')
for (const marker of [
  '<<<<<<< SEARCH',
  '>>>>>>> REPLACE',
  '------- SEARCH',
  '+++++++ REPLACE',
  '<new_str>',
  '</new_text>',
  'foo</new_string>'
]) {
  check(`takes for a marker: ${marker}`, `a\n${marker}\n`, ['markers:2'])
}
for (const end of ['</content>', '</invoke>', 'a</parameter>\n</invoke>', '<|im_end|>', '*** End Patch']) {
  check(`takes for a part of the call: ${end}`, `a\n${end}\n\n`, [`markers:${1 + end.split('\n').length}`])
  check(`takes for text, since it was there: ${end}`, `a\n${end}\n`, [], `b\n${end}`)
}
check('takes a tag for text that the text opens', '<entry>\n<content type="html">\na\n</content>\n', [])
check('takes a tag for text that more follows', '</content>\n</entry>\n', [])
for (const line of ['<<<<<<< HEAD', '=======', '>>>>>>> main', '--- SEARCHING', 'a <new_str> b', 'SEARCH']) {
  check(`takes for text, and for no marker: ${line}`, `a\n${line}\n`, [])
}
check('takes a marker for text where there were markers', '<new_str>b</new_str>\n', [], 'x\n<new_str>a</new_str>\n')

t.test('says of which edit, and shows the line', async t => {
  t.match(warningsOfNewText(`// ... ${'existing '.repeat(6)}code ...`, Buffer.alloc(0), 3), [
    { edit_index: 3, type: 'placeholder', line: 1, text: /^\/\/ \.\.\. existing/ }
  ])
})
