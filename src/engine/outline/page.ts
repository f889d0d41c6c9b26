// The lines of a text as section edits see them: which are blank, how they are indented, and how an inserted text is
// formatted between them.
import { byteOfUtf16, decode, decodeByColumn } from '../text/encoding.ts'
import type { LineEdit } from '../edit/request.ts'
import { indentationOf } from '../text/indentation.ts'
import { breakBetween, BreakFinder, breakStyleOf, type LineEndings } from '../text/eol.ts'
import { ANY_BREAK, type Break, BREAK_TEXT, LineTable, splitAtBreaks } from '../text/lines.ts'
import { Text } from '../text/text.ts'

/** One side of a place: the blank lines that are there, and how many there should be. */
export interface Side {
  blanks: number
  gap: number
}

/** A place to insert text: before `line`. A side is null if there is no text on it. */
interface InsertPoint {
  line: number
  above: Side | null
  below: Side | null
}

/** A text without its leading and trailing blank lines, which are counted. `end`: the break after it, or empty. */
interface Core {
  text: string
  lead: number
  trail: number
  end: string
}

export class Page {
  readonly #table: LineTable
  readonly #original: Buffer
  readonly #lineEndings: LineEndings
  readonly #apart: boolean

  constructor(original: Buffer, { line_endings, apart }: { line_endings: LineEndings; apart: boolean }) {
    this.#original = original
    this.#table = new LineTable(original)
    this.#lineEndings = line_endings
    this.#apart = apart
  }

  get total(): number {
    return this.#table.total
  }

