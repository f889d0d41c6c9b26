// An object store in memory that answers late and in any order, for tests of what servers see of each other. Does not
// know any test.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Listed, ListOptions, ObjectStore, StoredObject } from '../../../../src/object-store/store.ts'

/** The most ms that a request takes, and that its answer takes. */
const LONGEST = 3

export function slowStore(): ObjectStore {
  const objects = new Map<string, StoredObject>()
  let writes = 0
  const way = () => (Math.random() < 0.3 ? sleep(Math.random() * LONGEST) : setImmediate())
  /** Does the work at one moment between the request and its answer. */
  const late = async <T>(work: () => T): Promise<T> => {
    await way()
    const result = work()
    await way()
    return result
  }
  const listed = (prefix: string, { after = '', folders = false }: ListOptions = {}): Listed => {
    const below = [...objects.keys()].filter(key => key.startsWith(prefix)).sort()
    const prefixes = new Set(below.map(key => key.slice(0, key.indexOf('/', prefix.length) + 1)))
    return {
      keys: folders ? [] : below.filter(key => key > after).map(key => ({ key, ...objects.get(key)! })),
      prefixes: folders ? [...prefixes].filter(prefix => prefix > after) : [],
      next_after: null
    }
  }
  return {
    name: 'memory',
    get: key => late(() => objects.get(key) ?? null),
    head: key => late(() => objects.get(key) ?? null),
    open: key => Promise.reject(new Error(`nobody opens ${key}`)),
    write: (key, { bytes, if: condition, metadata = {} }) =>
      late(() => {
        const there = objects.get(key)
        if (condition === 'absent' ? there !== undefined : there?.version !== condition.is) return null
        const all = Buffer.isBuffer(bytes) ? bytes : Buffer.concat(bytes)
        const version = `${++writes}`
        objects.set(key, { bytes: all, size: all.length, version, modified_at: new Date(), metadata, landed: [] })
        return { version }
      }),
    remove: key =>
      late(() => {
        objects.delete(key)
      }),
    list: (prefix, options) => late(() => listed(prefix, options)),
    check: async () => {},
    answeredAt: 0,
    isVersioned: null,
    now: () => Date.now(),
    close() {}
  }
}
