// orval with fetch: an edit, a miss that is corrected, a stale file.
import { editFile, type EditRequest } from './generated/orval.js'
import { report, token, typed } from './report.js'

const edit = (request: EditRequest) => editFile(request, { headers: { Authorization: `Bearer ${token}` } })

const path = 'orval.txt'
const done = await edit({ path, old_text: 'one', new_text: 'eins' })
if (done.status !== 200) throw new Error(done.data.detail)
const missed = await edit({ path, old_text: 'two  words', new_text: 'zwei Wörter' })
if (missed.status !== 422) throw new Error('it should have missed')
const fix = missed.data.suggested_fixes?.[0]?.edit
const corrected = await edit({ path, new_text: 'zwei Wörter', ...fix })
if (corrected.status !== 200) throw new Error(corrected.data.detail)
const stale = await edit({ path, old_text: 'three', new_text: 'drei', expected_hash: done.data.file_hash })
if (stale.status !== 409) throw new Error('it should have been stale')
report({
  done: typed(done.data.message),
  missed: typed(missed.data.code),
  corrected: typed(corrected.data.message),
  stale: typed(stale.data.code),
  file_hash: typed(stale.data.file_hash)
})
