// A file's records, where the logs of two servers are read one after the other while both write.
import t from 'tap'
import type { EditRecord, Stored } from '../../src/log/record.ts'
import { readChain, type LastBefore } from '../../src/recording/read-chain.ts'

/** Without contents, it is a review. */
type Known = [id: string, before?: string, after?: string]

const storedOf = ([edit_id, before, after]: Known): Stored => {
  const record: EditRecord = {
    edit_id,
    operation: after === undefined ? 'review' : 'edit',
    at: 0,
    path: Buffer.from('a.txt'),
    hash_before: before ?? null,
    hash_after: after ?? null,
    size_before: 1,
    size_after: 1,
    lines_added: 1,
    lines_removed: 1,
    splices: [],
    places: []
  }
  return { record, settled: 'done', texts: 'kept', nonce: '' }
}

/**
 * `readings`: what is there after each refresh. `expected`: the chain as ids, where '?' is a change nobody knows; `reviews`
 * are among what is stored.
 */
function check(
  name: string,
  readings: readonly Known[][],
  { present, since, looks }: { present: string; since?: LastBefore | null; looks: number },
  expected: string[],
  reviews: string[] = []
): void {
  t.test(name, async t => {
    let look = 0
    const history = {
      refresh: async () => {
        look++
      },
      ofPath: async () => ({ records: readings[look]!.map(storedOf), gaps: [] })
    }
    const { stored, chain } = await readChain(history, Buffer.from('a.txt'), present, since)
    t.strictSame(
      chain.changes.map(({ edit_id }) => edit_id || '?'),
      expected
    )
    t.strictSame(
      stored.map(({ record }) => record.edit_id),
      [...expected.filter(id => id !== '?'), ...reviews].sort()
    )
    t.equal(look, looks)
  })
}

check('reads once what is whole', [[['1', 'A', 'B']]], { present: 'B', looks: 0 }, ['1'])
check('reads once what has no records', [[]], { present: 'B', looks: 0 }, [])

const BEHIND: Known[] = [
  ['1', 'A', 'B'],
  ['3', 'C', 'B']
]
const WHOLE: Known[] = [
  ['1', 'A', 'B'],
  ['2', 'B', 'C'],
  ['3', 'C', 'B'],
  ['4', 'B', 'D']
]
check(
  'finds what one server had written before the other, and takes nothing that came later',
  [BEHIND, WHOLE],
  { present: 'B', looks: 1 },
  ['1', '2', '3']
)

const OF_OTHERS: Known[] = [['1', 'A', 'B'], ['2', 'C', 'D'], ['3']]
check(
  'keeps a change by another program, and what was reviewed',
  [OF_OTHERS, OF_OTHERS],
  { present: 'D', since: { edit_id: '2', settled: 'done' }, looks: 1 },
  ['1', '?', '2'],
  ['3']
)

const LATER: Known[] = [...WHOLE, ['5'], ['6', 'D', 'E']]
for (const [edit_id, which] of [
  ['3', 'a later record'],
  ['4', 'the last record known before']
] as const) {
  check(
    `ends in the text that ${which} has made, where it was changed after it had been read`,
    [LATER, LATER],
    { present: 'D', since: { edit_id, settled: 'done' }, looks: 1 },
    ['1', '2', '3', '4'],
    ['5']
  )
}
check(
  'ends in the text before the last record known before, where it may have been made later',
  [LATER, LATER],
  { present: 'B', since: { edit_id: '4', settled: null }, looks: 1 },
  ['1', '2', '3'],
  ['5']
)
check(
  'ends before all records of a file that had none',
  [LATER, LATER],
  { present: 'A', since: null, looks: 1 },
  [],
  ['5']
)
check(
  'takes a text that no record has for one of another program',
  [LATER, LATER],
  { present: 'X', since: null, looks: 1 },
  ['1', '2', '3', '4', '6', '?'],
  ['5']
)
check(
  'takes an earlier text for what another program has put back',
  [LATER, LATER],
  { present: 'B', since: { edit_id: '4', settled: 'done' }, looks: 1 },
  ['1', '2', '3', '4', '6', '?'],
  ['5']
)
check(
  'does so where the last record known before did not take place',
  [LATER, LATER],
  { present: 'B', since: { edit_id: '45', settled: null }, looks: 1 },
  ['1', '2', '3', '4', '6', '?'],
  ['5']
)
