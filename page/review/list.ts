// The list: first what needs a person, then sessions and their files. Does not know how anything is loaded or sent.
import type { Actions } from './actions.ts'
import { button, counts, h, hostile, named, timeElement, type Child } from './dom.ts'
import {
  colourOf,
  counted,
  isPending,
  isUndone,
  needOf,
  sessionsOf,
  wholeMoves,
  type FileRow,
  type Need,
  type SessionRow,
  type View
} from './model.ts'
import { doneAt, doneBlock, type Place } from './notices.ts'
import { editOf, shownEdits, type State } from './state.ts'
import type { HistoryEdit } from './wire.ts'

interface ListNeeds {
  state: State
  actions: Actions
  /** `row`: the key of the session in whose list it was selected. */
  open(path: string, view: View, row?: string): unknown
  older(): unknown
}

/** The author's name, in a colour of its own. */
export const agentTag = (author: string): HTMLElement => named(author, `agent by-${colourOf(author)}`)

const idsOf = (edits: readonly HistoryEdit[]) => edits.map(({ edit_id }) => edit_id)

interface EditButtons {
  /** Prefix of the buttons' keys. */
  key: string
  /** Where an action on several edits can be undone again. */
  place?: Place
  actions: Actions
}

/**
 * Buttons for edits: pending ones can be kept or undone, undone ones restored. Of several edits, each button says how
 * many it acts on. `what` names all of them.
 */
export function editButtons(
  edits: readonly HistoryEdit[],
  what: string,
  { key, place, actions }: EditButtons
): Child[] {
  if (!actions.areOffered()) return []
  const pending = edits.filter(edit => isPending(edit) && edit.state !== 'uncertain')
  const kept = edits.filter(({ review, state }) => review === 'kept' && state !== 'undone')
  const total = wholeMoves(edits).length
  const does = (verb: string, some: readonly HistoryEdit[], act: Actions['keep']): Child => {
    if (some.length === 0) return null
    const count = wholeMoves(some).length
    const part = count < total ? `${count} of ` : ''
    const amount = total === 1 ? '' : part === '' ? ' all' : ` ${count} of`
    return button({
      name: `${verb}${amount} ${what}`,
      label: total === 1 ? verb : `${verb}${amount} ${total}`,
      key: `${key}-${verb}`,
      run: () => act({ edit_ids: idsOf(some) }, `${part}${what}`, { place: total > 1 ? place : undefined })
    })
  }
  return [
    does('Keep', pending, actions.keep),
    does(
      'Take back',
      pending.filter(({ state }) => state !== 'undone'),
      actions.undoSet
    ),
    does('Restore', edits.filter(isUndone), actions.restore),
    pending.length === 0 && does('Review again', kept, actions.toReview)
  ]
}

const NEEDS: Record<Need, string> = {
  uncertain: 'The server stopped while this was written, and the file has been changed since.',
  outside: 'Another program changed it, and not one of the agents.',
  no_texts: "Its texts aren't kept, so it can't be shown or taken back."
}

function needRow(edit: HistoryEdit, need: Need, { open, actions }: ListNeeds): HTMLElement {
  const { path, edit_id, at } = edit
  return h(
    'li',
    {},
    h('p', {}, named(path), ' ', timeElement(at)),
    h('p', { class: 'muted' }, NEEDS[need]),
    h(
      'div',
      { class: 'buttons' },
      button({
        name: `Look at it: ${path}`,
        label: 'Look at it',
        key: `need-${edit_id}`,
        run: () => open(path, 'edits')
      }),
      isPending(edit) &&
        actions.areOffered() &&
        button({
          name: `Keep this change of ${path}`,
          label: 'Keep',
          key: `need-keep-${edit_id}`,
          run: () => actions.keep({ edit_ids: [edit_id] }, `a change of ${path}`)
        })
    )
  )
}

const MOST_NEEDS = 20

function needsBlock(needs: ListNeeds): Child {
  const { state, open } = needs
  const found = state.edits.flatMap(edit => {
    const need = needOf(edit)
    return need === null ? [] : [{ edit, need }]
  })
  if (found.length + state.refused.length === 0) return null
  return h(
    'section',
    { class: 'needs', 'aria-labelledby': 'needs' },
    h('h2', { id: 'needs' }, 'Needs you'),
    h(
      'ul',
      {},
      ...state.refused.map(refused =>
        h(
          'li',
          {},
          h('p', {}, named(refused.path)),
          h('p', { class: 'muted' }, 'A change that you took back is in conflict with a later one.'),
          button({
            name: `Look at it: the conflict in ${refused.path}`,
            label: 'Look at it',
            key: `refused-${editOf(refused)}`,
            run: () => open(refused.path, 'pending')
          })
        )
      ),
      ...found.slice(0, MOST_NEEDS).map(({ edit, need }) => needRow(edit, need, needs))
    ),
    found.length > MOST_NEEDS &&
      h('p', { class: 'muted' }, `… and ${counted(found.length - MOST_NEEDS, 'more edit')} below.`)
  )
}

