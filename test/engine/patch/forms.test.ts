// The forms in which models write patches and diffs although the format doesn't have them: what each is turned into, and
// what is left as it is, since it may mean something else.
import t from 'tap'
import { type PatchForm, turnDiff, turnPatch, withoutGitHeader } from '../../../src/engine/patch/forms.ts'

const PATCH = '*** Begin Patch\n*** Update File: f\n@@\n a\n\n-b\n+c\n*** End Patch\n'

/** Turns a text, and compares what it becomes and the forms that are named. */
function check(name: string, turn: typeof turnPatch, sent: string, text: string, forms: PatchForm[] = []): void {
  t.test(name, async t => t.strictSame(turn(sent), { text, forms }))
}

const indented = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by)

check('leaves a patch as it is', turnPatch, PATCH, PATCH)
check('takes the indentation off a patch', turnPatch, indented(PATCH, '    '), PATCH, ['indented'])
check('takes off tabs', turnPatch, indented(PATCH, '\t'), PATCH, ['indented'])
check('takes off what only the first line lacks', turnPatch, indented(PATCH, '  ').trimStart(), PATCH, ['indented'])
check('empties a blank line that is indented less', turnPatch, indented(PATCH, '  ').replace('\n\n', '\n \n'), PATCH, [
  'indented'
])
for (const sent of [
  indented(PATCH, '  ').replace('  -b', '-b'),
  indented(PATCH, '  ').replace('  *** Begin', ' *** Begin'),
  ' a\n b\n',
  ''
]) {
  check(`leaves ${JSON.stringify(sent.slice(0, 20))} as it is`, turnPatch, sent, sent)
}

const ESCAPED = PATCH.trimEnd().replaceAll('\n', '\\n')
check('writes line breaks for \\n', turnPatch, ESCAPED, PATCH.trimEnd(), ['escaped_breaks'])
check(
  'writes them for \\r\\n',
  turnPatch,
  ESCAPED.replaceAll('\\n', '\\r\\n'),
  PATCH.trimEnd().replaceAll('\n', '\r\n'),
  ['escaped_breaks']
)
check('reads the whole text as JSON', turnPatch, JSON.stringify(PATCH), PATCH, ['escaped_breaks'])
check(
  'keeps what is escaped twice',
  turnPatch,
  ESCAPED.replace('+c', '+c(\\"\\\\n\\")'),
  PATCH.trimEnd().replace('+c', '+c("\\n")'),
  ['escaped_breaks']
)
check(
  'reads \\n beside quotation marks that are not escaped',
  turnPatch,
  ESCAPED.replace('+c', '+"c"'),
  PATCH.trimEnd().replace('+c', '+"c"'),
  ['escaped_breaks']
)
for (const sent of [
  // Whether this backslash is the text's own can't be told.
  ESCAPED.replace('+c', '+"\\d"'),
  `${ESCAPED}\nx`
]) {
  check(`leaves ${JSON.stringify(sent.slice(-20))} as it is`, turnPatch, sent, sent)
}

check(
  'makes one of several patches, each line at its number',
  turnPatch,
  `${PATCH}\n${PATCH}${PATCH}`,
  `${PATCH.replace('*** End Patch\n', '\n')}\n${PATCH.replace('*** Begin Patch\n', '\n').replace('*** End Patch\n', '\n')}${PATCH.replace('*** Begin Patch\n', '\n')}`,
  ['more_envelopes']
)
for (const sent of [`${PATCH}text\n${PATCH}`, PATCH.replace('+c', '+*** End Patch\n+*** Begin Patch')]) {
  check(`leaves the lines of ${JSON.stringify(sent.slice(60, 90))}`, turnPatch, sent, sent)
}

check('takes the indentation off a diff', turnDiff, '  @@\n  -a\n\n  +b\n', '@@\n-a\n\n+b\n', ['indented'])
check('leaves kept lines of a diff', turnDiff, '  - a\n  + b\n', '  - a\n  + b\n')
check('writes the line breaks of a diff', turnDiff, '@@ f\\n-a\\n+b', '@@ f\n-a\n+b', ['escaped_breaks'])
// It may remove one line that has \n in it.
check('leaves \\n in a removed line', turnDiff, '-a\\n+b', '-a\\n+b')

/** Takes git's header off a diff; compares the rest and the number of lines, or null. */
function checkHeader(
  name: string,
  diff: string,
  expected: { diff: string; lines: number } | null,
  file: { path: string; isNew?: boolean } = { path: 'src/f.ts' }
): void {
  t.test(name, async t => t.strictSame(withoutGitHeader(diff, file), expected))
}

const HUNK = '@@ -1 +1 @@\n-a\n+b\n'
for (const names of [
  '--- a/src/f.ts\n+++ b/src/f.ts\n',
  '--- src/f.ts\n+++ src/f.ts\n',
  '--- ./src/f.ts\t2026-11-01 10:00:00\n+++ f.ts\t2026-11-01 10:00:01\n'
]) {
  checkHeader(`takes off ${JSON.stringify(names)}`, names + HUNK, { diff: HUNK, lines: 2 })
}
checkHeader(
  'takes off all lines of git',
  `\ndiff --git a/src/f.ts b/src/f.ts\nindex 12ab..34cd 100644\n--- a/src/f.ts\n+++ b/src/f.ts\n${HUNK}`,
  { diff: HUNK, lines: 5 }
)
checkHeader(
  'knows a path with the root',
  `--- a/src/f.ts\n+++ b/src/f.ts\n${HUNK}`,
  { diff: HUNK, lines: 2 },
  {
    path: '/repo/src/f.ts'
  }
)
checkHeader(
  'takes off the header of a new file',
  '--- /dev/null\n+++ b/src/f.ts\n@@ -0,0 +1 @@\n+a\n',
  { diff: '+a\n', lines: 3 },
  { path: './src/f.ts', isNew: true }
)
for (const diff of [
  // As lines of the format, these change a file that has "-- a/other".
  `--- a/other\n+++ b/other\n${HUNK}`,
  `--- /dev/null\n+++ b/src/f.ts\n${HUNK}`,
  '--- a/src/f.ts\n+++ b/src/f.ts\n',
  '--- a/src/f.ts\n+++ b/src/f.ts\n a\n',
  '--- a/src/f.ts\n-a\n+b\n',
  `--- \n+++ b/src/f.ts\n${HUNK}`,
  HUNK,
  ''
]) {
  checkHeader(`leaves ${JSON.stringify(diff.slice(0, 30))}`, diff, null)
}
checkHeader('leaves a new file whose @@ is not of git', '--- a/f\n+++ b/f\n@@\n+a\n', null, { path: 'f', isNew: true })
