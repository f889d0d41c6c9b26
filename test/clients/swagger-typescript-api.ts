// swagger-typescript-api: an edit, a miss that is put right, a stale file.
import { Api } from './generated/swagger-typescript-api.js'
import { tell, token, typed, url } from './told.js'

const api = new Api({ baseUrl: url, baseApiParams: { headers: { Authorization: `Bearer ${token}` } } })

const path = 'swagger-typescript-api.txt'
const done = await api.edit.editFile({ path, old_text: 'one', new_text: 'eins' })
const missed = await api.edit.editFile({ path, old_text: 'two  words', new_text: 'zwei Wörter' })
if (missed.error.code !== 'NO_MATCH') throw new Error('it should have missed')
const fix = missed.error.suggested_fixes?.[0]?.edit
const right = await api.edit.editFile({ path, new_text: 'zwei Wörter', ...fix })
const stale = await api.edit.editFile({ path, old_text: 'three', new_text: 'drei', expected_hash: done.data.file_hash })
tell({ done: typed(done.data.message), missed: typed(missed.error.code), put_right: typed(right.data.message), stale: typed(stale.error.code), file_hash: typed(stale.error.file_hash) })
