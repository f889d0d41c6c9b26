// A file's records, where the logs of two servers are read one after the other while both write.
import t from 'tap'
import type { EditRecord, Stored } from '../../../src/history/record.ts'
import { readChain } from '../../../src/workspace/history/read-chain.ts'

type Known = [id: string, before: string, after: string]

const storedOf = ([edit_id, hash_before, hash_after]: Known): Stored => {
  const record: EditRecord = {
    edit_id,
    operation: 'edit',
    at: 0,
    path: Buffer.from('a.txt'),
    hash_before,
    hash_after,
    size_before: 1,
    size_after: 1,
    lines_added: 1,
    lines_removed: 1,
    splices: [],
    places: []
  }
  return { record, settled: 'done', texts: 'kept', nonce: '' }
}

/** `readings`: what is there after each refresh. The chain as ids; '?' is a change nobody knows. */
function check(name: string, readings: readonly Known[][], present: string, expected: string[], looks: number): void {
  t.test(name, async t => {
    let look = 0
    const history = {
      refresh: async () => {
        look++
      },
      ofPath: async () => ({ records: readings[look]!.map(storedOf), gaps: [] })
    }
    const { stored, chain } = await readChain(history, Buffer.from('a.txt'), present)
    t.strictSame(
      chain.changes.map(({ edit_id }) => edit_id || '?'),
      expected
    )
    t.strictSame(
      stored.map(({ record }) => record.edit_id),
      expected.filter(id => id !== '?')
    )
    t.equal(look, looks)
  })
}

check('reads once what is whole', [[['1', 'A', 'B']]], 'B', ['1'], 0)
check('reads once what has no records', [[]], 'B', [], 0)
check(
  'finds what one server had written before the other, and takes nothing that came later',
  [
    [
      ['1', 'A', 'B'],
      ['3', 'C', 'B']
    ],
    [
      ['1', 'A', 'B'],
      ['2', 'B', 'C'],
      ['3', 'C', 'B'],
      ['4', 'B', 'D']
    ]
  ],
  'B',
  ['1', '2', '3'],
  1
)
check(
  'keeps a change by another program',
  [
    [
      ['1', 'A', 'B'],
      ['2', 'C', 'D']
    ],
    [
      ['1', 'A', 'B'],
      ['2', 'C', 'D']
    ]
  ],
  'D',
  ['1', '?', '2'],
  1
)
