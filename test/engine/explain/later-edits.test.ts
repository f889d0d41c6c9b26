// What corrects later edits of a request, with the one that failed: the same as if one after the other were corrected.
import t from 'tap'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import type { EditFix, LaterEdit, NoMatch, TakesLong, TextFailure } from '../../../src/engine/failure.ts'
import { planTextEdits, type TextOptions } from '../../../src/engine/plan/replace-text.ts'
import type { Result } from '../../../src/result.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const OPTIONS: TextOptions = { line_endings: 'adapt', max_result_size: 1 << 24 }
const WORDS = ['host', 'socket', 'retries', 'budget', 'parser', 'window', 'colour', 'invoice', 'message', 'thread']
/** A file of functions that are unlike each other. */
const FILE = WORDS.map((word, i) => `function ${word} () {\n    return ${word}s[${i}] + "${word}"\n}\n`).join('\n')
const returned = (word: string) => `return ${word}s[${WORDS.indexOf(word)}] + "${word}"`

/** Changes what a function returns; `damage`: how old_text is written otherwise than the file has it. */
const edit = (word: string, damage: (old_text: string) => string = text => text): TextEdit => ({
  old_text: damage(`function ${word} () {\n    ${returned(word)}\n}`),
  new_text: damage(`function ${word} () {\n    ${returned(word)}.trim()\n}`)
})
/** Its old_text has another index than the file. */
const returning = (word: string, index: number): TextEdit => ({
  old_text: `function ${word} () {\n    return ${word}s[${index}]`,
  new_text: `function ${word} () {\n    return ${word}s[${index + 1}]`
})
const narrow = (text: string) => text.replaceAll('    ', '  ')
const wide = (text: string) => text.replaceAll(' ', '  ')
const cut = (text: string) => text.replace(' () {', '() {')
const gone = (): string => 'import nothing from "nowhere"'

const plan = (file: string, edits: readonly TextEdit[]) => planTextEdits(Buffer.from(file), edits, OPTIONS)

/** The one fix that has an edit. */
function fixOf(planned: Result<unknown, TextFailure | TakesLong>): EditFix | undefined {
  if (planned.ok || planned.failure.code !== 'NO_MATCH') return undefined
  return planned.failure.fixes.find((fix): fix is EditFix => fix.edit !== undefined)
}

/** The index of the first edit that wasn't tried. */
const untriedIn = (planned: Result<unknown, TextFailure | TakesLong>): number | undefined =>
  planned.ok || planned.failure.code === 'TAKES_LONG' ? undefined : planned.failure.untried_from

/** What an answer says about a later edit. */
const told = (failure: TextFailure | TakesLong) => ({ ...failure, untried_from: undefined })

/** The later edits that can be sent as they are corrected. */
const ready = (later: readonly LaterEdit[] = []): { edit_index: number; edit: TextEdit; lines: [number, number] }[] =>
  later.flatMap(({ failure: { edit_index }, fix }) =>
    fix?.edit.new_text === undefined ? [] : [{ edit_index, edit: fix.edit as TextEdit, lines: fix.lines }]
  )

/** The edits with the correction of the one that failed, and of the later ones. */
function corrected(edits: readonly TextEdit[], planned: Result<unknown, TextFailure | TakesLong>): TextEdit[] {
  const { edit, later } = fixOf(planned)!
  const { edit_index } = (planned as { failure: TextFailure }).failure
  const all = edits.with(edit_index, edit as TextEdit)
  return ready(later).reduce((list, one) => list.with(one.edit_index, one.edit), all)
}

/**
 * Expects the first edit that fails to be corrected, with these later ones, by their index; `last`: the one that fails
 * even so.
 */
const check = (
  name: string,
  edits: readonly TextEdit[],
  expected: number[],
  last?: { edit_index: number; code: TextFailure['code']; own?: true }
): void => {
  t.test(name, async t => {
    const planned = plan(FILE, edits)
    const { later } = fixOf(planned)!
    t.strictSame(
      ready(later).map(({ edit_index }) => edit_index),
      expected
    )
    const again = plan(FILE, corrected(edits, planned))
    t.equal(untriedIn(planned), untriedIn(again))
    if (last === undefined) return t.equal(again.ok, true)
    const { own = false, ...failure } = last
    t.match(again, { failure })
    t.equal(untriedIn(again), last.edit_index === edits.length - 1 ? undefined : last.edit_index + 1)
    t.strictSame(told(later!.at(-1)!.failure), told((again as { failure: TextFailure }).failure))
    t.equal(later!.at(-1)!.fix !== undefined, own)
  })
}

