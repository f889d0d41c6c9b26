// Passing notices: what was done, with a way to undo it, and what failed. Does not know any action.
import { button, h, hostile } from './dom.ts'

/** Undoes an action that was done. */
interface WayBack {
  what: string
  /** Resolves with whether it succeeded. */
  run(): Promise<boolean>
}

export interface Notices {
  /** Reports an action; `z` also runs its `way_back`, if there is one. */
  done(text: string, way_back?: WayBack): void
  failed(text: string): void
  undoLast(): Promise<void>
}

const SHOWN_MS = 12_000

/** `polite` and `alerts` are live regions of the page. */
export function makeNotices(polite: HTMLElement, alerts: HTMLElement): Notices {
  const ways: WayBack[] = []
  let timer = 0

  const close = (region: HTMLElement) => {
    const hadFocus = region.contains(document.activeElement)
    region.replaceChildren()
    if (hadFocus) document.querySelector<HTMLElement>('main')?.focus()
  }
  const take = async (way: WayBack) => {
    const at = ways.indexOf(way)
    if (at < 0) return
    ways.splice(at, 1)
    close(polite)
    if (!(await way.run())) ways.push(way)
  }
  const show = (region: HTMLElement, text: string, way?: WayBack) => {
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
      if (way !== undefined) ways.push(way)
      close(alerts)
      show(polite, text, way)
      closeLater()
    },
    failed(text) {
      show(alerts, text)
    },
    async undoLast() {
      const way = ways.at(-1)
      if (way === undefined) this.failed('Nothing was done here that could be undone.')
      else await take(way)
    }
  }
}
