// Which offered fixes count as taken.
import t from 'tap'
import { OfferedFixes } from '../../src/metrics/fixes.ts'

const EXACT = { type: 'USE_EXACT_TEXT', edit: { old_text: 'a', new_text: 'b' } }
const OWN_TEXT = { type: 'ADD_CONTEXT', edit: { old_text: 'long a' } }
const CALL = { type: 'USE_UNDO', call: { name: 'undo_edit', arguments: { edit_id: '1' } } }
const DIFF = { type: 'USE_EXACT_TEXT', diff: '@@\n-a\n+b' }

t.test('knows a request that has what was offered, also as one of several edits', async t => {
  for (const [request, type] of [
    [{ path: 'f', old_text: 'a', new_text: 'b', dry_run: true }, 'USE_EXACT_TEXT'],
    [{ path: 'f', edits: [{ old_text: 'x', new_text: '' }, EXACT.edit] }, 'USE_EXACT_TEXT'],
    [{ operations: [{ operation: 'edit', edits: [EXACT.edit] }] }, 'USE_EXACT_TEXT'],
    [{ path: 'f', old_text: 'long a', new_text: 'my own' }, 'ADD_CONTEXT'],
    [{ edit_id: '1' }, 'USE_UNDO'],
    [{ path: 'f', diff: DIFF.diff }, 'USE_EXACT_TEXT'],
    [{ path: 'f', old_text: 'a', new_text: 'c' }, null],
    [{ path: 'f', old_text: 'a' }, null],
    [{ path: 'f', list: [null, 'a', 1] }, null]
  ] as const) {
    const fixes = new OfferedFixes()
    const offered = fixes.offer('me', [
      EXACT,
      OWN_TEXT,
      CALL,
      DIFF,
      { type: 'READ_FILE' },
      { type: 'FIX_PATH', edit: {} }
    ])
    t.strictSame(offered, ['USE_EXACT_TEXT', 'ADD_CONTEXT', 'USE_UNDO', 'USE_EXACT_TEXT'])
    t.equal(fixes.taken('you', request), null, 'of somebody else')
    t.equal(fixes.taken('me', request), type, JSON.stringify(request))
    t.equal(fixes.taken('me', request), null, 'once')
  }
})

t.test('looks at a bounded number of edits', async t => {
  const others = (count: number) => Array.from({ length: count }, (_, i) => ({ old_text: `x${i}`, new_text: '' }))
  for (const [before, type] of [
    [999, 'USE_EXACT_TEXT'],
    [1000, null]
  ] as const) {
    const fixes = new OfferedFixes()
    fixes.offer('me', [OWN_TEXT, EXACT])
    t.equal(fixes.taken('me', { path: 'f', edits: [...others(before), EXACT.edit, ...others(9)] }), type)
  }
})

t.test('keeps a bounded number of them, of each caller and file the last', async t => {
  const fixes = new OfferedFixes()
  t.strictSame(fixes.offer('me', [{ type: 'READ_FILE' }]), [])
  t.equal(fixes.size, 0)
  fixes.offer('me', [EXACT])
  fixes.offer('me', [OWN_TEXT])
  t.equal(fixes.taken('me', EXACT.edit), null)
  for (let i = 0; i < 5000; i++) fixes.offer(`${i}`, [EXACT])
  t.equal(fixes.size, 1000)
  t.equal(fixes.taken('me', OWN_TEXT.edit), null)
  t.equal(fixes.taken('4000', EXACT.edit), 'USE_EXACT_TEXT')
})
