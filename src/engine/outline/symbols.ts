// The outline of a source file, from its syntax tree and the captures of a query. Independent of languages and the
// parser.
import { isUtf8 } from 'node:buffer'
import { bomLength, decodeByColumn } from '../text/encoding.ts'
import { BREAK_TEXT } from '../text/lines.ts'
import type { Language } from './languages/language.ts'
import type { Node } from './node.ts'
import { type Body, type Outline, SEPARATOR, type Symbol, SYMBOL_KINDS, type SymbolKind } from './outline.ts'
import { errorLines, firstFault } from './syntax-errors.ts'

/** The captures of one query pattern at one place. */
export interface Captured {
  patternIndex: number
  captures: readonly { name: string; node: Node }[]
}

/** UTF-16 units of a name. */
const NAME_LENGTH = 200

/**
 * A file's text for the parsers: without byte-order mark, and with each lone `\r` as `\n`, so that rows are lines. A
 * byte that isn't UTF-8 becomes one character.
 */
export function sourceOf(bytes: Buffer): string {
  const { text } = decodeByColumn(bytes.subarray(bomLength(bytes)))
  return text.includes(BREAK_TEXT.cr) ? text.replace(/\r(?!\n)/g, '\n') : text
}

/** A captured definition, before nesting is known. */
interface Found {
  kind: SymbolKind
  name: string
  node: Node
  /** The definition including everything that belongs to it. */
  start: Node
  outer: Node
  comment: Node | undefined
  body: Node | undefined
  owner: string | undefined
  /** Its name in the paths of its members. */
  scope: string
  pattern: number
}

/**
 * The outline of a file with these bytes, whose text (`sourceOf`) was parsed as `root`. Symbols are in the order of
 * their first lines.
 */
export function symbolsOf(
  bytes: Buffer,
  source: string,
  root: Node,
  matches: readonly Captured[],
  language: Language
): Outline & { type: 'code' } {
  const found = distinct(matches.flatMap(match => read(match, language)))
  const lines = source.split('\n')
  const shared = countBy(found, spanOf)
  const whole = isUtf8(bytes)
  const items: Symbol[] = []
  const open: { index: number; end: number; path: string; declaration: string }[] = []
  for (const symbol of found) {
    const { start, outer, comment, owner, name } = symbol
    const body = bodyOf(symbol, language, lines)
    // Names of one declaration, as in `const X, Y = 1, 2`, aren't nested.
    const declaration = `${symbol.kind} ${spanOf(symbol)}`
    while (open.length > 0 && (open.at(-1)!.end <= outer.startIndex || open.at(-1)!.declaration === declaration)) {
      open.pop()
    }
    const around = open.at(-1)
    const enclosing = around === undefined ? undefined : items[around.index]!
    if (isTopOnly(symbol.kind) && enclosing !== undefined && !HOLDS_CONSTANTS.has(enclosing.kind)) continue
    const parent = [around?.path, owner].filter(part => part !== undefined).join(SEPARATOR.code)
    const end_line = lastRow(outer) + 1
    const isMethod =
      symbol.kind === 'function' &&
      (owner !== undefined || (enclosing !== undefined && HAS_METHODS.has(enclosing.kind)))
    items.push({
      kind: isMethod ? 'method' : symbol.kind,
      name,
      within: around?.index ?? -1,
      ...(parent !== '' && { parent }),
      start_line: start.startPosition.row + 1,
      end_line,
      comment_start_line: comment && comment.startPosition.row + 1,
      ...(textAfter(lines, outer).trimStart().startsWith(',') && { comma: true }),
      alone: shared.get(spanOf(symbol)) === 1 && !declaresMore(symbol) && isAlone(lines, start, outer),
      body,
      ...(!whole && name.includes('\ufffd') && { lossy: true as const })
    })
    open.push({
      index: items.length - 1,
      end: outer.endIndex,
      declaration,
      path: parent === '' ? symbol.scope : `${parent}${SEPARATOR.code}${symbol.scope}`
    })
  }
  const fault = firstFault(root, source, language)
  return { type: 'code', items, syntax_error_lines: errorLines(root), ...(fault !== null && { fault }) }
}

