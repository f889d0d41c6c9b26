// The planner of /edit: replaces exact text, one or many edits in turn. Knows no files and no HTTP.
import { fail, ok, type Result } from '../result.ts'
import { Draft, type Replacement } from './draft.ts'
import { explainNoMatch, explainWrongCount, explainOutOfRange } from './explain.ts'
import type { TextEdit, TextFailure } from './failure.ts'
import { ANY_BREAK, type Break, BREAK_TEXT, breakAt, countEndings, type LineBreak, type LineEnding, lineEndingOf, lineNumbers, mostFrequent, splitAtBreaks } from './lines.ts'
import { type Found, type LineEndings, locate, type Match, type Needle, needleOf, type Places } from './locate.ts'
import type { EditApplied, LeftAlone, Plan } from './plan.ts'
import { requiredCount } from './request.ts'
import { Text } from './text.ts'

/** A request may replace this many places: each is kept track of. */
export const MAX_REPLACEMENTS = 1_000_000

export interface TextOptions {
  line_endings: LineEndings
  /** Bytes. Checked after each edit, before the text is made. */
  max_result_size: number
}

/**
 * Plans edits on a text without NUL. Each edit applies to the result of those before it and counts its matches there;
 * matches are counted left to right, not overlapping, but where exactly one is required, overlapping ones count too.
 * `edits` are valid: `old_text` isn't empty, `replace_all: true` and `occurrence` aren't both given.
 * Fails with the first edit that can't be made: no match, another count than required, an occurrence that isn't there,
 * a result over `max_result_size`, or more than a million replaced places.
 */
export function planTextEdits (original: Buffer, edits: readonly TextEdit[], options: TextOptions): Result<Plan, TextFailure> {
  const draft = new Draft(original)
  const counts = countEndings(original)
  let ending = lineEndingOf(counts)
  const applied: EditApplied[] = []
  const leftAlone: LeftAlone[] = []
  for (const [edit_index, edit] of edits.entries()) {
    const position = { edit_index, total_edits: edits.length }
    const needle = needleOf(edit.old_text)
    const text = draft.searchable()
    const found = locate(text, needle, options.line_endings, ending)
    if (found.all.count === 0) return fail(explainNoMatch({ draft, edit, needle, ending, ...options, ...position }))
    const chosen = choose(edit, found)
    if (!chosen.ok) {
      const scene = { draft, edit, found, ...options, ...position }
      return fail(chosen.failure === 'count' ? explainWrongCount(scene) : explainOutOfRange(scene))
    }
    const [from, to] = chosen.value
    const total = draft.placements.length + to - from
    if (total > MAX_REPLACEMENTS) return fail({ code: 'RESULT_TOO_LARGE', what: 'replacements', limit: MAX_REPLACEMENTS, actual: total, ...position })
    const adapter = new Adapter(text, needle, edit.new_text, options.line_endings, ending, mostFrequent(counts))
    const replacements = found.matches.slice(from, to).map(match => ({ ...match, insert: adapter.insertFor(match) }))
    const size = sizeAfter(text.length, replacements)
    if (size > options.max_result_size) return fail({ code: 'RESULT_TOO_LARGE', what: 'bytes', limit: options.max_result_size, actual: size, ...position })
    applied.push({
      edit_index,
      occurrences_found: found.matches.count,
      occurrences_replaced: to - from,
      matched_with: found.exact ? 'exact' : 'line_endings'
    })
    if (to - from < found.matches.count) leftAlone.push({ edit_index, ...othersOf(draft, found.matches, from) })
    draft.replace(edit_index, replacements)
    // A text without line breaks gets `\n`; in any other, adapted text leaves the ending as it is.
    if (ending === 'none' && edit.new_text.search(ANY_BREAK) !== -1) ending = 'lf'
  }
  const splices = draft.splices()
  return ok({ splices, pieces: splices.apply(original), placements: draft.placed(), edits_applied: applied, left_alone: leftAlone })
}

/** The matches to replace, as a range of their indexes, or what is wrong with their number. */
function choose (edit: TextEdit, { matches, all }: Found): Result<[number, number], 'count' | 'occurrence'> {
  const required = requiredCount(edit)
  if (required !== undefined && required !== (required === 1 ? all.count : matches.count)) return fail('count')
  switch (edit.occurrence) {
    case undefined: case 'all': return ok([0, matches.count])
    case 'first': return ok([0, 1])
    case 'last': return ok([matches.count - 1, matches.count])
    default: return edit.occurrence > matches.count ? fail('occurrence') : ok([edit.occurrence - 1, edit.occurrence])
  }
}

