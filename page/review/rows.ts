// The lines of a hunk as rows: one below the other, or old and new side by side. Does not know where they come from.
import { h } from './dom.ts'
import { lineText } from './line-text.ts'
import { differing, pairsOf, withoutSpace, type Stretch } from './pairs.ts'

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
  differing?: readonly Stretch[]
  /** The line breaks differ. */
  ending: boolean
}

const note = (text: string | false | undefined) => text && h('span', { class: 'code' }, text)

/** `endings`: show line endings other than \n, since not all of them are the same. */
function textOf({ kind, text, no_break, line_ending, cut }: Row, endings: boolean, marked?: Marked): HTMLElement {
  return lineText(
    text,
    { differing: marked?.differing, ends: kind !== 'same' },
    note(cut && 'a long line, cut'),
    note(marked?.ending === true ? (line_ending ?? 'lf').toUpperCase() : endings && line_ending?.toUpperCase()),
    note(no_break && 'no line break at the end')
  )
}

const sign = (kind: Row['kind']) => h('span', { class: 'sign' }, SIGNS[kind])
const colourClass = (row: Row | undefined) => (row?.colour === undefined ? '' : ` by-${row.colour}`)

/** The differences of each line that was replaced by exactly one line. */
function markedIn(rows: readonly Row[]): Map<Row, Marked> {
  const marked = new Map<Row, Marked>()
  for (const { left, right } of pairsOf(rows)) {
    if (left === undefined || right === undefined || left === right) continue
    const found = differing(left.text, right.text)
    const hasBreaks = left.no_break !== true && right.no_break !== true
    const ending = hasBreaks && left.line_ending !== right.line_ending
    marked.set(left, { differing: found?.left, ending })
    marked.set(right, { differing: found?.right, ending })
  }
  return marked
}

/** How rows are shown. */
export interface Shown {
  /** Old and new side by side. */
  side: boolean
  /** Also changes of white space only. */
  spaces: boolean
}

export function rowsOf(all: readonly Row[], { side, spaces }: Shown): HTMLElement {
  const rows = spaces ? all : withoutSpace(all)
  const marked = markedIn(rows)
  const endings =
    new Set(rows.filter(({ no_break }) => no_break !== true).map(({ line_ending }) => line_ending)).size > 1
  const text = (row: Row) => textOf(row, endings, marked.get(row))
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