check(
  'corrects all edits that are off in the same way',
  [edit('host', narrow), edit('parser', narrow), edit('thread', narrow)],
  [1, 2]
)
check('leaves alone those between them that match', [edit('host', narrow), edit('parser'), edit('thread', wide)], [2])
check('corrects those behind it only', [edit('host'), edit('parser', cut), edit('thread', narrow)], [2])
check('names none where the others match', [edit('host', narrow), edit('parser')], [])
check('ends at what nothing is like', [edit('host', narrow), edit('parser', gone), edit('thread', narrow)], [], {
  edit_index: 1,
  code: 'NO_MATCH'
})
check(
  'ends at what several places are like',
  [edit('host', narrow), edit('parser', cut), { old_text: '() {', new_text: '' }],
  [1],
  { edit_index: 2, code: 'WRONG_COUNT' }
)
check(
  'names none where the corrected one leaves what the next one seeks',
  [edit('host', narrow), { old_text: 'return hosts[0] + "host"', new_text: 'return hosts[0] + "local"' }],
  []
)

check(
  'corrects what an earlier edit changes',
  [edit('host', narrow), { old_text: 'parser ()', new_text: 'parser (text)' }, edit('parser')],
  [2]
)

check(
  'ends at what needs another new_text, and has its old_text',
  [edit('host', narrow), returning('parser', 7), edit('thread', narrow)],
  [],
  { edit_index: 1, code: 'NO_MATCH', own: true }
)
check(
  'ends at what has been made already',
  [edit('host', narrow), { old_text: 'function socket () {', new_text: 'function socket () {\n    return sockets[1]' }],
  [],
  { edit_index: 1, code: 'ALREADY_APPLIED' }
)
check(
  'ends at an occurrence that is not there',
  [edit('host', narrow), { old_text: 'parser', new_text: 'reader', occurrence: 9 }],
  [],
  { edit_index: 1, code: 'OCCURRENCE_OUT_OF_RANGE' }
)

t.test('says of each where it was most likely meant, and why it fails', async t => {
  const alone = [edit('host', narrow), edit('parser', cut)].map(one => plan(FILE, [one]))
  const [first, second] = alone.map(planned => fixOf(planned)!)
  const { cause } = (alone[1] as { failure: NoMatch }).failure
  const { later, ...fix } = fixOf(plan(FILE, [edit('host', narrow), edit('parser', cut)]))!
  t.strictSame(fix, first)
  t.match(later, [{ failure: { edit_index: 1, cause }, fix: second }])
  const renamed = { old_text: 'parser ()', new_text: 'parser (text)' }
  const undone = fixOf(plan(FILE, [edit('host', narrow), renamed, edit('parser')]))!.later
  t.match(undone, [
    { failure: { edit_index: 2, undone_by_edit: 1 }, fix: { edit: { old_text: /^function parser \(text\) / } } }
  ])
})

t.test('corrects no later ones where the first is doubtful', async t => {
  const twice = 'a = 1\nb = 2\na = 1\n'
  const doubtful = plan(`${FILE}${twice}`, [{ old_text: 'a  = 1', new_text: 'a = 3' }, edit('host', narrow)])
  t.match(doubtful, { failure: { code: 'NO_MATCH', edit_index: 0 } })
  t.notOk(fixOf(doubtful)?.later)
  const counted = plan(`${FILE}${twice}`, [{ old_text: 'a = 1', new_text: 'a = 3' }, edit('host', narrow)])
  t.match(counted, { failure: { code: 'WRONG_COUNT' } })
  for (const planned of [doubtful, counted]) t.equal(untriedIn(planned), 1, 'and says that they were not tried')
  const own = plan(FILE, [returning('parser', 7), edit('host', narrow), edit('thread', narrow)])
  t.equal(untriedIn(own), 1)
  t.equal(untriedIn(plan(FILE, [edit('host'), returning('parser', 7)])), undefined, 'where there are any')
  t.notMatch(JSON.stringify(counted), 'later')
})

