// Undo and redo of some changes of a text, example by example.
import t from 'tap'
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { differing, recordedSplices } from '../../../src/engine/undo/refine.ts'
import { stateAfter, toggle } from '../../../src/engine/undo/toggle.ts'
import { undoStates } from '../../../src/engine/undo/units.ts'
import { bytes, historyOf, select } from './changes-between.ts'

interface Example {
  /** The texts, from the first to the present one. */
  texts: string[]
  undo: string
  /** The text afterwards; or the changes in the way. */
  gives?: string
  refused?: string
  kind?: string
}

function check(name: string, { texts, undo, gives, refused, kind }: Example): void {
  t.test(name, t => {
    const present = bytes(texts.at(-1)!)
    const changes = historyOf(texts)
    const result = toggle(present, changes, select(undo), 'undone')
    if (gives !== undefined) {
      t.equal(result.ok && Buffer.concat(result.value.splices.apply(present)).toString('latin1'), gives)
      if (!result.ok) return t.end()
      const { splices, toggled } = result.value
      const after = Buffer.concat(splices.apply(present))
      const undone = { edit_id: 'undo', splices: recordedSplices(present, splices.list), toggles: toggled }
      const back = toggle(after, [...changes, undone], toggled, 'applied')
      t.equal(back.ok && Buffer.concat(back.value.splices.apply(after)).equals(present), true, 'can be redone')
    } else {
      t.match(result, {
        ok: false,
        failure: { code: 'UNDO_CONFLICT', conflicts: refused!.split(' ').map(by => ({ by })) }
      })
      if (kind !== undefined) t.match(result, { failure: { conflicts: [{ kind }] } })
    }
    t.end()
  })
}

check('takes a change back under a later one', {
  texts: ['1\n2\n3\n', '1\nx\n3\n', '1\nx\ny\n'],
  undo: 'a',
  gives: '1\n2\ny\n'
})
check('refuses where a later change touches the line', {
  texts: ['one two\n', 'ONE two\n', 'ONE TWO\n'],
  undo: 'a',
  refused: 'b',
  kind: 'same_line'
})
check('refuses where a later change replaced the text', {
  texts: ['a\n', 'bc\n', 'd\n'],
  undo: 'a',
  refused: 'b',
  kind: 'overlap'
})
check('takes both back', { texts: ['a\n', 'b\n', 'c\n'], undo: 'a b', gives: 'a\n' })
check('refuses for the later of A, B, A', { texts: ['A\n', 'B\n', 'A\n'], undo: 'a', refused: 'b' })
check('takes the later of A, B, A back', { texts: ['A\n', 'B\n', 'A\n'], undo: 'b', gives: 'B\n' })
check('puts a line that was made where one is restored behind that', {
  texts: ['1\n2\n3\n', '1\n3\n', '1\nnew\n3\n'],
  undo: 'a',
  gives: '1\n2\nnew\n3\n'
})
check('puts a line before the beginning of the next that is restored', {
  texts: ['1\nx 2\n', '1\n2\n', '1\nnew\n2\n'],
  undo: 'a',
  gives: '1\nnew\nx 2\n'
})
check('restores a line beside one that others edited', {
  texts: ['1\n2\n3\n', '1\n3\n', '1\n4\n'],
  undo: 'a',
  gives: '1\n2\n4\n'
})
check('restores the last line, which no break ends', { texts: ['1\n2', '1', 'one'], undo: 'a', gives: 'one\n2' })
check('refuses to restore a part of a line that is deleted', {
  texts: ['1\na b\n3\n', '1\nb\n3\n', '1\n3\n', '1\nthree\n'],
  undo: 'a',
  refused: 'b'
})
check('refuses where a line was joined since', { texts: ['1\n2\n', '1\ntwo\n', '1two\n'], undo: 'a', refused: 'b' })
check('changes lines that touch', {
  texts: ['1\r2\r\n3', '1\r22\r\n3', '11\r22\r\n33'],
  undo: 'a',
  gives: '11\r2\r\n33'
})
check('restores a \\r\\n of which a half was deleted', {
  texts: ['1\r\n2\n', '1\n2\n', '1\n22\n'],
  undo: 'a',
  gives: '1\r\n22\n'
})
check('takes bytes that are not UTF-8', {
  texts: ['\xff\n\xfe\n', '\xfd\n\xfe\n', '\xfd\nx\n'],
  undo: 'a',
  gives: '\xff\nx\n'
})
check('leaves the line that others put in between', { texts: ['', 'a\nb\n', 'a\nx\nb\n'], undo: 'a', gives: 'x\n' })

