// What the page has loaded and what is chosen, and how it is loaded. Does not know how it is drawn.
import type { Api } from './api.ts'
import { isPending, matching, mergeEdits, type Filter } from './model.ts'
import type { BlameAnswer, Conflict, FeedChange, Fix, HistoryEdit, PageProblem, PendingAnswer } from './wire.ts'

export type View = 'pending' | 'edits' | 'file'

/** A take-back that was refused, until it is solved or left. */
export interface Refused {
  path: string
  /** Where it is shown: the first edit of the hunk. */
  edit_id: string
  conflicts: Conflict[]
  fixes: Fix[]
  detail: string
}

export interface OpenFile {
  path: string
  view: View
  pending?: PendingAnswer
  edits?: { edits: HistoryEdit[]; next_before?: string }
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
    const answer = await api.history({ ...query, limit: PAGE, ...(next !== undefined && { before: next }) })
    if (!answer.ok) return answer
    edits.push(...answer.body.edits)
    next = answer.body.next_before
    if (next === undefined) break
  }
  return { ok: true as const, edits, next }
}

/**
 * Reads the lists again. `own`: after something that this page did; then edits of others that weren't shown before stay
 * hidden until they are asked for, so that nothing moves under the cursor.
 */
export async function loadLists(state: State, api: Api, own: boolean): Promise<void> {
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
  const older = state.edits.filter(
    edit => own && !(isPending(edit) && pending.next === undefined && !still.has(edit.edit_id))
  )
  state.edits = mergeEdits(older, found.filter(isShown))
  state.older_pending = pending.next
  state.older = recent.body.next_before
  if (!own) state.fresh = []
  state.loaded = true
}

/** Reads older edits of what is shown. */
export async function loadOlder(state: State, api: Api): Promise<void> {
  const isPendingList = state.filter.show === 'pending'
  const before = isPendingList ? state.older_pending : state.older
  const answer = await readPages(api, isPendingList ? { review: 'pending' } : {}, before)
  if (!answer.ok) return
  state.edits = mergeEdits(state.edits, answer.edits)
  if (isPendingList) state.older_pending = answer.next
  else state.older = answer.next
}

/** Opens a file in a view, or reads it again. */
export async function loadFile(state: State, api: Api, path: string, view: View, at?: string): Promise<void> {
  const turn = ++state.opened
  const file: OpenFile = { path, view }
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
      api.history({ path, limit: isFile ? PAGE : 50, ...(!isFile && { show_diff: true }) }),
      isFile ? api.blame({ path, limit: 5000, ...(at !== undefined && { at }) }) : null
    ])
    if (!edits.ok) failed(edits)
    else {
      const { edits: all, next_before } = edits.body
      file.edits = { edits: all, ...(next_before !== undefined && { next_before }) }
    }
    if (blame?.ok === true) file.blame = blame.body
    else if (blame !== null) failed(blame)
  }
  if (turn === state.opened) state.file = file
}

/** The edits that the list shows. */
export const shownEdits = ({ edits, filter }: State): HistoryEdit[] => matching(edits, filter)
