// Searches files by their paths and texts in memory, both by ripgrep. Does not know where either come from.
import { isAscii } from 'node:buffer'
import { bomLength } from '../../engine/text/encoding.ts'
import { ANY_BREAK, CR, LF } from '../../engine/text/lines.ts'
import type { FindQuery, TextRange } from '../../workspace/api.ts'
import {
  BadQuery,
  keyOf,
  readable,
  tooLargeIn,
  unreadableIn,
  walk,
  type FindPlace,
  type Names,
  type SortKey
} from './list-names.ts'
import { runRipgrep, TooManyArguments, type Ripgrep } from './ripgrep.ts'

/**
 * The longest line searched in memory, in bytes: for an expression that matches every byte, ripgrep takes 70 times its
 * length. Chosen.
 */
const LINE = 1024 * 1024
/** Bytes of what ripgrep writes about one match, or about the lines of one that spans several. Chosen. */
const WRITTEN = 8 * 1024 * 1024
/** Files that one walk may find: they are sorted without a rest. Chosen, not measured. */
const HINTS = 50_000
/** Matches kept of one text. A bound on memory; chosen, not measured. */
const MATCHES = 100_000

export type FoundText = NonNullable<FindQuery['text']>

/** Arguments that say what to find. */
function wantedArguments({ pattern, regex, ignore_case, whole_word }: FoundText): string[] {
  const options = [...(ignore_case ? ['--ignore-case'] : []), ...(whole_word ? ['--word-regexp'] : [])]
  if (regex) return [...options, '--crlf', `--regexp=${pattern.replaceAll('\0', '\\x00')}`]
  if (!isOverLines(pattern)) return [...options, '--fixed-strings', `--regexp=${pattern}`]
  const expression = pattern
    .replace(/[\\.+*?()|[\]{}^$#&~-]/g, '\\$&')
    .replaceAll('\0', '\\x00')
    .replace(ANY_BREAK, '(?:\\r\\n|\\n|\\r)')
  // Only a binary file can hold a NUL.
  if (pattern.includes('\0')) options.push('--text')
  return [...options, '--multiline', `--regexp=${expression}`]
}

/** Arguments that find all files that aren't UTF-8. */
const OTHER_ENCODINGS = ['--invert-match', '--line-regexp', '--regexp=.*']

/** Whether files that aren't UTF-8 may hold it where it isn't found in their bytes. */
const isSoughtDecoded = ({ pattern, regex, whole_word }: FoundText): boolean =>
  regex || whole_word || !isAscii(Buffer.from(pattern))

/** Whether it is text that has a line break, or can't be an argument as it is. */
const isOverLines = (pattern: string): boolean => /[\r\n\0]/.test(pattern)

/**
 * Which of these files hold the text, and which `others` may in another encoding, read by their paths: a hint.
 * `unreadable`: how many can't be read. Null: stopped. Throws BadQuery (BAD_REGEX), also without any file.
 */
export async function filesWith(
  text: FoundText,
  paths: readonly string[],
  ripgrep: Ripgrep
): Promise<{ paths: Set<string>; others: Set<string>; unreadable: number } | null> {
  const listed = async (wanted: readonly string[], searched: readonly string[]) => {
    const found = new Set<string>()
    const args = ['--files-with-matches', '--null', '--no-ignore', '--no-mmap', ...wanted, '--', ...searched]
    const ended = await unlessTooLong(() =>
      runRipgrep(ripgrep, args, { delimiter: 0, bound: LINE }, path => {
        found.add(path!.subarray(2).toString())
      })
    )
    return { found, ...ended }
  }
  const searched = paths.length === 0 ? ['-'] : paths.map(path => `./${path}`)
  const first = await listed(wantedArguments(text), searched)
  if (first.status === null) return null
  if (first.status === 2 && !first.messages.startsWith('rg: ./')) throw badRegex(first.messages)
  const unreadable = unreadableIn(first.messages).length
  if (!isSoughtDecoded(text)) return { paths: first.found, others: new Set(), unreadable }
  const second = await listed(OTHER_ENCODINGS, searched)
  return second.status === null ? null : { paths: first.found, others: second.found, unreadable }
}

/** Throws BadQuery (BAD_REGEX) if the text is too long for an argument. */
async function unlessTooLong<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof TooManyArguments ? badRegex('it is too long') : error
  }
}