function sizeAfter (length: number, replacements: readonly Replacement[]): number {
  return replacements.reduce((size, { start, end, insert }) => size + insert.length - (end - start), length)
}

/** The matches but the chosen one: how many, and the lines of the first 20. */
function othersOf (draft: Draft, matches: Places, chosen: number): { count: number, lines: number[] } {
  const others = matches.slice(0, 21).filter((_, index) => index !== chosen).slice(0, 20)
  const starts = others.map(({ start, end }) => draft.originOf(start, end).start)
  return { count: matches.count - 1, lines: lineNumbers(new Text([draft.original]), starts).lines }
}

/** Gives `new_text` the line breaks of the place it is put in. */
class Adapter {
  readonly #text: Text
  readonly #needle: Needle
  readonly #lines: string[]
  readonly #adapts: boolean
  readonly #ending: LineEnding
  readonly #fallback: Break
  readonly #made = new Map<string, Buffer>()
  #next: LineBreak | undefined

  constructor (text: Text, needle: Needle, newText: string, lineEndings: LineEndings, ending: LineEnding, fallback: Break) {
    this.#text = text
    this.#needle = needle
    this.#ending = ending
    this.#fallback = fallback
    this.#lines = splitAtBreaks(newText)
    this.#adapts = lineEndings === 'adapt' && this.#lines.length > 1
    if (!this.#adapts) this.#made.set('', Buffer.from(newText))
  }

  /** The bytes to put in place of a match; call it for matches from left to right. */
  insertFor (match: Match): Buffer {
    if (!this.#adapts) return this.#made.get('')!
    if (this.#ending === 'none') return this.#join(Array(this.#lines.length - 1).fill(BREAK_TEXT.lf))
    if (this.#ending !== 'mixed') return this.#join(Array(this.#lines.length - 1).fill(BREAK_TEXT[this.#ending]))
    return this.#join(this.#breaksFor(match))
  }

  /** In a mixed file: lines that both texts begin or end with keep theirs; others get that of the line on which the change starts. */
  #breaksFor (match: Match): string[] {
    const old = splitAtBreaks(this.#needle.text)
    const present = old.length === 1 ? [] : breaksIn(this.#text, match)
    const most = Math.min(present.length, this.#lines.length - 1)
    let lead = 0
    while (lead < most && old[lead] === this.#lines[lead]) lead++
    const kind = this.#kindAt(present[lead - 1]?.end ?? match.start)
    const breaks = new Array<string>(this.#lines.length - 1).fill(BREAK_TEXT[kind])
    for (let i = 0; i < lead; i++) breaks[i] = BREAK_TEXT[present[i]!.kind]
    for (let i = 1; i <= most - lead && old.at(-i) === this.#lines.at(-i); i++) breaks[breaks.length - i] = BREAK_TEXT[present.at(-i)!.kind]
    return breaks
  }

  /** The kind of break that ends the line at `offset`, else the one before it, else the most frequent of the original. */
  #kindAt (offset: number): Break {
    if (this.#next === undefined || this.#next.start < offset) {
      const at = this.#text.nextBreakByte(offset)
      if (at === -1) {
        const before = this.#text.previousBreakByte(offset)
        if (before === -1) return this.#fallback
        return this.#text.byteAt(before) === 10 && this.#text.byteAt(before - 1) === 13 ? 'crlf' : breakAt(this.#text, before).kind
      }
      this.#next = breakAt(this.#text, at)
    }
    return this.#next.kind
  }

  #join (breaks: readonly string[]): Buffer {
    const joined = this.#lines.reduce((text, line, index) => text + breaks[index - 1] + line)
    let bytes = this.#made.get(joined)
    if (bytes === undefined) this.#made.set(joined, bytes = Buffer.from(joined))
    return bytes
  }
}

function breaksIn (text: Text, { start, end }: Match): LineBreak[] {
  const breaks: LineBreak[] = []
  for (let at = text.nextBreakByte(start); at !== -1 && at < end;) {
    const found = breakAt(text, at)
    breaks.push(found)
    at = text.nextBreakByte(found.end)
  }
  return breaks
}
