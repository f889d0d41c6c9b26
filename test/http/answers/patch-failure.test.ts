// What a model is given of a hunk that can't be applied: why, the lines of the file where no diff would do, and at the
// very end the corrected diff. Planned on real files.
import t from 'tap'
import { toProblem } from '../../../src/http/answers/problem.ts'
import { parseDiff } from '../../../src/engine/patch/v4a.ts'
import { planHunks } from '../../../src/engine/plan/apply-hunks.ts'

const F = 'def f():\n    a\n\ndef g():\n    a\n'

/** Applies a diff that doesn't fit; compares the text of the answer. */
function check(name: string, file: string, diff: string, expected: string[]): void {
  t.test(name, async t => {
    const parsed = parseDiff(diff)
    const planned = parsed.ok ? planHunks(Buffer.from(file), parsed.value, { max_result_size: 1 << 20 }) : parsed
    if (planned.ok || !('code' in planned.failure)) return t.fail('is refused')
    const answer = toProblem(planned.failure, {
      instance: '/apply-patch',
      request_id: '1',
      path: 'x.py',
      file_hash: '60303ae22b998861',
      made: { name: 'apply_patch', arguments: { path: 'x.py', diff } }
    })
    t.strictSame(answer.text().split('\n'), expected)
    const [first] = answer.body.suggested_fixes ?? []
    if (first?.diff !== undefined) t.ok(answer.text().includes(first.diff.trimEnd()))
    return undefined
  })
}