t.test('corrects as many as fit into an answer', async t => {
  const words = Array.from({ length: 40 }, (_, i) => `${WORDS[i % 10]}${'abcd'[Math.floor(i / 10)]!.repeat(9)}`)
  const lines = (pad: string) => words.map((word, i) => `${word.repeat(3)} = compute(${i}, "${word}${pad}")`)
  const edits = (pad: string) =>
    lines(pad).map(line => ({
      old_text: line.replace(' = ', '  =  '),
      new_text: line.replace(' = ', '  =  ').replace('compute', 'made')
    }))
  const fix = (pad: string, most?: number) => fixOf(plan(`${lines(pad).join('\n')}\n`, edits(pad).slice(0, most)))!
  t.equal(ready(fix('').later).length, 20, 'twenty')
  const untriedFrom = (pad: string, most?: number) =>
    untriedIn(plan(`${lines(pad).join('\n')}\n`, edits(pad).slice(0, most)))
  t.equal(untriedFrom(''), 21, 'and those after them were not tried')
  t.equal(untriedFrom('', 22), 21)
  t.equal(untriedFrom('', 21), undefined, 'or there are none')
  t.equal(untriedFrom('', 20), undefined)
  const { later: long = [] } = fix('x'.repeat(700))
  t.equal(untriedFrom('x'.repeat(700)), long.at(-1)!.failure.edit_index + 1)
  t.ok(long.length < 20, 'fewer where they are long')
  t.equal(long.length, ready(long).length + 1, 'and the next one without its correction')
  t.ok(JSON.stringify(ready(long).map(({ edit }) => edit)).length <= 16_100)
})

t.test('leaves it to a thread where it takes longer than it may', async t => {
  const edits = [edit('host', narrow), edit('parser', narrow), edit('thread', narrow)]
  const within = (work_within: number) => planTextEdits(Buffer.from(FILE), edits, { ...OPTIONS, work_within })
  const one = 1000 * 1000
  t.match(within(one - 1), { failure: { code: 'TAKES_LONG' } })
  t.match(within(2 * one), { failure: { code: 'TAKES_LONG' } })
  // And the three places that are replaced in the end.
  t.strictSame(within(3 * one + 3 * 1000), plan(FILE, edits))
})

t.test('ends where the text is long: even a thread has others to work for', async t => {
  const file = `${FILE}${'// nothing of this is like what is sought\n'.repeat(100_000)}`
  const edits = ['host', 'parser', 'thread', 'window'].map(word => edit(word, narrow))
  const planned = plan(file, edits)
  t.match(planned, { failure: { code: 'NO_MATCH', edit_index: 0 } })
  t.strictSame(
    ready(fixOf(planned)!.later).map(({ edit_index }) => edit_index),
    [1]
  )
})

t.test('corrects what would be corrected one after the other', async t => {
  const random = new Random(SEED)
  let found = 0
  for (let round = 0; round < often(600); round++) {
    const damages = [narrow, wide, cut, gone, (text: string) => text]
    const words = WORDS.filter(() => random.chance(40))
    const edits = words.map(word => edit(word, random.pick(damages)))
    if (random.chance(20)) edits.splice(random.int(edits.length + 1), 0, returning(random.pick(WORDS), 12))
    if (random.chance(30)) {
      edits.splice(random.int(edits.length + 1), 0, { old_text: random.pick(WORDS), new_text: 'x' })
    }
    const planned = plan(FILE, edits)
    const fix = fixOf(planned)
    if (fix?.edit.new_text === undefined) continue
    const { later = [] } = fix
    // What all corrections lead to is made, or fails as was said of the last of them.
    const last = later.at(-1)
    const sent = plan(FILE, corrected(edits, planned))
    const open = last?.fix?.edit.new_text === undefined ? last : undefined
    t.strictSame(sent.ok ? undefined : told(sent.failure), open && told(open.failure), `seed ${SEED}, round ${round}`)
    t.equal(untriedIn(planned), untriedIn(sent), `seed ${SEED}, round ${round}`)
    let now = edits
    let next: typeof planned = planned
    for (const { edit_index, edit, lines } of ready(later)) {
      now = now.with((next as { failure: TextFailure }).failure.edit_index, fixOf(next)!.edit as TextEdit)
      next = plan(FILE, now)
      t.match(next, { failure: { edit_index } }, `seed ${SEED}, round ${round}`)
      const { edit: own, lines: ownLines } = fixOf(next)!
      t.strictSame([own, ownLines], [edit, lines], `seed ${SEED}, round ${round}`)
      found++
    }
  }
  t.ok(found >= often(200, 3), `${found} later edits`)
})
