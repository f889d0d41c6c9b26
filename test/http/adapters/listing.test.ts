// How much of a directory is listed for a text editor.
import t from 'tap'
import { directoryShown } from '../../../src/http/adapters/listing.ts'
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

t.test('ends after a thousand lines of directories without end', async t => {
  for (const first of ['file', 'directory'] as const) {
    const text = await directoryShown(page(first), { path: 'd', shown: 'd' }, async () => page('file'))
    // Two lines say what they are of.
    const lines = text.trimEnd().split('\n').slice(2)
    t.equal(lines.length, 1001)
    t.match(lines.at(-1), /^Only the first 1000 are listed; view a directory/)
  }
})
