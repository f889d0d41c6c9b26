// What must be known about a programming language to outline its files. Does not know the parser.

/**
 * A query captures `@definition.<kind>` with its `@name`; where need be `@body` (else the field `body`), `@owner` (the
 * type that a method belongs to, where that isn't around it) and, for an impl, `@trait` and `@type`. If several
 * patterns capture the same definition, the first counts.
 */
export interface Language {
  /** Of the grammar's file, `tree-sitter-<grammar>.wasm`. */
  grammar: string
  query: string
  /** Nodes that belong to the one definition in them: a decorator's, an export's, a statement of one declaration. */
  wrappers: string[]
  /** Nodes before a definition, in the same list, that belong to it. */
  attributes?: string[]
  /** Nodes in which constants and variables are at the top level; wrappers are too. */
  top: string[]
  /**
   * Nodes of strings, templates and heredocs, with the word that ends a heredoc: white space at the start of a line that
   * begins in one may be part of its value.
   */
  strings: string[]
  /** The node of a statement that, where it is only a string, documents the code around it, and is indented with that. */
  docstring_in?: string
  /** Indentation ends a body, nothing closes it. */
  indented?: true
}
