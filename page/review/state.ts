// What the page has loaded and what is chosen, and how it is loaded. Does not know how it is drawn.
import type { Api } from './api.ts'
import { isPending, matching, mergeEdits, type Filter } from './model.ts'
import type {
  BlameAnswer,
  Conflict,
  FeedChange,
  Fix,
  HistoryEdit,
  PageProblem,
  PendingAnswer,
  Selection
} from './wire.ts'

export type View = 'pending' | 'edits' | 'file'

/** A take-back that was refused, until it is solved or left. */
export interface Refused {
  path: string
  /** What was to be taken back: it is shown with the hunks that have some of it. */
  changes: Selection[]
  conflicts: Conflict[]
  fixes: Fix[]
  detail: string
}

/** The edit by which a refusal is known: there is at most one of each. */
export const editOf = ({ changes }: Refused): string => changes[0]!.edit_id

/** What is to be shown of which file. */
export interface Wanted {
  path: string
  view: View
  /** The file view: as it was after this edit. */
  at?: string
  /** The session in whose list it was chosen; without one, it is chosen in all of them. */
  row?: string
}

export interface OpenFile {
  path: string
  view: View
  row?: string
  pending?: PendingAnswer
  edits?: { edits: HistoryEdit[]; next_before?: string }
  /** All edits of each batch that one of `edits` is of, by its id; only where they are shown edit by edit. */
  batches?: ReadonlyMap<string, HistoryEdit[]>
  blame?: BlameAnswer
  problem?: PageProblem
}

export interface State {
  loaded: boolean
  /** Why nothing could be loaded. */
  problem: PageProblem | null
  edits: HistoryEdit[]
  /** Pending edits older than those that are loaded. */
  older_pending: string | undefined
  /** Edits of any kind older than those that are loaded. */
  older: string | undefined
  filter: Filter
  file: OpenFile | null
  /** The file that is shown, or is being read to be shown. */
  wanted: Wanted | null
  /** Counts what was opened, so that a late answer doesn't replace what was opened after it. */
  opened: number
  side: boolean
  /** What others did since the lists were loaded. */
  fresh: FeedChange[]
  refused: Refused[]
  degraded: boolean
}

export const firstState = (): State => ({
  loaded: false,
  problem: null,
  edits: [],
  older_pending: undefined,
  older: undefined,
  filter: { show: 'pending', text: '' },
  file: null,
  wanted: null,
  opened: 0,
  side: false,
  fresh: [],
  refused: [],
  degraded: false
})

/** Edits of one answer, the most that /history gives. */
const PAGE = 200
/** Answers that are read at first. */
const PAGES = 5

/** Reads pages of /history until there are no more, or as many as are read at a time. */
async function readPages(api: Api, query: object, before?: string) {
  const edits: HistoryEdit[] = []
  let next = before
  for (let page = 0; page < PAGES; page++) {
    const answer = await api.history({ ...query, limit: PAGE, before: next })
    if (!answer.ok) return answer
    edits.push(...answer.body.edits)
    next = answer.body.next_before
    if (next === undefined) break
  }
  return { ok: true as const, edits, next }
}

/**
 * Reads the lists again. `own`: after something that this page did; then edits of others that weren't shown before stay
 * hidden until they are asked for, so that nothing moves under the cursor. Not to be called while it runs.
 */
export async function loadLists(state: State, api: Api, own: boolean): Promise<void> {
  const told = new Set(state.fresh)
  const [pending, recent, degraded] = await Promise.all([
    readPages(api, { review: 'pending' }),
    api.history({ limit: PAGE }),
    api.isDegraded()
  ])
  state.degraded = degraded
  if (!pending.ok || !recent.ok) {
    state.problem = !pending.ok ? pending.problem : !recent.ok ? recent.problem : null
    return
  }
  state.problem = null
  const known = new Set(state.edits.map(({ edit_id }) => edit_id))
  const found = mergeEdits(pending.edits, recent.body.edits)
  const isShown = ({ edit_id, session }: HistoryEdit) => !own || known.has(edit_id) || session === api.session
  // Older ones that were loaded on demand stay, as far as nothing newer is known of them.
  const still = new Set(pending.edits.map(({ edit_id }) => edit_id))
  const oldest = pending.next === undefined ? '' : (pending.edits.at(-1)?.edit_id ?? '')
  const isOver = (edit: HistoryEdit) => isPending(edit) && edit.edit_id >= oldest && !still.has(edit.edit_id)
  const older = state.edits.filter(edit => own && !isOver(edit))
  state.edits = mergeEdits(older, found.filter(isShown))
  state.older_pending = pending.next
  state.older = recent.body.next_before
  // What was told while this was read may be in it, or not.
  const listed = new Set(state.edits.map(({ edit_id }) => edit_id))
  const isNew = (change: FeedChange) => !told.has(change) && (change.type !== 'edit' || !listed.has(change.edit_id))
  if (!own) state.fresh = state.fresh.filter(isNew)
  state.loaded = true
}

