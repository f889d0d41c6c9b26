// Single keys, while nothing is typed and no dialog is open. Does not know what they do.
const SWITCH = 'editd-keys'

export const keysAreOn = (): boolean => localStorage.getItem(SWITCH) !== 'off'

export function turnKeys(on: boolean): void {
  if (on) localStorage.removeItem(SWITCH)
  else localStorage.setItem(SWITCH, 'off')
}

const isTyped = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select, [contenteditable]')

/** `keys`: the action of each key. `?` always works. */
export function listen(keys: Readonly<Record<string, () => unknown>>): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    // A key that is held down only moves.
    if (event.repeat && !'jkJK'.includes(event.key)) return
    if (isTyped(event.target) || document.querySelector('dialog[open]') !== null) return
    if (!keysAreOn() && event.key !== '?') return
    const run = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
    if (run === undefined) return
    event.preventDefault()
    run()
  })
}
