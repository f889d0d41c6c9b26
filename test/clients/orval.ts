// orval with fetch: an edit, a miss that is corrected, a stale file.
import { editFile, inspectFile, type EditRequest } from './generated/orval.js'
import { report, token, typed } from './report.js'

const headers = { Authorization: `Bearer ${token}` }
const edit = (request: EditRequest) => editFile(request, { headers })

const path = 'orval.txt'
const done = await edit({ path, old_text: 'one', new_text: 'eins' })
if (done.status !== 200) throw new Error(done.data.detail)
const missed = await edit({ path, old_text: 'two  words', new_text: 'zwei Wörter' })
if (missed.status !== 422 || missed.data.code !== 'NO_MATCH') throw new Error('it should have missed')
const fix = missed.data.suggested_fixes[0]?.edit
const corrected = await edit({ path, new_text: 'zwei Wörter', ...fix })
if (corrected.status !== 200) throw new Error(corrected.data.detail)
const stale = await edit({ path, old_text: 'three', new_text: 'drei', expected_hash: done.data.file_hash })
if (stale.status !== 409) throw new Error('it should have been stale')
const file = await inspectFile({ path }, { headers })
const folder = await inspectFile({ path: '.' }, { headers })
if (file.status !== 200 || file.data.type !== 'file') throw new Error('it should have been a file')
if (folder.status !== 200 || folder.data.type !== 'directory') throw new Error('it should have been a directory')
report({
  done: typed(done.data.message),
  missed: typed(missed.data.code),
  corrected: typed(corrected.data.message),
  stale: typed(stale.data.code),
  file_hash: typed(stale.data.file_hash),
  inspected: typed(file.data.file_hash),
  entries: typed(folder.data.entries.map(({ name }) => name))
})
