// /find: files that hold a text, a match of an expression or the definition of a symbol, or that have a name.
import {
  DEFAULT_FILES,
  DEFAULT_LINES,
  FindRequestSchema,
  FindResultSchema,
  type FindRequest,
  type FoundDefinition,
  type FoundFileOnWire
} from '../../schemas/find.ts'
import { isForSeveralLines } from '../engine/inspect/across-lines.ts'
import { matchLines } from '../engine/inspect/match-lines.ts'
import { SEPARATOR } from '../engine/outline/outline.ts'
import { lastNameOf } from '../engine/outline/target.ts'
import { lineStarts } from '../engine/text/lines.ts'
import { Text } from '../engine/text/text.ts'
import { fail, ok } from '../result.ts'
import type { Outliner } from '../workers/outline.ts'
import type { Searcher } from '../workers/search.ts'
import type { Client, FindFailure, FindQuery, FoundFile, FoundFiles, FoundUse, Workspace } from '../workspace/api.ts'
import { FILE_CODES } from './codes.ts'
import { shortHash } from './file-hash.ts'
import type { CallResult, FieldFault, FoundOtherwise, Operation } from './operation.ts'
import { outlined } from './outlining.ts'
import { withHowRemoved } from './removals.ts'

/** In ms: after nothing was found, other requests are tried until so much time has passed since the first. Chosen. */
export const TRYING_TIME = 3000

/** What to find in files: a request has at most one of these fields. */
const WANTED = ['text', 'regex', 'symbol'] as const
/** The fields that need a text or an expression. */
const OF_TEXT = ['ignore_case', 'whole_word', 'context_lines'] as const

export const makeFind = (workspace: Workspace, searcher: Searcher, outliner: Outliner): Operation<FindRequest> => ({
  id: 'find',
  route: '/find',
  summary: 'Find text, definitions or files',
  description: ({ inspect }) =>
    'Finds lines with exact text (text) or an expression (regex) in all files, definitions by name (symbol), ' +
    `or files by name (include alone). Its file_hash can be sent as expected_hash; ${inspect} reads one file.`,
  hints: {
    regex: 'RE2 syntax, matched line by line.',
    symbol: 'A name, or a path such as Parser.parse.',
    path: 'Directory or file. Default: the root.',
    include: 'Glob: *.ts, src/**, {a,b}/*.md',
    ignored: 'Also what .gitignore excludes.',
    context_lines: 'Lines around each match, at most 10.',
    max_lines: 'At most 1000.',
    after: 'To go on: next_after.'
  },
  tool_fields: [
    ...WANTED,
    ...['path', 'include', 'exclude', 'ignore_case', 'whole_word', 'ignored', 'show', 'context_lines', 'max_lines'],
    'after'
  ],
  effect: 'looks',
  request: FindRequestSchema,
  outcome: FindResultSchema,
  codes: [...FILE_CODES.filter(code => !['FILE_TOO_LARGE', 'STALE_FILE'].includes(code)), 'FIND_NOT_SUPPORTED'],
  expects_hash: false,
  expects_none: false,
  items: {},
  call: (request, { client } = {}) => find(request, { workspace, searcher, outliner, client })
})

/** What finding needs. */
export interface Finding {
  workspace: Workspace
  searcher: Searcher
  outliner: Outliner
  client: Client | undefined
}

/** Finds what a request asks for. */
export async function find(request: FindRequest, finding: Finding): Promise<CallResult> {
  const { workspace, searcher, outliner } = finding
  const { path = '.' } = request
  const faults = faultsOf(request)
  if (faults.length > 0) return { ...fail({ code: 'INVALID_REQUEST', faults }), path }
  if (request.symbol !== undefined && outliner.full) {
    return { ...fail({ code: 'NOT_READY', reason: 'parsing', retry_after: 1 }), path }
  }
  const until = performance.now() + TRYING_TIME
  const use = useOf(request, outliner)
  const found = await workspace.find(queryOf(request, finding), use)
  if (!found.ok) {
    const { failure, ...about } = found
    if (failure.code === 'BAD_REGEX' || failure.code === 'BAD_GLOB') {
      return { ...fail({ code: 'INVALID_REQUEST', faults: [await faultOf(failure, request, searcher)] }), path }
    }
    // A caller who only reads may not be able to undo anything.
    return withHowRemoved(workspace, { ...about, failure }, 'no_undo')
  }
  const { value } = found
  const { total_files, searched_files, skipped, truncated } = value
  const isOnlyBinary = searched_files === 0 && skipped.binary > 0
  const isNone = total_files === 0 && truncated === undefined && request.after === undefined && !isOnlyBinary
  const otherwise = isNone ? await foundOtherwise(request, finding, until) : []
  return ok({
    operation: 'find',
    outcome: outcomeOf(request, value, use),
    sought: { request, otherwise }
  })
}

