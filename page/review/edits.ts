// A file's history edit by edit, each with its diff. Does not know how anything is sent.
import type { Actions } from './actions.ts'
import { button, counts, h, hostile, named, timeElement, type Child } from './dom.ts'
import { placeOf } from './file-head.ts'
import { agentTag, editButtons } from './list.ts'
import { authorOf, didOf, diffHunks, isPureMove, isToggle, otherHalf, wholeMoves } from './model.ts'
import { rowsOf, type Shown } from './rows.ts'
import type { State } from './state.ts'
import type { HistoryEdit } from './wire.ts'

const STATES = {
  applied: '',
  undone: 'taken back',
  partly_undone: 'partly taken back',
  uncertain: 'uncertain'
} as const

const stateOf = ({ state, review }: HistoryEdit) =>
  [STATES[state], review === 'kept' ? 'kept' : review === 'pending' ? 'to review' : '']
    .filter(word => word !== '')
    .join(', ')

/** Why there is no diff of an edit. */
function noDiff({ metadata_only, texts_lost, diff_unavailable }: HistoryEdit): string {
  if (metadata_only === true) return 'Its texts are not kept.'
  if (texts_lost === true) return 'Its texts are lost.'
  if (diff_unavailable === undefined) return 'No diff is shown.'
  return 'It has no diff of its own, as for a very long line. As long as it is to be reviewed, "Together" shows it.'
}

function diffOf(edit: HistoryEdit, shown: Shown): Child[] {
  const { diff, diff_truncated } = edit
  if (diff === undefined) return [h('p', { class: 'muted' }, noDiff(edit))]
  return [
    ...diffHunks(diff).flatMap(({ heading, lines }) => [h('p', { class: 'at' }, heading), rowsOf(lines, shown)]),
    diff_truncated === true && h('p', { class: 'muted' }, 'The diff is cut here.')
  ]
}

function card(edit: HistoryEdit, state: State, actions: Actions): HTMLElement {
  const { edit_id, batch_id, operation, at, reason, lines_added, lines_removed, path } = edit
  const author = authorOf(edit)
  const what = `an edit of ${author} in ${path}`
  const status = stateOf(edit)
  const batch = state.file?.batches?.get(batch_id ?? '') ?? []
  const together = new Set(wholeMoves(batch).map(({ path }) => path))
  const other = otherHalf(edit, batch)
  const own = other === undefined ? [edit] : [edit, other]
  const isMoved = isPureMove(edit, own)
  return h(
    'article',
    {
      class: `hunk edit${edit.state === 'undone' ? ' gone' : ''}`,
      tabindex: '-1',
      key: `edit-${edit_id}`,
      'data-anchor': true
    },
    h(
      'header',
      {},
      h('h3', {}, agentTag(author), ' ', hostile(didOf(edit, together.size), true)),
      timeElement(at),
      !isMoved && counts(lines_added, lines_removed),
      status !== '' && h('span', { class: 'status' }, status),
      h('span', { class: 'reason' }, reason !== undefined && named(reason)),
      h(
        'div',
        { class: 'buttons' },
        ...(isToggle(operation) ? [] : editButtons(own, what, { key: `edit ${edit_id}`, actions }))
      )
    ),
    together.size > 1 &&
      h(
        'div',
        { class: 'parts' },
        `One of ${together.size} files that were changed together. `,
        h(
          'div',
          { class: 'buttons' },
          ...editButtons(batch, `${together.size} files of a batch`, {
            key: `batch ${edit_id}`,
            place: placeOf(state.file!.path),
            actions
          })
        )
      ),
    path !== state.file?.path && h('p', { class: 'muted' }, 'When the file was ', named(path), '.'),
    ...(isMoved ? [h('p', { class: 'muted' }, 'Its text stayed the same.')] : diffOf(edit, state))
  )
}

/** `older`: loads more. */
export function drawEdits(state: State, actions: Actions, older: () => unknown): Child[] {
  const list = state.file?.edits
  if (list === undefined) return []
  return [
    list.edits.length === 0 && h('p', { class: 'empty' }, 'No edit of this file is known.'),
    ...list.edits.map(edit => card(edit, state, actions)),
    list.next_before !== undefined &&
      button({ name: 'Load older edits of this file', label: 'Older edits', key: 'file-older', run: older })
  ]
}
