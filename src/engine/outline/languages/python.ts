// Python.
import type { Language } from './language.ts'

export const python: Language = {
  grammar: 'python',
  query: `
(class_definition name: (_) @name) @definition.class
(function_definition name: (_) @name) @definition.function
(type_alias_statement left: (_) @name) @definition.type
(expression_statement (assignment left: (identifier) @name) @definition.constant (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(expression_statement (assignment left: (identifier) @name) @definition.variable)
`,
  wrappers: ['decorated_definition', 'expression_statement'],
  top: ['module'],
  strings: ['string'],
  docstring_in: 'expression_statement',
  indented: true
}
