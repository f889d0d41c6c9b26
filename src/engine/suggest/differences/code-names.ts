// Whether a word of a text is a name in code, in any language: if that isn't clear, it is not a name.

/** Keywords that declare the name after them. */
const DECLARES = new Set(
  (
    'const let var function def class interface type enum struct trait impl fn func fun val namespace package module ' +
    'import new goto static extends implements'
  ).split(' ')
)

/** Keywords of programming languages. */
const KEYWORDS = new Set([
  ...DECLARES,
  ...(
    'if else elif elsif unless for foreach while until do switch case when match break continue return yield try ' +
    'catch except finally throw throws raise delete typeof instanceof in of is not and or xor import export from ' +
    'as default async await public private protected internal final abstract override virtual readonly void int ' +
    'float double long short char bool boolean byte unsigned signed true false null nil none undefined this self ' +
    'super pub mut ref use mod where using with pass lambda global nonlocal end begin then select insert update ' +
    'into values set order group by join left right inner outer on create table drop alter'
  ).split(' ')
])

/** Most tokens before a word to check. */
const MOST_BEFORE = 200

/** Whether the tokens `from` to `to` (exclusive) of a text are one name: no number, keyword, or word of a comment. */
export function isName(tokens: readonly string[], from: number, to: number): boolean {
  const word = tokens[from]!
  if (to !== from + 1 || !/^[\p{L}_$]/u.test(word) || KEYWORDS.has(word.toLowerCase())) return false
  const start = Math.max(0, from - MOST_BEFORE)
  const near = tokens.slice(start, from)
  const line = near.slice(near.lastIndexOf('\n') + 1).join('')
  if (isInComment(line) || isInQuotes(line)) return false
  return /[_$\d]|\p{Ll}\p{Lu}/u.test(word) || isUsedInCode(tokens, from)
}

const isInComment = (before: string): boolean =>
  /(?:^|[^:])\/\/|\/\*(?!.*\*\/)|<!--|(?:^|\s)#\s|^\s*(?:\*|--|;|%)\s/.test(before)

/** Whether the number of quotes before is odd: within a string, or in prose with an apostrophe. */
const isInQuotes = (before: string): boolean => ['"', "'", '`'].some(quote => before.split(quote).length % 2 === 0)

/** Whether the text around a word is rare in prose: `name(`, `.name`, `const name`, `name =`. */
function isUsedInCode(tokens: readonly string[], at: number): boolean {
  const [before = '', after = '', second = ''] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]]
  const isGap = (token: string): boolean => token.trim() === ''
  const [previous = '', next] = [isGap(before) ? tokens[at - 2] : before, isGap(after) ? second : after]
  return (
    DECLARES.has(previous) ||
    /^[([{;=]$/.test(after) ||
    (/^[.:?!<]$/.test(after) && !isGap(second)) ||
    /^[=+*/<>]$/.test(next) ||
    /^[.@&$]$/.test(before) ||
    /^[=+*/<>]$/.test(previous) ||
    (/^[([]$/.test(before) && /^[\p{L}\p{N}_$]/u.test(tokens[at - 2] ?? ''))
  )
}
