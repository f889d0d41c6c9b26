// Go.
import type { Language } from './language.ts'

export const go: Language = {
  grammar: 'go',
  query: `
(function_declaration name: (_) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @definition.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type) @body) @definition.interface
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(const_spec (identifier) @name) @definition.constant
(var_spec name: (_) @name) @definition.variable
`,
  wrappers: ['type_declaration', 'const_declaration', 'var_declaration'],
  top: ['source_file', 'var_spec_list'],
  strings: ['raw_string_literal']
}
