// Elements made with createElement and textContent only, so that no text is ever read as HTML. Does not know what is
// shown.
import { agoText } from './model.ts'
import { piecesOf, plain } from './visible.ts'

export type Child = Node | string | null | false | undefined
const isShown = (child: Child): child is Node | string => child !== null && child !== undefined && child !== false

interface Props {
  class?: string
  /** Finds the element after a redraw, to give it the focus back. */
  key?: string
  on?: Partial<Record<'click' | 'input' | 'change' | 'submit', (event: Event) => unknown>>
  /** What single keys do while the element has the focus. */
  keys?: Record<string, () => unknown>
  [attribute: string]: unknown
}

/** Creates an element; attributes that are false or undefined are left out. Strings must be our own words. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { class: classes, key: place, on = {}, keys, ...attributes }: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  if (classes !== undefined) element.className = classes
  if (place !== undefined) element.dataset.key = place
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener)
  if (keys !== undefined) {
    element.addEventListener('keydown', event => {
      const { key } = event as KeyboardEvent
      const run = Object.hasOwn(keys, key) ? keys[key] : undefined
      if (run === undefined) return
      event.preventDefault()
      run()
    })
  }
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(attribute, value === true ? '' : String(value))
  }
  element.append(...children.filter(isShown))
  return element
}

/** Text from outside: invisible characters are shown as codes. `one_line`: tabs too, as in a name. */
export function hostile(text: string, one_line = false): DocumentFragment {
  const fragment = new DocumentFragment()
  for (const { text: piece, code } of piecesOf(text, one_line)) {
    fragment.append(code === true ? h('span', { class: 'code' }, piece) : piece)
  }
  return fragment
}

/** A name from outside, isolated from the text direction around it. */
export const named = (text: string, classes = ''): HTMLElement =>
  h('bdi', { class: `name ${classes}`.trim() }, hostile(text, true))

interface ButtonOptions {
  /** The full description of the button, for screen readers. It may have text from outside. */
  name: string
  label: Child
  /** The key that does what the button does. */
  shortcut?: string
  key: string
  class?: string
  run(): unknown
}

export const button = ({ name, label, shortcut, key, class: classes = '', run }: ButtonOptions) =>
  h(
    'button',
    {
      type: 'button',
      class: classes,
      key,
      'aria-label': plain(name),
      'aria-keyshortcuts': shortcut,
      'data-shortcut': shortcut,
      on: { click: () => run() }
    },
    label
  )

/** Draws new content into an element; the focused element gets the focus again, if it is still there. */
export function redraw(element: Element, ...children: Child[]): void {
  const active = document.activeElement
  const key = active !== null && element.contains(active) ? (active as HTMLElement).dataset.key : undefined
  const scrolled = element.scrollTop
  element.replaceChildren(...children.filter(isShown))
  element.scrollTop = scrolled
  if (key !== undefined) focusKey(key, true)
}

/** What elements will have, until they are drawn. */
const waiting = new WeakMap<Element, () => Child[]>()
/** In px: how far from what is in sight elements are drawn. Chosen. */
const AHEAD = 1000
const near = new IntersectionObserver(
  entries => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) drawNow(target)
  },
  { rootMargin: `${AHEAD}px`, scrollMargin: `${AHEAD}px` } as IntersectionObserverInit
)

/**
 * Draws the content of an element when it comes near what is in sight: all of it at once takes seconds. `height`: what
 * it takes till then, in px.
 */
export function drawLater<Drawn extends HTMLElement>(element: Drawn, height: number, draw: () => Child[]): Drawn {
  waiting.set(element, draw)
  element.classList.add('later')
  element.style.minHeight = `${height}px`
  near.observe(element)
  return element
}

/** Draws an element that waits for it. */
export function drawNow(element: Element): void {
  const draw = waiting.get(element)
  if (draw === undefined) return
  waiting.delete(element)
  near.unobserve(element)
  element.classList.remove('later')
  ;(element as HTMLElement).style.minHeight = ''
  element.append(...draw().filter(isShown))
}

/** Draws what waits and is in sight: before it is seen, which the observer isn't. */
export function drawInSight(within: Element): void {
  const found = [...within.querySelectorAll('.later')].filter(element => {
    const { top, bottom } = element.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  })
  found.forEach(drawNow)
}

/**
 * Remembers where what is read stands, in an element that scrolls or in the page. The result puts it back there, after
 * a redraw: what has the focus, else the first that is still there, of the elements marked `data-anchor`.
 */
export function holdPlace(element: HTMLElement): () => void {
  const scrolls = getComputedStyle(element).overflowY !== 'visible'
  const [top, bottom] = scrolls
    ? [element.getBoundingClientRect().top, element.getBoundingClientRect().bottom]
    : [0, innerHeight]
  const focused = document.activeElement?.closest('[data-anchor]')
  const seen = [...element.querySelectorAll<HTMLElement>('[data-anchor]')]
    .map(anchor => ({ anchor, at: anchor.getBoundingClientRect() }))
    .filter(({ at }) => at.bottom > top && at.top < bottom)
    .sort((a, b) => Number(b.anchor === focused) - Number(a.anchor === focused))
    .map(({ anchor, at }) => ({ key: anchor.dataset.key ?? '', at: at.top }))
  return () => {
    for (const { key, at } of seen) {
      const now = element.querySelector(`[data-key="${CSS.escape(key)}"]`)
      if (now === null) continue
      const scroller = scrolls ? element : document.documentElement
      scroller.scrollTop += now.getBoundingClientRect().top - at
      break
    }
    drawInSight(element)
  }
}

/** Focuses the element with this key. Returns whether there is one. */
export function focusKey(key: string, preventScroll = false): boolean {
  const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)
  element?.focus({ preventScroll })
  return element !== null
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** A time for a person; without the day if it is today. */
export function timeText(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** How long ago, with the exact time as its title; `freshen` keeps it right. */
export function timeElement(at: string): HTMLElement {
  const date = new Date(at)
  const isKnown = !Number.isNaN(date.getTime())
  return h('time', { datetime: at, title: isKnown ? exact.format(date) : at }, agoText(at, Date.now()))
}

/** Updates how long ago each time is. */
export function freshen(): void {
  for (const element of document.querySelectorAll('time')) {
    const text = agoText(element.dateTime, Date.now())
    if (element.textContent !== text) element.textContent = text
  }
}

/** "+4 −1", also for screen readers. */
export const counts = (added: number, removed: number): HTMLElement =>
  h(
    'span',
    { class: 'counts' },
    h('span', { class: 'plus' }, `+${added}`),
    ' ',
    h('span', { class: 'minus' }, `−${removed}`),
    h('span', { class: 'unseen' }, ' lines')
  )
