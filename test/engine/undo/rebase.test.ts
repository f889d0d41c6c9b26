import t from 'tap'
import type { LineEdit } from '../../../src/engine/edit/request.ts'
import { rebaseTask, type TaskChange } from '../../../src/engine/task.ts'
import type { RecordedChange, RecordedSplice } from '../../../src/engine/undo/change.ts'
import { differing } from '../../../src/engine/undo/refine.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const FILE = { path: 'a', exists: true }
const OPTIONS = { max_result_size: 1e6, context_lines: 0, dry_run: false, most_since: 10 }

const lines = (...edits: [start_line: number, end_line: number, new_text: string][]): TaskChange => ({
  operation: 'edit_lines',
  edits: edits.map(([start_line, end_line, new_text]) => ({ start_line, end_line, new_text })),
  line_endings: 'adapt'
})
const named = (change: TaskChange): TaskChange => ({ ...change, by_name: true }) as TaskChange
const text = (old_text: string, new_text: string, others: object = {}): TaskChange => ({
  operation: 'edit',
  edits: [{ old_text, new_text, ...others }],
  line_endings: 'adapt'
})

/** The result as text; null: the change was refused. `texts`: the earlier text, and what others made of it in turn. */
function rebased(texts: readonly string[], change: TaskChange, options: object = {}) {
  const bytes = texts.map(each => Buffer.from(each))
  const changes = bytes.slice(1).map((after, i): RecordedChange => ({
    edit_id: `e${i}`,
    splices: differing(bytes[i]!, after)
  }))
  const task = { ...OPTIONS, ...options, change, earlier: { changes, at: -1 } }
  return rebaseTask(bytes.at(-1)!, task, FILE)
}

/** `expected`: the result, or undefined if the change is refused. */
function check(name: string, texts: readonly string[], cases: readonly (readonly [TaskChange, string | undefined])[]) {
  t.test(name, t => {
    for (const [change, expected] of cases) {
      const made = rebased(texts, change)
      t.equal(made.ok ? Buffer.concat(made.value.pieces).toString() : undefined, expected, JSON.stringify(change))
      if (!made.ok) t.equal(made.failure.code, 'NOT_REBASED')
    }
    t.end()
  })
}

check(
  'changes lines where they are now',
  ['a\nb\nc\nd\n', 'x\ny\na\nb\nc\nd\n', 'x\ny\na\nc\nd\n'],
  [
    [lines([3, 3, 'C']), 'x\ny\na\nC\nd\n'],
    [lines([3, 4, 'C']), 'x\ny\na\nC\n'],
    [lines([1, 1, 'A'], [4, 4, 'D']), 'x\ny\nA\nc\nD\n'],
    [lines([4, 3, 'new']), 'x\ny\na\nc\nnew\nd\n'],
    [lines([5, 4, 'end']), 'x\ny\na\nc\nd\nend\n'],
    [lines([2, 2, 'B']), undefined],
    [lines([1, 2, 'AB']), undefined],
    [lines([3, 2, 'beside']), undefined],
    [lines([1, 0, 'top']), undefined],
    [lines([9, 9, 'Z']), undefined],
    [text('c\nd', 'CD'), 'x\ny\na\nCD\n'],
    [text('d\n', ''), 'x\ny\na\nc\n'],
    [text('b', 'B'), undefined],
    [text('x', 'X'), undefined]
  ]
)
check(
  'counts matches in the version that the caller saw',
  ['k\na\n', 'k\na\nk\n'],
  [
    [text('k', 'K'), 'K\na\nk\n'],
    [text('k', 'K', { occurrence: 'last' }), 'K\na\nk\n'],
    [text('k', 'K', { occurrences: 2 }), undefined]
  ]
)
check(
  'keeps insertions by others beside what is replaced',
  ['a\nb\nc\n', 'a\n1\nb\n2\nc\n'],
  [
    [lines([2, 2, 'B']), 'a\n1\nB\n2\nc\n'],
    [lines([2, 2, '']), 'a\n1\n2\nc\n'],
    [lines([2, 3, 'BC']), undefined],
    [lines([2, 1, 'new']), undefined]
  ]
)
check(
  'refuses two insertions at the same edge',
  ['a\n', 'top\na\nend\n'],
  [
    [lines([1, 0, 'mine']), undefined],
    [lines([2, 1, 'mine']), undefined],
    [lines([1, 1, 'A']), 'top\nA\nend\n']
  ]
)
check(
  'inserts at an edge that nobody has changed',
  ['a\nb\nc\n', 'a\nb\nB\nc\n'],
  [
    [lines([1, 0, 'top']), 'top\na\nb\nB\nc\n'],
    [lines([4, 3, 'end']), 'a\nb\nB\nc\nend\n']
  ]
)
check(
  'knows a byte-order mark, and a last line without a break',
  ['\ufeffa\nb\nc', '\ufeffa\nB\nc'],
  [
    [lines([1, 0, 'top']), '\ufefftop\na\nB\nc'],
    [lines([3, 3, 'C']), '\ufeffa\nB\nC'],
    [lines([4, 3, 'end']), '\ufeffa\nB\nc\nend']
  ]
)
check(
  'refuses a line that got more text, or another break',
  ['a\nb\r\nc', 'a\nb\ncd'],
  [
    [lines([2, 2, 'B']), undefined],
    [lines([3, 3, 'C']), undefined],
    [lines([1, 1, 'A']), 'A\nb\ncd']
  ]
)
check('refuses what has no place', ['', 'a\n'], [[lines([1, 0, 'x']), undefined]])
check(
  'takes what was undone for unchanged',
  ['a\nb\n', 'x\na\nb\n', 'a\nb\n', 'a\nb\nc\n'],
  [[lines([1, 1, 'A']), 'A\nb\nc\n']]
)
check(
  'plans what is named in the present text, if its lines are as they were',
  ['a\nb\nc\n', 'x\na\nb\nC\n'],
  [
    [named(lines([2, 2, 'A'])), 'x\nA\nb\nC\n'],
    [named(lines([3, 2, 'new'])), 'x\na\nnew\nb\nC\n'],
    [named(lines([4, 4, 'c'])), undefined],
    [named(lines([1, 1, 'X'])), undefined],
    [named(lines([1, 0, 'X'])), undefined],
    [named(lines([9, 9, 'X'])), undefined]
  ]
)