const spanOf = ({ start, outer }: Found): string => `${start.startIndex}-${outer.endIndex}`
const isTopOnly = (kind: SymbolKind): boolean => kind === 'constant' || kind === 'variable'
const HOLDS_CONSTANTS = new Set<SymbolKind>(['namespace', 'class', 'interface', 'trait', 'enum'])
const HAS_METHODS = new Set<SymbolKind>(['class', 'struct', 'interface', 'trait', 'impl', 'enum'])

/**
 * Whether a definition declares more than its listed name, which an edit would also remove: another declarator (`int a
 * = 1, *b;`), another target of the same value (`a = b = 1`), the type of a variable (`struct T {} t;`).
 */
function declaresMore({ kind, node }: Found): boolean {
  const type = isTopOnly(kind) ? node.childForFieldName('type') : null
  return (
    node.childrenForFieldName('declarator').length > 1 ||
    node.childForFieldName('right')?.type === node.type ||
    (type !== null && type.childForFieldName('name') !== null && type.childForFieldName('body') !== null)
  )
}

function countBy(found: readonly Found[], key: (symbol: Found) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const symbol of found) counts.set(key(symbol), (counts.get(key(symbol)) ?? 0) + 1)
  return counts
}

/**
 * Removes duplicates: if several patterns capture a definition by one name, keeps the first. Sorted by start, outer
 * before inner.
 */
function distinct(found: readonly Found[]): Found[] {
  const sorted = [...found].sort(
    (a, b) =>
      a.start.startIndex - b.start.startIndex ||
      b.outer.endIndex - a.outer.endIndex ||
      a.node.startIndex - b.node.startIndex ||
      a.pattern - b.pattern
  )
  return sorted.filter(
    (symbol, i) => i === 0 || symbol.name !== sorted[i - 1]!.name || spanOf(symbol) !== spanOf(sorted[i - 1]!)
  )
}

function read({ patternIndex: pattern, captures }: Captured, language: Language): Found[] {
  const captured = new Map(captures.map(({ name, node }) => [name.split('.')[0]!, node]))
  const word = captures.find(({ name }) => name.startsWith('definition.'))!.name.slice('definition.'.length)
  const node = captured.get('definition')!
  const body = captured.get('body') ?? node.childForFieldName('body') ?? undefined
  const outer = widened(node, language.wrappers)
  if (['constant', 'variable', 'topfunction'].includes(word) && !isAtTop(outer, language)) return []
  const keys = word === 'member' ? keysAround(node, language) : []
  if (keys === undefined) return []
  const kind =
    word === 'default' ? (body?.type === 'class_body' ? 'class' : 'function') : (KIND_OF.get(word) ?? kindNamed(word))
  const names = namesOf(word, captured, body, keys)
  return names.name === ''
    ? []
    : [{ kind, node, outer, ...before(outer, language.attributes ?? []), body, pattern, ...names }]
}

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, NAME_LENGTH).toWellFormed()
/** A type without pointers, references and generic arguments. */
const bare = (type: string): string => tidy(type.replace(/<[^]*>|\[[^]*\]|^[&*\s]+/g, '').replace(/^\*+/, ''))

