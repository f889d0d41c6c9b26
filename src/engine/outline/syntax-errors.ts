// Where a syntax tree has errors. Does not know languages or the parser.
import type { Node } from './node.ts'

const SHOWN_ERRORS = 20

/**
 * The first place of a text that a parser does not understand. `line` and `column` are 1-based, the column in UTF-16
 * units; `text` is that line, trimmed. `end_line`: the last line that isn't understood, if there is more than one.
 * `reason`: the parser's message, without a full stop.
 */
export interface SyntaxFault {
  line: number
  column: number
  text: string
  end_line?: number
  reason?: string
}

/** The fault at a place of `source`, whose lines end with `\n` or `\r\n`; a place after the end is moved to the end. */
export function faultAt(source: string, line: number, column: number, reason?: string): SyntaxFault {
  const lines = source.split('\n')
  const row = Math.min(line, lines.length)
  const text = lines[row - 1]!
  return {
    line: row,
    column: Math.min(row < line ? Infinity : column, text.length + 1),
    text: text.trim(),
    reason
  }
}

/**
 * The first fault of a tree for the text `source`; null if there is none. In a language with indented blocks, a block
 * without a statement is a fault too, although the parser accepts it.
 */
export function firstFault(root: Node, source: string, { indented }: { indented?: true }): SyntaxFault | null {
  const [node] = faultyNodes(root, 1)
  if (node === undefined) return indented ? withoutBody(root, source) : null
  const { startPosition: start, endPosition: end } = node
  const fault = faultAt(source, start.row + 1, start.column + 1, node.isMissing ? `${node.type} is missing` : undefined)
  const last = end.column === 0 ? end.row - 1 : end.row
  return last > start.row ? { ...fault, end_line: last + 1 } : fault
}

/** The start of the first block without statements, in a tree without errors. */
function withoutBody(root: Node, source: string): SyntaxFault | null {
  const blocks = root.descendantsOfType(['block'], { row: 0, column: 0 }, root.endPosition)
  const empty = blocks.find(block => block !== null && block.startIndex === block.endIndex)
  if (!empty) return null
  const { row, column } = empty.startPosition
  return faultAt(source, row + 1, column + 1, 'the indented block is missing')
}

/** The first lines with a syntax error. */
export function errorLines(root: Node): number[] {
  const rows = new Set(faultyNodes(root, SHOWN_ERRORS).map(({ startPosition }) => startPosition.row + 1))
  return [...rows].sort((a, b) => a - b)
}

/** The first nodes that weren't understood, or are missing, on at most `max` rows. */
function faultyNodes(root: Node, max: number): Node[] {
  const found: Node[] = []
  const rows = new Set<number>()
  const rest: Node[] = root.hasError ? [root] : []
  for (let node = rest.pop(); node !== undefined && rows.size < max; node = rest.pop()) {
    if (node.isError || node.isMissing) {
      found.push(node)
      rows.add(node.startPosition.row)
    } else {
      rest.push(
        ...(node.children.filter(child => child !== null && (child.hasError || child.isMissing)).reverse() as Node[])
      )
    }
  }
  return found
}
