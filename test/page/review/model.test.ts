// What the page says about edits.
import t from 'tap'
import {
  agoText,
  authorOf,
  byAuthor,
  changesOf,
  colourOf,
  didOf,
  diffHunks,
  dryRunSentence,
  hunkKeys,
  isPureMove,
  matching,
  mergeEdits,
  needOf,
  sessionsOf,
  applied,
  overlap,
  shareName,
  shareOf,
  summaryOf,
  summarySentence,
  whyNot,
  withHalves
} from '../../../page/review/model.ts'
import type { HistoryEdit } from '../../../page/review/wire.ts'

const edit = (edit_id: string, others: Partial<HistoryEdit> = {}): HistoryEdit => ({
  edit_id,
  operation: 'edit',
  at: `2026-11-22T12:4${edit_id.at(-1)}:00.000Z`,
  path: 'app.js',
  agent: 'ann',
  lines_added: 2,
  lines_removed: 1,
  state: 'applied',
  review: 'pending',
  changes: [{ change_index: 0 }],
  ...others
})
const ids = (edits: readonly { edit_id: string }[]) => edits.map(({ edit_id }) => edit_id)

const EDITS = [
  edit('e5', { agent: 'bob', session: 's1', path: 'b.js', reason: 'The Port' }),
  edit('e4', { operation: 'outside' }),
  edit('e3', { changes: [{ change_index: 0, kept: true }, { change_index: 1 }, { change_index: 2 }] }),
  edit('e2', { review: 'kept' }),
  edit('e1', { state: 'undone', agent: 'bob' })
].map(one => {
  if (one.operation === 'outside') delete one.agent
  if (one.state === 'undone') delete one.review
  return one
})

t.test('puts lists together, newest first, and takes what is said later', async t => {
  const merged = mergeEdits([edit('e1'), edit('e3')], [edit('e2'), edit('e3', { state: 'undone' })])
  t.strictSame(ids(merged), ['e3', 'e2', 'e1'])
  t.equal(merged[0]?.state, 'undone')
})

t.test('knows whether two sets of changes have one in common', async t => {
  const whole = { edit_id: 'e1' }
  const part = (...change_indexes: number[]) => ({ edit_id: 'e1', change_indexes })
  t.equal(overlap([part(0, 1)], [{ edit_id: 'e2', change_indexes: [0] }, part(1, 2)]), true)
  t.equal(overlap([part(0)], [part(1, 2)]), false)
  t.equal(overlap([whole], [part(3)]), true)
  t.equal(overlap([part(3)], [whole]), true)
  t.equal(overlap([whole], [{ edit_id: 'e2' }]), false)
  t.equal(overlap([], [whole]), false)
})

t.test('says what is pending, since when, and by how many', async t => {
  const summary = summaryOf(EDITS)
  t.strictSame(summary, { since: '2026-11-22T12:43:00.000Z', agents: 2, files: 2, edits: 3 }, 'no program is an agent')
  const time = () => '12:43'
  const sentence = (edits: Parameters<typeof summaryOf>[0], needs = 0) => summarySentence(summaryOf(edits), needs, time)
  t.equal(sentence(EDITS, 2), 'Since 12:43: 2 agents, 2 files, 3 edits. 2 need you.')
  t.equal(sentence(EDITS), 'Since 12:43: 2 agents, 2 files, 3 edits.')
  t.equal(sentence([], 1), 'Nothing to review. 1 needs you.')
  t.equal(sentence([edit('e1', { changes: [] })]), 'Since 12:43: 1 agent, 1 file, 1 edit.')
})

t.test('knows what needs a person', async t => {
  t.strictSame(EDITS.map(needOf), [null, 'outside', null, null, null])
  t.equal(needOf(edit('e1', { state: 'uncertain' })), 'uncertain')
  t.equal(needOf(edit('e1', { metadata_only: true })), 'no_texts')
  t.equal(needOf(edit('e1', { texts_lost: true })), 'no_texts')
  t.equal(needOf(edit('e1', { texts_lost: true, review: 'kept' })), null)
})

