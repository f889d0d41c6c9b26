// Globs as ripgrep's `--glob` takes them, compiled to expressions of RE2, which take linear time whatever the glob.
// Works on paths alone: does not know what is stored at them.
import { RE2JS } from 're2js'
import { fail, ok, type Result } from '../result.ts'

/** `message`: what is wrong with the glob. */
export interface BadGlob {
  code: 'BAD_GLOB'
  glob: string
  message: string
}

/** Whether globs take a path below the root; those of a folder above it are not asked. */
export type PathFilter = (relative: Buffer, isFolder: boolean) => boolean

interface Rule {
  /** Matches a path whose bytes are the characters. */
  expression: RE2JS
  onlyFolders: boolean
  excludes: boolean
}

/**
 * Compiles globs as ripgrep does, those that exclude last: of the ones that match a path, the last one decides. Where
 * one includes, a file that none matches is left out; a folder isn't.
 */
export function pathFilter(include: readonly string[], exclude: readonly string[]): Result<PathFilter, BadGlob> {
  const rules: Rule[] = []
  for (const [i, glob] of [...include, ...exclude].entries()) {
    // A # would begin a comment.
    const rule = ruleOf(i >= include.length ? `!${glob}` : glob.replace(/^#/, '\\#'))
    if (!rule.ok) return fail({ code: 'BAD_GLOB', glob, message: rule.failure })
    if (rule.value !== null) rules.push(rule.value)
  }
  const includes = rules.some(({ excludes }) => !excludes)
  return ok((relative, isFolder) => {
    const path = relative.toString('latin1')
    const last = rules.findLast(
      ({ expression, onlyFolders }) => (isFolder || !onlyFolders) && expression.testExact(path)
    )
    return last === undefined ? isFolder || !includes : !last.excludes
  })
}

/** What a glob says; it is written as a line of `.gitignore`, but without `!` it includes. Null: nothing. */
function ruleOf(glob: string): Result<Rule | null, string> {
  const line = glob.endsWith('\\ ') ? glob : glob.replace(/\p{White_Space}+$/u, '')
  if (line === '') return ok(null)
  const isEscaped = /^\\[!#]/.test(line)
  const excludes = line.startsWith('!')
  const written = line.slice(isEscaped || excludes ? 1 : 0)
  const isAnchored = !isEscaped && written.startsWith('/')
  const onlyFolders = written.endsWith('/')
  const named = written.slice(isAnchored ? 1 : 0).replace(/\\?\/$/, '')
  const isAnywhere = !isAnchored && !named.includes('/') && named !== '**'
  const whole = isAnywhere ? `**/${named}` : named
  const source = expressionOf(whole.endsWith('/**') ? `${whole}/*` : whole)
  if (!source.ok) return source
  try {
    return ok({ expression: RE2JS.compile(source.value, RE2JS.DOTALL), onlyFolders, excludes })
  } catch (error) {
    return fail((error as Error).message)
  }
}

/** `**` at the start, between slashes, and at the end. */
const PREFIX = '(?:/?|.*/)'
const BETWEEN = '(?:/|/.*/)'
const BELOW = '/.*'
const STAR = '[^/]*'

/** An expression for the bytes of paths, each written as one character; a failure says what is wrong. */
function expressionOf(glob: string): Result<string, string> {
  const text = Array.from(glob)
  /** The open groups, innermost last: their alternatives, each a list of tokens. The first is the glob itself. */
  const groups: string[][][] = [[[]]]
  const tokens = (): string[] => groups.at(-1)!.at(-1)!
  for (let at = 0; at < text.length; at++) {
    const [character, isInGroup] = [text[at]!, groups.length > 1]
    if (character === '*') at = addStars(text, at, tokens(), isInGroup)
    else if (character === '?') tokens().push('[^/]')
    else if (character === '[') {
      const set = setAt(text, at)
      if (!set.ok) return set
      tokens().push(set.value.source)
      at = set.value.end
    } else if (character === '{') groups.push([[]])
    else if (character === '}') {
      if (!isInGroup) return fail('it has a } without a {; write [}] for the character')
      const parts = groups.pop()!.map(part => part.join(''))
      const some = parts.filter(part => part !== '')
      tokens().push(some.length > 0 ? `(?:${some.join('|')})` : '')
    } else if (character === ',' && isInGroup) groups.at(-1)!.push([])
    else if (character !== '\\') tokens().push(bytesOf(character))
    else if (++at < text.length) tokens().push(bytesOf(text[at]!))
    else return fail('it ends in a \\ that escapes nothing')
  }
  if (groups.length > 1) return fail('it has a { without a }; write [{] for the character')
  const [only, ...others] = tokens()
  return ok(only === PREFIX && others.length === 0 ? '.*' : tokens().join(''))
}

/** Adds one star, or two as what they mean at this place. Returns the index of the last character read. */
function addStars(text: readonly string[], at: number, tokens: string[], isInGroup: boolean): number {
  if (text[at + 1] !== '*') {
    tokens.push(STAR)
    return at
  }
  const [before, after] = [text[at - 1] ?? '', text[at + 2]]
  const isFirst = tokens.length === 0
  const isLast = after === undefined || (isInGroup && !isFirst && (after === ',' || after === '}'))
  const follows = isFirst || before === '/' || (isInGroup && (before === ',' || before === '{'))
  if (!follows || (!isLast && after !== '/')) {
    tokens.push(STAR)
    return at + 1
  }
  // The slash, or the stars, before them belong to them.
  const last = isFirst ? PREFIX : tokens.pop()
  tokens.push(last === PREFIX || last === BELOW ? last : isLast ? BELOW : BETWEEN)
  return after === '/' ? at + 2 : at + 1
}

/** A set of characters, `[…]`: its expression, and the index of its last character. */
function setAt(text: readonly string[], start: number): Result<{ source: string; end: number }, string> {
  const isNegated = text[start + 1] === '!' || text[start + 1] === '^'
  const first = start + (isNegated ? 2 : 1)
  const ranges: [string, string][] = []
  let isOpen = false
  for (let at = first; at < text.length; at++) {
    const character = text[at]!
    if (character === ']' && at > first) {
      if (isOpen) ranges.push(['-', '-'])
      const source = ranges.map(([low, high]) => (low === high ? bytesOf(low) : `${bytesOf(low)}-${bytesOf(high)}`))
      return ok({ source: `[${isNegated ? '^' : ''}${source.join('')}]`, end: at })
    }
    const range = ranges.at(-1)
    if (isOpen && range !== undefined) {
      range[1] = character
      if (character.codePointAt(0)! < range[0].codePointAt(0)!) return fail(`its range ${range.join('-')} is empty`)
      isOpen = false
    } else if (character === '-' && at > first) isOpen = true
    else ranges.push([character, character])
  }
  return fail('it has a [ without a ]; write [[] for the character')
}

const bytesOf = (character: string): string =>
  Array.from(Buffer.from(character), byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
