// Asks for the token, over what is shown. It goes to this server only, as a header, and stays in the tab.
import { openDialog } from './dialogs.ts'
import { h } from './dom.ts'

/** `refused`: a token was sent, and the server refused it. Resolves with the token; null if the person gave none. */
export function askToken(refused: boolean): Promise<string | null> {
  return new Promise(resolve => {
    let given: string | null = null
    const input = h('input', {
      id: 'token',
      type: 'password',
      autocomplete: 'off',
      spellcheck: 'false',
      required: true,
      'aria-describedby': 'token-note'
    })
    const form = h(
      'form',
      {
        class: 'token',
        method: 'dialog',
        on: {
          submit: () => {
            given = input.value.trim()
          }
        }
      },
      refused && h('p', { class: 'warning', role: 'alert' }, 'The server does not accept this token.'),
      h('label', { for: 'token' }, 'The token that the server printed when it started, or that you gave it'),
      input,
      h('p', { id: 'token-note', class: 'muted' }, 'It stays in this tab, and is sent to this server only.'),
      h('button', { type: 'submit', class: 'primary' }, 'Open')
    )
    openDialog('Token', form).addEventListener('close', () => resolve(given))
    input.focus()
  })
}
