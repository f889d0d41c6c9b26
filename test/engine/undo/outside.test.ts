// Undo after another program has rewritten the text: its line breaks, white space, indentation, order. Does not know how
// conflicts are found.
import t from 'tap'
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { differing, recordedSplices } from '../../../src/engine/undo/refine.ts'
import { stateAfter, toggle, type TogglePlan } from '../../../src/engine/undo/toggle.ts'
import { blameOf } from '../../../src/engine/blame.ts'
import { planUndo, type ConflictWithFix, type UndoGoal } from '../../../src/engine/undo-redo.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import type { LineEdit, TextEdit } from '../../../src/engine/edit/request.ts'
import { often } from '../../often.ts'
import type { Random } from '../../random.ts'
import { checkLaw } from './check-law.ts'

t.setTimeout(0)

const undo = ({ changes, present }: Pick<Case, 'changes' | 'present'>, goal: UndoGoal) => {
  const limits = { max_result_size: Infinity, context_lines: 0, dry_run: false, check_syntax: false }
  return planUndo(present, { ...limits, changes, goal } as never, { path: 'a', exists: true })
}
const taking = (set: { edit_id: string }[]): UndoGoal => ({ set, to: 'undone', on_conflict: 'refuse' })

interface Example {
  /** Before the edit, after it, and after the other program. */
  texts: [before: string, edited: string, now: string]
  gives?: string
  /** The edits that a refused undo offers. */
  offers?: readonly object[]
}

function check(name: string, { texts, gives, offers }: Example): void {
  t.test(name, t => {
    const [before, edited, present] = texts.map(text => Buffer.from(text)) as [Buffer, Buffer, Buffer]
    const done = undo({ changes: changesOf(before, edited, present), present }, taking([{ edit_id: 'edit' }]))
    if (done.ok) t.equal(Buffer.concat(done.value.pieces).toString(), gives)
    else {
      t.equal(done.failure.code, 'UNDO_CONFLICT')
      const { conflicts = [] } = done.failure as { conflicts?: readonly ConflictWithFix[] }
      t.strictSame(
        conflicts.flatMap(({ restores = [] }) => restores),
        offers
      )
    }
    t.end()
  })
}

const changesOf = (before: Buffer, edited: Buffer, present: Buffer): RecordedChange[] => [
  { edit_id: 'edit', splices: differing(before, edited) },
  { edit_id: 'outside', outside: true, splices: differing(edited, present) }
]

