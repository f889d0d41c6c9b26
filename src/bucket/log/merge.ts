// Merges consecutive objects of a log into one, so that fewer have to be listed and read. Does not know what they
// contain.
//
// The merged object is written first; its sources are removed only while it equals them, so everything written exists
// at least once at each moment. Once written it is replaced but never removed, however many servers merge at the same
// time. `forget` may overwrite any of the objects meanwhile: the merge then compares them once more.
import { LINE_FEED } from '../../log/line.ts'
import { newAttempt, type ObjectStore, type Version } from '../../object-store/store.ts'
import { cover, keyBefore, logPrefix, objectKey, parseObject, type Range } from './names.ts'

/** The known contents of objects of a log, by key. */
export type KnownObjects = Map<string, { bytes: Buffer; version: Version | null }>

interface Merge {
  store: ObjectStore
  log: number
  range: Range
  metadata: Readonly<Record<string, string>>
  /** Contents that needn't be read; kept up to date. */
  known?: KnownObjects
}

export interface ListedObject extends Range {
  key: string
  size: number
  version: Version
  modified_at: Date
}

/** The objects of a log with numbers from `from` on, including merged ones that begin before it. */
export async function listLog(store: ObjectStore, log: number, from = 0): Promise<ListedObject[]> {
  const found: ListedObject[] = []
  const prefix = logPrefix(log)
  for (let after: string | null = keyBefore(log, from); after !== null;) {
    const page = await store.list(prefix, { after })
    for (const entry of page.keys) {
      const parsed = parseObject(entry.key)
      if (parsed !== null) found.push({ ...entry, from: parsed.from, to: parsed.to })
    }
    after = page.next_after
  }
  return found
}

/** Merges the objects of a range. Leaves them as they are if one is missing, or doesn't end with a line break. */
export async function mergeObjects(merge: Merge): Promise<void> {
  const { store, log, range, metadata, known } = merge
  const key = objectKey(log, range)
  /** The merged object that this call has written. */
  let made: { of: string; version: Version | null } | undefined
  for (;;) {
    const listed = (await listLog(store, log)).filter(({ from, to }) => from >= range.from && to <= range.to)
    const whole = listed.find(object => object.key === key)
    const parts = listed.filter(object => object !== whole)
    const chosen = cover(parts.map(part => ({ ...part, from: part.from - range.from, to: part.to - range.from })))
    const isAll = chosen.missing.length === 0 && chosen.objects.at(-1)?.to === range.to - range.from
    if (!isAll) {
      // Otherwise another server has compared them, and begun to remove them.
      if (whole !== undefined) await removeAll(merge, parts)
      return
    }
    const of = JSON.stringify(chosen.objects.map(part => [part.key, part.version]))
    if (made?.of === of && made.version === whole?.version) return removeAll(merge, parts)
    const bytes = await contentOf(merge, chosen.objects)
    if (bytes === null) return
    const current = whole === undefined ? null : await store.get(key)
    if (current?.bytes?.equals(bytes) === true) return removeAll(merge, parts)
    const condition = current === null ? ('absent' as const) : { is: current.version, landed: current.landed }
    const attempt = newAttempt()
    const written = await store.write(key, { bytes, if: condition, attempt, metadata })
    if (written === null) continue
    made = { of, version: written.version }
    known?.set(key, { bytes, version: written.version })
  }
}

async function removeAll({ store, known }: Merge, objects: readonly ListedObject[]): Promise<void> {
  await Promise.all(
    objects.map(async ({ key }) => {
      await store.remove(key)
      known?.delete(key)
    })
  )
}

/** Null: an object is gone, or damaged. */
async function contentOf({ store, known }: Merge, objects: readonly ListedObject[]): Promise<Buffer | null> {
  const all: Buffer[] = []
  for (const { key, version, size } of objects) {
    const mine = known?.get(key)
    const bytes = mine?.version === version ? mine.bytes : (await store.get(key))?.bytes
    const isWhole = bytes?.length === size && (size === 0 || bytes[size - 1] === LINE_FEED)
    if (!isWhole) return null
    all.push(bytes)
  }
  return Buffer.concat(all)
}
