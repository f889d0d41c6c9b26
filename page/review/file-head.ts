// The head of an open file: its name, and how it is shown. Does not know what is below it.
import { button, h, named } from './dom.ts'
import type { View } from './model.ts'
import type { Place } from './notices.ts'
import type { Shown } from './rows.ts'
import type { PageProblem } from './wire.ts'
import { wordsFor } from './words.ts'

interface FileHeadNeeds {
  path: string
  view: View
  shown: Shown
  open(path: string, view: View): unknown
  close(): void
  copy(): void
  toggleSide(): void
  toggleSpaces(): void
}

const toggle = (label: string, key: string, shortcut: string, isOn: boolean, run: () => void, classes = 'quiet') =>
  h(
    'button',
    {
      type: 'button',
      class: classes,
      key,
      'aria-pressed': String(isOn),
      'aria-keyshortcuts': shortcut,
      on: { click: run }
    },
    label
  )

/** The place of what was done to much of a file at once. */
export const placeOf = (path: string): Place => ({ key: `file ${path}` })

const VIEWS: readonly (readonly [View, string, string])[] = [
  ['pending', 'Together', ''],
  ['edits', 'Edit by edit', 'e'],
  ['file', 'File', 'f']
]

export function fileHead(needs: FileHeadNeeds): HTMLElement {
  const { path, view, shown, open, close, copy, toggleSide, toggleSpaces } = needs
  return h(
    'div',
    { class: 'file-head' },
    button({ name: 'Back to the list', label: 'List', key: 'back', class: 'back', run: close }),
    h('h2', {}, named(path)),
    // Only over https, and from this machine.
    isSecureContext &&
      button({ name: `Copy path ${path}`, label: 'Copy path', key: 'copy', class: 'quiet', run: copy }),
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
    view !== 'file' && toggle('White space', 'spaces', 'w', shown.spaces, toggleSpaces),
    view !== 'file' && toggle('Side by side', 'side', 's', shown.side, toggleSide, 'quiet wide')
  )
}

/** A problem in words, in place of what couldn't be shown. */
export const problemBlock = (problem: PageProblem): HTMLElement => h('p', { class: 'warning' }, wordsFor(problem))