/** Reads older edits of what is shown. Returns what went wrong. */
export async function loadOlder(state: State, api: Api): Promise<PageProblem | null> {
  const isPendingList = state.filter.show === 'pending'
  const before = isPendingList ? state.older_pending : state.older
  const answer = await readPages(api, isPendingList ? { review: 'pending' } : {}, before)
  if (!answer.ok) return answer.problem
  state.edits = mergeEdits(state.edits, answer.edits)
  if (isPendingList) state.older_pending = answer.next
  else state.older = answer.next
  return null
}

/** Edits of a file that are read at a time, with their diffs. */
const EDITS_WITH_DIFF = 50
/** Lines of a file that are read at a time. */
const LINES = 5000

/** Opens a file in a view, or reads it again. */
export async function loadFile(state: State, api: Api, wanted: Wanted): Promise<void> {
  const { path, view, at, row } = wanted
  const turn = ++state.opened
  state.wanted = wanted
  const file: OpenFile = { path, view, row }
  const failed = (answer: { ok: false; problem: PageProblem }) => {
    file.problem = answer.problem
  }
  if (view === 'pending') {
    const answer = await api.pending(path)
    if (answer.ok) file.pending = answer.body
    else failed(answer)
  } else {
    const isFile = view === 'file'
    const [edits, blame] = await Promise.all([
      api.history({ path, ...(isFile ? { limit: PAGE } : { limit: EDITS_WITH_DIFF, show_diff: true }) }),
      isFile ? api.blame({ path, limit: LINES, at }) : null
    ])
    if (!edits.ok) failed(edits)
    else {
      const { edits: all, next_before } = edits.body
      file.edits = { edits: all, next_before }
      if (!isFile) file.batches = await batchesOf(api, all, new Map())
    }
    if (blame?.ok === true) file.blame = blame.body
    else if (blame !== null) failed(blame)
  }
  if (turn === state.opened) state.file = file
}

/** All edits of each batch that one of these is of; a batch that can't be read is left out. */
async function batchesOf(api: Api, edits: readonly HistoryEdit[], known: ReadonlyMap<string, HistoryEdit[]>) {
  const ids = new Set(edits.flatMap(({ batch_id }) => (batch_id === undefined ? [] : [batch_id])))
  const found = await Promise.all(
    [...ids]
      .filter(id => !known.has(id))
      .map(async batch_id => {
        // A batch has no more files than one answer lists.
        const answer = await api.history({ batch_id, limit: PAGE })
        return answer.ok ? ([[batch_id, answer.body.edits]] as const) : []
      })
  )
  return new Map([...known, ...found.flat()])
}

/** Reads older edits of the open file. Returns what went wrong. */
export async function loadOlderOfFile({ file }: State, api: Api): Promise<PageProblem | null> {
  const { edits, path } = file ?? {}
  if (edits?.next_before === undefined) return null
  const query = { path, limit: EDITS_WITH_DIFF, show_diff: true, before: edits.next_before }
  const answer = await api.history(query)
  if (!answer.ok) return answer.problem
  const batches = await batchesOf(api, answer.body.edits, file!.batches ?? new Map())
  // Asked for twice, it is given once.
  if (edits.next_before !== query.before) return null
  file!.batches = batches
  edits.edits.push(...answer.body.edits)
  if (answer.body.next_before === undefined) delete edits.next_before
  else edits.next_before = answer.body.next_before
  return null
}

/** Reads more lines of the open file, with who wrote them. Returns what went wrong. */
export async function loadMoreLines({ file }: State, api: Api): Promise<PageProblem | null> {
  const { blame } = file ?? {}
  if (blame?.next_line === undefined) return null
  const { path, at, next_line } = blame
  const answer = await api.blame({ path, start_line: next_line, limit: LINES, at })
  if (!answer.ok) return answer.problem
  if (blame.next_line !== next_line) return null
  const known = new Set(blame.edits.map(({ edit_id }) => edit_id))
  blame.lines.push(...answer.body.lines)
  blame.edits.push(...answer.body.edits.filter(({ edit_id }) => !known.has(edit_id)))
  if (answer.body.next_line === undefined) delete blame.next_line
  else blame.next_line = answer.body.next_line
  return null
}

/** The edits that the list shows. */
export const shownEdits = ({ edits, filter }: State): HistoryEdit[] => matching(edits, filter)