t.test('says what is in the way, and what the line would be without it', t => {
  const changes = historyOf(['1\none two\n', '1\nONE two\n', '1\nONE TWO\n'])
  const outside = changes.map((change, i): RecordedChange => (i === 1 ? { ...change, outside: true } : change))
  const conflict = { edit_id: 'a', change_index: 0, by: 'b', start_line: 2, end_line: 2, current_text: 'ONE TWO\n' }
  for (const [list, kind] of [
    [changes, 'same_line'],
    [outside, 'outside']
  ] as const) {
    const result = toggle(bytes('1\nONE TWO\n'), list, select('a'), 'undone')
    t.strictSame(result.ok || result.failure, {
      code: 'UNDO_CONFLICT',
      conflicts: [{ ...conflict, kind, would_restore: 'one two\n' }],
      together: select('a b')
    })
  }
  const skipped = toggle(bytes('1\nONE TWO\n'), changes, select('a'), 'undone', { skip: true })
  t.match(skipped, { failure: { code: 'NOTHING_TO_UNDO', conflicts: [conflict] } })
  t.end()
})

t.test('skips what is in conflict', t => {
  const apart = ['1\n-\n2\n', 'one\n-\ntwo\n', 'one!\n-\ntwo\n']
  t.match(toggle(bytes(apart[2]!), historyOf(apart), select('a'), 'undone', { skip: true }), {
    value: {
      toggled: [{ edit_id: 'a', change_indexes: [1] }],
      skipped: [{ edit_id: 'a', change_indexes: [0] }],
      conflicts: [{ by: 'b', change_index: 0 }]
    }
  })
  t.end()
})

t.test('takes single splices back', t => {
  const texts = ['1\n-\n2\n', 'one\n-\ntwo\n']
  const changes = historyOf(texts)
  const result = toggle(bytes(texts[1]!), changes, [{ edit_id: 'a', change_indexes: [1] }], 'undone')
  if (!result.ok) return t.fail()
  const { splices, toggled } = result.value
  const after = Buffer.concat(splices.apply(bytes(texts[1]!)))
  t.equal(after.toString(), 'one\n-\n2\n')
  const undo = { edit_id: 'u', splices: recordedSplices(bytes(texts[1]!), splices.list), toggles: toggled }
  const standing = undoStates([...changes, undo]).get('a')
  t.match(standing, { state: 'partly_undone', by: 'u', count: 2 })
  t.strictSame(
    [0, 1].map(index => standing?.undone.has(index)),
    [false, true]
  )
  t.match(toggle(after, [...changes, undo], toggled, 'undone'), { failure: { code: 'NOTHING_TO_UNDO' } })
  t.end()
})

t.test('removes a text that is no more, and makes it again', t => {
  const made: RecordedChange = { edit_id: 'made', existence: 'made', splices: differing(bytes(''), bytes('1\n2\n')) }
  const edited: RecordedChange = { edit_id: 'b', splices: differing(bytes('1\n2\n'), bytes('1\n3\n')) }
  const present = bytes('1\n3\n')
  t.match(toggle(present, [made, edited], select('made'), 'undone'), {
    failure: { code: 'UNDO_CONFLICT', conflicts: [{ edit_id: 'made', by: 'b' }] }
  })
  const gone = toggle(present, [made, edited], select('made b'), 'undone')
  t.match(gone, { value: { removes: true, splices: { lengthAfter: 0 } } })
  const removed: RecordedChange = {
    edit_id: 'r',
    existence: 'removed',
    splices: differing(present, bytes('')),
    toggles: select('made b')
  }
  const back = toggle(bytes(''), [made, edited, removed], select('made b'), 'applied')
  t.match(back, { value: { makes: true, splices: { lengthAfter: 4 } } })
  t.match(toggle(bytes(''), [made, edited, removed], select('b'), 'applied'), {
    failure: { conflicts: [{ by: 'r', kind: 'removed' }] }
  })
  const again: RecordedChange = { edit_id: 'n', existence: 'made', splices: differing(bytes(''), bytes('new\n')) }
  const all = [made, edited, removed, again]
  t.match(toggle(bytes('new\n'), all, select('b'), 'applied'), {
    failure: { conflicts: [{ by: 'r', kind: 'removed' }] }
  })
  t.match(toggle(bytes('new\n'), all, select('b'), 'applied', { skip: true }), {
    failure: { code: 'NOTHING_TO_UNDO' }
  })
  const empty: RecordedChange = { edit_id: 'e', existence: 'made', splices: [] }
  t.match(toggle(bytes(''), [empty], select('e'), 'undone'), { value: { removes: true } })
  const blind: RecordedChange = {
    edit_id: 'x',
    existence: 'removed',
    splices: differing(present, bytes('')),
    outside: true
  }
  t.match(toggle(bytes(''), [made, edited, blind], select('x'), 'undone'), { value: { makes: true } })
  const later: RecordedChange = { edit_id: 'l', splices: differing(present, bytes('1\n3\n4\n')) }
  t.match(toggle(bytes('1\n3\n4\n'), [made, edited, later], select('made b'), 'undone'), {
    failure: { conflicts: [{ by: 'l' }] }
  })
  t.end()
})

