import t from 'tap'
import type { EditRecord, Settlement } from '../../src/log/record.ts'
import { chainOf } from '../../src/recording/chain.ts'

/** Content is named by a letter, which stands for its hash; '' is no file. */
const hashOf = (content: string) => (content === '' ? null : content)

function record(id: string, before: string, after: string, more: Partial<EditRecord> = {}): EditRecord {
  return {
    edit_id: id,
    operation: 'edit',
    at: 0,
    path: Buffer.from('a.txt'),
    hash_before: hashOf(before),
    hash_after: hashOf(after),
    size_before: 1,
    size_after: 1,
    lines_added: 1,
    lines_removed: 1,
    splices: [],
    places: [],
    ...more
  }
}

/** `stored`: id, before, after, and what is known of it. The chain as ids; '?' is a change nobody knows. */
function check(
  name: string,
  stored: readonly (readonly [string, string, string, Settlement | null])[],
  present: string,
  expected: { chain: string[]; settled?: Record<string, Settlement> }
): void {
  t.test(name, async t => {
    const chain = chainOf(
      stored.map(([id, before, after, settled]) => ({ record: record(id, before, after), settled })),
      hashOf(present)
    )
    t.strictSame(
      chain.changes.map(({ edit_id }) => edit_id || '?'),
      expected.chain
    )
    t.strictSame(
      chain.records.map(({ edit_id }) => edit_id),
      expected.chain.filter(id => id !== '?')
    )
    t.strictSame(
      Object.fromEntries(chain.settled.map(({ edit_id, settlement }) => [edit_id, settlement])),
      expected.settled ?? {}
    )
  })
}

check(
  'follows what is done',
  [
    ['1', 'A', 'B', 'done'],
    ['2', 'B', 'C', 'done']
  ],
  'C',
  { chain: ['1', '2'] }
)
check(
  'leaves out what is void',
  [
    ['1', 'A', 'B', 'void'],
    ['2', 'A', 'C', 'done']
  ],
  'C',
  { chain: ['2'] }
)
check('leaves out a request that changed nothing', [['1', 'A', 'A', 'done']], 'A', { chain: [] })
check('takes a change whose result is there for done', [['1', 'A', 'B', null]], 'B', {
  chain: ['1'],
  settled: { 1: 'done' }
})
check('takes a change before which the file is for void', [['1', 'A', 'B', null]], 'A', {
  chain: [],
  settled: { 1: 'void' }
})
check(
  'takes a change from which another went on for done',
  [
    ['1', 'A', 'B', null],
    ['2', 'B', 'A', 'done']
  ],
  'A',
  {
    chain: ['1', '2'],
    settled: { 1: 'done' }
  }
)
check('leaves open what neither is', [['1', 'A', 'B', null]], 'C', { chain: [], settled: { 1: 'uncertain' } })
check(
  'says where others changed the file between two',
  [
    ['1', 'A', 'B', 'done'],
    ['2', 'C', 'D', 'done']
  ],
  'D',
  {
    chain: ['1', '?', '2']
  }
)
check('says where others changed it afterwards', [['1', 'A', 'B', 'done']], 'C', { chain: ['1', '?'] })
check(
  'knows a file that was made and removed',
  [
    ['1', '', 'A', 'done'],
    ['2', 'A', '', null]
  ],
  '',
  {
    chain: ['1', '2'],
    settled: { 2: 'done' }
  }
)

t.test('tells the engine which change made or removed the file, was of others, or took back', async t => {
  const toggles = [{ edit_id: '1' }]
  const records = [
    record('1', '', 'A'),
    record('2', 'A', 'B', { operation: 'outside' }),
    record('3', 'B', '', { operation: 'undo', toggles })
  ]
  t.strictSame(
    chainOf(
      records.map(each => ({ record: each, settled: 'done' as const })),
      null
    ).changes,
    [
      { edit_id: '1', splices: [], existence: 'made' },
      { edit_id: '2', splices: [], outside: true },
      { edit_id: '3', splices: [], toggles, existence: 'removed' }
    ]
  )
})
