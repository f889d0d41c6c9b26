// The text of a line: what differs is marked, white space there has symbols, and a long line is cut around it until a
// press opens it. Does not know where lines come from.
import { h, hostile, type Child } from './dom.ts'
import { shownParts, type Stretch } from './pairs.ts'
import { codeOf } from './visible.ts'

/** The long lines that a person opened, by their text: they stay open when the page is drawn again. */
const opened = new Set<string>()

const space = (character: string) =>
  character === ' ' || character === '\t'
    ? h('span', { class: character === ' ' ? 'space' : 'space tab' }, character)
    : h('span', { class: 'code' }, codeOf(character))

/** A text with symbols for its white space. */
const spaced = (text: string): Child[] =>
  text.split(/(\s)/).map((piece, i) => (i % 2 === 0 ? hostile(piece) : space(piece)))

interface LineOptions {
  differing?: readonly Stretch[]
  /** Show white space at the end of the line. */
  ends?: boolean
}

/** A part of a line: what differs in it is marked. */
function partOf(text: string, { start, end }: Stretch, { differing = [], ends = false }: LineOptions): Child[] {
  const children: Child[] = []
  let at = start
  for (const stretch of differing) {
    const [from, to] = [Math.max(stretch.start, at), Math.min(stretch.end, end)]
    if (from >= to) continue
    children.push(hostile(text.slice(at, from)), h('span', { class: 'differs' }, ...spaced(text.slice(from, to))))
    at = to
  }
  const rest = text.slice(at, end)
  const trailing = ends && end === text.length ? rest.trimEnd().length : rest.length
  return [...children, hostile(rest.slice(0, trailing)), ...spaced(rest.slice(trailing))]
}

/** The element with the text. */
export function lineText(text: string, options: LineOptions = {}, ...notes: Child[]): HTMLElement {
  const element = h('span', { class: 'text' })
  const fill = () => {
    const parts = opened.has(text) ? [{ start: 0, end: text.length }] : shownParts(text, options.differing ?? [])
    const cutAt = (from: number, to: number) => {
      const count = `${(to - from).toLocaleString('en')} characters`
      const open = () => {
        opened.add(text)
        fill()
      }
      return (
        to > from &&
        h(
          'button',
          { type: 'button', class: 'cut', 'aria-label': `Show ${count} more`, on: { click: open } },
          `… ${count} …`
        )
      )
    }
    const children: Child[] = []
    let at = 0
    for (const part of parts) {
      children.push(cutAt(at, part.start), ...partOf(text, part, options))
      at = part.end
    }
    children.push(cutAt(at, text.length), ...notes)
    element.replaceChildren(...children.filter(child => child !== null && child !== undefined && child !== false))
  }
  fill()
  return element
}
