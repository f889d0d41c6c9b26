// Finds the change that already made an edit which is requested again.
import { placedBytes, type Splice, Splices } from '../edit/splice.ts'
import { lineStarts, withLf } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { type RecordedChange, type RecordedSplice, spliceOf } from './change.ts'

/** An edit whose `new_text` is already on these lines (1-based, inclusive) of the text that it was meant for. */
export interface ResentEdit {
  old_text: string
  new_text: string
  lines: [number, number]
}

/**
 * The change that made the edit: the last of `changes` (oldest first, ending in `text`) that touched its lines, if
 * before it they had `old_text` where they now have `new_text`, and nothing else on them changed. Undefined if not, if
 * a change's splices are unknown, or if the change is an undo, a redo or by another program.
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

/**
 * The inverse splices of a change: those inside a range of the text after it, and those that only removed text at its
 * start or end; and by how much earlier splices lengthen the text. Undefined if a splice reaches beyond the range.
 */
function touchedBy(splices: readonly RecordedSplice[], start: number, end: number) {
  const inside: Splice[] = []
  let atStart: Splice | undefined
  let atEnd: Splice | undefined
  let before = 0
  for (const [i, { new_start, new_end }] of placedBytes(splices.map(spliceOf)).entries()) {
    const { old } = splices[i]!
    const back = { start: new_start, end: new_end, insert: old }
    const isGone = new_start === new_end
    if (isGone && new_start === start) atStart = back
    else if (isGone && new_start === end) atEnd = back
    else if (new_start >= start && new_end <= end) inside.push(back)
    else if (new_start < end && new_end > start) return undefined
    if (new_end <= start) before += new_end - new_start - old.length
  }
  return { inside, atStart, atEnd, before }
}

/** The combinations that may be the edit: everything inside, with or without the removals at the edges. */
function* variants(inside: Splice[], atStart: Splice | undefined, atEnd: Splice | undefined): Generator<Splice[]> {
  for (const first of atStart === undefined ? [[]] : [[atStart], []]) {
    for (const last of atEnd === undefined ? [[]] : [[atEnd], []]) yield [...first, ...inside, ...last]
  }
}

/** The range `now`, which begins at `from`, with the splices of a change reverted. */
const undone = (now: Buffer, from: number, back: readonly Splice[]): Buffer =>
  Buffer.concat(
    new Splices(
      back.map(({ start, end, insert }) => ({ start: start - from, end: end - from, insert })),
      now.length
    ).apply(now)
  )

/** Whether two texts differ only by one edit at one place, ignoring the kinds of line breaks. */
function isEdit(before: Buffer, after: Buffer, edit: Pick<ResentEdit, 'old_text' | 'new_text'>): boolean {
  const [was, is] = [withLf(before.toString()), withLf(after.toString())]
  const [old_text, new_text] = [withLf(edit.old_text), withLf(edit.new_text)]
  for (let at = is.indexOf(new_text); at !== -1; at = is.indexOf(new_text, at + 1)) {
    if (was === is.slice(0, at) + old_text + is.slice(at + new_text.length)) return true
  }
  return false
}
