// The parts of a syntax tree node that we use. Independent of the parser.

/** A node of a syntax tree: offsets in UTF-16 units of the source, rows from 0. */
export interface Node {
  readonly id: number
  readonly type: string
  readonly text: string
  readonly startIndex: number
  readonly endIndex: number
  readonly startPosition: { row: number; column: number }
  readonly endPosition: { row: number; column: number }
  readonly parent: Node | null
  readonly previousSibling: Node | null
  readonly isError: boolean
  readonly isMissing: boolean
  readonly hasError: boolean
  readonly children: readonly (Node | null)[]
  childForFieldName(name: string): Node | null
  childrenForFieldName(name: string): readonly (Node | null)[]
  /** Nodes that overlap the range. */
  descendantsOfType(types: string[], start: Node['startPosition'], end: Node['startPosition']): (Node | null)[]
}
