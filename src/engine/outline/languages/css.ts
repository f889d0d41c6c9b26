// CSS.
import type { Language } from './language.ts'

export const css: Language = {
  grammar: 'css',
  query: `
(rule_set (selectors) @name (block) @body) @definition.rule
(media_statement (block) @body) @definition.rule
(supports_statement (block) @body) @definition.rule
(keyframes_statement (keyframe_block_list) @body) @definition.rule
(at_rule (block) @body) @definition.rule
`,
  wrappers: [],
  top: [],
  strings: ['string_value']
}