function namesOf(
  word: string,
  captured: ReadonlyMap<string, Node>,
  body: Node | undefined,
  keys: readonly string[]
): Pick<Found, 'name' | 'owner' | 'scope'> {
  const { name: named, owner, trait, type, definition } = Object.fromEntries(captured)
  if (word === 'impl') {
    const of = tidy(type!.text)
    return {
      name: `impl ${trait === undefined ? '' : `${tidy(trait.text)} for `}${of}`,
      owner: undefined,
      scope: bare(type!.text)
    }
  }
  if (word === 'default') return { name: 'default', owner: undefined, scope: 'default' }
  // A definition without a name is called by the text before its body.
  const name = tidy(
    named === undefined ? definition!.text.slice(0, body!.startIndex - definition!.startIndex) : named.text
  )
  if (word === 'member') {
    const key = unquoted(name)
    return { name: key, owner: keys.length > 0 ? keys.join(SEPARATOR.code) : undefined, scope: key }
  }
  if (owner !== undefined) return { name, owner: withoutPrototype(bare(owner.text)), scope: name }
  if (named?.type !== 'qualified_identifier') {
    return { name, owner: undefined, scope: name.replaceAll('::', SEPARATOR.code) }
  }
  const parts = name
    .replace(/<[^<>]*>/g, '')
    .split('::')
    .filter(part => part !== '')
  const last = parts.pop() ?? ''
  return { name: last, owner: parts.length > 0 ? parts.join(SEPARATOR.code) : undefined, scope: last }
}

/** The kinds of definitions whose place decides what they are. */
const KIND_OF = new Map<string, SymbolKind>([
  ['topfunction', 'function'],
  ['member', 'method']
])
const kindNamed = (word: string): SymbolKind => SYMBOL_KINDS.find(known => known === word)!

