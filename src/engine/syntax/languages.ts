// Which files get a syntax check, and in which language.
import { languageOf } from '../inspect/language.ts'
import { CODE_NAMES } from '../outline/outlined.ts'

/** The largest file, in bytes, that is checked, before and after an edit. */
export const CHECKED_SIZE = 1024 * 1024

/** Every language whose syntax is checked. */
export const SYNTAX_LANGUAGES: readonly string[] = [...CODE_NAMES, 'json', 'jsonc', 'toml', 'yaml'].sort()

/**
 * These parsers don't know macros or most browser extensions: they report errors in 47 % of C files, 54 % of headers,
 * 30 % of C++ and 12 % of CSS files found on a Linux system. That doesn't matter if the file parsed before.
 */
const ONLY_IF_PARSED_BEFORE = new Set(['c', 'cpp', 'css'])

/** Files named .json that may contain comments and trailing commas. */
const JSON_WITH_COMMENTS =
  /(?:^|\/)(?:[jt]sconfig(?:[.-][^/]*)?|tslint|\.?devcontainer|\.(?:eslint|swc|jshint|babel)rc|\.vscode\/[^/]+)\.json$/i

/** Shells with their own syntax; the parser is for bash. */
const ZSH = /\.zsh$|^#![^\r\n]*\b(?:zsh|ksh)\b/i

/** The language in which a file with this name and content is checked; undefined if it isn't checked. */
export function checkedLanguageOf(path: string, bytes: Buffer, { isNew }: { isNew: boolean }): string | undefined {
  const language = languageOf(path, bytes)
  if (language === undefined || !SYNTAX_LANGUAGES.includes(language)) return undefined
  if (language === 'json' && JSON_WITH_COMMENTS.test(path)) return 'jsonc'
  if (language === 'shell' && (ZSH.test(path) || ZSH.test(bytes.toString('latin1', 0, 200)))) return undefined
  return isNew && ONLY_IF_PARSED_BEFORE.has(language) ? undefined : language
}
