// Bytes and pairs counted in WebAssembly, against a loop; and that the code which is run is the one which is read.
import { readFileSync } from 'node:fs'
import t from 'tap'
import wabt from 'wabt'
import { countByte, countPairs } from '../../../src/engine/text/count-bytes.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

t.test('runs what count-bytes.wat says', async t => {
  const { parseWat } = await wabt()
  const textOf = (name: string) => readFileSync(new URL(`../../../src/engine/text/${name}`, import.meta.url), 'utf8')
  const { buffer } = parseWat('count-bytes.wat', textOf('count-bytes.wat'), { simd: true }).toBinary({})
  const [, code = ''] = /const CODE = Buffer\.from\(([^,]*),/.exec(textOf('count-bytes.ts')) ?? []
  const pieces = [...code.matchAll(/'([^']*)'/g)].map(([, piece]) => piece)
  t.equal(pieces.join(''), Buffer.from(buffer).toString('base64'))
})

const naiveCount = (bytes: Buffer, wanted: number): number =>
  bytes.reduce((count, byte) => count + Number(byte === wanted), 0)

const naivePairs = (bytes: Buffer, first: number, second: number, next: number): number =>
  bytes.reduce(
    (count, byte, i) => count + Number(byte === first && (i + 1 < bytes.length ? bytes[i + 1] : next) === second),
    0
  )

/** Around what is counted by a loop, what fills a lane, and what is a piece. */
const LENGTHS = [0, 1, 15, 16, 17, 63, 64, 65, 200, 4079, 4080, 4081, 65_535, 65_536, 65_537, 200_000]

t.test('counts what a loop counts, wherever the range begins and whatever lies around it', async t => {
  for (let round = 0; round < often(400); round++) {
    const random = new Random(SEED + round)
    const alphabet = random.pick([[10], [13, 10], [10, 13, 97], [0, 10, 255], [13]])
    const length = random.pick(LENGTHS)
    const from = random.int(20)
    const bytes = Buffer.from(Array.from({ length: from + length + random.int(20) }, () => random.pick(alphabet)))
    const range = bytes.subarray(from, from + length)
    const next = random.pick([bytes[from + length] ?? -1, -1, 10, 13])
    const counted = [
      countByte(bytes, 10, from, from + length),
      countByte(bytes, 255, from, from + length),
      countPairs(bytes, 13, 10, from, from + length, next)
    ]
    const expected = [naiveCount(range, 10), naiveCount(range, 255), naivePairs(range, 13, 10, next)]
    if (String(counted) !== String(expected)) {
      t.fail(`${counted}, not ${expected}: SEED=${SEED}, round ${round}, ${length} bytes from ${from}, next ${next}`)
    }
  }
  t.equal(countByte(Buffer.alloc(1_000_000, '\n'), 10), 1_000_000)
})
