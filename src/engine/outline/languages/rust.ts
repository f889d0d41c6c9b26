// Rust.
import type { Language } from './language.ts'

export const rust: Language = {
  grammar: 'rust',
  query: `
(struct_item name: (_) @name) @definition.struct
(union_item name: (_) @name) @definition.struct
(enum_item name: (_) @name) @definition.enum
(trait_item name: (_) @name) @definition.trait
(impl_item trait: (_)? @trait type: (_) @type) @definition.impl
(mod_item name: (_) @name) @definition.namespace
(function_item name: (_) @name) @definition.function
(function_signature_item name: (_) @name) @definition.function
(type_item name: (_) @name) @definition.type
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.variable
(macro_definition name: (_) @name) @definition.macro
`,
  wrappers: [],
  attributes: ['attribute_item'],
  top: ['source_file', 'mod_item', 'declaration_list'],
  strings: ['string_literal', 'raw_string_literal']
}
