// Texts that were made to have one hash, for functions that hash byte by byte. Does not know which function it is.

const LETTERS = Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_')
/** Letters of a block: with fewer, hardly any two have the same hash. */
const BLOCK = 6

/** `2 ** blocks` ASCII texts of `blocks` blocks; `step`: the hash with one byte more; `start`: the hash of no bytes. */
export function collidingTexts(step: (hash: number, byte: number) => number, start: number, blocks: number): string[] {
  // For each position two blocks that lead from one hash to the same next one: any choice of them is a text.
  let texts = ['']
  let hash = start
  while (texts.length < 2 ** blocks) {
    const seen = new Map<number, number>()
    for (let n = 0, other: number | undefined; other === undefined; n++) {
      let next = hash
      for (let i = 0; i < BLOCK; i++) next = step(next, letter(n, i))
      other = seen.get(next)
      seen.set(next, n)
      if (other === undefined) continue
      const pair = [blockOf(n), blockOf(other)]
      texts = texts.flatMap(text => pair.map(block => text + block))
      hash = next
    }
  }
  return texts
}

/** Letter `i` of block `n`, as if at random. */
const letter = (n: number, i: number): number =>
  LETTERS[Math.imul(Math.imul(n, 0x9e3779b1) ^ (i * 0x85eb), 0x2c1b3c6d) >>> 26]!

const blockOf = (n: number): string => String.fromCharCode(...Array.from({ length: BLOCK }, (_, i) => letter(n, i)))
