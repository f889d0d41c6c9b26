// How far the logs of a bucket were removed, as names of empty objects. Does not know what is removed, or when.
import { randomBytes } from 'node:crypto'
import type { SweptNames } from '../../log/swept.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import { SWEPT } from './names.ts'

export const sweptObjects = (store: ObjectStore): SweptNames => ({
  // There is one, or one for each server that sweeps in the same instant.
  names: async () => (await store.list(SWEPT)).keys.map(({ key }) => key.slice(SWEPT.length)),
  add: async name => {
    const attempt = randomBytes(12).toString('hex')
    // Where it is there already, another server was faster.
    await store.write(SWEPT + name, { bytes: Buffer.alloc(0), if: 'absent', attempt })
  },
  remove: name => store.remove(SWEPT + name)
})
