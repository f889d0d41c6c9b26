// How far records of a history were removed: an empty file or object has the highest of their ids in its name, as that
// takes no space. Does not know what is removed, or when.
import { isId } from './ids.ts'

const PREFIX = 'swept-'

/** Storage of these names. All methods reject with an error that has a code. */
export interface SweptNames {
  /** All such names, possibly with others. */
  names(): Promise<string[]>
  add(name: string): Promise<void>
  remove(name: string): Promise<unknown>
}

/** The highest id among these names; '': there is none. */
export const sweptAmong = (names: readonly string[]): string =>
  names.reduce((highest, name) => {
    const id = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : ''
    return id > highest && isId(id) ? id : highest
  }, '')

/** Call it before records up to this id are removed. Rejects as `place` does. */
export async function markSwept(place: SweptNames, edit_id: string): Promise<void> {
  const names = await place.names()
  if (edit_id <= sweptAmong(names)) return
  const name = PREFIX + edit_id
  await place.add(name)
  await Promise.all(names.filter(other => other.startsWith(PREFIX) && other < name).map(other => place.remove(other)))
}
