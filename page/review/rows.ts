// The lines of a hunk as rows: one below the other, or old and new side by side. Does not know where they come from.
import { h, hostile, type Child } from './dom.ts'
import { differing, pairsOf } from './pairs.ts'

export interface Row {
  kind: 'same' | 'added' | 'removed'
  text: string
  line?: number
  base_line?: number
  no_break?: true
  /** Set if it isn't \n. */
  line_ending?: 'crlf' | 'cr'
  /** Set if the line is longer than shown. */
  cut?: true
  /** The colour of the line's author, or of who removed it. */
  colour?: number
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const

const number = (line: number | undefined) => h('span', { class: 'number', 'aria-hidden': 'true' }, String(line ?? ''))

/** How a line differs from the one that it replaces, or that replaces it. */
interface Marked {
  start: number
  end: number
}

const note = (text: string | false | undefined) => text && h('span', { class: 'code' }, text)

/** `endings`: show line endings, since they differ. */
function content({ text, no_break, line_ending, cut }: Row, endings: boolean, marked?: Marked): Child[] {
  const notes = [
    note(cut && 'a long line, cut'),
    note(endings && line_ending?.toUpperCase()),
    note(no_break && 'no line break at the end')
  ]
  if (marked === undefined) return [hostile(text), ...notes]
  const { start, end } = marked
  const middle = text.slice(start, end)
  return [
    hostile(text.slice(0, start)),
    middle !== '' && h('span', { class: 'differs' }, hostile(middle)),
    hostile(text.slice(end)),
    ...notes
  ]
}

const sign = (kind: Row['kind']) => h('span', { class: 'sign' }, SIGNS[kind])
const colourClass = (row: Row | undefined) => (row?.colour === undefined ? '' : ` by-${row.colour}`)

/** The differences of each line that was replaced by exactly one line. */
function markedIn(rows: readonly Row[]): Map<Row, Marked> {
  const marked = new Map<Row, Marked>()
  for (const { left, right } of pairsOf(rows)) {
    if (left === undefined || right === undefined || left === right) continue
    const found = differing(left.text, right.text)
    if (found === null) continue
    marked.set(left, { start: found.start, end: found.left_end })
    marked.set(right, { start: found.start, end: found.right_end })
  }
  return marked
}

/** `side`: old and new side by side. */
export function rowsOf(rows: readonly Row[], side: boolean): HTMLElement {
  const marked = markedIn(rows)
  const endings =
    new Set(rows.filter(({ no_break }) => no_break !== true).map(({ line_ending }) => line_ending)).size > 1
  const text = (row: Row) => h('span', { class: 'text' }, ...content(row, endings, marked.get(row)))
  if (!side) {
    return h(
      'div',
      { class: 'rows' },
      ...rows.map(row =>
        h(
          'div',
          { class: `row ${row.kind}${colourClass(row)}` },
          number(row.base_line),
          number(row.line),
          sign(row.kind),
          text(row)
        )
      )
    )
  }
  const half = (row: Row | undefined, line: number | undefined) =>
    row === undefined
      ? h('div', { class: 'half none' })
      : h('div', { class: `half ${row.kind}${colourClass(row)}` }, number(line), sign(row.kind), text(row))
  return h(
    'div',
    { class: 'rows side' },
    ...pairsOf(rows).map(({ left, right }) =>
      h('div', { class: 'row' }, half(left, left?.base_line), half(right, right?.line))
    )
  )
}
