// The lines of the file that a failure shows around a place.
import type { FilePreview } from '../failure.ts'
import type { Match } from '../match/locate.ts'
import { decode, excerptOf, ShownLine, utf16Length } from '../text/encoding.ts'
import type { LineIndex } from '../text/line-index.ts'
import { lineAround, lineFrom, markLength, type Line } from '../text/lines.ts'
import { Text } from '../text/text.ts'

/** UTF-16 units of a preview, and about the length of the mark where a line is cut. */
const PREVIEW_LENGTH = 2000
const MARK_LENGTH = 40
/** Up to this many lines, each is cut separately; more lines are cut in the middle of the whole. */
const MOST_LINES = 12
/** Lines to show above and below a place; and lines to show from the first on if there is no place. */
const AROUND = 3
const FROM_START = 20
const BLANKS = new Set([32, 9])

/**
 * The lines around a range of bytes, or the first lines of `original` (indexed by `index`); highlights the lines of the
 * range. Cuts long lines, the first line of the range around its start. `shown`: `similar_content` has the text of the
 * range, so if that is whole lines, one line in brackets replaces them.
 */
export function previewOf(original: Buffer, index: LineIndex, place: Match | undefined, shown = false): FilePreview {
  const text = new Text([original])
  const first = lineAround(text, place?.start ?? 0)
  const last = place === undefined ? first : lineAround(text, Math.max(place.start, place.end - 1))
  const [above, below] = place === undefined ? [0, FROM_START - 1] : [AROUND, AROUND]
  let { start } = first
  for (let i = 0; i < above && start > markLength(text); i++) start = lineAround(text, start - 1).start
  let end = last.next
  for (let i = 0; i < below && end < text.length && end - start < PREVIEW_LENGTH; i++) end = lineFrom(text, end).next
  const {
    lines: [from, placeFrom, placeTo, to],
    total
  } = index.lineNumbers([start, first.start, last.start, Math.max(start, end - 1)])
  const isElsewhere =
    shown && place !== undefined && isBlank(text, first.start, place.start) && isBlank(text, place.end, last.end)
  const parts = isElsewhere
    ? [...linesIn(text, start, first.start), last, ...linesIn(text, last.next, end)]
    : linesIn(text, start, end)
  const { text: content, lossy }: Shown =
    parts.length > MOST_LINES
      ? excerptOf(text.slice(start, lineAround(text, end - 1).end), PREVIEW_LENGTH)
      : joined(text, parts, line => {
          if (isElsewhere && line === last) return { text: markOf(placeFrom!, placeTo!) }
          const bytes = text.slice(line.start, line.end)
          if (end - start <= PREVIEW_LENGTH) return decode(bytes)
          const most = Math.floor(PREVIEW_LENGTH / parts.length) - MARK_LENGTH
          return place !== undefined && line.start === first.start
            ? around(bytes, Math.max(0, place.start - line.start), most)
            : excerptOf(bytes, most)
        })
  return {
    total_lines: total,
    preview_start_line: Math.min(from!, total),
    preview_end_line: Math.min(to!, total),
    content,
    highlights: place === undefined || total === 0 ? [] : [{ start_line: placeFrom!, end_line: placeTo! }],
    lossy
  }
}

interface Shown {
  text: string
  lossy?: true
}

/** The lines as shown, with the breaks between them. */
function joined(text: Text, lines: readonly Line[], show: (line: Line) => Shown): Shown {
  const shown = lines.map(show)
  const breaks = lines.map(({ end, next }, index) => (index < lines.length - 1 ? text.slice(end, next).toString() : ''))
  return {
    text: shown.map((line, index) => line.text + breaks[index]).join(''),
    ...(shown.some(line => line.lossy) && { lossy: true })
  }
}

/** At most `most` units of a line, around the byte `at`. */
function around(line: Buffer, at: number, most: number): Shown {
  const shown = new ShownLine(line)
  const text = shown.around(at, utf16Length(line.subarray(0, at)), most)
  return { text, ...(shown.lossy && { lossy: true }) }
}

/** The line that replaces lines `first` to `last`. */
export const markOf = (first: number, last: number): string =>
  first === last ? `[line ${first} is in similar_content]` : `[lines ${first} to ${last} are in similar_content]`

/** The lines of a range; not all of a long one. */
function linesIn(text: Text, start: number, end: number): Line[] {
  const lines: Line[] = []
  for (let at = start; at < end && lines.length <= MOST_LINES;) {
    const line = lineFrom(text, at)
    lines.push(line)
    at = line.next
  }
  return lines
}

function isBlank(text: Text, start: number, end: number): boolean {
  let at = start
  while (at < end && BLANKS.has(text.byteAt(at))) at++
  return at >= end
}
