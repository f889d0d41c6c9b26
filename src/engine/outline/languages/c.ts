// C, and the part of C++ that is the same.
import type { Language } from './language.ts'

/** Pointers nest a function's name deeper in its declarator. */
const declared = (name: string): string => `[
  ${name}
  (pointer_declarator declarator: ${name})
  (pointer_declarator declarator: (pointer_declarator declarator: ${name}))
]`

export const FUNCTION = (name: string): string =>
  `(function_definition declarator: ${declared(`(function_declarator declarator: ${name})`)}) @definition.function`

export const C_DEFINITIONS = `
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
]) @definition.type
(preproc_def name: (_) @name) @definition.macro
(preproc_function_def name: (_) @name) @definition.macro
(declaration
  (type_qualifier) @const
  declarator: (init_declarator declarator: ${declared('(identifier) @name')})
  (#any-of? @const "const" "constexpr")) @definition.constant
(declaration declarator: (init_declarator declarator: [
  ${declared('(identifier) @name')}
  (array_declarator declarator: (identifier) @name)
])) @definition.variable
(declaration declarator: (identifier) @name) @definition.variable
`

export const C_TOP = [
  'translation_unit',
  'preproc_ifdef',
  'preproc_if',
  'preproc_else',
  'preproc_elif',
  'linkage_specification',
  'declaration_list'
]

/** A macro's text may contain strings that continue on the next line. */
export const C_STRINGS = ['string_literal', 'raw_string_literal', 'preproc_arg']

export const c: Language = {
  grammar: 'cpp',
  query: `${FUNCTION('(identifier) @name')}\n${C_DEFINITIONS}`,
  wrappers: [],
  top: C_TOP,
  strings: C_STRINGS
}
