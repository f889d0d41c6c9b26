// /inspect: facts, a range of lines and matches of a file, or the entries of a directory.
import type { FindRequest } from '../../schemas/find.ts'
import { InspectRequestSchema, InspectResultSchema, type InspectRequest } from '../../schemas/inspect.ts'
import type { OutlineEntry, UnsupportedTarget } from '../engine/failure.ts'
import { isForSeveralLines } from '../engine/inspect/across-lines.ts'
import { languageOf } from '../engine/inspect/language.ts'
import { Scan, type ScanResult } from '../engine/inspect/scan.ts'
import type { SearchRequest } from '../engine/inspect/search-literal.ts'
import type { CodecName } from '../engine/text/codec.ts'
import type { Encoding } from '../engine/text/encoding.ts'
import type { Outliner } from '../workers/outline.ts'
import type { Searcher } from '../workers/search.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Author, Consumer, Looked, Workspace } from '../workspace/api.ts'
import { decodedOf } from '../workspace/decoded-text.ts'
import { MOST_KEPT, type Reads } from '../workspace/reads.ts'
import type { FileResult } from '../workspace/results.ts'
import { FILE_CODES } from './codes.ts'
import { hashesOf } from './file-hash.ts'
import { find } from './find.ts'
import { PATH_HINT } from './hints.ts'
import type {
  CallResult,
  CallFailure,
  FieldFault,
  FixedFault,
  InspectOutcome,
  Operation,
  Outcome
} from './operation.ts'
import { outlined } from './outlining.ts'
import { withHowRemoved } from './removals.ts'

/** How many entries of a directory one answer lists. */
export const MAX_ENTRIES = 500
/** How many items of a file's structure one answer lists at most, and by default. */
export const MAX_ITEMS = 2000
const DEFAULT_ITEMS = 200

/** How many bytes at the start of a file are checked for a #! line. */
const HEAD = 200

const OF_A_FILE = [
  'start_line',
  'end_line',
  'start_column',
  'numbered',
  'structure',
  'start_item',
  'max_items'
] as const

/** The fields that ask for content. */
const OF_CONTENT = ['start_line', 'end_line', 'start_column', 'numbered'] as const

export const makeInspect = (
  workspace: Workspace,
  { searcher, outliner, reads }: { searcher: Searcher; outliner: Outliner; reads: Reads }
): Operation<InspectRequest> => ({
  id: 'inspect_file',
  route: '/inspect',
  summary: 'Look at a file or list a directory',
  description: () =>
    'Reads a file, or a range of its lines, with its hash, encoding, line endings and indentation; ' +
    'or finds text (search), outlines Markdown and code (structure), lists a directory. ' +
    'Call it before an edit: copy old_text from content and pass the file_hash on as expected_hash.',
  hints: {
    path: `${PATH_HINT} "." lists it.`,
    start_line: 'To go on: next_line.',
    end_line: 'Inclusive.',
    start_column: 'To go on in a long line: next_column.',
    numbered: 'Line numbers before the lines; leave them out of old_text.',
    regex: 'RE2 syntax.',
    structure: 'List headings, code blocks and symbols with their lines.',
    start_item: 'To go on in structure: next_item.',
    facts: 'Without content.',
    after: 'To go on in a directory: next_entry.'
  },
  effect: 'looks',
  request: InspectRequestSchema,
  outcome: InspectResultSchema,
  codes: [...FILE_CODES, 'LINE_OUT_OF_RANGE', 'UNSUPPORTED_TARGET', 'FIND_NOT_SUPPORTED'],
  expects_hash: false,
  expects_none: false,
  items: {},
  async call(request, { client, caller = {} } = {}) {
    const fault = misplaced(request)
    if (fault !== null) return fault
    const search = searchOf(request)
    if (!search.ok) return { ...search, path: request.path }
    if (search.value !== null && searcher.full) {
      return { ...fail({ code: 'NOT_READY', reason: 'searching', retry_after: 1 }), path: request.path }
    }
    if (request.structure === true && outliner.full) {
      return { ...fail({ code: 'NOT_READY', reason: 'parsing', retry_after: 1 }), path: request.path }
    }
    const faults = search.value?.regex === true ? await faultsOf(search.value, searcher) : []
    if (faults.length > 0) return { ...fail({ code: 'INVALID_REQUEST', faults }), path: request.path }
    const look = (keep: boolean) =>
      workspace.look(
        { path: request.path },
        {
          file: () => scanning(request, keep),
          directory: { limit: MAX_ENTRIES, after: request.after }
        }
      )
    const keeps = search.value !== null || request.structure === true
    const first = await look(keeps)
    // A file that isn't UTF-8 is decoded as a whole.
    const isForeign = first.ok && first.value.type === 'file' && FOREIGN.has(first.value.value.encoding)
    const looked = isForeign ? await inUtf8(request, keeps ? first : await look(true)) : first
    // A caller who only reads may not be able to undo anything.
    if (!looked.ok) return withHowRemoved(workspace, looked, 'no_undo')
    if (looked.value.type === 'directory') {
      return search.value === null
        ? listing(request, looked.value)
        : searching(request, search.value, found => find(found, { workspace, searcher, outliner, client }))
    }
    noteRead(reads, caller, request, looked.value)
    if (request.after !== undefined) {
      return invalid(request, ['after'], 'for_directories')
    }
    const structured = request.structure === true ? await structureOf(request, looked.value, outliner) : ok({})
    if (!structured.ok) return failed(looked.value, structured.failure)
    // The search comes last, since it hands the bytes to a thread.
    const facts = await factsOf(looked.value, search.value, searcher)
    return facts.ok ? withStructure(request, facts.value, structured.value) : facts
  }
})

