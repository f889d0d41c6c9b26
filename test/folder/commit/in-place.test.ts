// A file that is written in place while another program appends to it. What a crash leaves: crash.test.ts.
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeInPlace } from '../../../src/folder/commit/in-place.ts'
import { Journal } from '../../../src/folder/commit/journal.ts'
import { openRoot } from '../../../src/folder/root/root.ts'
import { openState } from '../../../src/folder/state.ts'
import { makeFolders, observer, ownLock, ownLocks, readPinned, removeFolders, unrecorded } from '../support/open.ts'

const OLD = 'old text\n'

for (const [what, text] of [
  ['grows', 'a text that is longer\n'],
  ['shrinks', 'new\n'],
  ['stays as long', 'new text\n']
] as const) {
  t.test(`keeps what another program appends between the last look and the write: a file that ${what}`, async t => {
    const folders = makeFolders()
    t.teardown(() => removeFolders(folders))
    const path = join(folders.root, 'a')
    writeFileSync(path, OLD)
    const root = openRoot(folders.root)
    t.teardown(() => root.close())
    const read = await readPinned(root, 'a')
    const snapshot = {
      ...read.snapshot,
      unchanged() {
        appendFileSync(path, 'theirs\n')
        return true
      }
    }
    const written = await writeInPlace(
      {
        root,
        journal: new Journal(openState(folders.state), observer(), 'fast'),
        durability: 'fast',
        lock: ownLock(),
        locks: ownLocks,
        report: event => t.fail(JSON.stringify(event))
      },
      {
        pin: read.pin,
        snapshot,
        pieces: [Buffer.from(text)],
        size: text.length,
        digest: Promise.resolve(createHash('sha256').update(text).digest('hex')),
        record: unrecorded
      }
    )
    read.close()
    t.match(written, { ok: true })
    t.equal(readFileSync(path, 'utf8'), `${text}theirs\n`)
  })
}
