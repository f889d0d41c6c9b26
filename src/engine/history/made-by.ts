// Which of a text's changes made an edit that is asked for once more. Does not know files or who made changes.
import { lineStarts, withLf } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import type { RecordedChange, RecordedSplice } from './change.ts'

/** An edit whose `new_text` stands on these lines, 1-based and inclusive, of the text that it was to be made to. */
export interface ResentEdit {
  old_text: string
  new_text: string
  lines: [number, number]
}

/**
 * The change that made the edit: the last of `changes`, which are oldest first and end in `text`, that touched its lines,
 * if these had `old_text` before it where they have `new_text` now, and nothing else was changed of them. Undefined where
 * that isn't so, what a change replaced isn't known, or it is an undo, a redo or of others.
 */
export function changeThatMade(
  text: Buffer,
  { old_text, new_text, lines }: ResentEdit,
  changes: readonly RecordedChange[]
): RecordedChange | undefined {
  let [start, end] = lineStarts(new Text([text]), [lines[0], lines[1] + 1]).offsets as [number, number]
  const now = text.subarray(start, end)
  for (const change of changes.toReversed()) {
    if (change.splices === null) return undefined
    const touched = touchedBy(change.splices, start, end)
    if (touched === undefined) return undefined
    const { inside, atStart, atEnd, before } = touched
    const isMade = [...variants(inside, atStart, atEnd)].some(
      splices => splices.length > 0 && isEdit(undone(now, start, splices), now, { old_text, new_text })
    )
    if (isMade) return change.toggles === undefined && change.outside !== true ? change : undefined
    if (inside.length > 0) return undefined
    start -= before
    end -= before
  }
  return undefined
}

/** A splice at `at` of the text after the change. */
interface Landed extends RecordedSplice {
  at: number
}

/**
 * The splices of a change that are inside a range of the text after it, those that only took out what was at its start or
 * its end, and by how much the ones before it make the text longer. Undefined where one reaches beyond the range.
 */
function touchedBy(splices: readonly RecordedSplice[], start: number, end: number) {
  const inside: Landed[] = []
  let atStart: Landed | undefined
  let atEnd: Landed | undefined
  let before = 0
  let longer = 0
  for (const splice of splices) {
    const { insert, old } = splice
    const at = splice.start + longer
    const to = at + insert.length
    longer += insert.length - old.length
    const landed = { ...splice, at }
    if (insert.length === 0 && at === start) atStart = landed
    else if (insert.length === 0 && at === end) atEnd = landed
    else if (at >= start && to <= end) inside.push(landed)
    else if (at < end && to > start) return undefined
    if (to <= start) before = longer
  }
  return { inside, atStart, atEnd, before }
}

/** What may be of the edit: all that is inside, and what was taken out at the edges or not. */
function* variants(inside: Landed[], atStart: Landed | undefined, atEnd: Landed | undefined): Generator<Landed[]> {
  for (const first of atStart === undefined ? [[]] : [[atStart], []]) {
    for (const last of atEnd === undefined ? [[]] : [[atEnd], []]) yield [...first, ...inside, ...last]
  }
}

/** The range `now`, which begins at `start`, as it was before these splices. */
function undone(now: Buffer, start: number, splices: readonly Landed[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { at, old, insert } of splices) {
    parts.push(now.subarray(from, at - start), old)
    from = at - start + insert.length
  }
  return Buffer.concat([...parts, now.subarray(from)])
}

/** Whether an edit at one place, whatever kinds of line breaks there are, is all that is between two texts. */
function isEdit(before: Buffer, after: Buffer, edit: Pick<ResentEdit, 'old_text' | 'new_text'>): boolean {
  const [was, is] = [withLf(before.toString()), withLf(after.toString())]
  const [old_text, new_text] = [withLf(edit.old_text), withLf(edit.new_text)]
  for (let at = is.indexOf(new_text); at !== -1; at = is.indexOf(new_text, at + 1)) {
    if (was === is.slice(0, at) + old_text + is.slice(at + new_text.length)) return true
  }
  return false
}
