// Seeded random numbers, texts and files. Does not know what is tested with them.

/** Random numbers that a seed determines (mulberry32). */
export class Random {
  readonly seed: number
  #state: number

  constructor(seed: number) {
    this.seed = seed
    this.#state = seed
  }

  /** From 0 (inclusive) to `below` (exclusive). */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }

  chance(percent: number): boolean {
    return this.int(100) < percent
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!
  }

  /** A text of up to `most` strings drawn from `alphabet`. */
  text(alphabet: readonly string[], most: number): string {
    return Array.from({ length: this.int(most + 1) }, () => this.pick(alphabet)).join('')
  }
}

/** The seed of this run: `SEED` in the environment, else the day's number. A law that fails prints it. */
export const SEED = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000))

/** Small alphabets, so that texts often repeat, touch and overlap. */
const ALPHABETS = [
  ['a', 'b'],
  ['a', 'b', ' ', '\t', '{', '}'],
  ['a', 'é', '字', '😀', '\u2028', '\f'],
  ['foo', 'bar', ' ', '(', ')', '$&', '\\n']
] as const

const BREAKS = [['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r'], ['\n', '\r\n'], []] as const

/** The bytes of a random file, and the alphabet from which edits of it should draw. */
export function randomFile(random: Random): { bytes: Buffer; alphabet: string[] } {
  const letters = random.pick(ALPHABETS)
  const breaks = random.pick(BREAKS)
  const alphabet = [...letters, ...letters, ...breaks]
  const parts = [random.chance(15) ? '\ufeff' : '', random.text(alphabet, random.pick([0, 5, 40, 200]))]
  if (random.chance(50) && breaks.length > 0) parts.push(random.pick(breaks))
  if (random.chance(3)) parts.push('x'.repeat(2000))
  const bytes = Buffer.from(parts.join(''))
  // Bytes that are not UTF-8, anywhere.
  if (random.chance(20)) {
    for (let i = 0; i < 3 && bytes.length > 0; i++) bytes[random.int(bytes.length)] = random.pick([0xff, 0xc3, 0x80])
  }
  return { bytes, alphabet: [...alphabet, '\n'] }
}
