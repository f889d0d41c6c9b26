// Changes as they would be recorded, from the texts before and after each. Does not know what is tested with them.
import type { RecordedChange, Selection } from '../../../src/engine/undo/change.ts'
import { differing } from '../../../src/engine/undo/refine.ts'

/** Encodes Latin-1, so a text can have any byte. */
export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** The changes between texts; the first is called `a`, the next `b` and so on. */
export const historyOf = (texts: readonly string[]): RecordedChange[] =>
  texts.slice(1).map((text, i) => ({
    edit_id: String.fromCharCode(97 + i),
    splices: differing(bytes(texts[i]!), bytes(text))
  }))

/** These changes as a whole, their names with blanks between. */
export const select = (set: string): Selection[] => set.split(' ').map(edit_id => ({ edit_id }))
