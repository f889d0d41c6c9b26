// A row of the tables, and how numbers are written in it.
import type { Loaded } from './load/under-load.ts'
import type { Measured } from './rounds.ts'
import type { Quartiles } from './statistics.ts'

/** `what` and `variant` together are unique; `figure` is the result in words, if it isn't a time or a ratio. */
export interface Row {
  what: string
  edits: number
  variant: string
  measured?: Measured
  loaded?: Loaded
  figure?: string
  value?: number
  longest?: number
  pairs: number
}

export const rowsOf = (what: string, edits: number, all: readonly Measured[]): Row[] =>
  all.map(measured => ({ what, edits, variant: measured.name, measured, pairs: measured.pairs }))

export function tableOf(rows: readonly Row[]): string {
  const lines = rows
    .filter(({ loaded }) => loaded === undefined)
    .map(({ what, edits, variant, measured, figure, pairs }) => {
      if (measured === undefined) return [what, String(edits), variant, figure ?? '', '', '', String(pairs)]
      const itself = measured.name === measured.against
      return [
        what,
        String(edits),
        variant,
        figure ?? `${time(measured.wall)} (CPU ${time(measured.cpu)})`,
        itself ? '1' : ratio(measured.wallRatio),
        itself ? '1' : ratio(measured.cpuRatio),
        String(pairs)
      ]
    })
  const head = ['file', 'edits', 'variant', 'median of one', '× the first of its kind, wall', 'the same, CPU', 'n']
  return tableIn(head, lines)
}

/** The rows of servers under load. */
export function loadTableOf(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ what, variant, loaded, pairs }) => {
    if (loaded === undefined) return []
    const { rate, cpu, clients, p50, p99, floor, over } = loaded
    const to = floor === variant ? undefined : over[floor]
    const ratioTo = (figure: 'rate' | 'cpu' | 'p50' | 'p99'): string => (to === undefined ? '1' : ratio(to[figure]))
    const times = [time(cpu), ratioTo('cpu'), time(p50), ratioTo('p50'), time(p99), ratioTo('p99'), time(clients)]
    return [[what, variant, short(rate), ratioTo('rate'), ...times, String(pairs)]]
  })
  const own = '× its floor'
  const head = [
    'file',
    'server',
    'edits a second',
    own,
    'CPU of one',
    own,
    'p50',
    own,
    'p99',
    own,
    'CPU of the load',
    'n'
  ]
  return lines.length === 0 ? '' : tableIn(head, lines)
}

const tableIn = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')

export function time(ms: number): string {
  return ms < 1 ? `${Math.round(ms * 1000)} µs` : ms < 1000 ? `${short(ms)} ms` : `${short(ms / 1000)} s`
}

export const ratio = ({ low, median, high }: Quartiles): string => `${short(median)} (${short(low)}–${short(high)})`

export function short(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
