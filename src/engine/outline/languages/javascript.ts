// JavaScript, with JSX.
import { DEFINITIONS, methodField, STRINGS, TOP, WRAPPERS } from './ecmascript.ts'
import type { Language } from './language.ts'

export const javascript: Language = {
  grammar: 'javascript',
  query: DEFINITIONS + methodField('field_definition property'),
  wrappers: WRAPPERS,
  attributes: ['decorator'],
  top: TOP,
  strings: STRINGS
}
