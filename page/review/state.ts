// What the page has loaded and selected, and how it is loaded. Does not know how it is drawn.
import type { Api } from './api.ts'
import type { Refusal } from './conflict.ts'
import { ASKED_FOR, readFilter } from './filter.ts'
import { isPending, matching, mergeEdits, type Filter, type View } from './model.ts'
import type {
  BlameAnswer,
  CapabilitiesAnswer,
  FeedChange,
  HistoryEdit,
  PageProblem,
  PendingAnswer,
  Selection
} from './wire.ts'

/** A refused undo, until it is resolved or dismissed. */
export interface Refused extends Refusal {
  path: string
  /** The changes that were to be undone: the refusal is shown at hunks that have some of them. */
  changes: Selection[]
}

/** The edit that identifies a refusal: there is at most one for each. */
export const editOf = ({ changes }: Refused): string => changes[0]!.edit_id

/** Which file to show, and how. */
export interface Wanted {
  path: string
  view: View
  /** In the file view: show the file as it was after this edit. */
  at?: string
  /** The session in whose list it was selected; without one, it is selected in all of them. */
  row?: string
}

interface OpenFile {
  path: string
  view: View
  row?: string
  pending?: PendingAnswer
  edits?: { edits: HistoryEdit[]; next_before?: string }
  /** All edits of each batch that one of `edits` belongs to, by batch id; only when shown edit by edit. */
  batches?: ReadonlyMap<string, HistoryEdit[]>
  blame?: BlameAnswer
  problem?: PageProblem
}

export interface State {
  loaded: boolean
  /** Why nothing could be loaded. */
  problem: PageProblem | null
  edits: HistoryEdit[]
  /** The ids of all edits that were listed once. */
  seen: Set<string>
  /** Set if there are older edits than the loaded ones; all that are to be reviewed are loaded. */
  older: string | undefined
  filter: Filter
  /** What is wrong with the filter, in a sentence. */
  fault: string | null
  file: OpenFile | null
  /** The file that is shown, or is being loaded. */
  wanted: Wanted | null
  /** The key of the hunk that is read. */
  hunk: string | undefined
  /** What the token may do; null while that isn't known. */
  rights: CapabilitiesAnswer | null
  /** Counts opened files, so that a late answer doesn't replace a file that was opened later. */
  opened: number
  /** Old and new side by side. */
  side: boolean
  /** Also changes of white space only. */
  spaces: boolean
  /** What others did since the lists were loaded. */
  fresh: FeedChange[]
  refused: Refused[]
  degraded: boolean
}

export const firstState = (): State => ({
  loaded: false,
  problem: null,
  edits: [],
  seen: new Set(),
  older: undefined,
  filter: { show: 'pending', text: '' },
  fault: null,
  file: null,
  wanted: null,
  hunk: undefined,
  rights: null,
  opened: 0,
  side: false,
  spaces: true,
  fresh: [],
  refused: [],
  degraded: false
})

/** Edits in one answer, the most that /history gives. */
const PAGE = 200

/** Reads pages of /history until there are no more, or at least `enough` edits. */
async function readPages(api: Api, query: object, enough: number, before?: string) {
  const edits: HistoryEdit[] = []
  let next = before
  do {
    const answer = await api.history({ ...query, limit: PAGE, before: next })
    if (!answer.ok) return answer
    edits.push(...answer.body.edits)
    next = answer.body.next_before
  } while (next !== undefined && edits.length < enough)
  return { ok: true as const, edits, next }
}

/** Reads a page of what is shown besides what is to be reviewed, from `before` on. */
async function loadMore({ filter: { show } }: State, api: Api, asked: object, before?: string) {
  if (show === 'pending') return { ok: true as const, edits: [], next: undefined }
  return readPages(api, { ...asked, ...ASKED_FOR[show] }, PAGE, before)
}

/**
 * Reloads the lists. `own`: after an action of this page; then new edits of others stay hidden until they are asked
 * for, so that nothing moves under the cursor. Must not be called while it runs.
 */
