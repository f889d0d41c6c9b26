// Java.
import type { Language } from './language.ts'

export const java: Language = {
  grammar: 'java',
  query: `
(class_declaration name: (_) @name) @definition.class
(record_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(annotation_type_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(method_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name) @definition.method
(compact_constructor_declaration name: (_) @name) @definition.method
`,
  wrappers: [],
  top: ['program'],
  strings: ['string_literal']
}