t.test('shows edits by what became of them', async t => {
  const shown = (show: Parameters<typeof matching>[1]) => ids(matching(EDITS, show))
  t.strictSame(shown('pending'), ['e5', 'e4', 'e3'])
  t.strictSame(shown('kept'), ['e2'])
  t.strictSame(shown('undone'), ['e1'])
  t.strictSame(shown('all'), ids(EDITS))
})

t.test('groups by session and file, newest first', async t => {
  const rows = sessionsOf(EDITS)
  t.strictSame(
    rows.map(({ agent, session, edits }) => [agent, session, ids(edits)]),
    [
      ['bob', 's1', ['e5']],
      ['another program', undefined, ['e4']],
      ['ann', undefined, ['e3', 'e2']],
      ['bob', undefined, ['e1']]
    ]
  )
  t.match(rows[2]?.files, [{ path: 'app.js', lines_added: 4, lines_removed: 2 }])
  t.equal(sessionsOf([edit('e1', { agent: 'a' }), edit('e2', { agent: 'b' })]).length, 2)
})

/** Both halves of a move in a batch, as the history lists them. */
const move = (ids: [string, string], [from, to]: [string, string], hashes: [string, string], batch_id = 'm') => [
  edit(ids[1], { batch_id, path: to, moved_from: from, file_hash: hashes[1], lines_removed: 0 }),
  edit(ids[0], { batch_id, path: from, moved_to: to, hash_before: hashes[0], lines_added: 0 })
]

t.test('shows both halves of a move in the row of the new path', async t => {
  const edits = [
    edit('e5', { path: 'b.js' }),
    ...move(['e3', 'e4'], ['a.js', 'b.js'], ['h', 'h']),
    ...move(['e1', 'e2'], ['c.js', 'd.js'], ['h', 'i'])
  ]
  const rows = sessionsOf(edits)[0]!.files
  const shown = rows.map(({ edits, ...row }) => ({ ...row, ids: ids(edits) }))
  t.strictSame(shown, [
    { path: 'b.js', moved_from: 'a.js', ids: ['e5', 'e4', 'e3'], lines_added: 2, lines_removed: 1 },
    { path: 'd.js', moved_from: 'c.js', ids: ['e2', 'e1'], lines_added: 2, lines_removed: 1 }
  ])
  t.match(summaryOf(edits), { edits: 3 })
  // Only one half is listed, or may be seen.
  t.match(sessionsOf([edits[2]!])[0]?.files, [{ path: 'a.js', moved_from: undefined }])
  t.match(sessionsOf([edits[1]!])[0]?.files, [{ path: 'b.js', moved_from: 'a.js' }])
  t.match(summaryOf(edits.slice(1, 2)), { edits: 1 })
})

t.test('knows whether a file was only moved', async t => {
  const pure = move(['e1', 'e2'], ['a.js', 'b.js'], ['h', 'h'])
  const edited = move(['e3', 'e4'], ['a.js', 'b.js'], ['h', 'i'], 'n')
  const all = [...edited, ...pure]
  t.strictSame(
    all.map(edit => isPureMove(edit, all)),
    [false, false, true, true]
  )
  t.notOk(isPureMove(pure[0]!, [pure[0]!]), 'the other half is not known')
  t.notOk(isPureMove(edit('e5'), all))
})

t.test('adds the other halves of moves, of the same batch', async t => {
  const known = [
    ...move(['e3', 'e4'], ['a.js', 'b.js'], ['h', 'h'], 'n'),
    ...move(['e1', 'e2'], ['a.js', 'b.js'], ['h', 'h'])
  ]
  t.strictSame(withHalves(['e2', 'e9'], known), ['e2', 'e9', 'e1'])
  t.strictSame(withHalves(['e1', 'e2', 'e3'], known), ['e1', 'e2', 'e3', 'e4'])
  t.strictSame(withHalves(['e1'], known.slice(0, 3)), ['e1'])
  t.strictSame(withHalves(['e9'], [edit('e9')]), ['e9'])
})

