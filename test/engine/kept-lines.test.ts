// Lines that an edit leaves as they are, whatever it was asked to replace: what is said of a change, what is recorded of
// it and who wrote which line agree, and agree with git.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { blameOf } from '../../src/engine/blame.ts'
import type { RecordedChange } from '../../src/engine/undo/change.ts'
import { lineCountsOf, placesOf } from '../../src/engine/undo/places.ts'
import { pendingOf } from '../../src/engine/pending.ts'
import type { HunkLine } from '../../src/engine/patch/hunk.ts'
import type { LineChange } from '../../src/engine/report/describe.ts'
import { planUndo, type UndoGoal } from '../../src/engine/undo-redo.ts'
import { planTask, type TaskChange, type TaskResult } from '../../src/engine/task.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'

type Counts = [removed: number, added: number]

const ASKED = { context_lines: 0, dry_run: false, max_result_size: 1 << 20, max_diff_lines: 1 << 20 }
const FILE = { path: 'a.txt', exists: true }

/** A text and all of its changes. */
class Story {
  readonly base: Buffer
  readonly changes: RecordedChange[] = []
  present: Buffer

  constructor(base: string) {
    this.base = this.present = Buffer.from(base)
  }

  /** Makes a change; null where it can't be made. */
  make(change: TaskChange): Made | null {
    const planned = planTask(this.present, { ...ASKED, change }, FILE)
    return planned.ok ? this.#carryOut(planned.value) : null
  }

  undo(edit_id: string): Made | null {
    const goal: UndoGoal = { set: [{ edit_id }], to: 'undone', on_conflict: 'refuse' }
    const planned = planUndo(this.present, { ...ASKED, changes: this.changes, goal }, FILE)
    return planned.ok ? this.#carryOut(planned.value, { toggles: planned.value.toggled }) : null
  }

  /** By its number, who wrote each line, as the numbers of changes. */
  owners(): string[] {
    const blamed = blameOf(this.present, { changes: this.changes, limit: 10_000 })
    if (!blamed.ok) throw new Error(blamed.failure.code)
    return blamed.value.lines.map(({ edit_ids }) => edit_ids.join(','))
  }

