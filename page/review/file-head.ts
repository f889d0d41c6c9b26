// The head of an open file: its name, and how it is shown. Does not know what is below it.
import { button, h, named } from './dom.ts'
import type { View } from './state.ts'

interface FileHeadNeeds {
  path: string
  view: View
  side: boolean
  open(path: string, view: View): unknown
  close(): void
  toggleSide(): void
}

const VIEWS: readonly (readonly [View, string, string])[] = [
  ['pending', 'Together', ''],
  ['edits', 'Edit by edit', 'e'],
  ['file', 'File', 'f']
]

export function fileHead({ path, view, side, open, close, toggleSide }: FileHeadNeeds): HTMLElement {
  return h(
    'div',
    { class: 'file-head' },
    button({ name: 'Back to the list', label: 'List', key: 'back', class: 'back', run: close }),
    h('h2', {}, named(path)),
    h(
      'div',
      { class: 'choice', role: 'group', 'aria-label': 'What is shown of the file' },
      ...VIEWS.map(([name, label, key]) =>
        h(
          'button',
          {
            type: 'button',
            key: `view-${name}`,
            'aria-pressed': String(view === name),
            'aria-keyshortcuts': key === '' ? undefined : key,
            on: { click: () => open(path, name) }
          },
          label
        )
      )
    ),
    view !== 'file' &&
      h(
        'button',
        {
          type: 'button',
          class: 'quiet wide',
          key: 'side',
          'aria-pressed': String(side),
          'aria-keyshortcuts': 's',
          on: { click: toggleSide }
        },
        'Side by side'
      )
  )
}

/** A problem in words, in place of what couldn't be shown. */
export const problemBlock = (title: string, detail: string): HTMLElement =>
  h('div', { class: 'warning' }, h('h2', {}, title), h('p', {}, detail))
