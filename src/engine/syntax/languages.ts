// Which files get a syntax check, and in which language.
import { languageOf } from '../inspect/language.ts'
import { CODE_NAMES } from '../outline/outlined.ts'

/** The largest file, in bytes, that is checked, before and after an edit. */
export const CHECKED_SIZE = 1024 * 1024

/** Every language whose syntax is checked. */
export const SYNTAX_LANGUAGES: readonly string[] = [...CODE_NAMES, 'json', 'json5', 'jsonc', 'toml', 'yaml'].sort()

/**
 * These parsers don't know macros or most browser extensions: they report errors in 47 % of C files, 54 % of headers,
 * 30 % of C++ and 12 % of CSS files found on a Linux system. That doesn't matter if the file parsed before.
 */
const ONLY_IF_PARSED_BEFORE = new Set(['c', 'cpp', 'css'])

/** Files named .json that may contain comments and trailing commas. */
const JSON_WITH_COMMENTS =
  /(?:^|\/)(?:[jt]sconfig(?:[.-][^/]*)?|tslint|\.?devcontainer|\.(?:eslint|swc|jshint|babel)rc|\.vscode\/[^/]+)\.json$/i

/** Files that may be JSON with comments, or YAML. */
const JSON_OR_YAML = /(?:^|\/)\.(?:eslint|prettier|stylelint)rc$/i

/** How a file begins that is probably JSON, if nothing else is known of it. */
const LIKE_JSON = /^(?:\ufeff|\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[[{"\]])/

/** Shells with their own syntax; the parser is for bash. */
const ZSH = /\.zsh$|^#![^\r\n]*\b(?:zsh|ksh)\b/i

/** The language in which a file with this name and content is checked; undefined if it isn't checked. */
export function checkedLanguageOf(path: string, bytes: Buffer, { isNew }: { isNew: boolean }): string | undefined {
  const start = bytes.toString('latin1', 0, 200)
  const language = languageOf(path, bytes) ?? languageByStart(path, start, isNew)
  if (language === undefined || !SYNTAX_LANGUAGES.includes(language)) return undefined
  if (language === 'json' && JSON_WITH_COMMENTS.test(path)) return 'jsonc'
  if (language === 'shell' && (ZSH.test(path) || ZSH.test(start))) return undefined
  return isNew && ONLY_IF_PARSED_BEFORE.has(language) ? undefined : language
}

/** A file without a known name that begins as JSON does is checked as that, but a new one only if its name says so. */
function languageByStart(path: string, start: string, isNew: boolean): string | undefined {
  const isLike = LIKE_JSON.test(start)
  if (JSON_OR_YAML.test(path)) return isLike ? 'jsonc' : 'yaml'
  return isLike && !isNew ? 'json' : undefined
}