const unquoted = (key: string): string => key.replace(/^(["'])(.*)\1$/, '$2')
/** The owner's name: the members of a prototype are those of its class. */
const withoutPrototype = (owner: string): string => owner.replace(/\.prototype$/, '')

/** Nodes between an object and the definition whose value it is, or a part of it. */
const AROUND_OBJECTS = ['arguments', 'call_expression', 'new_expression', 'as_expression', 'satisfies_expression']

/**
 * The names that lead to a member of an object: the keys of the objects around it, and what a top-level statement
 * assigns or exports these to, unless that is a symbol itself. Undefined if the object is no such value.
 */
function keysAround(member: Node, language: Language): string[] | undefined {
  const keys: string[] = []
  // The root of the tree is no such value.
  for (let node = member.parent!; ; node = node.parent!) {
    const { type } = node
    if (type === 'pair') keys.unshift(unquoted(tidy(node.childForFieldName('key')!.text)))
    else if (type === 'variable_declarator') return isAtTop(node, language) ? keys : undefined
    else if (type === 'export_statement') return isAtTop(node, language) ? ['default', ...keys] : undefined
    else if (type === 'assignment_expression') {
      const left = tidy(node.childForFieldName('left')!.text)
      const isSymbol = /(?:^|\.)(?:exports|prototype)\.[^.]+$/.test(left)
      const statement = node.parent!
      if (!/^[\w$.]+$/.test(left) || !isAtTop(statement, language)) return undefined
      return isSymbol ? keys : [withoutPrototype(left), ...keys]
    } else if (type !== 'object' && !AROUND_OBJECTS.includes(type)) return undefined
  }
}

/** The node extended to wrappers that belong only to this definition. */
function widened(node: Node, wrappers: readonly string[]): Node {
  for (let { parent } = node; parent !== null && wrappers.includes(parent.type); { parent } = node) {
    const { type } = node
    // A group remains when one of its members is removed.
    if (
      parent.children.some(child => child?.type === '(') ||
      parent.children.filter(child => child?.type === type).length > 1
    ) {
      break
    }
    node = parent
  }
  return node
}

function isAtTop(outer: Node, { top, wrappers }: Language): boolean {
  for (let { parent } = outer; parent !== null; { parent } = parent) {
    if (!top.includes(parent.type) && !wrappers.includes(parent.type)) return false
  }
  return true
}

/** A comment about the file, or for the system. */
const OF_THE_FILE = /^(?:\/\/!|\/\*!|#!)/

/** The first attribute before a node, or the node itself, and the first of the comments that end on the line above. */
function before(outer: Node, attributes: readonly string[]): { start: Node; comment: Node | undefined } {
  let start = outer
  let comment: Node | undefined
  let below = outer
  for (let sibling = outer.previousSibling; sibling !== null; sibling = sibling.previousSibling) {
    const isAttribute = attributes.includes(sibling.type)
    const isComment =
      /comment/.test(sibling.type) &&
      !OF_THE_FILE.test(sibling.text) &&
      lastRow(sibling) === below.startPosition.row - 1 &&
      isFirstOnLine(sibling)
    if (!isAttribute && !isComment) break
    if (isAttribute) {
      start = sibling
      comment = undefined
    } else comment = sibling
    below = sibling
  }
  return { start, comment }
}

/** Whether a comment comes first on its line; otherwise it would be about the code before it. */
function isFirstOnLine(comment: Node): boolean {
  const { previousSibling: other } = comment
  return other === null || lastRow(other) < comment.startPosition.row
}

/** A node that ends at the start of a row ends on the row before. */
const lastRow = ({ startPosition, endPosition: { row, column } }: Node): number =>
  column === 0 && row > startPosition.row ? row - 1 : row

/** Whether its first and last line hold nothing else but white space, statement terminators, and a comment. */
function isAlone(lines: readonly string[], start: Node, outer: Node): boolean {
  return (
    /^\s*(?:\/\*.*\*\/\s*)?$/.test(lines[start.startPosition.row]!.slice(0, start.startPosition.column)) &&
    /^\s*[;,]*\s*(?:(?:\/\/|#).*|\/\*.*\*\/\s*)?$/.test(textAfter(lines, outer))
  )
}

/** What follows a node on its last line. */
function textAfter(lines: readonly string[], node: Node): string {
  const { row, column } = node.endPosition
  return lastRow(node) === row ? lines[row]!.slice(column) : ''
}

function bodyOf({ node, body }: Found, { indented }: Language, lines: readonly string[]): Body | undefined {
  const rows = indented
    ? body && indentedRows(body)
    : body === undefined || node.children.at(-1)?.type === 'end'
      ? wordRows(node)
      : braceRows(body)
  if (rows === undefined) return undefined
  const { open, close } = rows
  const within = lines[open.row]!.slice(open.column, open.row === close?.row ? close.column : undefined)
  if (open.row === close?.row) {
    return within.trim() === '' && !rows.word ? { line: open.row + 1, column: open.column } : 'cramped'
  }
  const isClear =
    IGNORED.test(within) && (close === undefined || lines[close.row]!.slice(0, close.column).trim() === '')
  return isClear
    ? { first_line: open.row + 2, last_line: close === undefined ? lastRow(node) + 1 : close.row }
    : 'cramped'
}

/** Where the inside begins and ends. `word`: it is closed by a word, which needs a line of its own. */
interface Rows {
  open: Node['endPosition']
  close?: Node['startPosition']
  word?: true
}

/** What may follow on the line that opens a body. */
const IGNORED = /^\s*(?:(?:\/\/|#).*|\/\*.*\*\/\s*)?$/

function braceRows(body: Node): Rows | undefined {
  const open = body.children.find(child => child?.type === '{')
  const close = body.children.findLast(child => child?.type === '}')
  return open && close && !close.isMissing ? { open: open.endPosition, close: close.startPosition } : undefined
}

/** From the last word of the head to `end`. */
function wordRows(node: Node): Rows | undefined {
  const close = node.children.at(-1)
  const head = node.children.findLast(
    child => child !== null && child !== close && !['body_statement', 'comment'].includes(child.type)
  )
  return close?.type === 'end' && head ? { open: head.endPosition, close: close.startPosition, word: true } : undefined
}

/** From the colon, or from the docstring, to the end of the indentation. */
function indentedRows(body: Node): Rows | undefined {
  const first = body.children.find(child => child?.type !== 'comment')
  if (first?.type === 'expression_statement' && first.children[0]?.type === 'string') return { open: first.endPosition }
  let colon = body.previousSibling
  while (colon !== null && colon.type !== ':') colon = colon.previousSibling
  return colon === null ? undefined : { open: colon.endPosition }
}
