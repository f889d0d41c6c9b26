// Passing notices: what was done, with a way to undo it, and what failed. Does not know any action.
import { button, h, hostile } from './dom.ts'

/** Where on the page many changes were kept or taken back at once. */
export interface Place {
  key: string
  /** For a place in the list: the newest edit that was there. */
  newest?: string
}

/** Undoes an action that was done. */
export interface WayBack {
  what: string
  /** It is offered there as long as the page is open, or until it is used or dismissed. */
  place?: Place
  /** Resolves with whether it succeeded. */
  run(): Promise<boolean>
}

/** An action that was done, with its way back. */
export interface Done extends WayBack {
  text: string
}

export interface Notices {
  /** Reports an action; `z` also runs its `way_back`, if there is one. */
  done(text: string, way_back?: WayBack): void
  failed(text: string): void
  /** Removes a message of a failure that is over. */
  clear(text: string): void
  undoLast(): Promise<void>
  /** What was done at places, oldest first. */
  places(): (Done & { place: Place })[]
  /** Runs a way back. */
  take(done: Done): Promise<void>
  /** Forgets at which place it was done; `z` still undoes it. */
  dismiss(done: Done): void
}

const SHOWN_MS = 12_000

/** `polite` and `alerts` are live regions of the page. `placed` is called when `places` has changed. */
export function makeNotices(polite: HTMLElement, alerts: HTMLElement, placed: () => void): Notices {
  const ways: Done[] = []
  let timer = 0

  const close = (region: HTMLElement) => {
    const hadFocus = region.contains(document.activeElement)
    region.replaceChildren()
    if (hadFocus) document.querySelector<HTMLElement>('main')?.focus()
  }
  const take = async (way: Done) => {
    const at = ways.indexOf(way)
    if (at < 0) return
    ways.splice(at, 1)
    close(polite)
    if (!(await way.run())) ways.push(way)
    placed()
  }
  const show = (region: HTMLElement, text: string, way?: Done) => {
    region.replaceChildren(
      h(
        'div',
        { class: 'notice' },
        h('p', {}, hostile(text)),
        way !== undefined &&
          button({ name: `Undo: ${way.what}`, label: 'Undo', shortcut: 'z', key: 'notice-undo', run: () => take(way) }),
        button({
          name: 'Close this message',
          label: '×',
          key: 'notice-close',
          class: 'quiet',
          run: () => close(region)
        })
      )
    )
  }
  // Don't remove a notice that is being read or used.
  const closeLater = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (polite.matches(':hover, :focus-within')) closeLater()
      else close(polite)
    }, SHOWN_MS)
  }
  return {
    done(text, way) {
      const done = way && { ...way, text }
      if (done !== undefined) ways.push(done)
      close(alerts)
      show(polite, text, done)
      closeLater()
      if (done?.place !== undefined) placed()
    },
    failed(text) {
      show(alerts, text)
    },
    clear(text) {
      if (alerts.querySelector('p')?.textContent === text) close(alerts)
    },
    async undoLast() {
      const way = ways.at(-1)
      if (way === undefined) this.failed('Nothing was done here that could be undone.')
      else await take(way)
    },
    places: () => ways.filter((way): way is Done & { place: Place } => way.place !== undefined),
    take,
    dismiss(done) {
      delete done.place
      placed()
    }
  }
}

/** What was done at a place, with a button that undoes it. */
export const doneBlock = (done: Done, { take, dismiss }: Notices): HTMLElement =>
  h(
    'div',
    { class: 'done' },
    h('p', {}, hostile(done.text)),
    h(
      'div',
      { class: 'buttons' },
      button({ name: `Undo here: ${done.what}`, label: 'Undo', key: `undo ${done.what}`, run: () => take(done) }),
      button({
        name: `Hide that it was ${done.what}`,
        label: '×',
        key: `hide ${done.what}`,
        class: 'quiet',
        run: () => dismiss(done)
      })
    )
  )

/** All that was done at a place. */
export const doneAt = (notices: Notices, key: string): HTMLElement[] =>
  notices
    .places()
    .filter(({ place }) => place.key === key)
    .map(done => doneBlock(done, notices))
