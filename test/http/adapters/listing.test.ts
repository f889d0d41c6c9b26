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

t.test('marks links, and lists no special files', async t => {
  const first = {
    path: 'd',
    type: 'directory',
    entries: [
      { name: 'a', type: 'file', file_size: 3 },
      { name: 'l', type: 'symlink' },
      { name: 'p', type: 'other' }
    ],
    truncated: false
  } as unknown as InspectOutcome
  const text = await directoryShown(first, { path: 'd', shown: '/d' }, async () => undefined)
  t.equal(text.split('\n').slice(2).join('\n'), '3B\t/d/a\n-\t/d/l (link)')
})
