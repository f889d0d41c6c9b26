// Groups and describes edits for the page: who changed which files, and what needs a person. Pure; does not know the
// DOM, or how edits are fetched.
import type { CapabilitiesAnswer, EditFacts, HistoryEdit, Selection, UndoAnswer } from './wire.ts'

/** Why nothing can be kept or taken back; null if it can, or as long as that isn't known. */
export function whyNot(rights: CapabilitiesAnswer | null): string | null {
  const { root, access } = rights ?? {}
  if (access?.scope === 'read') return 'This token may only look: to keep or take back, use one that may review.'
  if (root?.read_only === true) return 'The server is read-only: you can look, but not keep or take back.'
  if (access?.scope === 'edit') return 'This token may edit, but not review: to keep or take back, use one that may.'
  return null
}

/** Which edits the list shows. */
export type Shown = 'pending' | 'undone' | 'kept' | 'all'

/** How a file is shown: what is pending, edit by edit, or its lines with their authors. */
export type View = 'pending' | 'edits' | 'file'

export interface Filter {
  show: Shown
  text: string
}

/** The edits of one file in a session, newest first. */
export interface FileRow {
  path: string
  /** Where the file was before its last move, if that is among the edits. */
  moved_from?: string
  edits: HistoryEdit[]
  lines_added: number
  lines_removed: number
}

/** What one agent did in one session. */
export interface SessionRow {
  key: string
  agent: string
  session?: string
  edits: HistoryEdit[]
  files: FileRow[]
}

/** Why an edit needs a person. */
export type Need = 'uncertain' | 'outside' | 'no_texts'

/** The author of an edit as the page names it: the token, which is certain, before the agent's name for itself. */
export function authorOf({ token, agent, operation }: Pick<EditFacts, 'token' | 'agent' | 'operation'>): string {
  if (token !== undefined) return agent === undefined ? token : `${token}: ${agent}`
  return agent ?? (operation === 'outside' ? 'another program' : 'unnamed agent')
}

/** The author of changes by other programs. */
export const OUTSIDE = authorOf({ operation: 'outside' })

export const isPending = ({ review }: EditFacts): boolean => review === 'pending'
export const isUndone = ({ state, operation }: EditFacts): boolean => state === 'undone' && !isToggle(operation)

/** Undo and redo aren't reviewed; the changes that they toggled are. */
export const isToggle = (operation: string): boolean => operation === 'undo' || operation === 'redo'

/** Merges both lists, newest first; for an edit in both, the second list wins. */
export function mergeEdits(known: readonly HistoryEdit[], more: readonly HistoryEdit[]): HistoryEdit[] {
  const byId = new Map([...known, ...more].map(edit => [edit.edit_id, edit]))
  return [...byId.values()].sort((a, b) => (a.edit_id < b.edit_id ? 1 : -1))
}

export function needOf(edit: HistoryEdit): Need | null {
  if (edit.state === 'uncertain') return 'uncertain'
  if (!isPending(edit)) return null
  if (edit.operation === 'outside') return 'outside'
  return edit.metadata_only === true || edit.texts_lost === true ? 'no_texts' : null
}

const SHOWS: Record<Shown, (edit: HistoryEdit) => boolean> = {
  pending: edit => isPending(edit) || needOf(edit) !== null,
  undone: isUndone,
  kept: ({ review }) => review === 'kept',
  all: () => true
}

/** The edits that a choice shows. */
export const matching = (edits: readonly HistoryEdit[], show: Shown): HistoryEdit[] => edits.filter(SHOWS[show])