const lf = 'a\nb\nc\n'
const edited = 'a\nB\nc\n'
check('keeps CRLF that came later', { texts: [lf, edited, 'a\r\nB\r\nc\r\n'], gives: 'a\r\nb\r\nc\r\n' })
check('keeps LF that came later', { texts: ['a\r\nb\r\n', 'a\r\nB\r\n', 'a\nB\n'], gives: 'a\nb\n' })
check('restores lines in the line breaks of now', { texts: [lf, 'a\nc\n', 'a\r\nc\r\n'], gives: 'a\r\nb\r\nc\r\n' })
check('removes lines with the line breaks of now', { texts: ['a\nc\n', lf, 'a\r\nb\r\nc\r\n'], gives: 'a\r\nc\r\n' })
check('keeps the white space of now', { texts: [lf, edited, 'a \nB\t\nc  \n'], gives: 'a \nb\t\nc  \n' })
check('keeps the white space of now on one line', { texts: [lf, edited, 'a\nB  \nc\n'], gives: 'a\nb  \nc\n' })
check('brings no white space back', { texts: ['b\n', 'B  \n', 'B\n'], gives: 'b\n' })
check('keeps white space at the end of the text', { texts: ['a\nb', 'a\nB', 'a\nB '], gives: 'a\nb' })
check('keeps a last line break', { texts: ['a\nb', 'a\nB', 'a\nB\n'], gives: 'a\nb\n' })
check('keeps a missing last line break', { texts: ['a\nb\n', 'a\nB\n', 'a\nB'], gives: 'a\nb' })
check('joins no lines at the end', { texts: ['a\nb\n', 'a\n', 'a'], offers: [] })
check('joins no words where white space was removed behind a deleted one', {
  texts: ['a b\n', 'a \n', 'a\n'],
  offers: [{ old_text: 'a\n', new_text: 'a b\n' }]
})
check('joins no lines where a line was deleted inside a line break', {
  texts: ['a\rx\n', 'a\r\n', 'a\n'],
  gives: 'a\nx\n'
})
check('keeps the white space of now on many lines', {
  texts: [`${'a\n'.repeat(600)}b\n`, `${'a\n'.repeat(600)}B\n`, `${'a  \r\n'.repeat(600)}B\r\n`],
  gives: `${'a  \r\n'.repeat(600)}b\r\n`
})
check('keeps the line breaks of now on many lines', {
  texts: [`${'a \r\n'.repeat(600)}b\r\n`, `${'a \r\n'.repeat(600)}B\r\n`, `${'a\n'.repeat(600)}B\n`],
  gives: `${'a\n'.repeat(600)}b\n`
})
check('keeps a banner', { texts: [lf, edited, '# x\r\na\r\nB\r\nc\r\n'], gives: '# x\r\na\r\nb\r\nc\r\n' })
check('keeps a line that was added', { texts: [lf, edited, 'a\nB\nnew\nc\n'], gives: 'a\nb\nnew\nc\n' })
check('offers a line in the indentation of now', {
  texts: ['if\n  x\n  b\n', 'if\n  x\n  B\n', 'if\n  x\n    B\n'],
  offers: [{ old_text: '    B\n', new_text: '    b\n' }]
})
check('offers a line in the indentation of the one of its depth', {
  texts: ['if\n  b\nc\n', 'if\n  if y\n    b\nc\n', 'if\n    if y\n        b\nc\n'],
  offers: [{ old_text: '    if y\n        b\n', new_text: '    b\n' }]
})
check('offers no line of a depth that no line has now', {
  texts: ['if\n        b\nc\n', 'if\n  B\nc\n', 'if\n    B\nc\n'],
  offers: []
})
check('offers no line where another text is indented', { texts: ['-\n  b\n', '-\n  B\n', '-\n   X\n'], offers: [] })
check('offers a line where another text is there', {
  texts: ['-\n  b\n', '-\n  B\n', '-\n  X\n'],
  offers: [{ old_text: '  X\n', new_text: '  b\n' }]
})
check('offers no line of two depths', { texts: ['b\nb\nc', 'B\nB', ' B\n  B'], offers: [] })
check('offers nothing where all lines are indented', { texts: [lf, edited, '  a\n  B\n  c\n'], offers: [] })
check('offers nothing where lines are sorted', {
  texts: ['d\nc\nb\na\n', 'd\nC\nB\na\n', 'B\nC\na\nd\n'],
  offers: []
})

/** Lines that all differ, by their number; some indented, some blank. */
const lineOf = (number: number, random: Random): string => `${random.pick(['', '  ', '    '])}line ${number}`

interface Rewrite {
  name: string
  of(lines: readonly string[], random: Random): string
  /** It only changes line breaks or the ends of lines. */
  isLayout?: true
}

const some = (random: Random, to: string) => (line: string) => (random.chance(60) ? `${line}${to}` : line)
const REWRITES: readonly Rewrite[] = [
  { name: 'CRLF', isLayout: true, of: lines => lines.map(line => `${line}\r\n`).join('') },
  { name: 'no last break', of: lines => lines.join('\n') },
  { name: 'white space', isLayout: true, of: (lines, random) => `${lines.map(some(random, '  ')).join('\n')}\n` },
  {
    name: 'white space and CRLF',
    isLayout: true,
    of: (lines, random) =>
      lines
        .map(some(random, '\t'))
        .map(line => `${line}\r\n`)
        .join('')
  },
  { name: 'indented', of: lines => lines.map(line => `    ${line}\n`).join('') },
  { name: 'indented in tabs, CRLF', of: lines => lines.map(line => `${line.replace(/ {2}/g, '\t')}\r\n`).join('') },
  {
    name: 'partly indented',
    of: (lines, random) => lines.map(line => `${random.chance(50) ? '  ' : ''}${line}\n`).join('')
  },
  {
    name: 'sorted',
    of: lines =>
      [...lines]
        .sort()
        .map(line => `${line}\n`)
        .join('')
  },
  {
    name: 'reversed',
    of: lines =>
      [...lines]
        .reverse()
        .map(line => `${line}\n`)
        .join('')
  },
  { name: 'banner', of: lines => `# banner\n\n${lines.map(line => `${line}\n`).join('')}` },
  { name: 'banner and CRLF', of: lines => `# banner\r\n${lines.map(line => `${line}\r\n`).join('')}` }
]

interface Case {
  changes: RecordedChange[]
  present: Buffer
  before: string[]
  edited: string[]
  rewrite: Rewrite
}