/** Notes what a caller reads of a file, and keeps its text, so that an edit of what it read can be carried over. */
function noteRead(
  reads: Reads,
  caller: Author,
  { facts }: InspectRequest,
  { path, resolved_path = path, file_hash, value }: FileContent
): void {
  if (facts === true || value.facts === undefined) return
  reads.saw(caller, resolved_path, file_hash)
  if (value.read !== null) reads.keep(resolved_path, file_hash, value.read)
}

/** Encodings of files that are shown as UTF-8, if they can be. */
const FOREIGN: ReadonlySet<string> = new Set<Content['encoding']>(['unknown-8bit', 'utf-16le', 'utf-16be'])

/** The file, scanned again as UTF-8. */
async function inUtf8<F>(
  request: InspectRequest,
  looked: FileResult<Looked<Content>, F>
): Promise<FileResult<Looked<Content>, F>> {
  if (!looked.ok || looked.value.type !== 'file' || looked.value.value.bytes === null) return looked
  const { bytes, read } = looked.value.value
  const decoded = await decodedOf(bytes)
  if (decoded === null) return looked
  const scan = scanning(request, true)
  scan.push(decoded.text)
  return ok({ ...looked.value, value: { ...scan.finish(), encoding: decoded.codec.name, read } })
}

/** Those of these fields that a request has. */
const given = <F extends keyof InspectRequest>(request: InspectRequest, fields: readonly F[]): F[] =>
  fields.filter(field => request[field] !== undefined && request[field] !== false)

/** Refuses fields that have no effect without another one, or that contradict another one. */
function misplaced(request: InspectRequest): CallResult | null {
  const { structure, facts, start_item, max_items } = request
  if (structure !== true && (start_item ?? max_items) !== undefined) {
    return invalid(request, given(request, ['start_item', 'max_items']), 'without_structure')
  }
  const contradicting = facts === true ? given(request, OF_CONTENT) : []
  return contradicting.length > 0 ? invalid(request, contradicting, 'facts_alone') : null
}

function searchOf({ search, regex = false, ignore_case = false, context_lines = 0 }: InspectRequest) {
  const given = { regex, ignore_case, context_lines: context_lines > 0 }
  const alone = search === undefined ? Object.entries(given).flatMap(([field, is]) => (is ? [field] : [])) : []
  if (alone.length > 0) {
    return fail({
      code: 'INVALID_REQUEST' as const,
      faults: alone.map(field => ({ pointer: `/${field}`, reason: 'without_search' as const }))
    })
  }
  return ok<SearchRequest | null>(search === undefined ? null : { text: search, regex, ignore_case, context_lines })
}

/** What is wrong with a regular expression. */
async function faultsOf(search: SearchRequest, searcher: Searcher): Promise<FieldFault[]> {
  const checked = await searcher.check(search)
  if (checked === null) return [{ pointer: '/search', reason: 'slow_regex' }]
  return checked.ok ? [] : [{ pointer: '/search', reason: 'no_regex', syntax: checked.failure.message }]
}

/**
 * A scanned file, with its first bytes, which may tell the language, and all bytes if they are searched. `read`: all
 * bytes of what is shown, unless there are too many to keep.
 */
type FileContent = Extract<Looked<Content>, { type: 'file' }>
type Content = Omit<ScanResult, 'encoding'> & {
  encoding: Encoding | CodecName
  head: Buffer
  bytes: Buffer | null
  read: Buffer | null
}

function scanning(request: InspectRequest, keep: boolean): Consumer<Content> {
  const { path, start_line, end_line, start_column, numbered, facts } = request
  const window = {
    ...(start_line !== undefined && { start_line }),
    ...(end_line !== undefined && { end_line }),
    ...(start_column !== undefined && { start_column }),
    ...(numbered === true && { numbered })
  }
  // A request that asks for nothing else wants the content.
  const { search, structure } = request
  const most = facts === true ? 0 : MOST_KEPT
  const isForContent = search === undefined && structure !== true && facts !== true
  const shown = Object.keys(window).length > 0 || isForContent
  const scan = new Scan(path, shown ? window : undefined)
  let kept: Buffer[] = []
  let head = Buffer.alloc(0)
  let size = 0
  return {
    push(chunk) {
      scan.push(chunk)
      if (size === 0) head = Buffer.from(chunk.subarray(0, HEAD))
      size += chunk.length
      if (keep || size <= most) kept.push(Buffer.from(chunk))
      else kept = []
    },
    // The search may take its bytes along into a thread.
    finish: () => ({
      ...scan.finish(),
      head,
      bytes: keep ? Buffer.concat(kept) : null,
      read: size <= most ? Buffer.concat(kept) : null
    })
  }
}

