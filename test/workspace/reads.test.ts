import t from 'tap'
import type { Author } from '../../src/log/record.ts'
import { Reads } from '../../src/workspace/reads.ts'

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)] as const
const MINUTE = 60_000

/** What callers saw last, after `saw`: each `[caller, minutes]`. */
function check(name: string, saw: readonly [Author, number][], asks: readonly [Author, number, boolean][]) {
  t.test(name, t => {
    let now = 0
    const reads = new Reads(() => now)
    for (const [caller, at] of saw) {
      now = at * MINUTE
      reads.saw(caller, 'a', A)
    }
    for (const [caller, at, isKnown] of asks) {
      now = at * MINUTE
      t.equal(reads.lastOf(caller, 'a'), isKnown ? A : undefined, JSON.stringify(caller))
    }
    t.equal(reads.lastOf({}, 'b'), undefined)
    t.end()
  })
}

const [SENDER, TOKEN] = [{ sender: 's' }, { sender: 's', token: 't' }]
check(
  'knows a caller for an hour',
  [[SENDER, 0]],
  [
    [SENDER, 60, true],
    [SENDER, 61, false],
    [{ sender: 'r' }, 1, false]
  ]
)
check(
  'tells agents and sessions apart',
  [
    [{ ...TOKEN, agent: 'ann' }, 0],
    [{ ...TOKEN, session: 'x' }, 0]
  ],
  [
    [{ ...TOKEN, agent: 'ann' }, 1, true],
    [{ token: 't', sender: 'other', agent: 'ann' }, 1, true],
    [{ token: 't', session: 'x' }, 1, true],
    [{ ...TOKEN, agent: 'bob' }, 1, false],
    [{ token: 'u', agent: 'ann' }, 1, false],
    [TOKEN, 1, false]
  ]
)
check(
  'counts a read without a name for agents of the same client',
  [[TOKEN, 0]],
  [
    [{ ...TOKEN, agent: 'ann' }, 1, true],
    [{ token: 't', sender: 'other', agent: 'ann' }, 1, false]
  ]
)

t.test('knows what a caller made of what it knew, or made', t => {
  const reads = new Reads()
  reads.changed(SENDER, 'a', { before: A, after: B })
  t.equal(reads.lastOf(SENDER, 'a'), undefined)
  reads.changed(SENDER, 'a', { before: undefined, after: A })
  t.equal(reads.lastOf(SENDER, 'a'), A)
  reads.changed(SENDER, 'a', { before: A, after: B })
  t.equal(reads.lastOf(SENDER, 'a'), B)
  t.end()
})

t.test('keeps texts for ten minutes, by path and any digits of their hash', t => {
  let now = 0
  const reads = new Reads(() => now)
  reads.keep('a', A, Buffer.from('text'))
  for (const digits of [A.slice(0, 16), A]) t.equal(reads.textOf('a', digits)?.toString(), 'text')
  t.equal(reads.textOf('a', `${A.slice(0, 16)}b`), undefined)
  t.equal(reads.textOf('b', A), undefined)
  now = 11 * MINUTE
  t.equal(reads.textOf('a', A), undefined)
  t.end()
})
