// Which files have their syntax checked, and in what language. Does not know parsers.
import { languageOf } from '../inspect/language.ts'
import { CODE_NAMES } from '../outline/outlined.ts'

/** Bytes of a file that is checked, before and after an edit. */
export const CHECKED_SIZE = 1024 * 1024

/** Every language whose syntax is checked. */
export const SYNTAX_LANGUAGES: readonly string[] = [...CODE_NAMES, 'json', 'jsonc', 'toml', 'yaml'].sort()

/**
 * Their parser does not know macros or most extensions of browsers: of the files that are found on a Linux system it
 * reports 47 % of C, 54 % of headers, 30 % of C++ and 12 % of CSS. Where a file has parsed before, that doesn't matter.
 */
const ONLY_IF_PARSED_BEFORE = new Set(['c', 'cpp', 'css'])

/** Files that are called .json and may hold comments and trailing commas. */
const JSON_WITH_COMMENTS =
  /(?:^|\/)(?:[jt]sconfig(?:[.-][^/]*)?|tslint|\.?devcontainer|\.(?:eslint|swc|jshint|babel)rc|\.vscode\/[^/]+)\.json$/i

/** A shell of its own; the parser is that of bash. */
const ZSH = /\.zsh$|^#![^\r\n]*\b(?:zsh|ksh)\b/i

/** The language in which a file of this name and content is checked; undefined where it is in none of them. */
export function checkedLanguageOf(path: string, bytes: Buffer, { isNew }: { isNew: boolean }): string | undefined {
  const language = languageOf(path, bytes)
  if (language === undefined || !SYNTAX_LANGUAGES.includes(language)) return undefined
  if (language === 'json' && JSON_WITH_COMMENTS.test(path)) return 'jsonc'
  if (language === 'shell' && (ZSH.test(path) || ZSH.test(bytes.toString('latin1', 0, 200)))) return undefined
  return isNew && ONLY_IF_PARSED_BEFORE.has(language) ? undefined : language
}