check('ends with the corrected diff', 'if x:\n    a\n', '@@\n-  a\n+  b\n', [
  'The old lines of hunk 1 (line 1 of the diff) were not found in x.py. Most likely line 2 was meant: ' +
    'the file indents with 4 spaces, but the diff indents with 2 spaces. [NO_MATCH]',
  'file_hash: 60303ae22b998861',
  'Send this corrected diff as it is:',
  '@@',
  '-    a',
  '+    b'
])
check('ends with a diff for each place', F, '@@\n-    a\n+    b\n', [
  'The old lines of hunk 1 (line 1 of the diff) appear 2 times in x.py, at lines 2 and 5; they must fit one place. ' +
    '[WRONG_COUNT]',
  'file_hash: 60303ae22b998861',
  'For line 2, send this corrected diff:',
  '@@',
  ' def f():',
  '-    a',
  '+    b',
  'For line 5, send this corrected diff:',
  '@@',
  ' def g():',
  '-    a',
  '+    b'
])
check('shows only the first diff where they are long', F, `@@\n-    a\n+${'b'.repeat(3000)}\n`, [
  'The old lines of hunk 1 (line 1 of the diff) appear 2 times in x.py, at lines 2 and 5; they must fit one place. ' +
    '[WRONG_COUNT]',
  'file_hash: 60303ae22b998861',
  'For line 2, send this corrected diff:',
  '@@',
  ' def f():',
  '-    a',
  `+${'b'.repeat(3000)}`
])
check('names no line behind the last one', 'x\n\ny\n', '@@\n \n+c\n', [
  'The old lines of hunk 1 (line 1 of the diff) appear 2 times in x.py, at line 2 and behind the last line; ' +
    'they must fit one place. [WRONG_COUNT]',
  'file_hash: 60303ae22b998861',
  'For line 2, send this corrected diff:',
  '@@',
  ' x',
  ' ',
  '+c',
  'For the end of the file, send this corrected diff:',
  '@@',
  ' y',
  '+c'
])
check('shows the file where nothing would do', 'one\n', '@@\n-quite another thing\n+x\n', [
  'The old lines of hunk 1 (line 1 of the diff) were not found in x.py. Nothing in it is similar enough. [NO_MATCH]',
  'Send all of it again, with the lines copied from the file exactly:',
  '1\tone',
  'file_hash: 60303ae22b998861'
])
check('has the file read where it is too long to be shown', `one\n${'two\n'.repeat(99)}`, '@@\n-quite another\n+x\n', [
  'The old lines of hunk 1 (line 1 of the diff) were not found in x.py. Nothing in it is similar enough. [NO_MATCH]',
  'Read the file, and copy the lines around the change from it exactly.',
  ...['one', ...Array<string>(19).fill('two')].map((line, i) => `${i + 1}\t${line}`),
  'file_hash: 60303ae22b998861'
])
const MAIN = "def main():\n    data = load('in.txt')\n    save(data)\n"
check(
  'shows the lines that were meant where the change is in what differs',
  `${'# more\n'.repeat(99)}${MAIN}`,
  "@@\n-# more\n-def main():\n-    data = load('input.txt')\n+    data = load('data.txt')\n",
  [
    'The old lines of hunk 1 (line 1 of the diff) were not found in x.py. Most likely lines 99 to 101 were meant: ' +
      'the file has "in", the diff "input". [NO_MATCH]',
    'Send all of it again, with the lines copied from the file exactly:',
    ...['# more', '# more', '# more', '# more', ...MAIN.trimEnd().split('\n')].map((line, i) => `${i + 96}\t${line}`),
    'file_hash: 60303ae22b998861'
  ]
)
check('says that no hunk was applied', MAIN, '@@\n-def main():\n+def run():\n@@\n-    save(all)\n+    save(it)\n', [
  'No hunk was applied. The old lines of hunk 2 of 2 (line 4 of the diff) were not found in x.py below line 1. ' +
    'Perhaps line 3 was meant: the file has the name "data", the diff "all". [NO_MATCH]',
  'Send all of it again, with the lines copied from the file exactly:',
  ...MAIN.trimEnd()
    .split('\n')
    .map((line, i) => `${i + 1}\t${line}`),
  'file_hash: 60303ae22b998861'
])
check('says what to do with an empty file', '', '@@\n-a\n+x\n', [
  'x.py is empty, so it does not have the old lines of hunk 1 (line 1 of the diff); send only lines with "+" in front. ' +
    '[NO_MATCH]',
  'file_hash: 60303ae22b998861'
])
check('says of which hunks the diff is corrected', 'a b\nc\nd e\n', '@@\n-a  b\n+x\n@@\n-c\n+y\n@@\n-d  e\n+z\n', [
  'No hunk was applied. The old lines of hunk 1 of 3 (line 1 of the diff) were not found in x.py. ' +
    'Most likely line 1 was meant: the spacing differs (the file has "a b", the diff "a  b"). [NO_MATCH]',
  'file_hash: 60303ae22b998861',
  'Send this diff as it is, with hunks 1 and 3 corrected:',
  '@@',
  '-a b',
  '+x',
  '@@',
  '-c',
  '+y',
  '@@',
  '-d e',
  '+z'
])
check(
  'names the hunks that do not fit either',
  `${'# more\n'.repeat(99)}${MAIN}`,
  "@@\n-# more\n-def main():\n-    data = load('input.txt')\n+    data = load('data.txt')\n@@\n-quite another\n+x\n",
  [
    'No hunk was applied. The old lines of hunk 1 of 2 (line 1 of the diff) were not found in x.py. ' +
      'Most likely lines 99 to 101 were meant: the file has "in", the diff "input". ' +
      'Hunk 2 (line 6 of the diff) does not fit either. [NO_MATCH]',
    'Read the file, and copy the lines around the change from it exactly.',
    ...['# more', '# more', '# more', '# more', ...MAIN.trimEnd().split('\n')].map((line, i) => `${i + 96}\t${line}`),
    'file_hash: 60303ae22b998861'
  ]
)
check('has a diff for each place of a later hunk', `  x\n${F}`, '@@\n-    x\n+    y\n@@\n-    a\n+    b\n', [
  'No hunk was applied. The old lines of hunk 1 of 2 (line 1 of the diff) were not found in x.py. ' +
    'Most likely line 1 was meant: the file indents with 2 spaces, but the diff indents with 4 spaces. [NO_MATCH]',
  'file_hash: 60303ae22b998861',
  'For hunk 2 at line 3, send this diff, with hunks 1 and 2 corrected:',
  '@@',
  '-  x',
  '+  y',
  '@@',
  ' def f():',
  '-    a',
  '+    b',
  'For hunk 2 at line 6, send this diff, with hunks 1 and 2 corrected:',
  '@@',
  '-  x',
  '+  y',
  '@@',
  ' def g():',
  '-    a',
  '+    b'
])