/** Files that hold the text, and `others` that may in another encoding, from a walk: a hint. `keys` has both. */
export interface FilesFound extends Pick<Names, 'keys' | 'unreadable'> {
  others: Set<SortKey>
  searched: number
  too_large: number
}

/**
 * Which files at or below `place.pin` hold the text, if it is found out before `ripgrep` is stopped, and they aren't
 * very many: a hint; null otherwise. Throws BadQuery.
 */
export async function filesBelow(
  text: FoundText,
  place: FindPlace,
  query: FindQuery,
  ripgrep: Ripgrep
): Promise<FilesFound | null> {
  const mayRead = readable(place.root, place.policy, place.pin)
  const tooMany = new AbortController()
  const signal = AbortSignal.any([ripgrep.signal, tooMany.signal])
  const limits = ['--no-mmap', '--debug', '--stats', `--max-filesize=${place.maxFileSize}`]
  const listed = async (wanted: readonly string[]) => {
    const keys = new Set<SortKey>()
    let searched = 0
    const args = ['--files-with-matches', '--null', ...limits, ...wanted, './']
    const ended = await unlessTooLong(() =>
      walk(place, query, { ...ripgrep, signal }, args, part => {
        // The last part has the numbers.
        if (part?.[0] === LF) searched = Number(/^(\d+) files searched$/m.exec(part.toString())?.[1])
        else if (part !== null && mayRead('read', part.subarray(2))) keys.add(keyOf(part.subarray(2)))
        if (keys.size > HINTS) tooMany.abort()
      })
    )
    return { keys, searched, ...ended }
  }
  const { status, messages, keys, searched } = await listed(['--binary', ...wantedArguments(text)])
  if (status === null) return null
  if (status === 2 && searched === 0 && !/^rg: (DEBUG|\.\/)/.test(messages)) throw badRegex(messages)
  const [unreadable, too_large] = [unreadableIn, tooLargeIn].map(
    paths => paths(messages).filter(path => mayRead('list', path)).length
  )
  const other = isSoughtDecoded(text) ? await listed(OTHER_ENCODINGS) : { status: 1, keys: [] }
  if (other.status === null) return null
  const others = new Set([...other.keys].filter(key => !keys.has(key)))
  const all = [...keys, ...others].sort()
  return { keys: all, others, searched, unreadable: unreadable!, too_large: too_large! }
}

const badRegex = (messages: string): BadQuery =>
  new BadQuery({ code: 'BAD_REGEX', message: messages.replace(/^rg: /, '').trim() })

/** The matches in one text: the first 100,000. `too_long`: it has a line that isn't searched. */
export type Matches = { ranges: TextRange[]; count: number } | 'too_long'

/** Between two texts: a line that nothing of either belongs to. No text has a NUL. */
const [BETWEEN, ENDED_BETWEEN, NOTHING] = [Buffer.from('\n\0\n'), Buffer.from('\0\n'), Buffer.alloc(0)]

/** Bytes of what ripgrep writes before a match. */
const [COLON, ZERO] = [0x3a, 0x30]

type Message =
  { type: 'match'; data: { absolute_offset: number; submatches: TextRange[] } } | { type: 'begin' | 'end' | 'summary' }

/**
 * Finds all matches in texts without NUL, as ripgrep finds them in files; in fewer texts, the first ones, if it is
 * stopped. Keeps the ranges of the first `most` of each text.
 */