t.test('says what an edit did', async t => {
  const check = (given: Partial<HistoryEdit>, words: string, files?: number) =>
    t.equal(didOf(edit('e1', { hash_before: 'h', file_hash: 'i', ...given }), files), words)
  check({}, 'edited')
  check({ moved_to: 'b.js' }, 'moved it from app.js to b.js')
  check({ moved_from: 'a.js' }, 'moved it from a.js to app.js')
  check({ operation: 'replace' }, 'replaced text')
  check({ operation: 'replace' }, 'replaced text in 3 files', 3)
  check({ operation: 'batch' }, 'edited in a batch', 3)
  check({ operation: 'new' }, 'new')
  const gone = edit('e1', { hash_before: 'h' })
  t.equal(didOf(gone), 'deleted it')
  t.equal(didOf({ ...gone, operation: 'undo' }), 'took back')
  t.equal(didOf(edit('e1', { operation: 'create', file_hash: 'h' })), 'created it')
})

t.test('takes the changes of hunks, each edit once, and who made them', async t => {
  const one = (edit_id: string, ...change_indexes: number[]) => ({ edit_id, change_indexes })
  const all = changesOf([
    { changes: [one('e1', 2), one('e5', 0)], undone: [one('e5', 0)] },
    { changes: [one('e1', 0, 2), one('e3', 1)], undone: [one('e1', 0)] }
  ])
  t.strictSame(all, { changes: [one('e1', 0, 2), one('e5', 0), one('e3', 1)], undone: [one('e5', 0), one('e1', 0)] })
  t.strictSame(applied(all), [one('e1', 2), one('e3', 1)])
  t.strictSame(applied({ changes: [one('e1', 1)] }), [one('e1', 1)])
  const whole = { edit_id: 'e1' }
  t.strictSame(changesOf([{ changes: [one('e1', 1)] }, { changes: [whole] }]).changes, [whole])
  t.strictSame(applied({ changes: [whole, one('e3', 0)], undone: [whole] }), [one('e3', 0)])
  t.strictSame(applied({ changes: [one('e1', 0)], undone: [whole] }), [])
  t.strictSame(applied({ changes: [whole], undone: [one('e1', 0)] }), [whole], 'some are applied')
  t.strictSame(byAuthor(all, new Map(EDITS.map(edit => [edit.edit_id, edit]))), [
    { author: 'bob', changes: [one('e1', 0, 2), one('e5', 0)], undone: [one('e5', 0), one('e1', 0)] },
    { author: 'ann', changes: [one('e3', 1)], undone: [] }
  ])
  t.match(byAuthor({ changes: [one('e1', 0)] }, new Map()), [{ author: 'unnamed agent' }])
  t.equal(authorOf({ operation: 'edit', token: 'ci' }), 'ci')
  t.equal(authorOf({ operation: 'edit', token: 'ci', agent: 'ann' }), 'ci: ann')
})

t.test('names what of a file is kept or taken back at once', async t => {
  const facts = new Map([...EDITS, edit('e6', { agent: 'bob', session: 's2' })].map(edit => [edit.edit_id, edit]))
  const one = (edit_id: string, ...change_indexes: number[]) => ({ edit_id, change_indexes })
  const hunks = [
    { changes: [one('e5', 0), one('e3', 0)] },
    { changes: [one('e5', 1), one('e6', 0)], undone: [one('e5', 1)] },
    { changes: [one('e6', 1)] }
  ]
  const share = (ids: string[]) => shareOf(hunks, facts, ({ edit_id }) => ids.includes(edit_id))
  const all = share([...facts.keys()])
  const bob = share(['e5', 'e6'])
  const check = (ids: string[], whole: typeof all, name: string) => t.equal(shareName(share(ids), whole), name)
  t.equal(shareName(all, all), '3 hunks: bob 3, ann 1')
  t.equal(shareName(bob, bob), "bob's 3 hunks")
  check(['e3'], share(['e3']), "ann's hunk")
  check(['e5'], bob, "2 of bob's 3 hunks")
  check(['e5', 'e3'], all, '2 of 3 hunks: bob 2, ann 1')
  const twice = [{ changes: [one('e5', 0), one('e6', 0)] }]
  const part = shareOf(twice, facts, ({ edit_id }) => edit_id === 'e5')
  t.equal(
    shareName(
      part,
      shareOf(twice, facts, () => true)
    ),
    "part of bob's hunk"
  )
  t.match(share(['e5']), { changes: [one('e5', 0, 1)], undone: [one('e5', 1)], hunks: 2 })
  t.equal(share(['none']).hunks, 0)
})

