// C++.
import { C_DEFINITIONS, C_STRINGS, C_TOP, FUNCTION } from './c.ts'
import type { Language } from './language.ts'

export const cpp: Language = {
  grammar: 'cpp',
  query: `
(class_specifier name: (_) @name body: (_)) @definition.class
(namespace_definition name: (_) @name) @definition.namespace
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
${FUNCTION(`[
  (identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (template_function)
] @name`)}
(function_definition declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (field_identifier) (qualified_identifier) (operator_name)
] @name))) @definition.function
(function_definition declarator: (operator_cast) @name) @definition.function
(field_declaration declarator: [
  (function_declarator declarator: (_) @name)
  (pointer_declarator declarator: (function_declarator declarator: (_) @name))
  (reference_declarator (function_declarator declarator: (_) @name))
]) @definition.method
(field_declaration_list (declaration declarator: (function_declarator declarator: (_) @name)) @definition.method)
${C_DEFINITIONS}`,
  wrappers: ['template_declaration'],
  top: [...C_TOP, 'namespace_definition'],
  strings: C_STRINGS
}