export async function searchTexts(
  text: FoundText,
  texts: readonly Buffer[],
  ripgrep: Ripgrep,
  most = MATCHES
): Promise<Matches[]> {
  // A break could be made of its end and what follows.
  const open = texts.findIndex(one => one.at(-1) === CR) + 1
  if (open > 0 && open < texts.length) return searchApart(text, texts, open, ripgrep, most)
  const input: Buffer[] = []
  /** Where the text of each begins in the input. */
  const starts: number[] = []
  const found = texts.map((one): Matches => (hasLongLine(one) ? 'too_long' : { ranges: [], count: 0 }))
  let length = 0
  for (const [i, one] of texts.entries()) {
    starts.push(length - bomLength(one))
    if (found[i] === 'too_long') continue
    const between = i === texts.length - 1 ? NOTHING : one.at(-1) === LF ? ENDED_BETWEEN : BETWEEN
    input.push(one.subarray(bomLength(one)), between)
    length += one.length - bomLength(one) + between.length
  }
  let at = 0
  const add = (start: number, end: number): void => {
    while (at + 1 < starts.length && start >= starts[at + 1]! + bomLength(texts[at + 1]!)) at++
    const into = found[at]!
    const [from, to] = [start - starts[at]!, end - starts[at]!]
    const limit = texts[at]!.length
    // What is between two texts is in neither.
    const isBetween = to > limit || (from === limit && (texts[at]!.at(-1) === LF || limit === bomLength(texts[at]!)))
    if (into === 'too_long' || isBetween) return
    into.count++
    if (into.ranges.length < most) into.ranges.push({ start: from, end: to })
  }
  // The other form is far shorter where there are very many matches; but it doesn't tell which lines of one that spans
  // several are one, and has all of the last line where only what follows a lone CR in it matches.
  const isJson = text.regex ? /[$^]/.test(text.pattern) : isOverLines(text.pattern)
  const how = isJson ? ['--json'] : ['--only-matching', '--byte-offset', '--no-filename', '--no-line-number']
  const ending = text.regex ? 2 : 1
  const args = [...how, '--text', '--encoding=none', ...wantedArguments(text), '-']
  let isCut = false
  const ended = await runRipgrep(ripgrep, args, { delimiter: LF, bound: WRITTEN, input }, line => {
    isCut ||= line === null
    if (isCut) return
    if (isJson) {
      const message = JSON.parse(line!.toString()) as Message
      if (message.type !== 'match') return
      const { absolute_offset: base, submatches } = message.data
      for (const { start, end } of submatches) add(base + start, base + end)
    } else {
      const [start, digits] = numberIn(line!)
      add(start, start + line!.length - digits - ending)
    }
  })
  if (ended.status === null) return found.slice(0, at)
  if (ended.status === 2) throw new Error(ended.messages)
  if (!isCut) return found
  // Which text is it?
  return texts.length === 1 ? ['too_long'] : searchApart(text, texts, texts.length >> 1, ripgrep, most)
}

/** The number at the start of a line, and how many digits it has. */
function numberIn(line: Buffer): [number: number, digits: number] {
  let [number, digits] = [0, 0]
  for (; line[digits] !== COLON; digits++) number = 10 * number + line[digits]! - ZERO
  return [number, digits]
}

/** `searchTexts` in two runs, the second one from the text `at`. */
async function searchApart(
  text: FoundText,
  texts: readonly Buffer[],
  at: number,
  ripgrep: Ripgrep,
  most: number
): Promise<Matches[]> {
  const first = await searchTexts(text, texts.slice(0, at), ripgrep, most)
  return first.length < at ? first : [...first, ...(await searchTexts(text, texts.slice(at), ripgrep, most))]
}

function hasLongLine(text: Buffer): boolean {
  if (text.length <= LINE) return false
  for (let from = 0; from < text.length;) {
    const end = text.indexOf(LF, from)
    const to = end === -1 ? text.length : end
    if (to - from > LINE) return true
    from = to + 1
  }
  return false
}
