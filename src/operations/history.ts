// /history: lists edits: who made them, where, and their state.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import {
  DEFAULT_LISTED,
  HistoryRequestSchema,
  HistoryResultSchema,
  type HistoryRequest,
  type ListedEdit
} from '../../schemas/history.ts'
import { editIdsOf } from '../engine/undo/change.ts'
import { decode } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord, HistoryQuery, PastEdit } from '../workspace/api.ts'
import { shortHash } from './file-hash.ts'
import type { HistoryReader } from '../workers/history-reader.ts'
import type { Workspace } from '../workspace/api.ts'
import { DIFF_LINES } from './file-operation.ts'
import { faultOfGlob, listOf } from './find.ts'
import { readableTexts } from './decoding.ts'
import { PATH_HINT } from './hints.ts'
import type { FieldFault, HistoryOutcome, Operation, OperationFailure } from './operation.ts'

/** How many changes of one edit are listed. */
const MAX_CHANGES = 1000

export const makeHistory = (workspace: Workspace, reader: HistoryReader): Operation<HistoryRequest> => ({
  id: 'edit_history',
  route: '/history',
  summary: 'List the edits that were made',
  description: ({ undo }) =>
    `Lists edits, newest first: who made them, where, and their state. ${undo} takes their edit_id.`,
  hints: {
    path: PATH_HINT,
    under: 'A directory.',
    words: 'All in the path, a name or the reason.',
    since: 'Such as 2026-11-22T12:40:00Z.',
    before: 'To go on: next_before.'
  },
  only_by_name: true,
  effect: 'looks',
  request: HistoryRequestSchema,
  outcome: HistoryResultSchema,
  codes: ['INVALID_PATH', 'PATH_NOT_ALLOWED', 'PROTECTED_PATH', 'HISTORY_GONE'],
  expects_hash: false,
  expects_none: false,
  items: {},
  async call(request) {
    const { path } = request
    const query = await queryOf(request)
    if (!query.ok) return { ...query, path }
    const page = await workspace.history({ ...query.value, texts: true, follow_moves: path !== undefined })
    if (!page.ok) return { ...page, path }
    const { edits, next_before, oldest_kept_at } = page.value
    const listed: HistoryOutcome['edits'] = []
    for (const edit of edits) {
      if (request.show_diff !== true) listed.push(factsOf(edit))
      else {
        listed.push({ ...factsOf(edit), ...(await diffOf(edit, reader)) })
        // A page may have 200 diffs, so let other requests run in between.
        await yieldToOthers()
      }
    }
    const outcome: HistoryOutcome = {
      edits: listed,
      next_before,
      ...(oldest_kept_at !== undefined && { oldest_kept_at: timeOf(oldest_kept_at) })
    }
    return ok({ operation: 'history', outcome })
  }
})

async function queryOf(request: HistoryRequest): Promise<Result<HistoryQuery, OperationFailure>> {
  const { show_diff: _, limit = DEFAULT_LISTED, edit_id, since, until, include, words, ...others } = request
  const times = Object.entries({ since, until }).flatMap(([name, text]) =>
    text === undefined ? [] : [{ name, time: Date.parse(text.replace(' ', 'T').toUpperCase()) }]
  )
  const faults = times
    .filter(({ time }) => Number.isNaN(time))
    .map(({ name }): FieldFault => ({ pointer: `/${name}`, reason: 'no_time' }))
  const { pathFilter } = include === undefined ? {} : await import('../workspace/globs.ts')
  const globs = pathFilter?.(listOf(include), []) ?? ok(() => true)
  if (!globs.ok) faults.push(faultOfGlob(globs.failure, { include }))
  if (faults.length > 0 || !globs.ok) return fail({ code: 'INVALID_REQUEST', faults })
  const fits = globs.value
  return ok({
    ...others,
    matches: record => fits(record.path, false) && (words === undefined || hasWords(record, words)),
    ...(edit_id !== undefined && { edit_ids: [edit_id] }),
    ...Object.fromEntries(times.map(({ name, time }) => [name, time])),
    limit
  })
}

/** Whether each word is in the path, in a name of the author or in the reason; upper and lower case are the same. */
function hasWords({ path, token, agent, session, reason }: EditRecord, words: string): boolean {
  const all = [decode(path).text, token, agent, session, reason].join('\n').toLowerCase()
  const wanted = words.toLowerCase().split(/\s+/)
  return wanted.every(word => all.includes(word))
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

function factsOf({
  record,
  other_path,
  texts,
  state,
  undone_by,
  review,
  units
}: PastEdit): HistoryOutcome['edits'][number] {
  const { edit_id, batch_id, operation, at, token, agent, session, reason, hash_before, hash_after, toggles } = record
  const path = decode(record.path)
  const changes = changesOf(record, units)
  return {
    edit_id,
    batch_id,
    operation,
    at: timeOf(at),
    path: path.text,
    lossy: path.lossy,
    ...(other_path !== undefined && { [hash_before === null ? 'moved_from' : 'moved_to']: decode(other_path).text }),
    token,
    agent,
    session,
    reason,
    ...(hash_before !== null && { hash_before: shortHash(hash_before) }),
    ...(hash_after !== null && { file_hash: shortHash(hash_after) }),
    lines_added: record.lines_added,
    lines_removed: record.lines_removed,
    state,
    review,
    undone_by,
    undoes: toggles && editIdsOf(toggles),
    ...(texts === 'none' && { metadata_only: true as const }),
    ...(texts === 'lost' && { texts_lost: true as const }),
    changes,
    // If the edit's texts weren't read, no change is listed.
    ...(((record.places ?? []).length > MAX_CHANGES || texts === 'unread') && { changes_truncated: true as const })
  }
}

const changesOf = ({ places }: EditRecord, units: PastEdit['units']): ListedEdit['changes'] =>
  (places ?? [])
    .slice(0, MAX_CHANGES)
    .map(({ start_line, new_start_line, lines_removed, lines_added }, change_index) => ({
      change_index,
      start_line,
      new_start_line,
      lines_removed,
      lines_added,
      ...(units?.undone.has(change_index) === true && { undone: true as const }),
      ...(units?.kept.has(change_index) === true && { kept: true as const })
    }))

async function diffOf({ record, texts }: PastEdit, reader: HistoryReader) {
  const { splices, places, path, hash_before, hash_after, encodings } = record
  if (texts === 'unread') return { diff_unavailable: 'page_full' as const }
  if (splices === null || places === null) return {}
  const { kept, ...shown } = await readableTexts({ splices, places, encodings })
  return reader.diff(shown.splices, shown.around, {
    path: path.toString(),
    exists: hash_before !== null,
    remains: hash_after !== null,
    max_lines: DIFF_LINES,
    kept
  })
}