t.test('says where the history ends', t => {
  const texts = ['1\n2\n', '1\n3\n', '1\n4\n', '0\n4\n']
  const [a, b, c] = historyOf(texts) as [RecordedChange, RecordedChange, RecordedChange]
  const present = bytes(texts[3]!)
  const gone = (edit_id: string, reason = 'not_kept') => ({
    failure: { code: 'HISTORY_GONE', edit_ids: [edit_id], reason, unrecorded: undefined }
  })
  const unknown = { ...b, splices: null }
  t.match(toggle(present, [a, unknown, c], select('a'), 'undone'), gone('b'))
  t.match(toggle(present, [a, unknown, c], select('b'), 'undone'), gone('b'))
  t.match(toggle(present, [a, unknown, c], select('c'), 'undone'), { ok: true })
  t.match(toggle(present, [a, b, c], select('z'), 'undone'), gone('z'))
  t.match(stateAfter(present, [a, b, c], 'z'), gone('z'))
  t.match(stateAfter(present, [a, b, c], 'c'), { failure: { code: 'NOTHING_TO_UNDO' } })
  t.match(stateAfter(present, [a, unknown, c], 'a'), gone('b'))
  const unseen = { edit_id: '', splices: null, outside: true as const }
  t.match(toggle(present, [a, unknown, unseen, { ...c, splices: null }], select('a'), 'undone'), {
    failure: { code: 'HISTORY_GONE', edit_ids: ['b', 'c'], unrecorded: true }
  })
  t.match(stateAfter(present, [a, b, unseen, c], 'a'), { failure: { edit_ids: [], unrecorded: true } })
  // What doesn't fit is never carried out.
  const list = (start: number, old: string, insert = '') => [{ start, old: bytes(old), insert: bytes(insert) }]
  t.match(toggle(bytes('1\n4\n4\n'), [a, b, c], select('a'), 'undone'), gone('c', 'inconsistent'))
  t.match(toggle(bytes('x\n4\n'), [a, b, c], select('c'), 'undone'), gone('c', 'inconsistent'))
  t.match(
    toggle(present, [a, { ...b, splices: list(2, 'x', '4') }, c], select('a'), 'undone'),
    gone('b', 'inconsistent')
  )
  t.match(
    toggle(present, [a, { ...b, splices: list(90, '', '') }, c], select('a'), 'undone'),
    gone('b', 'inconsistent')
  )
  t.match(
    toggle(present, [a, { ...b, splices: list(-1, '', '') }, c], select('a'), 'undone'),
    gone('b', 'inconsistent')
  )
  t.match(
    toggle(bytes(''), [a, { ...b, splices: list(0, '', 'xxxx') }], select('a'), 'undone'),
    gone('b', 'inconsistent')
  )
  // The bytes that decide a place can't be known.
  const part = list(3, ' bar')
  const lines = list(3, '', '!\nbaz\n')
  const edits = [part, lines, list(2, 'x')].map((splices, i) => ({ edit_id: 'abc'[i]!, splices }))
  const misfit = { edit_id: 'c', splices: list(99, 'x') }
  t.match(toggle(bytes('fo!\nbaz\n'), edits, select('a'), 'undone'), { failure: { code: 'UNDO_CONFLICT' } })
  t.match(toggle(bytes('fo!\nbaz\n'), [...edits.slice(0, 2), misfit], select('a'), 'undone'), gone('b', 'inconsistent'))
  t.match(toggle(present, [a, b, { ...c, existence: 'made' }], select('c'), 'undone'), gone('c', 'inconsistent'))
  t.match(toggle(present, [a, b, { ...c, toggles: select('q') }], select('a'), 'undone'), gone('q'))
  t.match(toggle(present, [a, { ...b, toggles: select('c') }, c], select('a'), 'undone'), gone('b', 'inconsistent'))
  t.match(toggle(present, [a, b, { ...c, toggles: select('b') }], select('a'), 'undone'), gone('c', 'inconsistent'))
  t.end()
})

t.test('lists fifty conflicts, and says how many more there are', t => {
  const lines = Array.from({ length: 60 }, (_, i) => `${i}\n-\n`).join('')
  const texts = [lines, lines.replace(/\d+/g, '$& x'), lines.replace(/\d+/g, '$& x y')]
  const result = toggle(bytes(texts[2]!), historyOf(texts), select('a'), 'undone')
  t.match(result, { failure: { more_conflicts: 10 } })
  t.equal(!result.ok && 'conflicts' in result.failure && result.failure.conflicts?.length, 50)
  t.end()
})

t.test('takes a change in 10,000 places of one line of 10 MB back', t => {
  const part = 'x'.repeat(999)
  const before = bytes(`${part}.`.repeat(10_000))
  const splices = Array.from({ length: 10_000 }, (_, i) => ({
    start: 1000 * i + 999,
    old: bytes('.'),
    insert: bytes(';;')
  }))
  const present = bytes(`${part};;`.repeat(10_000))
  const result = toggle(present, [{ edit_id: 'a', splices }], select('a'), 'undone')
  t.equal(result.ok && Buffer.concat(result.value.splices.apply(present)).equals(before), true)
  t.end()
})