/** The reason that a file row shows: that of the newest edit with a reason. */
const reasonOf = ({ edits }: FileRow) => edits.find(({ reason }) => reason !== undefined)?.reason

function fileRow(row: FileRow, session: SessionRow, { state, open }: ListNeeds): HTMLElement {
  const { path, moved_from, edits, lines_added, lines_removed } = row
  const view = state.filter.show === 'pending' ? 'pending' : 'edits'
  const reason = reasonOf(row)
  const isOpen = state.file?.path === path && (state.file.row ?? session.key) === session.key
  return h(
    'li',
    {},
    h(
      'button',
      {
        type: 'button',
        class: 'file',
        key: `file ${session.key} ${path}`,
        'data-anchor': true,
        'aria-current': isOpen ? 'true' : undefined,
        on: { click: () => open(path, view, session.key) }
      },
      named(path),
      counts(lines_added, lines_removed),
      h(
        'span',
        { class: 'reason' },
        ...(moved_from === undefined ? [] : ['Moved from ', named(moved_from), reason !== undefined && ': ']),
        reason !== undefined && hostile(reason, true)
      ),
      timeElement(edits[0]!.at)
    )
  )
}

const placeOf = ({ key, edits }: SessionRow): Place => ({ key: `session ${key}`, newest: edits[0]!.edit_id })

function sessionBlock(session: SessionRow, i: number, needs: ListNeeds): HTMLElement {
  const { agent, session: name, edits, files } = session
  const { notices } = needs.actions
  const what = `${counted(wholeMoves(edits).length, 'edit')} of ${agent}${name === undefined ? '' : `, session ${name}`}`
  const place = placeOf(session)
  return h(
    'section',
    { class: 'session', 'aria-labelledby': `session-${i}` },
    h(
      'div',
      { class: 'session-head' },
      h('h2', { id: `session-${i}` }, agentTag(agent), name !== undefined && named(name, 'muted')),
      h('div', { class: 'buttons' }, ...editButtons(edits, what, { key: place.key, place, actions: needs.actions }))
    ),
    ...doneAt(notices, place.key),
    h('ul', { class: 'files' }, ...files.map(row => fileRow(row, session, needs)))
  )
}

/** The sessions, newest first, and between them what was done to all that was shown of one. */
function sessionBlocks(edits: readonly HistoryEdit[], needs: ListNeeds): Child[] {
  const { notices } = needs.actions
  const sessions = sessionsOf(edits)
  const listed = new Set(sessions.map(session => placeOf(session).key))
  const blocks = [
    ...sessions.map((session, i) => ({ newest: placeOf(session).newest!, block: sessionBlock(session, i, needs) })),
    ...notices.places().flatMap(done => {
      const { key, newest } = done.place
      return newest === undefined || listed.has(key) ? [] : [{ newest, block: doneBlock(done, notices) }]
    })
  ]
  return blocks.sort((a, b) => (a.newest < b.newest ? 1 : -1)).map(({ block }) => block)
}

const EMPTY = {
  pending: 'All is reviewed. New edits appear here.',
  undone: 'Nothing was taken back.',
  kept: 'Nothing was kept.',
  all: 'No edit was made yet.'
} as const

/** The whole list. */
export function drawList(needs: ListNeeds): Child[] {
  const { state, older } = needs
  const { show, text } = state.filter
  const edits = shownEdits(state)
  const before = show === 'pending' ? undefined : state.older
  if (state.fault !== null) return [h('p', { class: 'warning' }, state.fault)]
  return [
    needsBlock(needs),
    ...sessionBlocks(edits, needs),
    state.loaded &&
      edits.length === 0 &&
      h('p', { class: 'empty' }, text === '' ? EMPTY[show] : 'No edit fits the filter.'),
    before !== undefined && button({ name: 'Load older edits', label: 'Older edits', key: 'older', run: older })
  ]
}

/** The paths in listed order, each once. */
export const listedPaths = (state: State): string[] => [
  ...new Set(sessionsOf(shownEdits(state)).flatMap(({ files }) => files.map(({ path }) => path)))
]
