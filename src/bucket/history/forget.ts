// Removes the texts of a path's records where they are: each object that has some is overwritten by one of the same
// length. Does not know who asked for it.
import { randomBytes } from 'node:crypto'
import { encodeLine, jsonOf, linesOf } from '../../log/line.ts'
import type { RecordReader } from '../../log/reading.ts'
import { decodeFacts, forgottenJson } from '../../log/record-json.ts'
import type { ObjectStore, StoredObject } from '../../object-store/store.ts'
import type { BucketBlobs } from './blobs.ts'
import type { Log, Logs } from './logs.ts'
import { listLog } from './merge.ts'
import { WROTE } from './writer.ts'

export interface ForgettingObjects {
  store: ObjectStore
  logs: Logs
  blobs: BucketBlobs
  reading: RecordReader
}

interface Forgotten {
  ids: Set<string>
  blobs: Set<string>
}

/** Returns of how many records there were texts. Rejects with StoreUnavailable or StoreRefused. */
export async function forgetPath(path: Buffer, { store, logs, blobs, reading }: ForgettingObjects): Promise<number> {
  await logs.catchUp()
  const found = await reading.rowsOf(path)
  const forgotten: Forgotten = { ids: new Set(), blobs: new Set() }
  for (const log of logs.known()) {
    if (!found.some(({ segment }) => segment.number === log.number)) continue
    // Objects are put together meanwhile: what comes of that is looked at too.
    while (await overwrite(store, log, path, forgotten));
    logs.invalidate(log)
  }
  await logs.catchUp()
  for (const name of forgotten.blobs) {
    if (!logs.known().some(({ overview }) => overview?.blobs.includes(name) === true)) await blobs.remove(name)
  }
  return forgotten.ids.size
}

/** Whether there was anything. */
async function overwrite(store: ObjectStore, log: Log, path: Buffer, forgotten: Forgotten): Promise<boolean> {
  let found = false
  for (const { key } of await listLog(store, log.number)) {
    const object = await store.get(key)
    if (object?.bytes == null) continue
    const bytes = without(object.bytes, path, forgotten)
    if (bytes === null) continue
    found = true
    await replace(store, key, object, bytes)
  }
  return found
}

async function replace(store: ObjectStore, key: string, object: StoredObject, bytes: Buffer): Promise<void> {
  const { version, landed, metadata } = object
  await store.write(key, {
    bytes,
    if: { is: version, landed },
    attempt: randomBytes(12).toString('hex'),
    metadata: { [WROTE]: metadata[WROTE] ?? '' }
  })
}

/** Null: no record of the path in it has texts. */
function without(bytes: Buffer, path: Buffer, { ids, blobs }: Forgotten): Buffer | null {
  let result: Buffer | null = null
  for (const { offset, line } of linesOf(bytes)) {
    const json = jsonOf(line)
    const said = json && decodeFacts(json)
    if (said === null || !('facts' in said) || !said.facts.path.equals(path)) continue
    const shorter = forgottenJson(json!)
    if (shorter === null) continue
    result ??= Buffer.from(bytes)
    encodeLine(shorter).copy(result, offset)
    ids.add(said.facts.edit_id)
    for (const name of said.facts.blobs) blobs.add(name)
  }
  return result
}
