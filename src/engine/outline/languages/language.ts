// What we must know about a programming language to outline its files.

/**
 * A query captures `@definition.<kind>` with its `@name`; if necessary also `@body` (else the field `body`), `@owner`
 * (the type that a method belongs to, if it isn't around the method) and, for an impl, `@trait` and `@type`. If several
 * patterns capture the same definition, the first one counts.
 */
export interface Language {
  /** The `<grammar>` in the grammar's file name, `tree-sitter-<grammar>.wasm`. */
  grammar: string
  query: string
  /**
   * Nodes that belong to the single definition in them: a decorated definition, an export, a statement with one
   * declaration.
   */
  wrappers: string[]
  /** Sibling nodes before a definition that belong to it. */
  attributes?: string[]
  /** Nodes in which constants and variables count as top-level; wrappers do too. */
  top: string[]
  /**
   * Nodes of strings, templates and heredocs, including the word that ends a heredoc: if a line begins inside one,
   * white space at its start may be part of the value.
   */
  strings: string[]
  /** The node of a statement that, if it is only a string, documents the surrounding code and is indented with it. */
  docstring_in?: string
  /** Indentation ends a body; there is no closing token. */
  indented?: true
}
