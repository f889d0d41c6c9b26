// Somebody else's hands in the history. Row 41 of docs/threats.md.
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkDocument, codeOf, makeFolders, row, startServer, tally } from './harness.ts'

const FIRST = 'one\ntwo\nthree\n'
const SECRET = 'a secret outside\n'

/** What is done to the one segment of a server that has ended; `secret`: a file outside the root and the state. */
const TAMPERING: Record<string, (segment: string, secret: string) => void> = {
  'cut in half': segment => truncateSync(segment, Math.floor(readFileSync(segment).length / 2)),
  'a byte changed': segment => {
    const bytes = readFileSync(segment)
    bytes[Math.floor(bytes.length / 3)]! ^= 1
    writeFileSync(segment, bytes)
  },
  'a text exchanged': segment => writeFileSync(segment, readFileSync(segment, 'utf8').replaceAll('TWO', 'two')),
  emptied: segment => truncateSync(segment, 0),
  'no JSON': segment => writeFileSync(segment, '\0\n'.repeat(10_000)),
  removed: segment => rmSync(segment),
  'a link': (segment, secret) => {
    rmSync(segment)
    symlinkSync(secret, segment)
  },
  'readable by all': segment => chmodSync(segment, 0o644)
}

row(
  41,
  'history tampered with, or growing for ever',
  {
    done:
      `two edits, then the segment is ${Object.keys(TAMPERING).join(', ')}; the next server edits, undoes that, and ` +
      'undoes the first edit; size: `npm run test:history -- --records N` holds the history under its cap'
  },
  async t => {
    const outcomes: string[] = []
    for (const [how, tamper] of Object.entries(TAMPERING)) {
      const folders = makeFolders(t, { 'a.txt': FIRST })
      const secret = join(folders.base, 'secret')
      writeFileSync(secret, SECRET)
      const before = await startServer(t, folders)
      const made = await before.post('/edit', { path: 'a.txt', old_text: 'two', new_text: 'TWO', agent: 'ann' })
      t.equal(made.status, 200, how)
      t.equal((await before.post('/edit', { path: 'a.txt', old_text: 'three', new_text: 'THREE' })).status, 200, how)
      await before.stop()
      const history = join(folders.state, 'history')
      for (const name of readdirSync(history)) {
        if (name.endsWith('.ndjson')) tamper(join(history, name), secret)
        else if (name.endsWith('.index')) rmSync(join(history, name))
      }
      const server = await startServer(t, folders)
      const later = await server.post('/edit', { path: 'a.txt', old_text: 'one', new_text: 'ONE' })
      t.equal(later.status, 200, how)
      const listed = await server.post('/history', { path: 'a.txt', show_diff: true })
      t.equal(listed.status, 200, how)
      t.notMatch(JSON.stringify(listed.body), /secret/, how)
      t.equal((await server.post('/undo', { edit_id: later.body.edit_id })).status, 200, how)
      t.equal(server.text('a.txt'), 'one\nTWO\nTHREE\n', how)
      const undone = await server.post('/undo', { edit_id: made.body.edit_id })
      outcomes.push(codeOf(undone))
      t.equal(server.text('a.txt'), undone.status === 200 ? 'one\ntwo\nTHREE\n' : 'one\nTWO\nTHREE\n', how)
      t.equal(readFileSync(secret, 'utf8'), SECRET, how)
      await server.stop()
    }
    return (
      `the server starts, edits, and undoes what it knows; of the first edit ${tally(outcomes)}, and never other bytes ` +
      'than those that were there; a file behind a link is neither read nor written'
    )
  }
)

checkDocument()