export async function loadLists(state: State, api: Api, own: boolean): Promise<void> {
  const reported = new Set(state.fresh)
  const filter = readFilter(state.filter.text, Date.now())
  state.fault = filter.ok ? null : filter.fault
  if (!filter.ok) {
    state.loaded = true
    return
  }
  const { asked } = filter
  const [pending, uncertain, recent, degraded] = await Promise.all([
    readPages(api, { ...asked, review: 'pending' }, Infinity),
    readPages(api, { ...asked, state: 'uncertain' }, Infinity),
    loadMore(state, api, asked),
    api.isDegraded()
  ])
  state.degraded = degraded
  for (const answer of [pending, uncertain, recent]) if (!answer.ok) state.problem = answer.problem
  if (!pending.ok || !uncertain.ok || !recent.ok) return
  state.problem = null
  const found = mergeEdits(recent.edits, [...uncertain.edits, ...pending.edits])
  const isShown = ({ edit_id, session }: HistoryEdit) => !own || state.seen.has(edit_id) || session === api.session
  // Older edits that were loaded on demand stay, unless something newer is known about them.
  const still = new Set(pending.edits.map(({ edit_id }) => edit_id))
  const isOver = (edit: HistoryEdit) => isPending(edit) && !still.has(edit.edit_id)
  const older = state.edits.filter(edit => own && !isOver(edit))
  state.edits = mergeEdits(older, found.filter(isShown))
  state.older = recent.next
  // An event during the reading may be included in it, or not.
  const listed = new Set(state.edits.map(({ edit_id }) => edit_id))
  for (const edit_id of listed) state.seen.add(edit_id)
  const isNew = (change: FeedChange) => !reported.has(change) && (change.type !== 'edit' || !listed.has(change.edit_id))
  if (!own) state.fresh = state.fresh.filter(isNew)
  state.loaded = true
}

/** Loads older edits of what is shown. Returns the problem if it fails. */
export async function loadOlder(state: State, api: Api): Promise<PageProblem | null> {
  const read = readFilter(state.filter.text, Date.now())
  if (!read.ok) return null
  const answer = await loadMore(state, api, read.asked, state.older)
  if (!answer.ok) return answer.problem
  state.edits = mergeEdits(state.edits, answer.edits)
  state.older = answer.next
  return null
}

/** The refusals whose edits still stand, or can't be looked up. */
export async function stillRefused({ refused }: State, api: Api): Promise<Refused[]> {
  const answers = await Promise.all(refused.map(one => api.history({ edit_id: editOf(one) })))
  return refused.filter((_, i) => {
    const answer = answers[i]!
    return !answer.ok || answer.body.edits.some(({ state }) => state !== 'undone')
  })
}

/** How many edits of a file are loaded at a time, with their diffs. */
const EDITS_WITH_DIFF = 50
/** How many lines of a file are loaded at a time. */
const LINES = 5000

/** Opens a file in a view, or reloads it. */
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

/** All edits of each batch that one of these belongs to; a batch that can't be read is left out. */
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

/** Loads older edits of the open file. Returns the problem if it fails. */
export async function loadOlderOfFile({ file }: State, api: Api): Promise<PageProblem | null> {
  const { edits, path } = file ?? {}
  if (edits?.next_before === undefined) return null
  const query = { path, limit: EDITS_WITH_DIFF, show_diff: true, before: edits.next_before }
  const answer = await api.history(query)
  if (!answer.ok) return answer.problem
  const batches = await batchesOf(api, answer.body.edits, file!.batches ?? new Map())
  // If two calls overlap, only the first adds its edits.
  if (edits.next_before !== query.before) return null
  file!.batches = batches
  edits.edits.push(...answer.body.edits)
  if (answer.body.next_before === undefined) delete edits.next_before
  else edits.next_before = answer.body.next_before
  return null
}

/** Loads more lines of the open file, with their authors. Returns the problem if it fails. */
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

/** The edits that the list shows; those behind a gap in what is loaded are left out. */
export const shownEdits = ({ edits, filter: { show }, older }: State): HistoryEdit[] =>
  matching(edits, show).filter(({ edit_id }) => show === 'pending' || older === undefined || edit_id >= older)