t.test('knows a hunk by its first change', async t => {
  const at = (...change_indexes: number[]) => ({ changes: [{ edit_id: 'e1', change_indexes }] })
  t.strictSame(hunkKeys([at(2), at(0), at(2), { changes: [{ edit_id: 'e2' }] }]), [
    'hunk-e1.2',
    'hunk-e1.0',
    'hunk-e1.2.2',
    'hunk-e2.0'
  ])
})

t.test('says why nothing can be kept or taken back', async t => {
  const why = (read_only: boolean, scope?: 'read' | 'edit' | 'review') =>
    whyNot({ root: { read_only }, ...(scope && { access: { workspace: 'w', scope } }) })
  t.equal(whyNot(null), null)
  t.equal(why(false), null)
  t.equal(why(false, 'review'), null)
  t.match(why(true, 'read'), /^This token may only look/)
  t.match(why(false, 'edit'), /^This token may edit, but not review/)
  t.match(why(true, 'review'), /^The server is read-only/)
  t.match(why(true), /^The server is read-only/)
})

t.test('says what a take-back would do', async t => {
  const answer = { message: '', dry_run: true }
  const results = [
    { path: 'app.js', changed: true },
    { path: 'b.js', changed: false }
  ]
  t.equal(
    dryRunSentence({ ...answer, results, undone: ['e3'], skipped: ['e5'] }, EDITS),
    '1 file changes, 2 other edits stay, 1 conflict'
  )
  t.equal(
    dryRunSentence(
      { ...answer, results: [...results, { path: 'c.js', changed: true }], undone: ['e2', 'e3', 'e4'], skipped: [] },
      EDITS
    ),
    '2 files change, no conflicts'
  )
})

t.test('says how long ago a time was', async t => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const check = (at: string, text: string) => t.equal(agoText(at, now), text)
  check('2026-11-22T11:59:01Z', 'just now')
  check('2026-11-22T12:00:09Z', 'just now')
  check('2026-11-22T11:58:59Z', '1 min ago')
  check('2026-11-22T10:00:01Z', '1 h ago')
  check('2026-11-20T12:00:00Z', '2 d ago')
  check('no time', 'no time')
})

t.test('gives a name the same colour each time, of eight', async t => {
  t.equal(colourOf('ann'), colourOf('ann'))
  const colours = new Set(Array.from({ length: 200 }, (_, i) => colourOf(`agent ${i}`)))
  t.strictSame([...colours].sort(), [0, 1, 2, 3, 4, 5, 6, 7])
})

t.test('reads unified diffs', async t => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n a\n--- b\n++ c\n\\ No newline at end of file\n@@ -9 +8,0 @@\n-x\n'
  t.strictSame(diffHunks(diff), [
    {
      heading: '@@ -1,2 +1,2 @@',
      lines: [
        { kind: 'same', text: 'a', line: 1, base_line: 1 },
        { kind: 'removed', text: '-- b', base_line: 2 },
        { kind: 'added', text: '+ c', line: 2, no_break: true }
      ]
    },
    { heading: '@@ -9 +8,0 @@', lines: [{ kind: 'removed', text: 'x', base_line: 9 }] }
  ])
  t.strictSame(diffHunks(''), [])
})