t.test('refuses a result that is too large, and an edit in an encoding that the file has not', t => {
  const texts = ['a\nb\n', 'a\nb\nc\n']
  t.notOk(rebased(texts, lines([1, 1, 'A'.repeat(10)]), { max_result_size: 10 }).ok)
  const latin = [Buffer.from('a\n'), Buffer.from('a\n\xe9\n', 'latin1')] as const
  const earlier = { changes: [{ edit_id: 'e', splices: differing(...latin) }], at: -1 }
  const made = rebaseTask(latin[1], { ...OPTIONS, change: text('a', 'ä'), earlier }, FILE)
  t.match(made, { ok: false, failure: { code: 'UNENCODABLE_TEXT' } })
  t.end()
})

t.test('says what others have changed, and where that is now', t => {
  const since = (texts: readonly string[], change: TaskChange) => {
    const made = rebased(texts, change)
    const found = made.ok ? made.value.since : made.failure.code === 'NOT_REBASED' && made.failure.since
    return found && found.newest.toReversed()
  }
  const texts = ['a\nb\nc\nd\n', 'x\ny\na\nb\nc\nd\n', 'x\ny\na\nb\nd\n', 'x\nY\na\nb\nd\n']
  t.strictSame(since(texts, lines([1, 1, 'A\nA'])), [
    { edit_id: 'e0', start_line: 1, end_line: 2 },
    { edit_id: 'e1', start_line: 6, end_line: 5 },
    { edit_id: 'e2', start_line: 2, end_line: 2 }
  ])
  t.strictSame(since(texts, lines([3, 3, 'C'])), [
    { edit_id: 'e0', start_line: 1, end_line: 2 },
    { edit_id: 'e1', start_line: 5, end_line: 4 },
    { edit_id: 'e2', start_line: 2, end_line: 2 }
  ])
  t.strictSame(since(['a\nb\n', 'x\na\nb\n', 'a\nb\n'], lines([2, 2, 'B'])), [{ edit_id: 'e0' }, { edit_id: 'e1' }])
  t.end()
})

t.test('compares the texts if the changes are not known', t => {
  const made = rebaseTask(
    Buffer.from('x\na\nb\n'),
    { ...OPTIONS, change: lines([2, 2, 'B']), earlier: { text: Buffer.from('a\nb\n') } },
    FILE
  )
  t.match(made, {
    ok: true,
    value: { since: { newest: [{ edit_id: '', outside: true, start_line: 1, end_line: 1 }], total: 1 } }
  })
  t.equal(made.ok && Buffer.concat(made.value.pieces).toString(), 'x\na\nB\n')
  t.equal(made.ok && made.value.earlier.toString(), 'a\nB\n')
  t.end()
})

t.test('has no answer for a version that the changes do not reach back to', t => {
  const changes: RecordedChange[] = [
    { edit_id: 'e0', splices: null },
    { edit_id: 'e1', splices: differing(Buffer.from('a\n'), Buffer.from('a\nb\n')) }
  ]
  const made = rebaseTask(
    Buffer.from('a\nb\n'),
    { ...OPTIONS, change: lines([1, 1, 'A']), earlier: { changes, at: -1 } },
    FILE
  )
  t.match(made, { ok: false, failure: { code: 'NOT_REBASED', since: undefined, now: { fits: true } } })
  t.end()
})