  pending(): { lines: string[]; counts: Counts } {
    const pending = pendingOf(this.present, {
      changes: this.changes,
      verdicts: [],
      context_lines: 0,
      max_lines: 10_000
    })
    if (!pending.ok) throw new Error(pending.failure.code)
    const all = pending.value.hunks.flatMap(({ lines }) => lines)
    const count = (kind: string): number => all.filter(line => line.kind === kind).length
    return {
      lines: all.map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`),
      counts: [count('removed'), count('added')]
    }
  }

  #carryOut({ pieces, splices = [], description }: TaskResult, more: Partial<RecordedChange> = {}): Made {
    const before = this.present
    this.present = Buffer.concat(pieces)
    const edit_id = String(this.changes.length)
    this.changes.push({ edit_id, splices, ...more })
    const { changes, changes_truncated } = description.changes
    const { lines_removed, lines_added } = lineCountsOf(placesOf(before, splices))
    const diff = 'diff' in description.diff ? description.diff.diff.split('\n').slice(2) : []
    return {
      edit_id,
      before,
      after: this.present,
      changes,
      reported: changes_truncated
        ? [lines_removed, lines_added]
        : [
            distinct(changes.map(({ start_line, end_line }) => [start_line, end_line])),
            distinct(changes.map(({ new_start_line, new_end_line }) => [new_start_line, new_end_line]))
          ],
      recorded: [lines_removed, lines_added],
      inDiff: ['-', '+'].map(sign => diff.filter(line => line.startsWith(sign)).length) as Counts
    }
  }
}

interface Made {
  edit_id: string
  before: Buffer
  after: Buffer
  changes: LineChange[]
  /** By `changes`, where all are listed, by the history and by the diff. */
  reported: Counts
  recorded: Counts
  inDiff: Counts
}

/** How many lines some ranges have; several edits may be of one line. */
const distinct = (ranges: [from: number, to: number][]): number =>
  new Set(ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))).size

const linesOf = (bytes: Buffer): string[] => bytes.toString().match(/[^\n]*\n|[^\n]+$/g) ?? []
const textsOf = (bytes: Buffer): string[] => linesOf(bytes).map(line => line.replace(/\r?\n$/, ''))

/** The fewest lines that turn one list into the other. */
function fewest(a: readonly string[], b: readonly string[]): Counts {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const line of a) {
    const next = [0]
    for (const [i, other] of b.entries()) {
      next.push(line === other ? row[i]! + 1 : Math.max(next[i]!, row[i + 1]!))
    }
    row = next
  }
  const same = row[b.length]!
  return [a.length - same, b.length - same]
}

/** `changes` as lines before and after, who wrote the lines then, and what is pending. */
function check(name: string, text: string, change: TaskChange, expected: string[], lines: string[]): void {
  t.test(name, async t => {
    for (const lineBreak of ['\n', '\r\n']) {
      const story = new Story(text.replaceAll('\n', lineBreak))
      const made = story.make(inBreaks(change, lineBreak))!
      t.strictSame(
        made.changes.map(
          ({ start_line, end_line, new_start_line, new_end_line }) =>
            `${start_line}-${end_line} ${new_start_line}-${new_end_line}`
        ),
        expected
      )
      t.strictSame(made.recorded, made.reported, 'the history counts the same')
      const owners = story.owners()
      t.strictSame(
        textsOf(story.present).map((line, i) => `${line}${owners[i] === '' ? '' : ' @'}`),
        lines
      )
      const undone = story.undo(made.edit_id)!
      t.strictSame(undone.after, made.before)
      t.strictSame(undone.recorded, undone.reported, 'of the undo too')
      t.strictSame(story.pending().lines, [])
    }
  })
}

/** A new content is written with the breaks that it has. */
const inBreaks = (change: TaskChange, lineBreak: string): TaskChange =>
  change.operation === 'create' ? { ...change, content: change.content.replaceAll('\n', lineBreak) } : change

const text = (old_text: string, new_text: string, more: object = {}): TaskChange => ({
  operation: 'edit',
  edits: [{ old_text, new_text, ...more }],
  line_endings: 'adapt'
})
const lines = (start_line: number, end_line: number, new_text: string): TaskChange => ({
  operation: 'edit_lines',
  edits: [{ start_line, end_line, new_text }],
  line_endings: 'adapt'
})
const hunk = (...all: string[]): TaskChange => ({
  operation: 'apply_hunks',
  hunks: [{ anchors: [], at_end: false, patch_line: 1, lines: all.map(hunkLine) }]
})
const KINDS: Record<string, HunkLine['kind']> = { ' ': 'keep', '-': 'remove', '+': 'add' }
const hunkLine = (line: string): HunkLine => ({ kind: KINDS[line[0]!]!, text: line.slice(1) })

const INI = '[a]\nx=1\n[paths]\ny=2\n'
const ADDED_AFTER = ['[a]', 'x=1', '[paths]', 'temp=y @', 'y=2']
check('adds a line after one', INI, text('[paths]', '[paths]\ntemp=y'), ['4-3 4-4'], ADDED_AFTER)
check('adds a line after whole ones', INI, text('x=1\n[paths]\n', 'x=1\n[paths]\ntemp=y\n'), ['4-3 4-4'], ADDED_AFTER)
check('adds a line by lines that are the same', INI, lines(3, 3, '[paths]\ntemp=y\n'), ['4-3 4-4'], ADDED_AFTER)
check('adds a line by a patch', INI, hunk(' [paths]', '+temp=y', ' y=2'), ['4-3 4-4'], ADDED_AFTER)
check(
  'takes lines from the end by a new content',
  INI,
  { operation: 'create', content: '[a]\nx=1\n' },
  ['3-4 3-2'],
  ['[a]', 'x=1']
)
check('adds a line behind a byte-order mark', '\ufeffa\nb\n', text('a', 'x\na'), ['1-0 1-1'], ['\ufeffx @', 'a', 'b'])
check(
  'adds a line before one',
  INI,
  text('[paths]', 'temp=y\n[paths]'),
  ['3-2 3-3'],
  ['[a]', 'x=1', 'temp=y @', '[paths]', 'y=2']
)
check(
  'adds lines on both sides',
  'a\nb\nc\n',
  text('b', 'x\nb\ny'),
  ['2-1 2-2', '3-2 4-4'],
  ['a', 'x @', 'b', 'y @', 'c']
)
check('deletes a line between two', 'a\nb\nc\n', text('a\nb\nc', 'a\nc'), ['2-2 2-1'], ['a', 'c'])
check('deletes a line with the break before it', 'a\nb\nc\n', text('\nb', ''), ['2-2 2-1'], ['a', 'c'])
check(
  'changes some of many lines',
  'a\nb\nc\nd\n',
  text('a\nb\nc\nd', 'A\nb\nc\nD'),
  ['1-1 1-1', '4-4 4-4'],
  ['A @', 'b', 'c', 'D @']
)
check(
  'adds lines after each of several',
  'a {\n}\nb {\n}\n',
  text('}', '}\n', { replace_all: true }),
  ['3-2 3-3', '5-4 6-6'],
  ['a {', '}', ' @', 'b {', '}', ' @']
)
check(
  'counts a line once that is changed in two places',
  'a b a\n',
  text('a', 'c', { replace_all: true }),
  ['1-1 1-1', '1-1 1-1'],
  ['c b c @']
)
check(
  'adds a line at the end of a text without a break there',
  'a\nb',
  text('b', 'b\nc'),
  ['3-2 3-3'],
  ['a', 'b', 'c @']
)
check('adds lines there of which one has a break', 'a\nb', text('b', 'b\n\nc\n'), ['3-2 3-4'], ['a', 'b', ' @', 'c @'])
check('takes the last line of a text without a break there', 'a\nb\nc', text('b\nc', 'b'), ['3-3 3-2'], ['a', 'b'])
check('puts the break that a last line lacks', 'a\nb', text('b', 'b\n'), ['2-2 2-2'], ['a', 'b @'])

/** A random text whose lines mostly occur once. `fresh` returns a line that occurs nowhere. */
function randomStory(random: Random, fresh: () => string): Story {
  const lineBreak = random.pick(['\n', '\n', '\r\n'])
  const all = Array.from({ length: random.int(14) }, () => (random.chance(30) ? random.pick(['', '}']) : fresh()))
  const isEnded = random.chance(70)
  return new Story(`${all.join(lineBreak)}${isEnded ? lineBreak : ''}`)
}

/** Some lines as an edit leaves them: kept, taken out, changed, with others before and after them. */
function rewritten(random: Random, old: readonly string[], fresh: () => string): HunkLine[] {
  const some = (): HunkLine[] =>
    random.chance(25) ? Array.from({ length: 1 + random.int(2) }, () => ({ kind: 'add', text: fresh() })) : []
  return old.flatMap(text => {
    const kind = random.pick(['keep', 'keep', 'keep', 'remove', 'change'] as const)
    const own: HunkLine[] =
      kind === 'change'
        ? [
            { kind: 'remove', text },
            { kind: 'add', text: random.chance(50) && text !== '' ? `${text} ${fresh()}` : fresh() }
          ]
        : [{ kind, text }]
    return [...some(), ...own, ...some()]
  })
}

function randomChange(random: Random, present: Buffer, fresh: () => string): TaskChange {
  const all = textsOf(present)
  const asked = (from: number, to: number) => {
    const old = all.slice(from, to)
    const changed = rewritten(random, old, fresh)
    return { old, changed, now: changed.filter(({ kind }) => kind !== 'remove').map(({ text }) => text) }
  }
  const from = random.int(all.length + 1)
  const to = Math.min(all.length, from + random.int(5))
  const line_endings = 'adapt'
  switch (random.int(5)) {
    case 0: {
      const more = fresh()
      return text('}', random.pick([`}\n${more}`, `${more}\n}`, more, '']), { replace_all: true })
    }
    case 1: {
      const edits = [asked(from, to), asked(to + 1, to + 3)].map(({ old, now }) => {
        // Without a break at its end, a line that is taken out would leave an empty one.
        const end = now.length === 0 || random.chance(50) ? '\n' : ''
        return { old_text: old.join('\n') + end, new_text: now.join('\n') + (now.length > 0 ? end : '') }
      })
      return { operation: 'edit', edits: edits.slice(0, 1 + random.int(2)), line_endings }
    }
    case 2: {
      const edits = [asked(from, to), asked(to, to + 2)].map(({ old, now }, i) => {
        const start_line = (i === 0 ? from : to) + 1
        return {
          start_line,
          end_line: start_line + old.length - 1,
          new_text: now.map(line => `${line}\n`).join('')
        }
      })
      return { operation: 'edit_lines', edits: edits.slice(0, 1 + random.int(2)), line_endings }
    }
    case 3: {
      const content = all.length === 0 ? '' : `${asked(0, all.length).now.join('\n')}\n`
      return inBreaks({ operation: 'create', content }, present.includes('\r') ? '\r\n' : '\n')
    }
    default: {
      const { changed } = asked(from, to)
      return { operation: 'apply_hunks', hunks: [{ anchors: [], at_end: false, patch_line: 1, lines: changed }] }
    }
  }
}

/** Between the fewest that git would count, and as many. */
const isBetween = (counts: Counts, least: Counts, most: Counts): boolean =>
  counts.every((count, i) => count >= least[i]! && count <= most[i]!)

type Counted = Pick<Made, 'before' | 'after' | 'reported' | 'recorded' | 'inDiff'> & { pending?: Counts }

/** What is wrong with what is said of a change, or null. */
function wrongCounts({ before, after, reported, recorded, inDiff, pending = recorded }: Counted): string | null {
  const least = fewest(textsOf(before), textsOf(after))
  const most = fewest(linesOf(before), linesOf(after))
  if (!isBetween(reported, least, most)) return `changes ${reported.join('/')}, should be ${least.join('/')}`
  if (String(recorded) !== String(reported)) return `history ${recorded.join('/')}, changes ${reported.join('/')}`
  if (!isBetween(pending, least, most)) return `pending ${pending.join('/')}, should be ${least.join('/')}`
  if (String(inDiff) !== String(most)) return `diff ${inDiff.join('/')}, git ${most.join('/')}`
  return null
}

/** Lines, with their breaks, whose text occurs once, and who wrote them. */
function onlyLines(bytes: Buffer, owners: readonly string[]): Map<string, string> {
  const texts = textsOf(bytes)
  const once = [...linesOf(bytes).entries()].filter(([i]) => texts.filter(text => text === texts[i]).length === 1)
  return new Map(once.map(([i, line]) => [line, owners[i]!]))
}

/** Texts before and after changes, for git. */
const seen: Made[] = []

t.test('law: counts as few lines as git does, and gives a line to who wrote it', t => {
  const rounds = often(3000, 60)
  let count = 0
  for (let round = 0; round < rounds; round++) {
    const random = new Random(SEED * 80_021 + round)
    let version = 0
    const fresh = (): string => `line ${version++}`
    const story = randomStory(random, fresh)
    for (let step = 0; step < 5; step++) {
      const owners = onlyLines(story.present, story.owners())
      const toUndo = random.chance(25) ? story.changes[random.int(story.changes.length || 1)]?.edit_id : undefined
      const change = toUndo === undefined ? randomChange(random, story.present, fresh) : undefined
      const made = change === undefined ? story.undo(toUndo!) : story.make(change)
      if (made === null || made.before.equals(made.after)) continue
      count++
      if (round % 10 === 0) seen.push(made)
      const now = onlyLines(story.present, story.owners())
      const lost = [...now].find(([line, owner]) => owners.has(line) && owners.get(line) !== owner)
      // Of several changes, each may have kept another one of several lines that are alike.
      const pending = story.changes.length === 1 ? story.pending().counts : made.recorded
      const wrong = wrongCounts({ ...made, pending }) ?? (lost === undefined ? null : `${lost[0]} is ${lost[1]}'s`)
      if (wrong === null) continue
      const [before, after] = [made.before.toString(), made.after.toString()]
      t.fail(wrong, {
        seed: SEED,
        round,
        step,
        before,
        after,
        change,
        toUndo,
        changes: made.changes,
        base: `${story.base}`
      })
      return t.end()
    }
  }
  t.ok(count > rounds, `${count} changes`)
  t.end()
})

