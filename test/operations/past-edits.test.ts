// The edits that a request means, page by page, of a history that is made up.
import t from 'tap'
import { findEdits } from '../../src/operations/past-edits.ts'
import { fail, ok } from '../../src/result.ts'
import type { HistoryQuery, PastEdit } from '../../src/workspace/api.ts'
import type { Workspace } from '../../src/workspace/api.ts'

const idsOf = (edits: readonly PastEdit[]) => edits.map(({ record }) => record.edit_id)

/** A history of this many edits, the newest first, in pages of three; `asked` are the queries. */
function historyOf(count: number) {
  const asked: HistoryQuery[] = []
  const all = Array.from({ length: count }, (_, i) => ({ record: { edit_id: `E${i}` }, state: 'applied' }) as PastEdit)
  const history = async (query: HistoryQuery) => {
    asked.push(query)
    const from = all.findIndex(({ record }) => record.edit_id === query.before) + 1
    const edits = all.slice(from, from + 3)
    return ok({ edits, oldest_kept_at: 5, ...(from + 3 < count && { next_before: edits.at(-1)!.record.edit_id }) })
  }
  return { workspace: { history } as unknown as Workspace, asked }
}

t.test('reads all pages, and of each what is wanted', async t => {
  const { workspace, asked } = historyOf(7)
  const found = await findEdits(workspace, { agent: 'ann' }, ({ record }) => record.edit_id !== 'E4')
  if (!found.ok) throw new Error(found.failure.code)
  t.strictSame(idsOf(found.value.edits), ['E0', 'E1', 'E2', 'E3', 'E5', 'E6'])
  t.equal(found.value.oldest_kept_at, 5)
  t.match(asked, [
    { agent: 'ann', before: undefined },
    { agent: 'ann', before: 'E2' },
    { agent: 'ann', before: 'E5' }
  ])
})

t.test('reads no more pages than it takes', async t => {
  const { workspace, asked } = historyOf(9)
  const found = await findEdits(workspace, {}, ({ record }) => record.edit_id > 'E3', 1)
  if (!found.ok) throw new Error(found.failure.code)
  t.strictSame(idsOf(found.value.edits), ['E4'])
  t.strictSame(
    asked.map(({ limit }) => limit),
    [10, 40]
  )
})

t.test('fails where a page can not be read', async t => {
  const failure = { code: 'NO_SPACE' } as const
  const workspace = { history: async () => fail(failure) } as unknown as Workspace
  t.strictSame(await findEdits(workspace, {}), fail(failure))
})
