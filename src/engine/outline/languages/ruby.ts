// Ruby.
import type { Language } from './language.ts'

export const ruby: Language = {
  grammar: 'ruby',
  query: `
(module name: (_) @name) @definition.namespace
(class name: (_) @name) @definition.class
(method name: (_) @name) @definition.method
(singleton_method name: (_) @name) @definition.method
(assignment left: (constant) @name) @definition.constant
`,
  wrappers: [],
  top: ['program', 'module', 'class', 'body_statement'],
  strings: ['string', 'heredoc_body', 'subshell', 'regex', 'delimited_symbol']
}
