// The file as it is, or as it was after an edit: who wrote which lines, and its history as a timeline. Does not know
// how anything is sent.
import type { Actions } from './actions.ts'
import { button, h, hostile, named, timeElement, timeText, type Child } from './dom.ts'
import { lineText } from './line-text.ts'
import { agentTag } from './list.ts'
import { authorOf, colourOf, counted, didOf, OUTSIDE } from './model.ts'
import type { State } from './state.ts'
import type { BlameAnswer, EditFacts, HistoryEdit } from './wire.ts'

interface FileViewNeeds {
  state: State
  actions: Actions
  /** Shows the file as it was after an edit; without an edit, as it is now. */
  show(at?: string): unknown
  moreLines(): unknown
}

function point(edit: HistoryEdit, isShown: boolean, show: FileViewNeeds['show']): HTMLElement {
  const author = authorOf(edit)
  return h(
    'li',
    {},
    h(
      'button',
      {
        type: 'button',
        class: `point by-${colourOf(author)}`,
        key: `at ${edit.edit_id}`,
        'aria-current': isShown ? 'step' : undefined,
        on: { click: () => show(edit.edit_id) }
      },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      timeElement(edit.at),
      h('span', { class: 'who' }, hostile(author, true)),
      h('span', { class: 'unseen' }, ' ', hostile(didOf(edit), true), ': show the file after that')
    )
  )
}

/** Oldest first; the last point is now. */
function timeline({ state, show }: FileViewNeeds): Child {
  const { edits = [], next_before } = state.file?.edits ?? {}
  const at = state.file?.blame?.at
  return h(
    'ol',
    { class: 'timeline', 'aria-label': 'History of this file' },
    next_before !== undefined && h('li', { class: 'muted' }, 'older …'),
    ...edits.toReversed().map(edit => point(edit, edit.edit_id === at, show)),
    h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          class: 'point',
          key: 'at now',
          'aria-current': at === undefined ? 'step' : undefined,
          on: { click: () => show() }
        },
        h('span', { class: 'dot', 'aria-hidden': 'true' }),
        'Now'
      )
    )
  )
}

/** Lines; each run of lines by one author has a heading with author and time. */
function lineRows({ lines, edits }: BlameAnswer): HTMLElement {
  const facts = new Map<string, EditFacts>(edits.map(edit => [edit.edit_id, edit]))
  let above: string | undefined = ''
  const rows = lines.map(({ line, text, edit_ids, outside }) => {
    const id = outside === true ? 'outside' : edit_ids.at(-1)
    const edit = outside === true ? undefined : facts.get(id ?? '')
    const author = outside === true ? OUTSIDE : edit === undefined ? undefined : authorOf(edit)
    const isFirst = id !== above
    above = id
    const colour = author === undefined ? '' : ` by-${colourOf(author)}`
    return h(
      'div',
      { class: `row${colour}${isFirst ? ' first' : ''}` },
      h(
        'span',
        { class: 'who', title: edit?.reason === undefined ? undefined : edit.reason.slice(0, 200) },
        isFirst && author !== undefined && agentTag(author),
        isFirst && edit !== undefined && h('span', { class: 'muted' }, ` ${timeText(edit.at)} `),
        isFirst && edit?.reason !== undefined && named(edit.reason, 'muted')
      ),
      h('span', { class: 'number', 'aria-hidden': 'true' }, String(line)),
      lineText(text)
    )
  })
  return h('div', { class: 'rows blame', tabindex: '0', role: 'region', 'aria-label': 'The file' }, ...rows)
}

export function drawFileView(needs: FileViewNeeds): Child[] {
  const { state, actions, moreLines } = needs
  const blame = state.file?.blame
  if (blame === undefined) return [timeline(needs)]
  const { path, at, total_lines, next_line } = blame
  const edit = state.file?.edits?.edits.find(({ edit_id }) => edit_id === at)
  const when = edit === undefined ? 'this state' : `${timeText(edit.at)}, after ${authorOf(edit)} ${didOf(edit)}`
  return [
    timeline(needs),
    at !== undefined &&
      h(
        'div',
        { class: 'past' },
        h('p', {}, hostile(`As it was at ${when}`, true)),
        h(
          'div',
          { class: 'buttons' },
          // Before a move, the state is that of another path.
          (edit === undefined || edit.path === path) &&
            actions.areOffered() &&
            button({
              name: `Go back to this state of ${path}`,
              label: 'Go back to this state',
              key: 'go-back',
              class: 'primary',
              run: () => actions.undoSet({ path, to: at }, `the state of ${path} at ${when}`)
            }),
          button({
            name: 'Show it as it is now',
            label: 'Show it as it is now',
            key: 'to-now',
            run: () => needs.show()
          })
        )
      ),
    h('p', { class: 'muted' }, counted(total_lines, 'line'), '. Lines without a name are older than the history.'),
    lineRows(blame),
    next_line !== undefined &&
      button({ name: 'Load more lines', label: 'More lines', key: 'more-lines', run: moreLines })
  ]
}
