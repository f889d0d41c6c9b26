// The dialogs: what an undo of many changes would do, and the keys. Does not know how anything is sent.
import { button, h, hostile, named, type Child } from './dom.ts'
import { diffHunks } from './model.ts'
import { rowsOf } from './rows.ts'
import type { UndoneFile } from './wire.ts'

/** Opens a dialog. When it is closed, it is removed, and focus returns to where it was. */
export function openDialog(title: string, ...children: Child[]): HTMLDialogElement {
  // The token is asked for over other dialogs.
  const count = document.querySelectorAll('dialog').length
  const dialog = h(
    'dialog',
    { 'aria-labelledby': `dialog-title-${count}` },
    h('h2', { id: `dialog-title-${count}` }, hostile(title, true)),
    ...children
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

const fileDiff = ({ path, diff, removed, created }: UndoneFile, isOpen: boolean) =>
  h(
    'details',
    { open: isOpen },
    h(
      'summary',
      {},
      named(path),
      removed === true && ' is removed, as it was created by this',
      created === true && ' is created again'
    ),
    ...(diff === undefined ? [] : diffHunks(diff)).map(({ lines }) => rowsOf(lines, { side: false, spaces: true }))
  )

interface Question {
  title: string
  /** What would happen, in one sentence. */
  sentence: string
  files: readonly UndoneFile[]
  /** What else to show: conflicts. */
  more?: (close: () => void) => Child
  /** Absent: nothing can be done. */
  confirm?: string
}

/** Asks before many changes are undone. Resolves with the note, which may be empty; null if the person cancelled. */
export function ask({ title, sentence, files, more, confirm }: Question): Promise<string | null> {
  const changed = files.filter(({ changed }) => changed)
  return new Promise(resolve => {
    const note = h('input', { id: 'note', maxlength: 200, autocomplete: 'off' })
    let answer: string | null = null
    const form = h(
      'form',
      {
        method: 'dialog',
        on: {
          submit: () => {
            answer = note.value.trim()
          }
        }
      },
      confirm !== undefined && h('label', { for: 'note' }, 'Why (optional; the agents are told): ', note),
      h(
        'div',
        { class: 'buttons' },
        confirm !== undefined && h('button', { class: 'primary', type: 'submit', autofocus: true }, confirm),
        button({ name: 'Cancel', label: 'Cancel', key: 'cancel', run: () => dialog.close() })
      )
    )
    const dialog: HTMLDialogElement = openDialog(
      title,
      h('p', { class: 'sentence' }, sentence),
      h(
        'div',
        { class: 'scrolled' },
        more?.(() => dialog.close()),
        ...changed.map(file => fileDiff(file, more !== undefined || changed.length === 1))
      ),
      form
    )
    dialog.addEventListener('close', () => resolve(answer))
  })
}

const KEYS: readonly (readonly [string, string])[] = [
  ['j  k', 'next, previous hunk'],
  ['J  K', 'next, previous file'],
  ['y', 'keep the hunk'],
  ['u', 'take the hunk back'],
  ['Y', 'keep what the list shows of the file'],
  ['U', 'take back what the list shows of the file'],
  ['z', 'undo what you did last'],
  ['n', 'show what is new'],
  ['e', 'edit by edit; again: together'],
  ['f', 'the file, and who wrote which lines; again: together'],
  ['s', 'old and new side by side'],
  ['w', 'changes of white space only: show them, or leave them out'],
  ['/', 'filter'],
  ['?', 'this list']
]

/** `on`: whether the keys work; `turn` switches them on or off. */
export function showHelp(on: boolean, turn: (on: boolean) => void): void {
  if (document.querySelector('dialog[open]') !== null) return
  const box: HTMLInputElement = h('input', { type: 'checkbox', id: 'keys-on', on: { change: () => turn(box.checked) } })
  box.checked = on
  const close = button({ name: 'Close', label: 'Close', key: 'close', run: () => dialog.close() })
  const dialog: HTMLDialogElement = openDialog(
    'Keys',
    h('dl', { class: 'keys' }, ...KEYS.flatMap(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)])),
    h('p', {}, h('label', { for: 'keys-on' }, box, ' The keys are on')),
    h('div', { class: 'buttons' }, close)
  )
  close.focus()
}
