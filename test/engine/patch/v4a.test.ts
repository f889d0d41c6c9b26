// V4A diffs read into hunks and new files, and what is wrong with those that can't be read.
import t from 'tap'
import type { Hunk } from '../../../src/engine/patch/hunk.ts'
import { MAX_PATCH_LINES, type PatchFault } from '../../../src/engine/patch/fault.ts'
import { parseDiff, parseNewFile } from '../../../src/engine/patch/v4a.ts'

const MARKERS = { keep: ' ', remove: '-', add: '+' }

/** A hunk in short: its anchors, its lines with markers, `$` at the end of the file, and where it begins. */
const short = ({ anchors, lines, at_end, patch_line }: Hunk) => [
  ...anchors.map(anchor => `@@ ${anchor}`),
  ...lines.map(({ kind, text }) => MARKERS[kind] + text),
  ...(at_end ? ['$'] : []),
  patch_line
]

/** Reads a diff; compares its hunks in short, or the fault. */
function check(name: string, diff: string, expected: (string | number)[][] | PatchFault): void {
  t.test(name, async t => {
    const parsed = parseDiff(diff)
    t.strictSame(parsed.ok ? parsed.value.map(short) : parsed.failure, expected)
  })
}

const fault = (reason: PatchFault['reason'], line: number, text = ''): PatchFault => ({ line, reason, text })

check('reads a hunk', '@@\n a\n-b\n+c\n', [[' a', '-b', '+c', 1]])
check('reads a first hunk without @@', ' a\n-b\n+c', [[' a', '-b', '+c', 1]])
check('reads an anchor', '@@ def f():\n-a\n+b\n', [['@@ def f():', '-a', '+b', 1]])
check('reads stacked anchors', '@@ class A\n@@   def f():\n-a\n', [['@@ class A', '@@   def f():', '-a', 1]])
check('reads several hunks', '@@\n-a\n@@ x\n+b\n', [
  ['-a', 1],
  ['@@ x', '+b', 3]
])
check('reads the end of the file', '@@\n-a\n+b\n*** End of File\n', [['-a', '+b', '$', 1]])
check('reads a hunk after the end of the file', '-a\n*** End of File\n\n@@\n-b\n', [
  ['-a', '$', 1],
  ['-b', 4]
])
check('takes an empty line as a kept one', '@@\n-a\n\n+b\n\n', [['-a', ' ', '+b', ' ', 1]])
check('takes empty lines before the first line as kept ones', '\n\n-a\n', [[' ', ' ', '-a', 1]])
check('passes over blank lines before the first @@', '\n\n@@\n-a\n', [['-a', 3]])
check('takes an anchor of blanks as none', '@@  \n-a\n', [['-a', 1]])
check('keeps what is behind the marker as it is', '@@\n -\n--- x\n+\t+\n', [[' -', '--- x', '+\t+', 1]])
check('reads CRLF', '@@ f\r\n a\r\n-b\r\n+c\r\n\r\n', [['@@ f', ' a', '-b', '+c', ' ', 1]])
check('reads lines that end with a lone CR', '@@\r-a\r+b\r', [['-a', '+b', 1]])
check('takes a lone CR in a line as its end', '@@\n-a\rb\n+c\n', [['-a', '-b', '+c', 1]])
check('takes a header of git as @@', '@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n@@ -9 +9 @@\n-d\n', [
  [' a', '-b', '+c', 1],
  ['-d', 5]
])
check('passes over *** End Patch at the end', '@@\n-a\n*** End Patch\n\n', [['-a', 1]])
check('accepts a hunk without changes beside one with', '@@\n a\n@@\n-b\n', [
  [' a', 1],
  ['-b', 3]
])

check('refuses a line without marker', '@@\n-a\nb\n', fault('no_marker', 3, 'b'))
check('refuses a line that begins with a tab', '@@\n\ta\n', fault('no_marker', 2, '\ta'))
check('refuses a fence', '```diff\n@@\n-a\n```\n', fault('fence', 1, '```diff'))
check('refuses headers of git', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n', fault('git_header', 2, '+++ b/x'))
check('refuses the first header of git', 'diff --git a/x b/x\n--- a/x\n', fault('git_header', 1, 'diff --git a/x b/x'))
check('refuses a note on the final newline', '@@\n-a\n\\ No newline at end of file\n', {
  ...fault('newline_note', 3, '\\ No newline at end of file')
})
check('refuses an envelope', '*** Begin Patch\n*** Update File: x\n', fault('envelope_line', 1, '*** Begin Patch'))
check('refuses lines after *** End Patch', '-a\n*** End Patch\n+b\n', fault('envelope_line', 2, '*** End Patch'))
check('refuses an anchor without its space', '@@def f():\n-a\n', fault('no_space_after_marker', 1, '@@def f():'))
check('refuses a hunk without lines', '@@\n-a\n@@ x\n', fault('empty_hunk', 3, '@@ x'))
check('refuses the end of the file alone', '@@ x\n*** End of File\n', fault('empty_hunk', 2, '*** End of File'))
check('refuses lines after the end', '-a\n*** End of File\n+b\n', fault('after_end_of_file', 3, '+b'))
check('refuses a diff without changes', '@@\n a\n b\n', fault('no_change', 1, '@@'))
check('refuses an empty diff', '', fault('no_change', 1))
check('cuts the line that it echoes', `@@\nx${'y'.repeat(500)}\n`, {
  ...fault('no_marker', 2, `x${'y'.repeat(49)}…[401 characters left out]…${'y'.repeat(50)}`)
})

/** Reads a new file; compares its content, or the fault. */
function checkNew(name: string, diff: string, expected: string | PatchFault): void {
  t.test(name, async t => {
    const parsed = parseNewFile(diff)
    t.strictSame(parsed.ok ? parsed.value : parsed.failure, expected)
  })
}

checkNew('reads a new file', '+a\n+\n+b', 'a\n\nb\n')
checkNew('reads a new file with CRLF', '+a\r\n+b\r\n', 'a\r\nb\r\n')
checkNew('reads a new file whose lines end with CRLF and LF', '+a\r\n+b\n', 'a\nb\n')
checkNew('reads an empty file', '', '')
checkNew('reads a file of one empty line', '+', '\n')
checkNew('passes over *** End Patch behind a new file', '+a\n*** End Patch\n\n', 'a\n')
checkNew('refuses a line without +', '+a\n\n+b\n', fault('not_added', 2))
checkNew('refuses a hunk of a new file', '@@\n+a\n', fault('not_added', 1, '@@'))
checkNew('refuses a fence around a new file', '```\n+a\n```', fault('fence', 1, '```'))
checkNew('refuses more behind *** End Patch', '+a\n*** End Patch\n+b', fault('envelope_line', 2, '*** End Patch'))

t.test('reads so many lines, and no more, whatever ends them', t => {
  for (const end of ['\n', '\r', '\r\n']) {
    const diff = `+x${end}`.repeat(MAX_PATCH_LINES)
    t.match(parseDiff(`@@\n${diff.slice(0, -`+x${end}`.length)}`), { ok: true })
    t.match(parseNewFile(diff), { ok: true })
    const failure = fault('too_many_lines', MAX_PATCH_LINES + 1, '+y')
    t.strictSame(parseNewFile(`${diff}+y`), { ok: false, failure })
    t.strictSame(parseDiff(`${diff}+y`), { ok: false, failure })
  }
  t.end()
})
