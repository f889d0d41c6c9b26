// How much is read to list a directory for a text editor.
import t from 'tap'
import { listingOf } from '../../../src/http/adapters/listing.ts'
import type { InspectOutcome } from '../../../src/operations/operation.ts'

/** A page of a directory without end: 500 entries of one type. */
const page = (type: 'file' | 'directory'): InspectOutcome =>
  ({
    path: 'd',
    type: 'directory',
    entries: Array.from({ length: 500 }, (_, i) => ({ name: `n${i}`, type })),
    truncated: true,
    next_entry: 'n499'
  }) as unknown as InspectOutcome

t.test('reads no further page when a thousand lines are full', async t => {
  for (const [first, inner, pages] of [
    ['file', 'file', 2],
    ['directory', 'file', 2]
  ] as const) {
    let read = 0
    const lines = await listingOf(page(first), { path: 'd', shown: 'd' }, async () => {
      read++
      return page(inner)
    })
    t.equal(lines.length, 1001)
    t.match(lines.at(-1), /^Only the first 1000 are listed; view a directory/)
    t.equal(read, pages)
  }
})
