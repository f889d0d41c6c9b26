// openapi-typescript with openapi-fetch: an edit, a miss that is corrected, a stale file.
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi-typescript.js'
import { report, token, typed, url } from './report.js'

const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } })

async function edit (body: components['schemas']['EditRequest']) {
  const { data, error } = await client.POST('/edit', { body })
  return data ?? error
}

const path = 'openapi-fetch.txt'
const done = await edit({ path, old_text: 'one', new_text: 'eins' })
if ('code' in done) throw new Error(done.detail)
const missed = await edit({ path, old_text: 'two  words', new_text: 'zwei Wörter' })
if (!('code' in missed) || missed.code !== 'NO_MATCH') throw new Error('it should have missed')
const fix = missed.suggested_fixes[0]?.edit
const corrected = await edit({ path, new_text: 'zwei Wörter', ...fix })
if ('code' in corrected) throw new Error(corrected.detail)
const stale = await edit({ path, old_text: 'three', new_text: 'drei', expected_hash: done.file_hash })
if (!('code' in stale) || stale.code !== 'STALE_FILE') throw new Error('it should have been stale')
const { data: file } = await client.POST('/inspect', { body: { path } })
const { data: folder } = await client.POST('/inspect', { body: { path: '.' } })
if (file?.type !== 'file' || folder?.type !== 'directory') throw new Error('it should have been a file and a directory')
report({
  done: typed(done.message),
  missed: typed(missed.code),
  corrected: typed(corrected.message),
  stale: typed(stale.code),
  file_hash: typed(stale.file_hash),
  inspected: typed(file.file_hash),
  entries: typed(folder.entries.map(({ name }) => name))
})