/** What is wrong with a request beyond its schema. */
function faultsOf(request: FindRequest): FieldFault[] {
  const { symbol, sort, show } = request
  const [wanted, ...others] = WANTED.filter(field => request[field] !== undefined)
  const faults: FieldFault[] = others.map(field => ({ pointer: `/${field}`, reason: 'not_beside', other: wanted! }))
  const of = OF_TEXT.filter(field => request[field] !== undefined && request[field] !== false && request[field] !== 0)
  for (const field of of) {
    const pointer = `/${field}`
    if (wanted === undefined) faults.push({ pointer, reason: 'without_text' })
    if (wanted === 'symbol') faults.push({ pointer, reason: 'not_beside', other: wanted })
  }
  if (wanted === undefined && show === 'counts') faults.push({ pointer: '/show', reason: 'without_text' })
  if (wanted !== undefined && sort === 'modified') {
    faults.push({ pointer: '/sort', reason: 'not_beside', other: wanted })
  }
  if (symbol !== undefined && lastNameOf(symbol) === '') faults.push({ pointer: '/symbol', reason: 'no_name' })
  return faults
}

export const listOf = (globs: FindRequest['include'] = []): readonly string[] =>
  typeof globs === 'string' ? [globs] : globs

/** The fault of an expression or a glob. */
async function faultOf(
  failure: Exclude<FindFailure, { code: 'FIND_NOT_SUPPORTED' }>,
  request: FindRequest,
  searcher: Searcher
): Promise<FieldFault> {
  if (failure.code === 'BAD_REGEX') {
    // The message of ripgrep is about another expression, into which it puts this one.
    const checked = await searcher.check({ text: request.regex!, regex: true, ignore_case: false })
    if (checked?.ok === false) return { pointer: '/regex', reason: 'no_regex', syntax: checked.failure.message }
    if (isForSeveralLines(request.regex!)) return { pointer: '/regex', reason: 'one_line' }
    return { pointer: '/regex', reason: 'no_regex', syntax: failure.message.replace(/^[^]*\nerror: /, '') }
  }
  return faultOfGlob(failure, request)
}

/** The fault of a glob. */
export function faultOfGlob(
  { glob, message }: Extract<FindFailure, { code: 'BAD_GLOB' }>,
  request: Pick<FindRequest, 'include' | 'exclude'>
): FieldFault {
  const field = listOf(request.include).includes(glob) ? 'include' : 'exclude'
  const globs = request[field]
  const pointer = typeof globs === 'string' ? `/${field}` : `/${field}/${globs!.indexOf(glob)}`
  return { pointer, reason: 'no_glob', syntax: message }
}

const wantedIn = ({ text, regex, symbol }: FindRequest): string | undefined =>
  text ?? regex ?? (symbol === undefined ? undefined : lastNameOf(symbol))

const isByLines = (request: FindRequest): boolean =>
  wantedIn(request) !== undefined && (request.show ?? 'lines') === 'lines'

function queryOf(request: FindRequest, { client }: Pick<Finding, 'client'>): FindQuery {
  const { regex, symbol, path = '.', include, exclude, sort = 'path', after } = request
  const { max_files = DEFAULT_FILES, max_lines = DEFAULT_LINES } = request
  const pattern = wantedIn(request)
  const { ignore_case = false, whole_word = symbol !== undefined, ignored = false } = request
  return {
    path,
    ...(pattern !== undefined && { text: { pattern, regex: regex !== undefined, ignore_case, whole_word } }),
    include: listOf(include),
    exclude: listOf(exclude),
    ignored,
    sort,
    ...(after !== undefined && { after }),
    // Each file has at least one match.
    max_files: isByLines(request) ? Math.min(max_files, max_lines) : max_files,
    client
  }
}

