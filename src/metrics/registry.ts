// Counters, gauges and histograms, as plain data and in the text format of Prometheus (0.0.4). Does not know any metric
// by name. prom-client would do the same with 4.7 MB in the install, for tracing and quantiles that aren't used here.

/** A metric at one time; each sample is a series, as it is written, and its value. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: (readonly [series: string, value: number])[]
}

/** Counts up; `labels` are values of the label names, from closed sets. */
interface Counter<L extends string> {
  add(labels: Readonly<Record<L, string>>, count?: number): void
}

/** Counts how many values are at most as large as each bound. */
interface Histogram<L extends string> {
  observe(labels: Readonly<Record<L, string>>, value: number): void
}

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`))

type Labels = Readonly<Record<string, string>>

/** To Prometheus, an empty label means none. */
const seriesOf = (name: string, labels: Labels): string => {
  const pairs = Object.entries(labels).flatMap(([label, value]) => (value === '' ? [] : `${label}="${escaped(value)}"`))
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

export class Registry {
  readonly #read: (() => Family)[] = []

  /** Without labels it starts at 0; with labels, a series starts with its first event. */
  counter<L extends string = never>(name: string, help: string, labels: readonly L[] = []): Counter<L> {
    const values = new Map<string, number>()
    if (labels.length === 0) values.set(name, 0)
    this.#read.push(() => ({ name, help, type: 'counter', samples: [...values] }))
    return {
      add(given, count = 1) {
        const series = seriesOf(name, given)
        values.set(series, (values.get(series) ?? 0) + count)
      }
    }
  }

  /** `read` is called for each snapshot. */
  gauge(name: string, help: string, read: () => number): void {
    this.gauges(name, help, () => [[{}, read()]])
  }

  /** A gauge of several series. */
  gauges(name: string, help: string, read: () => (readonly [Labels, number])[]): void {
    this.#read.push(() => {
      const samples = read().map(([labels, value]) => [seriesOf(name, labels), value] as const)
      return { name, help, type: 'gauge', samples }
    })
  }

  /** A counter whose number is kept elsewhere. */
  counted(name: string, help: string, read: () => number): void {
    this.#read.push(() => ({ name, help, type: 'counter', samples: [[name, read()]] }))
  }

  /** `bounds`: ascending. */
  histogram<L extends string = never>(name: string, help: string, bounds: readonly number[]): Histogram<L> {
    const all = new Map<string, { labels: Labels; counts: number[]; sum: number }>()
    this.#read.push(() => ({
      name,
      help,
      type: 'histogram',
      samples: [...all.values()].flatMap(({ labels, counts, sum }) => {
        let count = 0
        const buckets = counts.map((own, i) => {
          count += own
          return [seriesOf(`${name}_bucket`, { ...labels, le: String(bounds[i] ?? '+Inf') }), count] as const
        })
        return [...buckets, [seriesOf(`${name}_sum`, labels), sum] as const, [seriesOf(`${name}_count`, labels), count]]
      })
    }))
    return {
      observe(labels, value) {
        const key = seriesOf('', labels)
        let of = all.get(key)
        if (of === undefined) all.set(key, (of = { labels, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 }))
        const i = bounds.findIndex(bound => value <= bound)
        of.counts[i < 0 ? bounds.length : i]!++
        of.sum += value
      }
    }
  }

  snapshot(): Family[] {
    return this.#read.map(read => read())
  }
}

/** The text that Prometheus reads; a metric without samples is left out. */
export const exposition = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(([series, value]) => `${series} ${value}`),
        ''
      ].join('\n')
    )
    .join('')
