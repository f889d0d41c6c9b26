// Bash, also used for other shells.
import type { Language } from './language.ts'

export const bash: Language = {
  grammar: 'bash',
  query: `
(function_definition name: (_) @name) @definition.function
(declaration_command "readonly" (variable_assignment name: (_) @name)) @definition.constant
(variable_assignment name: (variable_name) @name) @definition.variable
`,
  wrappers: ['declaration_command'],
  top: ['program'],
  strings: ['string', 'raw_string', 'ansi_c_string', 'heredoc_redirect']
}
