// Pages of the history while much of it isn't settled yet.
import t from 'tap'
import { pastEdits } from '../../../src/workspace/history/past.ts'
import { FAST, makePlace, recordOf } from '../../history/support/history.ts'

t.test('leaves no change out whose server has not said yet that it is done', async t => {
  const history = await makePlace(t).open()
  const ids: string[] = []
  for (let i = 0; i < 25; i++) {
    const record = recordOf(history, 'a.txt')
    await history.append(record, FAST)
    // Every fifth did not take place, of which nothing was said either.
    if (i % 5 > 0) ids.push(record.edit_id)
  }
  let asked = 0
  const past = {
    history,
    mayRead: () => true,
    settle: async ({ record: { edit_id } }: { record: { edit_id: string } }) => {
      asked++
      return ids.includes(edit_id) ? ('done' as const) : ('void' as const)
    }
  }
  const found: string[] = []
  const pages: number[] = []
  for (let before: string | undefined; ;) {
    asked = 0
    const { edits, next_before } = await pastEdits(past, { limit: 100, ...(before !== undefined && { before }) })
    found.push(...edits.map(({ record }) => record.edit_id))
    pages.push(asked)
    if (next_before === undefined) break
    before = next_before
  }
  t.strictSame(found, ids.toReversed())
  t.strictSame(pages, [10, 10, 5], 'but asks about no more than ten for one page')
})
