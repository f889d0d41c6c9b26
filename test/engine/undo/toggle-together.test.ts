// What an undo that is refused names: the changes that can be taken back together, with all that builds on them.
import t from 'tap'
import type { RecordedChange, Selection } from '../../../src/engine/undo/change.ts'
import { differing } from '../../../src/engine/undo/refine.ts'
import { toggle } from '../../../src/engine/undo/toggle.ts'
import { bytes, historyOf, select } from './changes-between.ts'

interface Example {
  changes: readonly RecordedChange[]
  present: string
  set: readonly Selection[]
  to?: 'undone' | 'applied'
  /** Undefined: nothing is named. */
  together: readonly Selection[] | undefined
}

/** The set is refused with that, which then can be taken back. */
function check(name: string, { changes, present, set, to = 'undone', together }: Example): void {
  t.test(name, t => {
    const refused = toggle(bytes(present), changes, set, to)
    if (refused.ok || refused.failure.code !== 'UNDO_CONFLICT') t.fail('it is not refused')
    else t.strictSame(refused.failure.together, together)
    if (together !== undefined) t.ok(toggle(bytes(present), changes, together, to).ok)
    t.end()
  })
}

/** Each change touches the line that the one before touched last, and the next one. */
function chainOf(count: number): { changes: RecordedChange[]; present: string } {
  const lines = Array.from({ length: count + 1 }, (_, i) => `line ${i}`)
  const marks = (i: number, done: number): string => '!'.repeat(i < done ? 2 : i === done && done > 0 ? 1 : 0)
  const texts = Array.from({ length: count + 1 }, (_, done) =>
    lines.map((line, i) => `${line}${marks(i, done)}\n`).join('')
  )
  return { changes: historyOf(texts), present: texts.at(-1)! }
}

check('names the later changes, and those in their way', {
  ...chainOf(4),
  set: select('a'),
  together: select('a b c d')
})
check('leaves out what does not build on it', { ...chainOf(4), set: select('c'), together: select('c d') })
check('keeps to the part of a change that was asked for', {
  changes: historyOf(['1\n-\n2\n', 'one\n-\ntwo\n', 'one!\n-\ntwo\n']),
  present: 'one!\n-\ntwo\n',
  set: [{ edit_id: 'a', change_indexes: [0] }],
  together: [{ edit_id: 'a', change_indexes: [0] }, { edit_id: 'b' }]
})
check('takes the whole of a change where the rest of it is in the way', {
  changes: historyOf(['1\n-\n2\n', 'one\n-\n2\n', 'ONE\n-\nTWO\n']),
  present: 'ONE\n-\nTWO\n',
  set: [{ edit_id: 'a' }, { edit_id: 'b', change_indexes: [1] }],
  together: select('a b')
})
check('names nothing where very much builds on it', { ...chainOf(24), set: select('a'), together: undefined })
check('names nothing for what is made again', {
  changes: [
    ...historyOf(['1\n', 'one\n']),
    { edit_id: 'undo', splices: differing(bytes('one\n'), bytes('1\n')), toggles: select('a') },
    { edit_id: 'b', splices: differing(bytes('1\n'), bytes('1!\n')) }
  ],
  present: '1!\n',
  set: select('a'),
  to: 'applied',
  together: undefined
})
check('names nothing where the text was removed since', {
  changes: [
    ...historyOf(['1\n', 'one\n']),
    { edit_id: 'removal', existence: 'removed', splices: differing(bytes('one\n'), bytes('')) }
  ],
  present: '',
  set: select('a'),
  together: undefined
})
check('names nothing where a change in the way has no name', {
  changes: [
    ...historyOf(['1\n', 'one\n']),
    { edit_id: '', outside: true, splices: differing(bytes('one\n'), bytes('One\n')) }
  ],
  present: 'One\n',
  set: select('a'),
  together: undefined
})
