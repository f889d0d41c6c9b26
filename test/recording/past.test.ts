// Pages of the history while much of it isn't settled yet.
import t from 'tap'
import { pastEdits } from '../../src/recording/past.ts'
import { FAST, makePlace, recordOf } from '../log/support/history.ts'

t.test('leaves no change out whose server has not said yet that it is done', async t => {
  const history = await makePlace(t).open()
  const ids: string[] = []
  for (let i = 0; i < 25; i++) {
    const record = recordOf(history, 'a.txt')
    await history.append(record, FAST)
    // Every fifth change did not happen, and was never settled.
    if (i % 5 > 0) ids.push(record.edit_id)
  }
  const past = {
    history,
    mayRead: () => true,
    settle: async ({ record: { edit_id } }: { record: { edit_id: string } }) =>
      ids.includes(edit_id) ? ('done' as const) : ('void' as const)
  }
  const found: string[] = []
  const pages: number[] = []
  for (let before: string | undefined; ;) {
    const { edits, next_before } = await pastEdits(past, { limit: 100, ...(before !== undefined && { before }) })
    found.push(...edits.map(({ record }) => record.edit_id))
    pages.push(edits.length)
    if (next_before === undefined) break
    before = next_before
  }
  t.strictSame(found, ids.toReversed())
  t.strictSame(pages, [8, 8, 4], 'but asks about no more than ten for one page, as this can take long')
})

t.test(
  'has an edit whose server was killed where it is asked for by its id, though nobody knows yet what became of it',
  async t => {
    const history = await makePlace(t).open()
    const record = recordOf(history, 'a.txt')
    await history.append(record, FAST)
    const edit_ids = [record.edit_id]
    for (const [became, asked, states] of [
      ['under_way', { edit_ids }, ['uncertain']],
      ['uncertain', { edit_ids }, ['uncertain']],
      ['under_way', {}, []],
      ['void', { edit_ids }, []]
    ] as const) {
      const past = { history, mayRead: () => true, settle: async () => became }
      const { edits } = await pastEdits(past, { limit: 10, ...asked })
      t.strictSame(
        edits.map(({ state }) => state),
        states,
        `${became} ${JSON.stringify(asked)}`
      )
    }
  }
)

t.test('gives all edits at once, of more files and records than it reads at a time', async t => {
  const history = await makePlace(t).open()
  const records = Array.from({ length: 2500 }, (_, i) => recordOf(history, `${i % 2}.txt`))
  await Promise.all(records.map(record => history.append(record, FAST)))
  for (const { edit_id } of records) history.settle(edit_id, 'done')
  const past = { history, mayRead: () => true, settle: async () => 'void' as const }
  const { edits, next_before } = await pastEdits(past, { limit: Infinity })
  t.strictSame(
    edits.map(({ record }) => record.edit_id),
    records.map(({ edit_id }) => edit_id).toReversed()
  )
  t.equal(next_before, undefined)
  t.ok(edits.every(({ state }) => state === 'applied'))
})

t.test('leaves an edit out whose record is removed meanwhile, instead of forgetting that it was undone', async t => {
  const history = await makePlace(t).open({ limits: { segment: 1 } })
  const path = 'a.txt'
  const edit = recordOf(history, path)
  const undo = recordOf(history, path, 'x', { operation: 'undo', toggles: [{ edit_id: edit.edit_id }] })
  for (const record of [edit, recordOf(history, 'b.txt'), undo]) {
    await history.append(record, FAST)
    history.settle(record.edit_id, 'done')
    await history.flush()
  }
  const past = { history, mayRead: () => true, settle: async () => 'void' as const }
  const seen = async () => {
    const { edits } = await pastEdits(past, { limit: 100 })
    return edits.map(({ record: { edit_id }, state }) => [edit_id === edit.edit_id, state])
  }
  t.strictSame(await seen(), [
    [false, 'applied'],
    [false, 'applied'],
    [true, 'undone']
  ])
  const { bytes } = await history.sweep({ days: 30, bytes: Infinity })
  const list = history.list.bind(history)
  history.list = async (query, count) => {
    // The records of the page have been read, and those of the path are next.
    if (query.path !== undefined) await history.sweep({ days: 30, bytes: bytes - 1 })
    return list(query, count)
  }
  t.strictSame(await seen(), [
    [false, 'applied'],
    [false, 'applied']
  ])
})
