// Which item of an outline a request means. Does not know edits.
import { fail, ok, type Result } from '../../result.ts'
import type { AmbiguousTarget, OutlineEntry, Target, TargetNotFound } from '../failure.ts'
import { excerpt } from '../text/encoding.ts'
import { type LikeNames, likeNames, type Spelling } from './like-names.ts'
import { type CodeBlock, type Heading, type Item, type Lines, type Outline, SEPARATOR, type Symbol } from './outline.ts'

/** Items of an outline, and of what fits, that a problem shows, the first. */
const MOST_SHOWN = 100
/** UTF-16 units of a name, or of the path above it, that are shown: no request may name what is longer. */
const SHOWN_LENGTH = 1000
/** Names that are compared with one that isn't there, the first. */
const MOST_COMPARED = 5000

/**
 * The item that `target` means; with `at_line`, of several that fit the one that holds this line, the innermost. Fails
 * where none fits, or several.
 */
export function findTarget(
  outline: Outline,
  target: Target,
  at_line?: number
): Result<Item, TargetNotFound | AmbiguousTarget> {
  const fitting =
    outline.type === 'code'
      ? symbolsThatFit(outline.items, target.symbol ?? '')
      : target.heading !== undefined
        ? headingsThatFit(outline.items, target.heading)
        : blocksThatFit(outline.items, target, at_line)
  const chosen = at_line === undefined ? fitting : innermost(fitting.filter(item => holds(item, at_line)))
  if (chosen.length === 1) return ok(chosen[0]!)
  const about = {
    target,
    at_line,
    outline: outline.items.slice(0, MOST_SHOWN).map(outlineEntryOf),
    total: outline.items.length,
    ...(outline.type === 'code' &&
      outline.syntax_error_lines.length > 0 && { syntax_error_lines: outline.syntax_error_lines })
  }
  if (chosen.length > 1) {
    return fail({
      code: 'AMBIGUOUS_TARGET',
      ...about,
      targets: chosen.slice(0, MOST_SHOWN).map(outlineEntryOf),
      fitting: chosen.length
    })
  }
  return fail({
    code: 'TARGET_NOT_FOUND',
    ...about,
    elsewhere: nearestTo(at_line, fitting).slice(0, MOST_SHOWN).map(outlineEntryOf),
    ...(fitting.length > 0 ? { nearest: [] } : like(outline, target))
  })
}

/** How /edit-section names the symbol on just these lines; null where there is none. */
export function symbolOn(
  outline: Outline & { type: 'code' },
  [start, end]: readonly [number, number]
): { symbol: string; at_line?: number } | null {
  const item = outline.items.find(({ start_line, end_line }) => start_line === start && end_line === end)
  if (item === undefined) return null
  const symbol = pathOf(item, SEPARATOR.code)
  return findTarget(outline, { symbol }).ok ? { symbol } : { symbol, at_line: start }
}

/** An item as an answer shows it. */
export function outlineEntryOf(item: Item): OutlineEntry {
  const { kind, parent, start_line, end_line, lossy } = item
  return {
    kind,
    ...('name' in item && { name: excerpt(item.name, SHOWN_LENGTH) }),
    ...(item.kind === 'heading' && { level: item.level }),
    ...(parent !== undefined && { parent: excerpt(parent, SHOWN_LENGTH) }),
    ...(item.kind === 'code_block' &&
      item.language !== undefined && { language: excerpt(item.language, SHOWN_LENGTH) }),
    start_line,
    end_line,
    ...('comment_start_line' in item && { comment_start_line: item.comment_start_line }),
    ...(lossy && { lossy })
  }
}

/** How many lines a line is away from an item, with its doc comment; 0 of those that it holds. */
export const linesFrom = ({ end_line, ...item }: Lines & { comment_start_line?: number }, line: number): number =>
  Math.max(0, (item.comment_start_line ?? item.start_line) - line, line - end_line)

const holds = (item: Item, line: number): boolean => linesFrom(item, line) === 0

const nearestTo = (line: number | undefined, items: readonly Item[]): readonly Item[] =>
  line === undefined ? items : items.toSorted((a, b) => linesFrom(a, line) - linesFrom(b, line))

/** Of items that all hold a line, the one that begins last. */
function innermost(items: readonly Item[]): Item[] {
  const last = items.at(-1)
  return items.filter(({ start_line }) => start_line === last?.start_line)
}

const pathOf = ({ parent, name }: Heading | Symbol, separator: string): string =>
  parent === undefined ? name : `${parent}${separator}${name}`

/** A name at the top is itself a path: what has the whole path is meant before what only ends with it. */
function symbolsThatFit(items: readonly Symbol[], asked: string): Symbol[] {
  const plain = (path: string) => path.replaceAll('::', SEPARATOR.code)
  const wanted = plain(asked.trim())
  const paths = items.map(item => plain(pathOf(item, SEPARATOR.code)))
  const whole = items.filter((_, i) => paths[i] === wanted)
  return whole.length > 0 ? whole : items.filter((_, i) => paths[i]!.endsWith(`${SEPARATOR.code}${wanted}`))
}