/** An edit of some lines, and a rewrite by another program. */
function randomCase(random: Random): Case {
  const before = Array.from({ length: 1 + random.int(8) }, (_, i) => lineOf(i, random))
  const edited: string[] = []
  for (const [i, line] of before.entries()) {
    if (random.chance(15)) edited.push(lineOf(100 + i, random))
    if (random.chance(25)) edited.push(line.replace('line', 'LINE'))
    else if (!random.chance(15)) edited.push(line)
  }
  const was = random.pick(['\n', '\r\n'])
  const texts = [before, edited].map(lines => Buffer.from(lines.map(line => line + was).join('')))
  const rewrite = random.pick(REWRITES)
  const present = Buffer.from(rewrite.of(edited, random))
  return { changes: changesOf(texts[0]!, texts[1]!, present), present, before, edited, rewrite }
}

const wordsOf = (text: Buffer | string): string[] =>
  String(text)
    .split(/\r\n|\n|\r/)
    .map(line => line.trim())
    .filter(line => line !== '')

/** Null, or the line that a text has twice, or that neither text had. */
function wrongLine(text: Buffer, { before, edited }: Case): string | null {
  const known = new Set([...wordsOf(before.join('\n')), ...wordsOf(edited.join('\n')), '# banner'])
  const seen = new Set<string>()
  for (const line of wordsOf(text)) {
    if (seen.has(line)) return `twice: ${line}`
    if (!known.has(line)) return `never there: ${line}`
    seen.add(line)
  }
  const both = [...seen].find(line => line.startsWith('LINE') && seen.has(line.replace('LINE', 'line')))
  return both === undefined ? null : `as it was and as it was edited: ${both}`
}

/** What is wrong with the text after an undo, or with what is known of it then; or null. */
function wrongAfter({ changes, present, edited }: Case, { splices, toggled }: TogglePlan): string | null {
  const after = Buffer.concat(splices.apply(present))
  if (edited.length > 0 && present.includes('\r\n') && /(^|[^\r])\n/.test(String(after))) return 'another line break'
  const undone = { edit_id: 'undo', splices: recordedSplices(present, splices.list), toggles: toggled }
  const all = [...changes, undone]
  const back = toggle(after, all, toggled, 'applied')
  if (!back.ok || !Buffer.concat(back.value.splices.apply(after)).equals(present)) return 'cannot be made again'
  const state = stateAfter(after, all, 'outside')
  if (!state.ok || !Buffer.concat(state.value.splices.apply(after)).equals(present)) return 'no state'
  return blameOf(after, { changes: all, limit: 100 }).ok ? null : 'nobody wrote it'
}

function undoneEdit({ changes, present }: Case): TogglePlan {
  const done = toggle(present, changes, [{ edit_id: 'edit' }], 'undone')
  if (!done.ok) throw new Error(done.failure.code)
  return done.value
}

checkLaw(
  'gives each line once, by what an undo does or by what a refused one offers',
  { count: often(5_000, 200), series: 90_101 },
  random => {
    const it = randomCase(random)
    const said = (what: string) =>
      `${what} (${it.rewrite.name}: ${JSON.stringify([it.before, it.edited, it.present.toString()])})`
    const done = undo(it, taking([{ edit_id: 'edit' }]))
    if (done.ok) {
      const wrong = wrongLine(Buffer.concat(done.value.pieces), it) ?? wrongAfter(it, undoneEdit(it))
      return wrong === null ? null : said(wrong)
    }
    if (done.failure.code !== 'UNDO_CONFLICT') {
      return done.failure.code === 'NOTHING_TO_UNDO' ? null : said(done.failure.code)
    }
    if (it.rewrite.isLayout === true) return said('refused')
    const { conflicts, together } = done.failure
    for (const { restores } of conflicts) {
      if (restores === undefined) continue
      const options = { max_result_size: Infinity, line_endings: 'adapt' } as const
      const sent =
        'old_text' in restores
          ? planTextEdits(it.present, [restores as TextEdit], options)
          : planLineEdits(it.present, [restores as LineEdit], options)
      const wrong = sent.ok ? wrongLine(Buffer.concat(sent.value.pieces), it) : sent.failure.code
      if (wrong !== null) return said(`${wrong}, by ${JSON.stringify(restores)}`)
    }
    const both = together && undo(it, taking([...together]))
    return both === undefined || (both.ok && wrongLine(Buffer.concat(both.value.pieces), it) === null)
      ? null
      : said('together')
  }
)
