// Verdicts in a history. Does not know where it is kept.
import type { Test } from 'tap'
import type { Verdict } from '../../../src/engine/undo/baseline.ts'
import type { History } from '../../../src/log/api.ts'
import type { EditRecord } from '../../../src/log/record.ts'
import { recordOf, type MakePlace } from '../support/history.ts'

export const durable = { durable: false }

export const reviewOf = (
  history: History,
  path: string,
  review: Verdict,
  more: Partial<EditRecord> = {}
): EditRecord => ({
  ...recordOf(history, path),
  operation: 'review',
  hash_before: null,
  hash_after: null,
  size_after: 0,
  lines_added: 0,
  splices: null,
  places: null,
  review,
  ...more
})

/** An edit, settled, and a verdict on it. */
export async function reviewedEdit(history: History, path = 'a.txt') {
  const edit = recordOf(history, path)
  await history.append(edit, durable)
  history.settle(edit.edit_id, 'done')
  const of = [{ edit_id: edit.edit_id, change_indexes: [0], stood: true }]
  const review = reviewOf(history, path, { verdict: 'kept', of }, { agent: 'ann', session: 's' })
  await history.append(review, durable)
  return { edit, review }
}

export function reviewBehaviours(t: Test, makePlace: MakePlace): void {
  t.test('is read as it was written, by other servers and after a restart', async t => {
    const place = await makePlace(t)
    const [one, two] = [await place.open(), await place.open()]
    const { review } = await reviewedEdit(one)
    for (const history of [one, two]) {
      t.match(await history.byId(review.edit_id), { record: review, settled: 'done', texts: 'none' })
    }
    await one.close()
    const three = await place.open()
    const { records } = await three.ofPath(Buffer.from('a.txt'))
    t.strictSame(
      records.map(({ record, settled }) => [record.operation, settled, record.review?.verdict]),
      [
        ['edit', 'done', undefined],
        ['review', 'done', 'kept']
      ]
    )
  })

  t.test('is not the last change of its path, read or written', async t => {
    const place = await makePlace(t)
    const [one, two] = [await place.open(), await place.open()]
    const path = Buffer.from('a.txt')
    const before = recordOf(one, 'a.txt', 'first\n')
    await one.append(before, durable)
    await one.lastOf(path)
    const { edit } = await reviewedEdit(one)
    for (const history of [one, two]) {
      await history.refresh()
      t.match(await history.lastOf(path), { edit_id: edit.edit_id, settled: 'done' })
    }
  })

  t.test('is listed where it is asked for', async t => {
    const history = await (await makePlace(t)).open()
    const { edit, review } = await reviewedEdit(history)
    const ids = async (query: object) => (await history.list(query, 10)).records.map(({ record }) => record.edit_id)
    t.strictSame(await ids({}), [review.edit_id, edit.edit_id])
    t.strictSame(await ids({ reviews: false }), [edit.edit_id])
    t.strictSame(await ids({ reviews: true }), [review.edit_id])
    t.strictSame(await ids({ agent: 'ann', session: 's' }), [review.edit_id])
  })

  t.test('needs no settlement', async t => {
    const place = await makePlace(t)
    const gone = await place.open({ nonce: 'gone' })
    await reviewedEdit(gone)
    await gone.flush()
    place.gone.add('gone')
    const history = await place.open()
    t.strictSame(await history.unsettled(), [])
  })

  t.test('does not count where it could not be written, whatever is there', async t => {
    const place = await makePlace(t)
    const [one, two] = [await place.open(), await place.open()]
    const { review } = await reviewedEdit(one)
    one.settle(review.edit_id, 'void')
    t.match(await one.byId(review.edit_id), { settled: 'void' })
    await one.flush()
    await two.refresh()
    t.match(await two.byId(review.edit_id), { settled: 'void' })
    await one.close()
    const three = await place.open()
    t.match(await three.byId(review.edit_id), { settled: 'void' })
    t.strictSame(await three.unsettled(), [])
  })
}