  text = (line: number): string => decode(this.#table.bytesOf(line)).text

  /** Whether a line is blank, or has only quote marks if `prefix` has any. */
  isBlank(line: number, prefix = ''): boolean {
    return this.#table.isBlank(line) || (prefix.includes('>') && /^[\s>]*$/.test(this.text(line)))
  }

  /** Blank lines directly above a line, from `top` on. */
  blanksAbove(line: number, top = 1, prefix = ''): number {
    let count = 0
    while (line - 1 - count >= top && this.isBlank(line - 1 - count, prefix)) count++
    return count
  }

  /** Blank lines directly below a line, up to `bottom`. */
  blanksBelow(line: number, bottom = this.total, prefix = ''): number {
    let count = 0
    while (line + 1 + count <= bottom && this.isBlank(line + 1 + count, prefix)) count++
    return count
  }

  /** The leading white space of a line. */
  indentOf = (line: number): string => /^[ \t]*/.exec(this.text(line))![0]

  /** One step of indentation. */
  get step(): string {
    const { style, width = 4 } = indentationOf(this.#original)
    return style === 'tabs' ? '\t' : ' '.repeat(width)
  }

  /**
   * The insertion of a text, with the necessary blank lines on both sides; `dress` formats its lines for the place.
   * Inserts nothing for a blank text.
   */
  insertion(text: string, at: InsertPoint, dress: (text: string) => string, blank = ''): LineEdit {
    return { start_line: at.line, end_line: at.line - 1, new_text: this.#inserted(text, at, dress, blank) }
  }

  #inserted(text: string, { line, above, below }: InsertPoint, dress: (text: string) => string, blank: string): string {
    const core = coreOf(text, blank)
    if (core.text === '') return ''
    const missing = (side: Side | null, own: number) =>
      side === null ? 0 : Math.max(0, Math.max(side.gap, side.blanks, own, this.#apart ? 1 : 0) - side.blanks)
    const kind = this.#kindAt(line)
    const blanks = (count: number, before: number) =>
      count === 0
        ? ''
        : blank + breakBetween(kind, blank === '' ? before : -1, -1) + (blank + BREAK_TEXT[kind]).repeat(count - 1)
    const [lead, trail] = [missing(above, core.lead), missing(below, core.trail)]
    const end = core.end || (trail === 0 ? '' : BREAK_TEXT[kind])
    return blanks(lead, this.#byteBefore(line)) + dress(core.text) + end + blanks(trail, end.charCodeAt(end.length - 1))
  }

  /**
   * The kind of break to add at a line: that of the file at this place. If breaks are adapted, a later step chooses it.
   */
  #kindAt(line: number): Break {
    return this.#lineEndings === 'adapt'
      ? 'lf'
      : new BreakFinder(new Text([this.#original]), breakStyleOf(this.#original)).kindAt(this.#table.startOf(line))
  }

  /** The byte before a line if breaks stay exact; if they are adapted, the later step examines it. */
  #byteBefore(line: number): number {
    return this.#lineEndings === 'adapt' ? -1 : (this.#original[this.#table.startOf(line) - 1] ?? -1)
  }

  /** A replacement text, without blank lines around it. */
  bare(text: string, dress: (text: string) => string, blank = ''): string {
    const core = coreOf(text, blank)
    return core.text === '' ? '' : `${dress(core.text)}${core.end}`
  }

  /** A blank line that replaces those from `line` on, if the document has none but one is needed. */
  separator(line: number): string {
    return this.#apart ? breakBetween(this.#kindAt(line), this.#byteBefore(line), -1) : ''
  }

  /**
   * Inserts text between empty braces on one line, replacing the white space in them; `column`: its start, in UTF-16
   * units.
   */
  opened(line: number, column: number, text: string, dress: (text: string) => string): LineEdit {
    const core = coreOf(text)
    if (core.text === '') return { start_line: line, end_line: line - 1, new_text: '' }
    const bytes = this.#table.bytesOf(line)
    const start = byteOfUtf16(bytes, column)
    const after = bytes.subarray(start)
    const { text: rest } = decodeByColumn(after)
    const end = start + byteOfUtf16(after, rest.length - rest.trimStart().length)
    const own = BREAK_TEXT[this.#kindAt(line)]
    return {
      start_line: line,
      end_line: line,
      new_text: `${own}${dress(core.text)}${core.end || own}${this.indentOf(line)}`,
      inside: { start, end }
    }
  }
}

/** `blank`: what a blank line may contain besides white space, the mark of a quote. */
function coreOf(text: string, blank = ''): Core {
  const lines = splitAtBreaks(text)
  const isBlank = (line: string) => /^[ \t]*$/.test(line) || line.trimEnd() === blank
  const first = lines.findIndex(line => !isBlank(line))
  if (first === -1) return { text: '', lead: 0, trail: 0, end: '' }
  const last = lines.findLastIndex(line => !isBlank(line))
  // The breaks are kept as they are.
  const breaks = [...text.matchAll(ANY_BREAK)]
  const start = first === 0 ? 0 : breaks[first - 1]!.index + breaks[first - 1]![0].length
  return {
    text: text.slice(start, breaks[last]?.index),
    lead: first,
    trail: Math.max(0, lines.length - 2 - last),
    end: breaks[last]?.[0] ?? ''
  }
}

/** Whether at most one line of a text isn't blank. */
export const isOneLine = (text: string): boolean => splitAtBreaks(text).filter(line => line.trim() !== '').length < 2

const eachLine = (text: string, change: (line: string) => string): string => {
  const breaks = text.match(ANY_BREAK) ?? []
  // The empty string after a final break is not a line.
  return splitAtBreaks(text)
    .map((line, i) => (i === breaks.length && line === '' ? '' : change(line)) + (breaks[i] ?? ''))
    .join('')
}

/** Lines with `prefix` before each; unchanged if all non-blank lines have it already. */
export function prefixed(text: string, prefix: string): string {
  const isBlank = (line: string) => /^[ \t]*$/.test(line)
  if (
    prefix === '' ||
    splitAtBreaks(text).every(line => isBlank(line) || line.startsWith(prefix) || line.trimEnd() === prefix.trimEnd())
  ) {
    return text
  }
  return eachLine(text, line => (isBlank(line) ? prefix.trimEnd() : prefix + line))
}

/** Lines of an indented code block; unchanged if all non-blank lines are indented enough. */
export function asIndentedCode(text: string): string {
  if (splitAtBreaks(text).every(line => /^(?: {4}|[ ]{0,3}\t|[ \t]*$)/.test(line))) return text
  return eachLine(text, line => (line === '' ? line : `    ${line}`))
}

/**
 * Reindents lines so that the first has the indentation `indent`: lines that share its present indentation change with
 * it, others stay. If only the first line lacks `indent`, only that line changes. `step`: one step of indentation.
 */
export function indented(text: string, indent: string, step: string): string {
  const present = /^[ \t]*/.exec(text)![0]
  if (present === indent) return text
  if (present === '' && isIndentedBelow(splitAtBreaks(text), indent, step)) return indent + text
  return eachLine(text, line =>
    line.startsWith(present) && line.trim() !== '' ? indent + line.slice(present.length) : line
  )
}

/** Lines that end what the first line begins. */
const CLOSER = /^(?:[)\]}]|end\b)/
/** The end of a line whose next lines may be aligned with something in it. */
const CONTINUED = /[-,+*&|=<>?.\\]\s*$/
/** Comments and decorators, which may stand above a definition. */
const ABOVE = /^(?:@|#|\/[/*]|\*)/

/**
 * Whether all lines but the first are already where they belong: a model often leaves out only the white space before
 * the text that it copied. A text that isn't indented yet has its body one step deep, not one step below `indent`, and
 * a definition below a comment isn't deeper than that.
 */
function isIndentedBelow(lines: readonly string[], indent: string, step: string): boolean {
  const [first, ...below] = lines.filter(line => line.trim() !== '')
  if (first === undefined || below.length === 0 || !below.every(line => line.startsWith(indent))) return false
  const body = ABOVE.test(first) ? below.slice(below.findIndex(line => !ABOVE.test(line.trim()))) : below
  const isDefinition = body !== below && /^\S/.test(body[0]!.slice(indent.length))
  if (isDefinition) return true
  return (
    !CONTINUED.test(first) &&
    body.every(line => line.startsWith(indent + step) || CLOSER.test(line.slice(indent.length)))
  )
}