type Cut = Pick<FoundFileOnWire, 'matches' | 'definitions'>

/** `unparsed`: the files that hold the name of a symbol and couldn't be parsed. */
interface Use extends FoundUse<Cut> {
  unparsed: number
}

/** How the files found are used. */
function useOf(request: FindRequest, outliner: Outliner): Use {
  const { symbol, context_lines = 0, max_lines = DEFAULT_LINES } = request
  const isShown = isByLines(request)
  if (symbol === undefined) {
    const cut: FoundUse<Cut>['cut'] = (bytes, matches) =>
      isShown ? { matches: matchLines(new Text([bytes]), matches.slice(0, max_lines), context_lines) } : {}
    return { cut, most: isShown ? max_lines : 0, unparsed: 0 }
  }
  const known = new Map<string, FoundDefinition[]>()
  const use: Use = {
    unparsed: 0,
    async select(bytes, _, path) {
      const listed = await outlined(path, bytes, 'code', language => outliner.definitions(bytes, language, symbol))
      if (!listed.ok && listed.failure.reason !== 'no_grammar') use.unparsed++
      const items = listed.ok ? listed.value : []
      const text = new Text([bytes])
      const { offsets } = lineStarts(
        text,
        items.flatMap(({ start_line, end_line }) => [start_line, end_line + 1])
      )
      const ranges = items.map((_item, i) => ({ start: offsets[2 * i]!, end: offsets[2 * i + 1]! }))
      if (!isShown || items.length === 0) return ranges
      const lines = matchLines(text, ranges.slice(0, max_lines), 0)
      const definitions = lines.map(({ line_content }, i) => {
        const { kind, name, parent, start_line, end_line, lossy } = items[i]!
        return {
          kind: kind as FoundDefinition['kind'],
          symbol: parent === undefined ? name! : `${parent}${SEPARATOR.code}${name}`,
          start_line,
          end_line,
          line_content,
          ...(lossy && { lossy })
        }
      })
      known.set(path, definitions)
      return ranges
    },
    cut: (_bytes, _matches, path) => (isShown ? { definitions: known.get(path)! } : {})
  }
  return use
}

/** How many matches of a file are listed beside others if there is room for them. Chosen. */
const FEW = 10

/**
 * The most matches of one file that are listed, so that other files are seen too: as many as fit, but at least a
 * quarter of `max_lines`, and FEW.
 */
function mostOfFile(counts: readonly number[], max_lines: number): number {
  let left = max_lines
  for (const [i, count] of counts.toSorted((a, b) => a - b).entries()) {
    const part = Math.floor(left / (counts.length - i))
    if (count > part) return Math.max(part, max_lines >> 2, FEW)
    left -= count
  }
  return max_lines
}

/** What is answered: of all files found, those with the first `max_lines` matches. */
function outcomeOf(request: FindRequest, found: FoundFiles<Cut>, { unparsed }: Use) {
  const files: FoundFileOnWire[] = []
  let left = request.max_lines ?? DEFAULT_LINES
  let isCut = false
  const most = mostOfFile(
    found.files.map(({ count }) => count),
    left
  )
  for (const file of found.files) {
    if (left === 0) break
    const { matches, definitions } = file.value
    const end = Math.min(left, most)
    const value: Cut = {
      ...(matches && { matches: matches.slice(0, end) }),
      ...(definitions && { definitions: definitions.slice(0, end) })
    }
    const { length = 0 } = value.matches ?? value.definitions ?? []
    if (isByLines(request)) {
      left -= length
      isCut ||= length < file.count
    }
    files.push(fileOf(file, value, wantedIn(request) !== undefined))
  }
  const isShort = files.length < found.files.length
  const last = found.files[files.length - 1]
  const next_after = isShort ? (last!.after ?? last!.path) : found.next_after
  const truncated = found.truncated ?? (isCut || isShort ? 'limit' : undefined)
  return {
    path: found.path,
    ...(found.resolved_path !== undefined && { resolved_path: found.resolved_path }),
    files,
    total_files: found.total_files,
    total_matches: found.total_matches,
    searched_files: found.searched_files,
    ...(truncated !== undefined && { truncated }),
    ...(next_after !== undefined && { next_after }),
    skipped: { ...found.skipped, ...(request.symbol !== undefined && { unparsed }) }
  }
}

