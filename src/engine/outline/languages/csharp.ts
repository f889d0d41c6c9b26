// C#.
import type { Language } from './language.ts'

export const csharp: Language = {
  grammar: 'c-sharp',
  query: `
(namespace_declaration name: (_) @name) @definition.namespace
(file_scoped_namespace_declaration name: (_) @name) @definition.namespace
(class_declaration name: (_) @name) @definition.class
(record_declaration name: (_) @name) @definition.class
(struct_declaration name: (_) @name) @definition.struct
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(delegate_declaration name: (_) @name) @definition.type
(method_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name) @definition.method
(property_declaration name: (_) @name accessors: (_)? @body) @definition.method
(local_function_statement name: (_) @name) @definition.function
`,
  wrappers: [],
  top: ['compilation_unit', 'namespace_declaration', 'declaration_list'],
  strings: ['verbatim_string_literal', 'raw_string_literal', 'interpolated_string_expression']
}