t.test('law: counts as few lines as git does of one edit, also where lines occur again and again', t => {
  const rounds = often(3000, 100)
  for (let round = 0; round < rounds; round++) {
    const random = new Random(SEED * 80_039 + round)
    const fresh = (): string => random.pick(['a', 'b', 'c', ''])
    const story = randomStory(random, fresh)
    const all = textsOf(story.present)
    const from = random.int(all.length + 1)
    const to = Math.min(all.length, from + random.int(8))
    const now = rewritten(random, all.slice(from, to), fresh).filter(({ kind }) => kind !== 'remove')
    const made = story.make(lines(from + 1, to, now.map(({ text }) => `${text}\n`).join('')))
    if (made === null || made.before.equals(made.after)) continue
    if (round % 10 === 0) seen.push(made)
    const wrong = wrongCounts(made)
    if (wrong === null) continue
    t.fail(wrong, { seed: SEED, round, before: `${made.before}`, after: `${made.after}`, changes: made.changes })
    break
  }
  t.end()
})

t.test('knows what git counts', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-kept-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const side of ['before', 'after'] as const) {
    mkdirSync(join(folder, side))
    for (const [i, made] of seen.entries()) writeFileSync(join(folder, side, `${i}.txt`), made[side])
  }
  let found = ''
  try {
    execFileSync('git', ['diff', '--no-index', '--minimal', '--numstat', '--no-renames', 'before', 'after'], {
      cwd: folder,
      stdio: 'pipe'
    })
  } catch (error) {
    // It ends with 1 where there are differences.
    found = String((error as { stdout: Buffer }).stdout)
  }
  const byGit = found.matchAll(/^(\d+)\t(\d+)\t.*?(\d+)\.txt\}?$/gm)
  const counts = new Map(Array.from(byGit, ([, added, removed, i]) => [Number(i), [Number(removed), Number(added)]]))
  t.equal(counts.size, seen.length)
  t.strictSame(
    seen.map((_, i) => counts.get(i)),
    seen.map(({ before, after }) => fewest(linesOf(before), linesOf(after)))
  )
})