/**
 * A path up to an offset: the names that it may end with, and of headings around others whether they are what it names.
 */
interface Stretch {
  endings: ReadonlyMap<string, Ending>
  around: Map<number, boolean>
}

/** `from`: where the name begins in the path, with its marks; `level`: what they say. */
interface Ending {
  from: number
  level?: number
}

/**
 * What depends on the path alone is made once for each of its ends, and a heading around others is looked at once: both
 * may be hundreds, and there may be a million headings.
 */
function headingsThatFit(items: readonly Item[], asked: string): Heading[] {
  const stretches = new Map<number, Stretch>()
  const stretchTo = (end: number): Stretch => {
    const stretch = stretches.get(end) ?? { endings: endingsOf(asked.slice(0, end)), around: new Map() }
    stretches.set(end, stretch)
    return stretch
  }
  const fits = ({ name, level, within }: Heading, { endings }: Stretch): boolean => {
    const ending = endings.get(name)
    if (ending === undefined || (ending.level ?? level) !== level) return false
    return ending.from === 0 || liesIn(within, stretchTo(ending.from - SEPARATOR.document.length))
  }
  const liesIn = (within: number, stretch: Stretch): boolean => {
    const around = items[within]
    if (around?.kind !== 'heading') return false
    const known = stretch.around.get(within) ?? fits(around, stretch)
    stretch.around.set(within, known)
    return known
  }
  const whole = stretchTo(asked.length)
  return items.filter(item => item.kind === 'heading').filter(item => fits(item, whole))
}

const MARKED = /^(#{1,6})(?:[ \t]+(.*))?$/

/**
 * A heading's text may hold what stands between the names of a path, so every part of the path that it may end with
 * counts, with the marks and without. No two give the same name: the longer one has one more `>`.
 */
function endingsOf(path: string): Map<string, Ending> {
  const endings = new Map<string, Ending>()
  const add = (from: number) => {
    const text = path.slice(from).trim()
    endings.set(text, { from })
    const [, marks, rest = ''] = MARKED.exec(text) ?? []
    if (marks === undefined) return
    for (const name of [rest, rest.replace(/(?:^|[ \t]+)#+$/, '')]) endings.set(name, { from, level: marks.length })
  }
  for (let at = path.lastIndexOf(SEPARATOR.document); at > 0; at = path.lastIndexOf(SEPARATOR.document, at - 1)) {
    add(at + SEPARATOR.document.length)
  }
  add(0)
  return endings
}

function blocksThatFit(items: readonly Item[], { code_block }: Target, at_line?: number): Item[] {
  const { index, language, under_heading } = code_block ?? {}
  const isOfLanguage = (item: Item): item is CodeBlock =>
    item.kind === 'code_block' && (language === undefined || item.language?.toLowerCase() === language.toLowerCase())
  if (under_heading === undefined) return one(items.filter(isOfLanguage), index)
  const sections = headingsThatFit(items, under_heading)
  const blocksIn = ({ start_line, end_line }: Item): Item[] =>
    one(
      items.filter(isOfLanguage).filter(block => start_line <= block.start_line && block.end_line <= end_line),
      index
    )
  if (sections.length === 1) return blocksIn(sections[0]!)
  if (at_line === undefined) return sections
  // No two sections begin on one line.
  const [meant] = innermost(sections.filter(section => holds(section, at_line)))
  return meant === undefined ? sections.flatMap(blocksIn) : blocksIn(meant)
}

const one = (blocks: readonly Item[], index: number | undefined): Item[] =>
  index === undefined ? [...blocks] : blocks.slice(index - 1, index)

/** Of paths like the one that was asked for, those that a request may have. */
function like({ type, items }: Outline, { heading, symbol, code_block }: Target): LikeNames {
  const asked = heading ?? symbol ?? code_block?.under_heading
  if (asked === undefined) return { nearest: [] }
  const named = items
    .filter(item => 'name' in item)
    .slice(0, MOST_COMPARED)
    .map(item => ({ name: item.name, path: pathOf(item, SEPARATOR[type]) }))
    .filter(({ path }) => path.length <= SHOWN_LENGTH)
  return likeNames(named, asked, SPELLING[type])
}

const SPELLING: Record<Outline['type'], Spelling> = {
  // Without marks, and without what a model may leave out of a heading: code, emphasis, links.
  document: {
    separator: SEPARATOR.document,
    plain: name => name.replace(/^[#\s]+|[*_`()[\]]/g, '').trim()
  },
  code: { separator: /\.|::/, plain: name => name.trim().replace(/\(\)$/, '') }
}
