// Finds the outline item that a request means.
import { fail, ok, type Result } from '../../result.ts'
import type { AmbiguousTarget, OutlineEntry, Target, TargetNotFound } from '../failure.ts'
import { excerpt } from '../text/encoding.ts'
import { declaredName } from './declared-name.ts'
import { type LikeNames, likeNames, type Spelling } from './like-names.ts'
import { type CodeBlock, type Heading, type Item, type Lines, type Outline, SEPARATOR, type Symbol } from './outline.ts'

/** How many items of an outline, and of the fitting ones, a problem shows, the first. */
const MOST_SHOWN = 100
/** UTF-16 units shown of a name, or of the path above it: no request may name anything longer. */
const SHOWN_LENGTH = 1000
/** How many names are compared with a missing one, the first. */
const MOST_COMPARED = 5000

/**
 * The item that `target` means; with `at_line`, the innermost fitting item that holds this line. Fails if none fits, or
 * several.
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

/** The symbols that a name or path means: those whose path is it, or ends with it. */
export const definitionsOf = (outline: Outline & { type: 'code' }, symbol: string): OutlineEntry[] =>
  endingWith(outline.items, symbol).fitting.map(outlineEntryOf)

/** How /edit-section names the symbol on exactly these lines; null if there is none. */
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

/** The distance in lines between a line and an item with its doc comment; 0 if the item holds the line. */
export const linesFrom = ({ end_line, ...item }: Lines & { comment_start_line?: number }, line: number): number =>
  Math.max(0, (item.comment_start_line ?? item.start_line) - line, line - end_line)

const holds = (item: Item, line: number): boolean => linesFrom(item, line) === 0

const nearestTo = (line: number | undefined, items: readonly Item[]): readonly Item[] =>
  line === undefined ? items : items.toSorted((a, b) => linesFrom(a, line) - linesFrom(b, line))

/** The item that begins last, of items that all hold a line. */
function innermost(items: readonly Item[]): Item[] {
  const last = items.at(-1)
  return items.filter(({ start_line }) => start_line === last?.start_line)
}

const pathOf = ({ parent, name }: Heading | Symbol, separator: string): string =>
  parent === undefined ? name : `${parent}${separator}${name}`

/**
 * A top-level name is itself a path: an item whose whole path matches takes precedence over those whose path only ends
 * with it.
 */
function symbolsThatFit(items: readonly Symbol[], asked: string): Symbol[] {
  const { fitting, wanted } = endingWith(items, asked)
  const whole = fitting.filter(item => plainPath(pathOf(item, SEPARATOR.code)) === wanted)
  return whole.length > 0 ? whole : fitting
}

/**
 * The symbols whose path is `asked`, or ends with it, and that path. If there are none, those that `asked` declares: a
 * class isn't meant by `def f`, nor a rule of a style sheet by `#f`.
 */
function endingWith(items: readonly Symbol[], asked: string): { fitting: Symbol[]; wanted: string } {
  const endIn = (path: string) =>
    items.filter(item => `${SEPARATOR.code}${plainPath(pathOf(item, SEPARATOR.code))}`.endsWith(SEPARATOR.code + path))
  const wanted = plainPath(asked.trim())
  const fitting = endIn(wanted)
  const declared = fitting.length > 0 ? undefined : declaredName(asked)
  if (declared === undefined) return { fitting, wanted }
  const { kinds } = declared
  const isKind = ({ kind }: Symbol) => kind !== 'rule' && (kinds === undefined || kinds.includes(kind))
  const path = plainPath(declared.path)
  return { fitting: endIn(path).filter(isKind), wanted: path }
}

const plainPath = (path: string): string => path.replaceAll('::', SEPARATOR.code).replaceAll('.prototype.', '.')

/** The last name of a symbol's path; empty if it has none. */
export const lastNameOf = (symbol: string): string =>
  plainPath(declaredName(symbol)?.path ?? symbol.trim())
    .split(SEPARATOR.code)
    .at(-1)!

/** A path up to an offset: the names that it may end with, and for enclosing headings whether the path names them. */
interface Stretch {
  endings: ReadonlyMap<string, Ending>
  around: Map<number, boolean>
}

/** `from`: the start of the name in the path, including its marks; `level`: the level that the marks state. */
interface Ending {
  from: number
  level?: number
}

/**
 * Results that depend only on the path are computed once for each of its ends, and each enclosing heading is checked
 * once: there may be hundreds of both, and a million headings.
 */
function headingsThatFit(items: readonly Item[], sought: string): Heading[] {
  const stretches = new Map<number, Stretch>()
  const stretchTo = (end: number): Stretch => {
    const stretch = stretches.get(end) ?? { endings: endingsOf(sought.slice(0, end)), around: new Map() }
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
  const whole = stretchTo(sought.length)
  return items.filter(item => item.kind === 'heading').filter(item => fits(item, whole))
}

const MARKED = /^(#{1,6})(?:[ \t]+(.*))?$/

/**
 * A heading's text may contain the path separator, so every part that the path may end with counts, with and without
 * marks. No two give the same name: the longer one has one more `>`.
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
  // No two sections begin on the same line.
  const [meant] = innermost(sections.filter(section => holds(section, at_line)))
  return meant === undefined ? sections.flatMap(blocksIn) : blocksIn(meant)
}

const one = (blocks: readonly Item[], index: number | undefined): Item[] =>
  index === undefined ? [...blocks] : blocks.slice(index - 1, index)

/** Paths similar to the requested one that a request may use. */
function like({ type, items }: Outline, { heading, symbol, code_block }: Target): LikeNames {
  const sought = heading ?? (symbol && (declaredName(symbol)?.path ?? symbol)) ?? code_block?.under_heading
  if (sought === undefined) return { nearest: [] }
  const named = items
    .filter(item => 'name' in item)
    .slice(0, MOST_COMPARED)
    .map(item => ({ name: item.name, path: pathOf(item, SEPARATOR[type]) }))
    .filter(({ path }) => path.length <= SHOWN_LENGTH)
  return likeNames(named, sought, SPELLING[type])
}

const SPELLING: Record<Outline['type'], Spelling> = {
  // Strips marks, and what a model may omit from a heading: code, emphasis, links.
  document: {
    separator: SEPARATOR.document,
    plain: name => name.replace(/^[#\s]+|[*_`()[\]]/g, '').trim()
  },
  code: { separator: /\.|::/, plain: name => name.trim().replace(/\(\)$/, '') }
}
