// A text in which each line belongs to one agent, who alone changes it. Does not know any law.
import type { Splice } from '../../../src/engine/edit/splice.ts'
import type { Random } from '../../random.ts'
import type { History } from './random-history.ts'

/** A line that one agent owns; null where it isn't there. `edits`: what each unit made of it. */
interface OwnedLine {
  owner: number
  base: Buffer | null
  edits: { unit: string; text: Buffer | null }[]
}

const NOTHING = Buffer.alloc(0)

export class OwnedLines {
  readonly base: Buffer
  readonly #random: Random
  readonly #lines: OwnedLine[]
  readonly #breaks: readonly string[]
  #version = 0

  constructor(random: Random) {
    this.#random = random
    this.#breaks = random.pick([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r']])
    this.#lines = Array.from({ length: 1 + random.int(9) }, (_, line) => ({
      owner: line % 3,
      base: this.#newLine(line),
      edits: []
    }))
    this.base = Buffer.concat(this.#lines.map(({ base }) => base ?? NOTHING))
  }

  /** The next edit of the history: replaces, deletes or inserts some of an agent's lines, each by one splice. */
  plan({ present, changes }: Pick<History, 'present' | 'changes'>, agent: number): Splice[] {
    const random = this.#random
    const places = placesOf(present)
    const starts = [...places.map(({ start }) => start), present.length]
    const planned = places
      .map(({ line, start }, at) => ({ line, start, end: starts[at + 1]! }))
      .filter(({ line }) => this.#lines[line]!.owner === agent && random.chance(40))
      .map(place => ({ ...place, insert: random.chance(30) ? NOTHING : this.#newLine(place.line) }))
    // New lines get new numbers: text inserted at another place is another line.
    for (let count = random.int(3); count > 0; count--) {
      const line = this.#lines.push({ owner: agent, base: null, edits: [] }) - 1
      const start = random.pick(starts)
      planned.push({ line, start, end: start, insert: this.#newLine(line) })
    }
    planned.sort((a, b) => a.start - b.start || a.end - b.end)
    for (const [index, { line, insert }] of planned.entries()) {
      const unit = `e${changes.length} ${index}`
      this.#lines[line]!.edits.push({ unit, text: insert.length > 0 ? insert : null })
    }
    return planned
  }

  /** Null if each line has the text of the last applied edit of it, else what is wrong. */
  wrong({ present, undone }: Pick<History, 'present' | 'undone'>): string | null {
    const places = placesOf(present)
    for (const [line, { base, edits }] of this.#lines.entries()) {
      const last = edits.findLast(({ unit }) => !undone.has(unit))
      const at = places.findIndex(place => place.line === line)
      const is = at === -1 ? NOTHING : present.subarray(places[at]!.start, places[at + 1]?.start)
      if (!is.equals((last === undefined ? base : last.text) ?? NOTHING)) return `line ${line} is wrong`
    }
    return null
  }

  #newLine(line: number): Buffer {
    const random = this.#random
    return Buffer.concat([
      Buffer.from(`${random.pick(['', '  ', 'y '])}l${line} `),
      random.chance(20) ? Buffer.from([random.pick([0xff, 0xc3])]) : NOTHING,
      Buffer.from(`${random.pick(['', 'x', 'x y', 'é'])} v${this.#version++}${random.pick(this.#breaks)}`)
    ])
  }
}

/** The number of each line in a text and where it begins, in order. Line 7 has `l7 ` in it. */
const placesOf = (text: Buffer): { line: number; start: number }[] =>
  Array.from(text.toString('latin1').matchAll(/[^\r\n]*l(\d+) [^\r\n]*(?:\r\n|\n|\r)/g), ({ 1: line, index }) => ({
    line: Number(line),
    start: index
  }))
