// Which units make the difference on each line of a hunk.
import type { Line } from '../text/lines.ts'
import { hasBytes, type NetStretch } from './pending-diff.ts'

/** One side of a hunk; ask for its lines in order. Linear in the lines and stretches. */
export class Makers {
  readonly #stretches: readonly NetStretch[]
  readonly #side: 'baseline' | 'present'
  #first = 0

  constructor(stretches: readonly NetStretch[], side: 'baseline' | 'present') {
    this.#stretches = stretches.filter(hasBytes)
    this.#side = side
  }

  /**
   * The units, ascending, that make bytes of the line exist on this side only; if both sides have all its bytes, those
   * that have bytes between them on the other side; otherwise those that change what is next to the line.
   */
  of({ start, next }: Pick<Line, 'start' | 'next'>): number[] {
    while (this.#first < this.#stretches.length && this.#rangeOf(this.#first)[1] < start) this.#first++
    const own = new Set<number>()
    const within = new Set<number>()
    const beside = new Set<number>()
    for (let i = this.#first; i < this.#stretches.length; i++) {
      const [from, to] = this.#rangeOf(i)
      if (from > next) break
      const touches = from === next || (to > from && to === start)
      const into = touches ? beside : to > from ? own : within
      for (const unit of this.#stretches[i]!.units) into.add(unit)
    }
    const made = [own, within].find(({ size }) => size > 0) ?? beside
    return [...made].sort((a, b) => a - b)
  }

  #rangeOf(index: number): [from: number, to: number] {
    const { from, to, otherFrom, otherTo } = this.#stretches[index]!
    return this.#side === 'baseline' ? [from, to] : [otherFrom, otherTo]
  }
}
