// swagger-typescript-api: an edit, a miss that is corrected, a stale file.
import { Api } from './generated/swagger-typescript-api.js'
import { report, token, typed, url } from './report.js'

const api = new Api({ baseUrl: url, baseApiParams: { headers: { Authorization: `Bearer ${token}` } } })

const path = 'swagger-typescript-api.txt'
const done = await api.edit.editFile({ path, old_text: 'one', new_text: 'eins' })
const missed = await api.edit.editFile({ path, old_text: 'two  words', new_text: 'zwei Wörter' })
if (missed.error.code !== 'NO_MATCH') throw new Error('it should have missed')
const fix = missed.error.suggested_fixes[0]?.edit
const corrected = await api.edit.editFile({ path, new_text: 'zwei Wörter', ...fix })
const stale = await api.edit.editFile({ path, old_text: 'three', new_text: 'drei', expected_hash: done.data.file_hash })
const { data: file } = await api.inspect.inspectFile({ path })
const { data: folder } = await api.inspect.inspectFile({ path: '.' })
if (file.type !== 'file' || folder.type !== 'directory') throw new Error('it should have been a file and a directory')
report({
  done: typed(done.data.message),
  missed: typed(missed.error.code),
  corrected: typed(corrected.data.message),
  stale: typed(stale.error.code),
  file_hash: typed(stale.error.file_hash),
  inspected: typed(file.file_hash),
  entries: typed(folder.entries.map(({ name }) => name))
})