const groupedBy = <Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> => {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

const sum = (edits: readonly HistoryEdit[], field: 'lines_added' | 'lines_removed') =>
  edits.reduce((total, edit) => total + edit[field], 0)

/** The other half of a move, if it is among these edits. */
export const otherHalf = (edit: HistoryEdit, edits: readonly HistoryEdit[]): HistoryEdit | undefined =>
  edits.find(
    ({ batch_id, path, moved_from, moved_to }) =>
      batch_id === edit.batch_id &&
      path === (edit.moved_from ?? edit.moved_to) &&
      (moved_from ?? moved_to) === edit.path
  )

/** The edits, each move once: as the edit at its new path, if that is among them. */
export const wholeMoves = (edits: readonly HistoryEdit[]): HistoryEdit[] =>
  edits.filter(edit => edit.moved_to === undefined || otherHalf(edit, edits) === undefined)

/** Ids of edits, and of the other halves of moves among them, as far as these are known. */
export function withHalves(edit_ids: readonly string[], known: readonly HistoryEdit[]): string[] {
  const ids = new Set(edit_ids)
  const moves = known.filter(({ moved_from, moved_to }) => (moved_from ?? moved_to) !== undefined)
  for (const half of moves) {
    const other = edit_ids.includes(half.edit_id) ? otherHalf(half, moves) : undefined
    if (other !== undefined) ids.add(other.edit_id)
  }
  return [...ids]
}

/** Whether a file was only moved: both halves have the same text. `edits` have the other half. */
export function isPureMove(edit: HistoryEdit, edits: readonly HistoryEdit[]): boolean {
  if ((edit.moved_from ?? edit.moved_to) === undefined) return false
  const other = otherHalf(edit, edits)
  return other !== undefined && (edit.file_hash ?? edit.hash_before) === (other.hash_before ?? other.file_hash)
}

/** One row for each file; both halves of a move are in that of the new path. */
function filesOf(edits: readonly HistoryEdit[]): FileRow[] {
  const shown = new Set(wholeMoves(edits))
  return [...groupedBy(edits, edit => (shown.has(edit) ? edit.path : edit.moved_to!))].map(([path, edits]) => {
    const changed = edits.filter(edit => !isPureMove(edit, edits))
    return {
      path,
      moved_from: edits.find(({ moved_from }) => moved_from !== undefined)?.moved_from,
      edits,
      lines_added: sum(changed, 'lines_added'),
      lines_removed: sum(changed, 'lines_removed')
    }
  })
}

/** What the operation of each edit did, in words that follow the author's name. */
const DID: Record<string, string> = {
  edit: 'edited',
  edit_lines: 'edited lines',
  edit_section: 'edited a section',
  create: 'created it',
  replace: 'replaced text',
  batch: 'edited in a batch',
  apply_patch: 'applied a patch',
  undo: 'took back',
  redo: 'restored',
  outside: 'changed it'
}

/** What an edit did, in words that follow the author's name; they name paths. `files`: how many its batch changed. */
export function didOf(
  { operation, path, moved_from, moved_to, hash_before, file_hash }: HistoryEdit,
  files = 1
): string {
  const [from, to] = moved_from === undefined ? [path, moved_to] : [moved_from, path]
  if (to !== undefined) return `moved it from ${from} to ${to}`
  if (!isToggle(operation) && hash_before !== undefined && file_hash === undefined) return 'deleted it'
  if (operation === 'replace' && files > 1) return `replaced text in ${counted(files, 'file')}`
  return DID[operation] ?? operation
}

/** Identifies the session of an edit, with its author. */
export const sessionKey = (edit: EditFacts): string => JSON.stringify([authorOf(edit), edit.session])

/** Groups edits by author and session; `edits` are newest first, and so are the rows. */
export function sessionsOf(edits: readonly HistoryEdit[]): SessionRow[] {
  const groups = groupedBy(edits, sessionKey)
  return [...groups].map(([key, edits]) => {
    const { session } = edits[0]!
    return { key, agent: authorOf(edits[0]!), session, edits, files: filesOf(edits) }
  })
}

interface Summary {
  /** ISO 8601; null if nothing is pending. */
  since: string | null
  agents: number
  files: number
  edits: number
}

export function summaryOf(edits: readonly HistoryEdit[]): Summary {
  const pending = wholeMoves(edits.filter(isPending))
  return {
    since: pending.at(-1)?.at ?? null,
    agents: new Set(pending.filter(({ operation }) => operation !== 'outside').map(authorOf)).size,
    files: new Set(pending.map(({ path }) => path)).size,
    edits: pending.length
  }
}

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** The sentence at the top. `time` formats a time for a person; `needs`: how many edits need a person. */
export function summarySentence({ since, agents, files, edits }: Summary, needs: number, time: (at: string) => string) {
  const all = [counted(agents, 'agent'), counted(files, 'file'), counted(edits, 'edit')].join(', ')
  const need = needs === 0 ? '' : ` ${needs} ${needs === 1 ? 'needs' : 'need'} you.`
  return since === null ? `Nothing to review.${need}` : `Since ${time(since)}: ${all}.${need}`
}

/** Merges lists of changes, each edit once. */
function together(lists: readonly (readonly Selection[])[]): Selection[] {
  const byEdit = groupedBy(lists.flat(), ({ edit_id }) => edit_id)
  return [...byEdit].map(([edit_id, all]) => {
    // A selection without indexes is the whole edit.
    if (all.some(({ change_indexes }) => change_indexes === undefined)) return { edit_id }
    const indexes = new Set(all.flatMap(({ change_indexes = [] }) => change_indexes))
    return { edit_id, change_indexes: [...indexes].sort((a, b) => a - b) }
  })
}

/** Whether two sets of changes overlap. */
export const overlap = (some: readonly Selection[], others: readonly Selection[]): boolean =>
  some.some(one =>
    others.some(
      other =>
        one.edit_id === other.edit_id &&
        (one.change_indexes?.some(i => other.change_indexes?.includes(i) ?? true) ?? true)
    )
  )

/** Pending changes; `undone`: those of them that were kept and undone later. */
export interface PendingChanges {
  changes: Selection[]
  undone?: Selection[]
}

/** The changes of all hunks. */
export const changesOf = (hunks: readonly PendingChanges[]): Required<PendingChanges> => ({
  changes: together(hunks.map(({ changes }) => changes)),
  undone: together(hunks.map(({ undone = [] }) => undone))
})

/** A key for each hunk, which stays while others come and go: its first change, counted if several hunks have that. */
export function hunkKeys(hunks: readonly PendingChanges[]): string[] {
  const seen = new Map<string, number>()
  return hunks.map(({ changes: [first] }) => {
    const key = `hunk-${first?.edit_id}.${first?.change_indexes?.[0] ?? 0}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return count === 1 ? key : `${key}.${count}`
  })
}

/** The pending changes that are applied, which can be undone; the others can be restored. */
export function applied({ changes, undone = [] }: PendingChanges): Selection[] {
  const gone = new Map(undone.map(({ edit_id, change_indexes }) => [edit_id, change_indexes]))
  return changes.flatMap(selection => {
    const { edit_id, change_indexes } = selection
    if (!gone.has(edit_id)) return [selection]
    const indexes = gone.get(edit_id)
    if (indexes === undefined) return []
    if (change_indexes === undefined) return [selection]
    const left = change_indexes.filter(i => !indexes.includes(i))
    return left.length === 0 ? [] : [{ edit_id, change_indexes: left }]
  })
}

type Facts = ReadonlyMap<string, EditFacts>

const authorIn =
  (edits: Facts) =>
  ({ edit_id }: Selection): string => {
    const edit = edits.get(edit_id)
    return edit === undefined ? 'unnamed agent' : authorOf(edit)
  }

/** The authors of pending changes, and the changes of each, in order of first appearance. */
export function byAuthor(
  { changes, undone = [] }: PendingChanges,
  edits: Facts
): (Required<PendingChanges> & { author: string })[] {
  const nameOf = authorIn(edits)
  return [...groupedBy(changes, nameOf)].map(([author, changes]) => ({
    author,
    changes,
    undone: undone.filter(change => nameOf(change) === author)
  }))
}

/** Pending changes of some hunks that are kept or taken back with one press. */
export interface Share extends Required<PendingChanges> {
  /** The authors, each with how many hunks have changes of theirs. */
  authors: Map<string, number>
  /** How many hunks have any of the changes. */
  hunks: number
}

/** The changes of hunks that are in an edit which `isMeant` accepts. */
export function shareOf(hunks: readonly PendingChanges[], edits: Facts, isMeant: (edit: EditFacts) => boolean): Share {
  const isIn = ({ edit_id }: Selection) => {
    const edit = edits.get(edit_id)
    return edit !== undefined && isMeant(edit)
  }
  const shares = hunks
    .map(({ changes, undone = [] }) => ({ changes: changes.filter(isIn), undone: undone.filter(isIn) }))
    .filter(({ changes }) => changes.length > 0)
  const authors = new Map<string, number>()
  for (const { changes } of shares) {
    for (const author of new Set(changes.map(authorIn(edits)))) authors.set(author, (authors.get(author) ?? 0) + 1)
  }
  return { ...changesOf(shares), authors, hunks: shares.length }
}

/**
 * A share in words: "claude's 3 hunks", "2 of claude's 3 hunks", or with several authors "5 hunks: ann 2, bob 3".
 * `whole`: all that its authors have in the file.
 */
export function shareName({ authors, hunks, changes }: Share, whole: Share): string {
  const [[author] = [''], ...others] = authors
  const isPart = JSON.stringify(changes) !== JSON.stringify(whole.changes)
  const part = hunks < whole.hunks ? `${hunks} of ` : isPart ? 'part of ' : ''
  if (others.length === 0) return `${part}${author}'s ${whole.hunks === 1 ? 'hunk' : counted(whole.hunks, 'hunk')}`
  return `${part}${counted(whole.hunks, 'hunk')}: ${[...authors].map(([name, count]) => `${name} ${count}`).join(', ')}`
}

/** The result of a dry run in words: "6 files change, 3 other edits stay, 1 conflict". `edits`: all known edits. */
export function dryRunSentence({ results, undone, skipped }: UndoAnswer, edits: readonly HistoryEdit[]): string {
  const files = results.filter(({ changed }) => changed)
  const paths = new Set(files.map(({ path }) => path))
  const taken = new Set([...undone, ...skipped])
  const others = edits.filter(
    ({ path, edit_id, state, operation }) =>
      paths.has(path) && !taken.has(edit_id) && state !== 'undone' && !isToggle(operation)
  )
  return [
    `${counted(files.length, 'file')} ${files.length === 1 ? 'changes' : 'change'}`,
    ...(others.length > 0 ? [`${counted(others.length, 'other edit')} ${others.length === 1 ? 'stays' : 'stay'}`] : []),
    counted(skipped.length, 'conflict').replace(/^0 /, 'no ')
  ].join(', ')
}

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min']
]

/** How long ago a time was: "3 min ago". `now` in ms since 1970. Text that is no time stays as it is. */
export function agoText(at: string, now: number): string {
  const seconds = (now - new Date(at).getTime()) / 1000
  if (Number.isNaN(seconds)) return at
  const found = UNITS.find(([length]) => seconds >= length)
  return found === undefined ? 'just now' : `${Math.floor(seconds / found[0])} ${found[1]} ago`
}

/** One of eight colours for a name, the same at each visit. */
export function colourOf(name: string): number {
  let hash = 0
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003
  return hash % 8
}

interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
  line?: number
  base_line?: number
  no_break?: true
}

/** The hunks of a unified diff of one file, each with its heading and line numbers. */
export function diffHunks(diff: string): { heading: string; lines: DiffLine[] }[] {
  const hunks: { heading: string; lines: DiffLine[] }[] = []
  let [line, base_line] = [0, 0]
  for (const text of diff.split('\n')) {
    const at = /^(@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@)/.exec(text)
    const lines = hunks.at(-1)?.lines
    const last = lines?.at(-1)
    if (at !== null) {
      ;[base_line, line] = [Number(at[2]), Number(at[3])]
      hunks.push({ heading: at[1]!, lines: [] })
    } else if (text.startsWith('\\') && last !== undefined) last.no_break = true
    else if (text.startsWith('+')) lines?.push({ kind: 'added', text: text.slice(1), line: line++ })
    else if (text.startsWith('-')) lines?.push({ kind: 'removed', text: text.slice(1), base_line: base_line++ })
    else if (text.startsWith(' ')) {
      lines?.push({ kind: 'same', text: text.slice(1), line: line++, base_line: base_line++ })
    }
  }
  return hunks
}
