// Edits, undos and redos of one text after each other, example by example.
import t from 'tap'
import type { RecordedChange } from '../../../src/engine/undo/change.ts'
import { differing, recordedSplices } from '../../../src/engine/undo/refine.ts'
import { toggle } from '../../../src/engine/undo/toggle.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

/** A text that an edit gives; or the changes that are undone or redone, and the text then, or who is in the way. */
type Step = string | { undo: string; gives?: string; refused?: string } | { redo: string; gives?: string }

/** `text` is what it begins with, as Latin-1. The first edit is called `a`, the next `b` and so on. */
function check(name: string, text: string, steps: readonly Step[]): void {
  t.test(name, t => {
    let present = bytes(text)
    let edits = 0
    const changes: RecordedChange[] = []
    for (const [at, step] of steps.entries()) {
      if (typeof step === 'string') {
        changes.push({ edit_id: String.fromCharCode(97 + edits++), splices: differing(present, bytes(step)) })
        present = bytes(step)
        continue
      }
      const [set, to] = 'undo' in step ? ([step.undo, 'undone'] as const) : ([step.redo, 'applied'] as const)
      const result = toggle(
        present,
        changes,
        set.split(' ').map(edit_id => ({ edit_id })),
        to
      )
      if ('refused' in step) {
        t.match(result, { failure: { code: 'UNDO_CONFLICT', conflicts: [{ by: step.refused }] } }, `step ${at}`)
        continue
      }
      if (!result.ok) {
        t.fail(`step ${at}: ${result.failure.code}`)
        return t.end()
      }
      const { splices, toggled } = result.value
      changes.push({ edit_id: `u${at}`, splices: recordedSplices(present, splices.list), toggles: toggled })
      present = Buffer.concat(splices.apply(present))
      t.equal(present.toString('latin1'), step.gives, `step ${at}`)
    }
    t.end()
  })
}

check('redoes what parted a line, of which the rest was undone before', 'x', [
  'x<',
  'x\n<',
  { undo: 'a', gives: 'x\n' },
  { undo: 'b', gives: 'x' },
  { redo: 'b', gives: 'x\n' },
  { redo: 'a', gives: 'x\n<' }
])
check('undoes what stood on a line that was joined since, and was', '1\n2\n', [
  '1 a\n2\n',
  '1 a\n2 b\n',
  { undo: 'a', gives: '1\n2 b\n' },
  { redo: 'a', gives: '1 a\n2 b\n' },
  '1 a2 b\n',
  { undo: 'a', refused: 'c' },
  { undo: 'a c', gives: '1\n2 b\n' },
  { redo: 'a c', gives: '1 a2 b\n' }
])
check('puts lines behind the break that another break took the place of', 'l 6\r\n', [
  'l 7\r',
  'lX\r',
  { undo: 'a b', gives: 'l 6\r\n' },
  'l 6\r\nn\n',
  { redo: 'a b', gives: 'lX\rn\n' }
])
check('puts lines behind a deleted one, and before what was deleted of the next', '1\n2 a\n3\n', [
  '1\n2 b\n3\n',
  '1\nx\n2 b\n3\n',
  '1\nx\n b\n3\n',
  '1\n b\n3\n',
  '1\nnew\n b\n3\n',
  { undo: 'c', gives: '1\nnew\n2 b\n3\n' },
  { undo: 'd', gives: '1\nx\nnew\n2 b\n3\n' }
])
check('puts what replaces a text behind what replaced it before', '1\n2\n3\n', [
  '1\n2 a\r3\n',
  { undo: 'a', gives: '1\n2\n3\n' },
  '1\nb\r3\n',
  '1\nnew\nb\r3\n',
  { undo: 'b', gives: '1\n2\nnew\n3\n' },
  { redo: 'a', gives: '1\n2 a\rnew\n3\n' }
])
check('restores the rest of a last line on that line, or not at all', 'foo bar', [
  'foo',
  'foo!\nbaz\n',
  { undo: 'a', refused: 'b' },
  { undo: 'a b', gives: 'foo bar' },
  { redo: 'a b', gives: 'foo!\nbaz\n' }
])
check('restores the rest of a last line that lines were put behind, or not at all', 'foo bar', [
  'foo',
  'foo\nbaz\n',
  { undo: 'a', refused: 'b' }
])
check('puts a line between a byte-order mark and what was deleted behind it', '\xef\xbb\xbfx 2\n', [
  '\xef\xbb\xbf2\n',
  '\xef\xbb\xbfnew\n2\n',
  { undo: 'a', gives: '\xef\xbb\xbfnew\nx 2\n' }
])

const lines = Array.from({ length: 1000 }, (_, i) => `${i}\n`)
const text = lines.join('')
const edited = lines.map((line, i) => (i % 2 ? line : `x${line}`)).join('')
check('takes a text of many spans', text, [
  edited,
  '',
  'new\n',
  { undo: 'b', gives: `${edited}new\n` },
  { undo: 'c', gives: edited },
  'all\n',
  { undo: 'd', gives: edited },
  { undo: 'a', gives: text },
  { redo: 'c', gives: `${text}new\n` }
])
check('restores what was many spans of a last line on that line, or not at all', `foo ${text}`, [
  `foo ${edited}`,
  'foo',
  'foo!\nbaz\n',
  { undo: 'b', refused: 'c' },
  { undo: 'b c', gives: `foo ${edited}` }
])
check('restores many parts of lines on these lines, or not at all', `-\n${edited}`, [
  `\n${edited.replace(/x\d+/g, 'xy')}`,
  `\n${edited.replace(/x\d+/g, 'x!\nbaz\ny')}`,
  { undo: 'a', refused: 'b' },
  { undo: 'a b', gives: `-\n${edited}` }
])