const invalid = ({ path }: InspectRequest, fields: readonly string[], reason: FixedFault): CallResult => ({
  ...fail({ code: 'INVALID_REQUEST', faults: fields.map(field => ({ pointer: `/${field}`, reason })) }),
  path
})

function listing(request: InspectRequest, listed: Extract<Looked<unknown>, { type: 'directory' }>): CallResult {
  const foreign = given(request, OF_A_FILE)
  if (foreign.length > 0) {
    return invalid(request, foreign, 'for_files')
  }
  const { path, resolved_path, type, entries, truncated, next_entry, lossy } = listed
  return ok({
    operation: 'inspect',
    outcome: {
      path,
      resolved_path,
      type,
      entries,
      truncated,
      next_entry,
      lossy
    }
  })
}

/** Searches the files of a folder, as /find does. */
async function searching(
  request: InspectRequest,
  { text, regex, ignore_case, context_lines }: SearchRequest,
  findIn: (request: FindRequest) => Promise<CallResult>
): Promise<CallResult> {
  const foreign = given(request, OF_A_FILE)
  if (foreign.length > 0) return invalid(request, foreign, 'for_files')
  const { path, after } = request
  const found = await findIn({
    ...(regex ? { regex: text } : { text }),
    path,
    ...(ignore_case && { ignore_case }),
    ...(context_lines !== undefined && { context_lines }),
    ...(after !== undefined && { after })
  })
  if (found.ok) return found.value.operation === 'find' ? ok({ ...found.value, by_inspect: true }) : found
  const { failure } = found
  // The one field that the caller sent in place of two.
  return 'faults' in failure
    ? { ...found, failure: { ...failure, faults: failure.faults.map(fault => ({ ...fault, pointer: '/search' })) } }
    : found
}

const failed = ({ path, resolved_path, file_hash }: FileContent, failure: CallFailure): CallResult => ({
  ...fail(failure),
  path,
  file_hash,
  resolved_path
})

interface Structured {
  structure?: OutlineEntry[]
  total_items?: number
  next_item?: number
  syntax_error_lines?: number[]
}

/** The structure of a file; none for a binary file, which has only facts. */
async function structureOf(
  { start_item = 1, max_items = DEFAULT_ITEMS }: InspectRequest,
  { path, resolved_path, value: { facts, bytes } }: FileContent,
  outliner: Outliner
): Promise<Result<Structured, UnsupportedTarget>> {
  if (facts === undefined || bytes === null) return ok({})
  const shown = { start: start_item - 1, end: start_item - 1 + max_items }
  const outline = await outlined(resolved_path ?? path, bytes, undefined, language =>
    outliner.items(bytes, language, shown)
  )
  if (!outline.ok) return fail({ ...outline.failure, to_read: true })
  const { items, total, syntax_error_lines } = outline.value
  return ok({
    structure: items,
    total_items: total,
    ...(shown.end < total && { next_item: shown.end + 1 }),
    ...(syntax_error_lines.length > 0 && { syntax_error_lines })
  })
}

function withStructure({ start_item }: InspectRequest, facts: Outcome, structured: Structured): CallResult {
  if (facts.operation !== 'inspect' || structured.structure === undefined) return ok(facts)
  const truncated = facts.outcome.truncated === true || structured.next_item !== undefined
  return ok({
    ...facts,
    start_item,
    outcome: {
      ...facts.outcome,
      ...structured,
      ...((truncated || facts.outcome.truncated !== undefined) && { truncated })
    }
  })
}

async function factsOf(file: FileContent, search: SearchRequest | null, searcher: Searcher): Promise<CallResult> {
  const {
    path,
    resolved_path,
    type,
    file_size,
    file_hash,
    modified_at,
    value: { encoding, facts, window, head, bytes }
  } = file
  if (window?.ok === false) return failed(file, window.failure)
  const found = {
    path,
    resolved_path,
    type,
    file_size,
    ...hashesOf(file_hash),
    encoding,
    modified_at: modified_at.toISOString()
  }
  if (facts === undefined) return ok({ operation: 'inspect', outcome: found })
  // The name of a link doesn't tell the language of its target.
  const { language: sentLanguage, ...text } = facts
  const language = resolved_path === undefined ? sentLanguage : languageOf(resolved_path, head)
  const outcome: InspectOutcome = { ...found, ...text, language, ...window?.value }
  if (search === null || bytes === null) return ok({ operation: 'inspect', outcome })
  const { truncated, ...matched } = await searcher.search(bytes, search)
  return ok({
    operation: 'inspect',
    outcome: { ...outcome, ...matched, truncated: truncated || outcome.truncated === true },
    searched: { text: search.text, for_several_lines: search.regex && isForSeveralLines(search.text) }
  })
}