t.test('names the present lines of the matches that it left alone', t => {
  const made = rebased(['k\na\nk\nk\n', 'x\nk\na\nk\nK\n'], text('k', 'q', { occurrence: 1 }))
  t.match(made, { ok: true, value: { description: { plan: { left_alone: [{ count: 2, lines: [4] }] } } } })
  t.end()
})

/** A line that keeps its identity; changing its text makes it another line. */
interface Line {
  text: string
}

const shown = (all: readonly Line[]): string => all.map(line => `${line.text}\n`).join('')

/** Changes lines at random; returns the lines, and the change as it is recorded. */
function changedBy(
  random: Random,
  before: readonly Line[],
  edit_id: string
): { after: Line[]; change: RecordedChange } {
  const after: Line[] = []
  const splices: RecordedSplice[] = []
  let start = 0
  const put = (old: string, insert: string) => {
    const last = splices.at(-1)
    if (last !== undefined && last.start + last.old.length === start) {
      splices[splices.length - 1] = {
        start: last.start,
        old: Buffer.concat([last.old, Buffer.from(old)]),
        insert: Buffer.concat([last.insert, Buffer.from(insert)])
      }
    } else splices.push({ start, old: Buffer.from(old), insert: Buffer.from(insert) })
  }
  for (const line of [...before, undefined]) {
    if (random.chance(10)) {
      const fresh = { text: random.text(['a', 'b'], 2) }
      after.push(fresh)
      put('', `${fresh.text}\n`)
    }
    if (line === undefined) break
    const kind = random.int(10)
    if (kind === 0) put(`${line.text}\n`, '')
    else if (kind === 1) {
      const other = { text: `${line.text}c` }
      after.push(other)
      put(`${line.text}\n`, `${other.text}\n`)
    } else after.push(line)
    start += line.text.length + 1
  }
  return { after, change: { edit_id, splices } }
}

/** What a person would get who changed the lines first, and others' changes after it; null: both touched a line. */
function byHand(earlier: readonly Line[], present: readonly Line[], edit: LineEdit): string | null {
  const fresh = edit.new_text === '' ? [] : edit.new_text.split('\n').map(text => ({ text }))
  const isInsertion = edit.end_line < edit.start_line
  const from = isInsertion ? edit.start_line - 2 : edit.start_line - 1
  const touched = earlier.slice(Math.max(0, from), isInsertion ? edit.start_line : edit.end_line)
  const at = present.indexOf(touched[0]!)
  if (at === -1 || touched.some((line, i) => present[at + i] !== line)) return null
  if (!isInsertion) return shown(present.toSpliced(at, touched.length, ...fresh))
  if (edit.start_line === 1) return at === 0 ? shown([...fresh, ...present]) : null
  if (edit.start_line > earlier.length) return at === present.length - 1 ? shown([...present, ...fresh]) : null
  return shown(present.toSpliced(at + 1, 0, ...fresh))
}

t.test('makes what a person would get who made the edit before the others', t => {
  const random = new Random(SEED)
  const outcomes = { made: 0, refused: 0 }
  for (let i = 0; i < often(100_000, 10_000, 2000); i++) {
    const first = Array.from({ length: 1 + random.int(8) }, () => ({ text: random.text(['a', 'b'], 2) }))
    const changes: RecordedChange[] = []
    let present: Line[] = first
    const versions = [first]
    for (let n = random.int(4) + 1; n > 0; n--) {
      const { after, change } = changedBy(random, present, `e${n}`)
      changes.push(change)
      versions.push((present = after))
    }
    const at = random.int(changes.length) - 1
    const earlier = versions[at + 1]!
    if (earlier.length === 0) continue
    const start_line = 1 + random.int(earlier.length + 1)
    const end_line =
      start_line - 1 + (start_line > earlier.length ? 0 : random.int(Math.min(3, earlier.length - start_line + 2)))
    const new_text = end_line < start_line || random.chance(70) ? `new${random.pick(['', '\nnew'])}` : ''
    const edit = { start_line, end_line, new_text }
    const made = rebaseTask(
      Buffer.from(shown(present)),
      {
        ...OPTIONS,
        change: { operation: 'edit_lines', edits: [edit], line_endings: 'adapt' },
        earlier: { changes, at }
      },
      FILE
    )
    const expected = byHand(earlier, present, edit)
    const result = made.ok ? Buffer.concat(made.value.pieces).toString() : null
    outcomes[made.ok ? 'made' : 'refused']++
    if (result !== expected) {
      const seen = { seed: SEED, i, earlier: shown(earlier), present: shown(present), edit, result, expected, at }
      return t.fail(JSON.stringify(seen, null, 1))
    }
  }
  t.ok(outcomes.made > outcomes.refused / 5 && outcomes.refused > outcomes.made / 5, JSON.stringify(outcomes))
  t.end()
})
