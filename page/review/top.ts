// The top of the page: the summary of what is pending, the filter, whether the page is live. Does not know how anything
// is loaded.
import { button, h, timeText, type Child } from './dom.ts'
import type { LiveState } from './live.ts'
import { needOf, summaryOf, summarySentence, whyNot, type Shown } from './model.ts'
import type { State } from './state.ts'

interface TopNeeds {
  state: State
  live: LiveState
  /** The URL of the documentation of the routes. */
  docs: string
  takeOtherToken(): void
  help(): void
  choose(show: Shown): void
  search(text: string): void
  /** Leaves the field of the filter. */
  leave(): void
}

const SHOWN: readonly (readonly [Shown, string])[] = [
  ['pending', 'To review'],
  ['undone', 'Taken back'],
  ['kept', 'Kept'],
  ['all', 'All']
]

const LIVE: Record<LiveState, string> = { live: 'live', waiting: 'connecting …', refused: 'not live' }

export const liveMark = (live: LiveState): HTMLElement =>
  h('span', { class: `live is-${live}`, role: 'status' }, LIVE[live])

/** The whole top; the tab's title says how many edits are pending. */
export function topOf(needs: TopNeeds): Child[] {
  const { state, live, docs, help, takeOtherToken } = needs
  const why = whyNot(state.rights)
  const needed = state.edits.filter(edit => needOf(edit) !== null).length + state.refused.length
  const summary = summaryOf(state.edits)
  const sentence = summarySentence(summary, needed, timeText)
  document.title = summary.edits > 0 ? `(${summary.edits}) editd` : 'editd'
  return [
    h('h1', {}, state.loaded ? sentence : 'editd'),
    state.loaded && filterOf(needs),
    h(
      'div',
      { class: 'links' },
      state.loaded && liveMark(live),
      button({ name: 'Keys', label: 'Keys', shortcut: '?', key: 'help', class: 'quiet', run: help }),
      h('a', { href: docs }, 'API docs')
    ),
    why !== null &&
      h(
        'div',
        { class: 'rights' },
        h('p', {}, why),
        state.rights?.access !== undefined &&
          button({ name: 'Use another token', label: 'Other token', key: 'other-token', run: takeOtherToken })
      )
  ]
}

function filterOf({ state, choose, search, leave }: TopNeeds): HTMLElement {
  const input: HTMLInputElement = h('input', {
    type: 'search',
    key: 'filter',
    placeholder: 'Filter: words, agent:x, path:src/**, since:10m',
    title: 'Words of the path, a name or the reason; agent: session: token: path: since:',
    maxlength: '200',
    'aria-label': 'Filter by words, agent:, session:, token:, path: or since:',
    'aria-keyshortcuts': '/',
    on: { input: () => search(input.value) },
    keys: { Escape: leave }
  })
  input.value = state.filter.text
  return h(
    'div',
    { class: 'filter', role: 'search' },
    h(
      'div',
      { class: 'choice', role: 'group', 'aria-label': 'Which edits' },
      ...SHOWN.map(([show, label]) =>
        h(
          'button',
          {
            type: 'button',
            key: `show-${show}`,
            'aria-pressed': String(state.filter.show === show),
            on: { click: () => choose(show) }
          },
          label
        )
      )
    ),
    input
  )
}