const fileOf = (
  { path, file_hash, file_size, modified_at, count, after }: FoundFile<Cut>,
  value: Cut,
  isCounted: boolean
): FoundFileOnWire => ({
  path,
  file_hash: shortHash(file_hash),
  file_size,
  modified_at: modified_at.toISOString(),
  ...(isCounted && { count }),
  ...(after !== undefined && { lossy: true, after }),
  ...value
})

/** What would find something, tried one after the other until the time is over. */
export async function foundOtherwise(request: FindRequest, finding: Finding, until: number): Promise<FoundOtherwise[]> {
  const found: FoundOtherwise[] = []
  for (const change of changesTo(request)) {
    if (performance.now() > until) break
    const changed = { ...request, ...change } as FindRequest
    const counts = await countsOf(changed, finding)
    if (counts !== null) found.push({ change, ...counts })
  }
  return found
}

/** How much a request finds; null: nothing. */
export async function countsOf(request: FindRequest, finding: Finding): Promise<Omit<FoundOtherwise, 'change'> | null> {
  const use = useOf({ ...request, show: 'files' }, finding.outliner)
  const found = await finding.workspace.find({ ...queryOf(request, finding), max_files: 1 }, use)
  if (!found.ok || found.value.total_files === 0) return null
  const { total_files, total_matches, truncated = 'limit' } = found.value
  return { total_files, total_matches, stopped: truncated !== 'limit' }
}

/** What signs of an expression a text has. */
const SPECIAL = /[\\^$.|?*+()[\]{}]/

/** The globs that may have been meant by these, the likeliest first. */
function meantGlobs(globs: readonly string[]): string[][] {
  const apart = globs.flatMap(glob => (/[{[]/.test(glob) ? [glob] : glob.split(/\s*,\s*/)))
  const plain = apart.map(glob => glob.replace(/^\.\//, '')).filter(glob => glob !== '')
  const deeper = plain.map(glob => (/^[^*/!].*\/./.test(glob) ? `**/${glob}` : glob))
  const folders = plain.map(glob => (/[*?!{[]/.test(glob) ? glob : `**/${glob.replace(/^\/|\/$/g, '')}/**`))
  const anyCase = plain.map(glob =>
    /[\\[]/.test(glob) ? glob : glob.replace(/[a-z]/gi, letter => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
  )
  const all = new Map([globs, plain, deeper, folders, anyCase].map(some => [some.join('\n'), [...some]]))
  return [...all.values()].slice(1).filter(some => some.length > 0)
}

/** Changes of a request by which it may find something, the likeliest first. */
function changesTo(request: FindRequest): FoundOtherwise['change'][] {
  const { text, regex, symbol, path = '.', include, exclude, ignore_case, whole_word, ignored } = request
  const isText = text !== undefined || regex !== undefined
  const changes: FoundOtherwise['change'][] = []
  if (isText && ignore_case !== true) changes.push({ ignore_case: true })
  if (isText && whole_word === true) changes.push({ whole_word: undefined })
  if (regex !== undefined && SPECIAL.test(regex)) changes.push({ regex: undefined, text: regex })
  if (symbol !== undefined) {
    const name = lastNameOf(symbol)
    changes.push({ symbol: undefined, text: name, whole_word: true })
    if (name !== symbol) changes.push({ symbol: name })
  }
  if (wantedIn(request) === undefined) {
    for (const meant of meantGlobs(listOf(include))) changes.push({ include: meant.length === 1 ? meant[0] : meant })
  } else if ((include ?? exclude) !== undefined) changes.push({ include: undefined, exclude: undefined })
  if (ignored !== true) changes.push({ ignored: true })
  if (path !== '.') changes.push({ path: undefined })
  return changes
}
