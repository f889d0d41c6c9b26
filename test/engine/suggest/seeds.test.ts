// Pieces found in WebAssembly, against a loop; and that the code which is run is the one which is read.
import { readFileSync } from 'node:fs'
import t from 'tap'
import wabt from 'wabt'
import { findSeeds, MOST_SEEN, seedsOf } from '../../../src/engine/suggest/seeds.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

t.test('runs what seeds.wat says', async t => {
  const { parseWat } = await wabt()
  const textOf = (name: string) => readFileSync(new URL(`../../../src/engine/suggest/${name}`, import.meta.url), 'utf8')
  const { buffer } = parseWat('seeds.wat', textOf('seeds.wat'), { simd: true }).toBinary({})
  const [, code = ''] = /const CODE = Buffer\.from\(([^,]*),/.exec(textOf('seeds.ts')) ?? []
  const pieces = [...code.matchAll(/'([^']*)'/g)].map(([, piece]) => piece)
  t.equal(pieces.join(''), Buffer.from(buffer).toString('base64'))
})

/** Each piece of the text, looked at every `step` words of its memory, compared with all those of `sought`. */
function naive(text: Buffer, sought: Buffer, length: 4 | 8, step: number): string[] {
  const pieceAt = (bytes: Buffer, at: number) => Buffer.from(bytes.subarray(at, at + length).map(byte => byte | 0x20))
  const pieces = new Map<string, number>()
  for (let at = 0; at + length <= sought.length; at++) {
    const bytes = sought.subarray(at, at + length)
    const blanks = bytes.filter(byte => [9, 10, 13, 32].includes(byte)).length
    if (blanks <= (length === 8 ? 4 : 1)) pieces.set(pieceAt(sought, at).toString('latin1'), 0)
  }
  const places: string[] = []
  for (let at = (4 - (text.byteOffset & 3)) & 3; at + length <= text.length; at += 4 * step) {
    const piece = pieceAt(text, at).toString('latin1')
    const seen = pieces.get(piece)
    if (seen === undefined) continue
    pieces.set(piece, seen + 1)
    if (seen < MOST_SEEN) places.push(`${at} ${Buffer.from(piece, 'latin1').toString('hex')}`)
  }
  return places
}

/** Around what is looked at in one step, and in one part. */
const LENGTHS = [0, 3, 4, 7, 8, 15, 16, 17, 31, 40, 300, 65_532, 65_536, 65_540, 200_003]

t.test(
  'finds what a loop finds, wherever the text begins in its memory and whatever was looked for before',
  async t => {
    for (let round = 0; round < often(300); round++) {
      const random = new Random(SEED + round)
      const alphabet = random.pick([
        ['ab', 'Ab', 'c '],
        ['0', '1', '2', '3', 'xyz', 'XYZ', ' '],
        ['é', '字', 'a', '\n']
      ])
      const size = random.pick(LENGTHS)
      const letters = random.text(alphabet, Math.min(size, 4000))
      const skipped = random.int(4)
      const memory = Buffer.alloc(skipped + size, random.chance(20) ? 'abcd' : letters || 'a')
      const text = memory.subarray(skipped)
      const sought = Buffer.from(random.chance(50) ? random.text(alphabet, 30) : letters.slice(0, 60))
      const length = random.pick([4, 8] as const)
      const step = random.pick([1, 1, 2, 4])
      const seeds = seedsOf([sought], length)
      const hits = findSeeds(text, seeds, step)
      const found = Array.from({ length: hits.count }, (_, i) => {
        const piece = Buffer.alloc(8)
        piece.writeInt32LE(seeds.low[hits.gram[i]!]!, 0)
        piece.writeInt32LE(seeds.high[hits.gram[i]!]!, 4)
        return `${hits.at[i]!} ${piece.subarray(8 - length).toString('hex')}`
      })
      const expected = naive(text, sought, length, step)
      const isCounted = hits.seen.every((count, gram) => {
        const listed = hits.gram.subarray(0, hits.count).filter(other => other === gram).length
        return count > MOST_SEEN ? listed === MOST_SEEN : count === listed
      })
      if (isCounted && found.join() === expected.join()) continue
      t.fail(`differs: SEED=${SEED}, round ${round}, ${size} bytes, pieces of ${length}, step ${step}`, {
        found: found.slice(0, 10),
        expected: expected.slice(0, 10)
      })
    }
  }
)
