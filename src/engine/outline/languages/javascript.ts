// JavaScript, with JSX.
import { DEFINITIONS, TOP, WRAPPERS } from './ecmascript.ts'
import type { Language } from './language.ts'

export const javascript: Language = {
  grammar: 'javascript',
  query: `${DEFINITIONS}
(class_body (field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method)
`,
  wrappers: WRAPPERS,
  attributes: ['decorator'],
  top: TOP
}
