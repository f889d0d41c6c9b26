// TypeScript, also with JSX.
import { DEFINITIONS, methodField, STRINGS, TOP, WRAPPERS } from './ecmascript.ts'
import type { Language } from './language.ts'

export const typescript: Language = {
  grammar: 'typescript',
  query: `${DEFINITIONS}
(abstract_class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name) @definition.enum
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name) @definition.namespace
(function_signature name: (_) @name) @definition.function
(class_body (method_signature name: (_) @name) @definition.method)
(class_body (abstract_method_signature name: (_) @name) @definition.method)
(interface_body (method_signature name: (_) @name) @definition.method)
${methodField('public_field_definition name')}`,
  wrappers: [...WRAPPERS, 'ambient_declaration', 'expression_statement'],
  attributes: ['decorator'],
  top: [...TOP, 'internal_module', 'module', 'statement_block', 'ambient_declaration', 'expression_statement'],
  strings: [...STRINGS, 'template_literal_type']
}

export const tsx: Language = { ...typescript, grammar: 'tsx' }
