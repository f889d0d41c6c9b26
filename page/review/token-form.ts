// Asks for the token. It goes to this server only, as a header, and stays in the tab.
import { h } from './dom.ts'

/** `refused`: a token was sent, and the server refused it. */
export function drawTokenForm(into: HTMLElement, refused: boolean, give: (token: string) => void): void {
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
      on: {
        submit: event => {
          event.preventDefault()
          give(input.value.trim())
        }
      }
    },
    h('h2', {}, 'Token'),
    refused && h('p', { class: 'warning', role: 'alert' }, 'The server does not accept this token.'),
    h('label', { for: 'token' }, 'The token that the server printed when it started, or that you gave it'),
    input,
    h('p', { id: 'token-note', class: 'muted' }, 'It stays in this tab, and is sent to this server only.'),
    h('button', { type: 'submit', class: 'primary' }, 'Open')
  )
  into.replaceChildren(form)
  input.focus()
}
