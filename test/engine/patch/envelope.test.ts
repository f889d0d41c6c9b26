// Patches of several files taken apart, and what is wrong with those that can't be.
import t from 'tap'
import { type FilePatch, parsePatch } from '../../../src/engine/patch/envelope.ts'
import { MAX_PATCH_LINES, type PatchFault } from '../../../src/engine/patch/fault.ts'
import { parseDiff, parseNewFile } from '../../../src/engine/patch/v4a.ts'

/** Takes a patch apart; compares its parts, or the fault. */
function check(name: string, patch: string, expected: FilePatch[] | PatchFault): void {
  t.test(name, async t => {
    const parsed = parsePatch(patch)
    t.strictSame(parsed.ok ? parsed.value : parsed.failure, expected)
  })
}

const fault = (reason: PatchFault['reason'], line: number, text = ''): PatchFault => ({ line, reason, text })
const inside = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

const WHOLE = inside(
  '*** Add File: a b.txt',
  '+x',
  '+',
  '*** Update File: src/c.ts',
  '*** Move to: src/d.ts',
  '@@ f',
  '-a',
  '+b',
  '*** End of File',
  '',
  '*** Delete File: e',
  '*** Update File: g',
  '-h'
)
const PARTS: FilePatch[] = [
  { kind: 'create', path: 'a b.txt', diff: '+x\n+\n', first_line: 3 },
  { kind: 'update', path: 'src/c.ts', move_to: 'src/d.ts', diff: '@@ f\n-a\n+b\n*** End of File\n', first_line: 7 },
  { kind: 'delete', path: 'e', first_line: 12 },
  { kind: 'update', path: 'g', diff: '-h\n', first_line: 14 }
]
const below = (lines: number): FilePatch[] => PARTS.map(part => ({ ...part, first_line: part.first_line + lines }))

check('takes a patch apart', WHOLE, PARTS)
check('reads blank lines around a patch', `\n  \n${WHOLE}\n \n`, below(2))
check('reads a heredoc', `<<'EOF'\n${WHOLE}EOF\n`, below(1))
check('reads a heredoc of apply_patch', `apply_patch <<"PATCH"\n\n${WHOLE}PATCH`, below(2))
check('reads a heredoc of applypatch without quotes', `applypatch << EOF\n${WHOLE}\nEOF`, below(1))
check('reads an indented end', WHOLE.replace('*** End P', ' \t*** End P'), PARTS)
check(
  'takes an indented end for a kept line where another follows',
  inside('*** Update File: a', '-x', ' *** End Patch'),
  [{ kind: 'update', path: 'a', diff: '-x\n *** End Patch\n', first_line: 3 }]
)
check('reads CRLF', WHOLE.replaceAll('\n', '\r\n'), [
  ...PARTS.map(part => ('diff' in part ? { ...part, diff: part.diff.replaceAll('\n', '\r\n') } : part))
])
check('reads a move without changes', inside('*** Update File: a', '*** Move to: b'), [
  { kind: 'update', path: 'a', move_to: 'b', diff: '', first_line: 4 }
])
check('reads an empty file', inside('*** Add File: a'), [{ kind: 'create', path: 'a', diff: '', first_line: 3 }])
check('leaves lines with markers to the diff', inside('*** Update File: a', '-*** End Patch', '+*** Add File: b'), [
  { kind: 'update', path: 'a', diff: '-*** End Patch\n+*** Add File: b\n', first_line: 3 }
])

check('refuses what is no patch', 'hello', fault('no_begin', 1, 'hello'))
check('refuses an empty text', ' \n', fault('no_begin', 1, ' '))
check('refuses no text', '', fault('no_begin', 1))
check('refuses an empty heredoc', "<<'EOF'\nEOF", fault('no_begin', 2, 'EOF'))
check('refuses a fence', `\`\`\`\n${WHOLE}\`\`\``, fault('fence', 1, '```'))
check('refuses a patch that is cut off', '*** Begin Patch\n*** Add File: a\n+x\n', fault('no_end', 4))
check('refuses a heredoc that is cut off', `<<'EOF'\n${WHOLE}`, fault('no_end', 17))
check('refuses what comes after the end', `${WHOLE}\nDone.`, fault('after_end', 17, 'Done.'))
check('refuses a patch without files', inside(''), fault('no_files', 3, '*** End Patch'))
check('refuses a line before the first file', inside('@@', '-a'), fault('no_file_line', 2, '@@'))
check(
  'refuses a header that there is none of',
  inside('*** Rename File: a'),
  fault('unknown_line', 2, '*** Rename File: a')
)
check('refuses a move of a new file', inside('*** Add File: a', '*** Move to: b'), {
  ...fault('misplaced_move', 3, '*** Move to: b')
})
check('refuses a file without path', inside('*** Delete File: '), fault('no_path', 2, '*** Delete File: '))
check('refuses a move to nowhere', inside('*** Update File: a', '*** Move to:'), fault('no_path', 3, '*** Move to:'))
check(
  'refuses a move to where the file is',
  inside('*** Update File: a', '*** Move to: a', '-x'),
  fault('same_path', 3, '*** Move to: a')
)
check(
  'refuses an update without changes',
  inside('*** Update File: a', '', '*** Add File: b'),
  fault('no_update', 2, '*** Update File: a')
)
check('refuses lines of a deleted file', inside('*** Delete File: a', '', '-x'), fault('lines_of_deleted', 4, '-x'))

t.test('gives diffs that can be read, with the lines of the patch', async t => {
  const parsed = parsePatch(WHOLE)
  t.ok(parsed.ok)
  if (!parsed.ok) return
  const lines = WHOLE.split('\n')
  for (const part of parsed.value) {
    if (part.kind === 'delete') continue
    t.equal(part.diff.split('\n')[0], lines[part.first_line - 1])
    t.ok((part.kind === 'create' ? parseNewFile : parseDiff)(part.diff).ok)
  }
})

t.test('takes ten times as long for ten times as many files and hunks', async t => {
  const patch = (count: number): string =>
    inside(
      ...Array.from({ length: count }, (_, i) => `*** Update File: f${i}\n@@ a\n-${'x'.repeat(400)}\n+b\n@@\n-c\n+d`)
    )
  const timed = (count: number): number => {
    const text = patch(count)
    const before = process.cpuUsage()
    const parsed = parsePatch(text)
    t.ok(parsed.ok)
    const read = parsed.ok ? parsed.value.filter(part => 'diff' in part && parseDiff(part.diff).ok).length : 0
    t.equal(read, count)
    return process.cpuUsage(before).user
  }
  timed(1000)
  const [one, ten] = [timed(1400), timed(14_000)]
  // A scan for each file would take a hundred times as long.
  t.ok(ten < 50 * Math.max(one, 10_000), `${one} and ${ten} µs`)
})

t.test('reads so many lines, and no more', t => {
  const lines = Array.from({ length: MAX_PATCH_LINES - 3 }, () => '+').join('\n')
  t.match(parsePatch(inside('*** Add File: a', lines)), { ok: true })
  const one = fault('too_many_lines', MAX_PATCH_LINES + 1, '*** End Patch')
  t.strictSame(parsePatch(inside('*** Add File: a', lines, '+')), { ok: false, failure: one })
  t.strictSame(parsePatch(inside('*** Add File: a', lines, '+').trimEnd()), { ok: false, failure: one })
  t.end()
})
