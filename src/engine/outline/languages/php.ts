// PHP.
import type { Language } from './language.ts'

export const php: Language = {
  grammar: 'php',
  query: `
(namespace_definition name: (_) @name body: (_)) @definition.namespace
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(trait_declaration name: (_) @name) @definition.trait
(enum_declaration name: (_) @name) @definition.enum
(function_definition name: (_) @name) @definition.function
(method_declaration name: (_) @name) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
`,
  wrappers: [],
  top: [
    'program',
    'namespace_definition',
    'compound_statement',
    'class_declaration',
    'interface_declaration',
    'enum_declaration',
    'trait_declaration',
    'declaration_list',
    'enum_declaration_list'
  ],
  // Text between `?>` and `<?php` is output verbatim.
  strings: ['string', 'encapsed_string', 'heredoc', 'nowdoc', 'shell_command_expression', 'text_interpolation']
}
