// The lines of a file and where others are among them, against a search that compares every line.
import t from 'tap'
import { FileLines } from '../../../src/engine/patch/file-lines.ts'
import { splitAtBreaks } from '../../../src/engine/text/lines.ts'
import { parseDiff } from '../../../src/engine/patch/v4a.ts'
import { planHunks } from '../../../src/engine/plan/apply-hunks.ts'
import { often } from '../../often.ts'
import { collidingTexts } from '../colliding.ts'
import { Random, randomFile, SEED } from '../../random.ts'

const ROUNDS = often(2000, 300)

t.test('finds lines and blocks of lines as a plain search does', async t => {
  for (let i = 0; i < ROUNDS; i++) {
    const random = new Random(SEED * 100_000 + i)
    const { bytes, alphabet } = randomFile(random)
    const file = new FileLines(bytes)
    const plain = splitAtBreaks(bytes.toString('latin1').replace(/^\xef\xbb\xbf/, ''))
    t.equal(file.isEnded, plain.at(-1) === '', `seed ${random.seed}`)
    if (plain.at(-1) === '') plain.pop()
    const lines = Array.from({ length: file.count }, (_, index) => file.line(index).toString('latin1'))
    t.strictSame(lines, plain, `seed ${random.seed}`)
    const at = random.int(lines.length + 1)
    const block = lines.slice(at, at + 1 + random.int(3)).map(line => Buffer.from(line, 'latin1').toString())
    if (block.length === 0) continue
    const texts = random.chance(20) ? block.with(-1, random.text(alphabet, 3).replace(/[\r\n]/g, '')) : block
    const from = random.int(lines.length + 1)
    for (const read of [(text: string) => text, (text: string) => text.replace(/^[ \t]+|[ \t]+$/g, '')]) {
      const found = read('  ') === '' ? file.findTrimmed(texts) : file.find(texts)
      const wanted = texts.map(text => read(Buffer.from(text).toString('latin1')))
      const places = lines.flatMap((_, index) =>
        index >= from && wanted.every((text, j) => index + j < lines.length && read(lines[index + j]!) === text)
          ? [index]
          : []
      )
      t.strictSame([...found.blocks(texts, from)], places, `seed ${random.seed}`)
    }
  }
})

t.test('takes ten times as long for ten times as many hunks in a file ten times as long', async t => {
  const timed = (hunks: number): number => {
    const lines = Array.from({ length: hunks * 20 }, (_, i) =>
      i % 20 === 0 ? `line ${i}` : '  } // the same, again and again'
    )
    const file = Buffer.from(lines.map(line => `${line}\n`).join(''))
    const diff = Array.from({ length: hunks }, (_, i) => `@@\n ${lines[1]}\n-line ${i * 20 + 20}\n+changed\n`)
    const parsed = parseDiff(diff.slice(0, -1).join(''))
    if (!parsed.ok) throw new Error(parsed.failure.reason)
    const before = process.cpuUsage()
    const planned = planHunks(file, parsed.value, { max_result_size: 1 << 28 })
    t.ok(planned.ok && planned.value.splices.list.length === hunks - 1)
    return process.cpuUsage(before).user
  }
  timed(500)
  const [one, ten] = [timed(1000), timed(10_000)]
  // A scan for each hunk would take a hundred times as long.
  t.ok(ten < 50 * Math.max(one, 10_000), `${one} and ${ten} µs`)
})

t.test('finds blocks of lines that are all frequent as a plain search does', async t => {
  for (let i = 0; i < ROUNDS; i++) {
    const random = new Random(SEED * 70_001 + i)
    const period = Array.from({ length: 1 + random.int(3) }, () => random.pick(['a', 'b']))
    const lines = Array.from({ length: 20 + random.int(60) }, (_, at) =>
      random.chance(3) ? 'c' : period[at % period.length]!
    )
    const at = random.int(lines.length - 10)
    const block = lines.slice(at, at + 10 + random.int(20))
    const texts = random.chance(20) ? block.with(random.int(block.length), random.pick(['a', 'b'])) : block
    const from = random.int(lines.length)
    const places = lines.flatMap((_, index) =>
      index >= from && texts.every((text, j) => lines[index + j] === text) ? [index] : []
    )
    const file = new FileLines(Buffer.from(lines.join('\n')))
    t.strictSame([...file.find(texts).blocks(texts, from)], places, `seed ${random.seed}`)
  }
})

t.test('takes ten times as long for a block ten times as long of lines that are all alike', async t => {
  const timed = (count: number): number => {
    const file = new FileLines(Buffer.from('x\n'.repeat(count * 4)))
    const texts = Array<string>(count).fill('x')
    const before = process.cpuUsage()
    t.equal([...file.find(texts).blocks(texts, 0)].length, count * 3 + 1)
    return process.cpuUsage(before).user
  }
  timed(1000)
  const [one, ten] = [timed(2000), timed(20_000)]
  // Comparing at each place would take a hundred times as long: more than ten seconds.
  t.ok(ten < 50 * Math.max(one, 10_000), `${one} and ${ten} µs`)
})

t.test('takes no longer for lines of one hash than for others', async t => {
  const crafted = collidingTexts((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5 | 0, 11)
  const timed = (texts: readonly string[]): number => {
    const file = new FileLines(Buffer.from(`${texts[0]!}\n`.repeat(20_000)))
    const before = process.cpuUsage()
    t.equal(file.find(texts).of(texts[0]!).length, 20_000)
    return process.cpuUsage(before).user
  }
  const ordinary = timed(crafted.map((text, i) => text.slice(8) + String(i).padStart(8)))
  const same = timed(crafted)
  // Comparing each line with all of them would take a hundred times as long.
  t.ok(same < 20 * Math.max(ordinary, 10_000), `${ordinary} and ${same} µs`)
})
