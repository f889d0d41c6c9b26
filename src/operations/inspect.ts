// /inspect: facts, a window of lines and matches of a file, or the entries of a directory.
import { InspectRequestSchema, InspectResultSchema, type InspectRequest } from '../../schemas/inspect.ts'
import { languageOf } from '../engine/language.ts'
import { Scan, type Scanned } from '../engine/scan.ts'
import { checkSearch } from '../engine/search.ts'
import type { Searcher } from '../off-thread/search.ts'
import { fail, ok } from '../result.ts'
import type { Consumer, Looked, Workspace } from '../workspace/workspace.ts'
import type { Called, InspectOutcome, Operation } from './operation.ts'

/** Entries of a directory that one answer lists. */
export const MAX_ENTRIES = 500

/** Bytes of a #! line that are looked at. */
const HEAD = 200

const OF_A_FILE = ['start_line', 'end_line', 'start_column', 'numbered', 'search', 'regex', 'ignore_case'] as const

export const makeInspect = (workspace: Workspace, searcher: Searcher): Operation<InspectRequest> => ({
  id: 'inspect_file',
  route: '/inspect',
  summary: 'Look at a file or list a directory',
  description: 'Tells size, hash, encoding, line endings and indentation of a file; reads a window of lines (start_line, end_line); finds text (search); lists a directory. Call it before an edit: copy old_text from content and pass the file_hash on as expected_hash.',
  rules: 'content is the exact text of the lines, without line numbers unless numbered is true; when truncated, go on with next_line. matches have line and columns. Paths are relative to the workspace root; "." lists it.',
  effect: 'looks',
  request: InspectRequestSchema,
  outcome: InspectResultSchema,
  expects_hash: false,
  expects_none: false,
  items: {},
  async call (request) {
    const search = searchOf(request)
    if (!search.ok) return { ...search, path: request.path }
    if (search.value !== null && searcher.full) return { ...fail({ code: 'NOT_READY', reason: 'searching', retry_after: 1 }), path: request.path }
    const looked = await workspace.look({ path: request.path }, {
      file: () => scanning(request, search.value !== null),
      directory: { limit: MAX_ENTRIES, ...request.after !== undefined && { after: request.after } }
    })
    if (!looked.ok) return looked
    if (looked.value.type === 'directory') return listing(request, looked.value)
    if (request.after !== undefined) return invalid(request, ['after'], 'lists a directory, and the path is a file; leave it out')
    return factsOf(looked.value, search.value, searcher)
  }
})

type Search = { text: string, regex: boolean, ignore_case: boolean }

function searchOf ({ search, regex = false, ignore_case = false }: InspectRequest) {
  const alone = search === undefined ? [...regex ? ['regex'] : [], ...ignore_case ? ['ignore_case'] : []] : []
  if (alone.length > 0) return fail({ code: 'INVALID_REQUEST' as const, errors: alone.map(field => ({ pointer: `/${field}`, message: 'belongs to search, which is missing' })) })
  if (search === undefined) return ok(null)
  const checked = checkSearch({ text: search, regex, ignore_case })
  return checked.ok
    ? ok<Search>({ text: search, regex, ignore_case })
    : fail({ code: 'INVALID_REQUEST' as const, errors: [{ pointer: '/search', message: `is no regular expression in RE2 syntax (${checked.failure.message})` }] })
}

/** What a scan says, the bytes by which a language may be known, and where they are searched all bytes. */
type Content = Scanned & { head: Buffer, bytes: Buffer | null }

function scanning (request: InspectRequest, keep: boolean): Consumer<Content> {
  const { path, start_line, end_line, start_column, numbered } = request
  const window = {
    ...start_line !== undefined && { start_line },
    ...end_line !== undefined && { end_line },
    ...start_column !== undefined && { start_column },
    ...numbered === true && { numbered }
  }
  const scan = new Scan(path, Object.keys(window).length > 0 ? window : undefined)
  const kept: Buffer[] = []
  return {
    push (chunk) {
      scan.push(chunk)
      if (keep || kept.length === 0) kept.push(Buffer.from(keep ? chunk : chunk.subarray(0, HEAD)))
    },
    finish: () => ({ ...scan.finish(), head: kept[0] ?? Buffer.alloc(0), bytes: keep ? Buffer.concat(kept) : null })
  }
}

const invalid = ({ path }: InspectRequest, fields: readonly string[], message: string): Called =>
  ({ ...fail({ code: 'INVALID_REQUEST', errors: fields.map(field => ({ pointer: `/${field}`, message })) }), path })

function listing (request: InspectRequest, listed: Extract<Looked<unknown>, { type: 'directory' }>): Called {
  const foreign = OF_A_FILE.filter(field => request[field] !== undefined && request[field] !== false)
  if (foreign.length > 0) return invalid(request, foreign, 'reads a file, and the path is a directory; leave it out to list the directory')
  const { path, resolved_path, type, entries, truncated, next_entry, lossy } = listed
  return ok({ operation: 'inspect', outcome: { path, ...resolved_path !== undefined && { resolved_path }, type, entries, truncated, ...next_entry !== undefined && { next_entry }, ...lossy && { lossy } } })
}

async function factsOf (file: Extract<Looked<Content>, { type: 'file' }>, search: Search | null, searcher: Searcher): Promise<Called> {
  const { path, resolved_path, type, file_size, file_hash, modified_at, value: { encoding, facts, window, head, bytes } } = file
  if (window?.ok === false) return { ...window, path, file_hash, ...resolved_path !== undefined && { resolved_path } }
  const found = { path, ...resolved_path !== undefined && { resolved_path }, type, file_size, file_hash, encoding, modified_at: modified_at.toISOString() }
  if (facts === undefined) return ok({ operation: 'inspect', outcome: found })
  // A link says nothing of the language of what it leads to.
  const { language: asked, ...text } = facts
  const language = resolved_path === undefined ? asked : languageOf(resolved_path, head)
  const outcome: InspectOutcome = { ...found, ...text, ...language !== undefined && { language }, ...window?.value }
  if (search === null || bytes === null) return ok({ operation: 'inspect', outcome })
  const { truncated, ...matched } = await searcher.search(bytes, search)
  return ok({ operation: 'inspect', outcome: { ...outcome, ...matched, truncated: truncated || outcome.truncated === true }, searched: search.text })
}
