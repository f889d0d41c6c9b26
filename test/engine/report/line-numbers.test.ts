// Line numbers from an index and splices, against a count of the whole text.
import t from 'tap'
import { LineIndex } from '../../../src/engine/text/line-index.ts'
import { changedLineNumbers } from '../../../src/engine/report/line-numbers.ts'
import { lineNumbers } from '../../../src/engine/text/lines.ts'
import { Splices } from '../../../src/engine/edit/splice.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'
import { rounds } from '../rounds.ts'

const ALPHABETS = [['a', '\n'], ['a', 'bcdefgh'.repeat(9), '\r\n'], ['\r', '\n', '\r\n', 'a'], ['\r', 'abc'], ['abc']]

t.test('numbers lines as a count of the whole text does, before and after splices', t => {
  for (const round of rounds(t, 3000)) {
    const random = new Random(SEED * 80_021 + round)
    const alphabet = random.pick(ALPHABETS)
    const original = Buffer.from(
      (random.chance(20) ? '\ufeff' : '') +
        random.text(alphabet, random.chance(4) ? 6000 : random.pick([3, 20, 60, 200]))
    ).subarray(random.int(4))
    const list = []
    for (let at = random.int(20); at <= original.length && list.length < 8; at += random.int(random.pick([3, 400]))) {
      const end = Math.min(original.length, at + random.int(random.pick([2, 5, 5000])))
      list.push({ start: at, end, insert: Buffer.from(random.text(alphabet, random.chance(15) ? 1200 : 3)) })
      at = end
    }
    const splices = new Splices(list, original.length)
    const before = new Text([original])
    const after = new Text(splices.apply(original))
    const offsets = (text: Text) => Array.from({ length: random.int(12) }, () => random.int(text.length + 1))
    const [old, now] = [offsets(before), offsets(after)]
    const index = new LineIndex(original)
    const found = [
      index.lineNumbers(old),
      changedLineNumbers(after, index, splices, now),
      new LineIndex(original).lineNumbers(old)
    ]
    const expected = [lineNumbers(before, old), lineNumbers(after, now), lineNumbers(before, old)]
    const feeds = old.every(
      offset => index.lineFeedsBefore(offset) === original.toString('latin1', 0, offset).split('\n').length - 1
    )
    if (feeds && JSON.stringify(found) === JSON.stringify(expected)) continue
    t.fail('differs', {
      seed: SEED,
      round,
      original: original.toString(),
      list: list.map(({ start, end, insert }) => [start, end, String(insert)]),
      old,
      now,
      found,
      expected,
      feeds
    })
    break
  }
  t.pass('all rounds')
  t.end()
})

t.test('counts each kind of break as a look at every byte does', t => {
  for (let round = 0; round < often(2000); round++) {
    const random = new Random(SEED * 80_051 + round)
    const text = random.text(random.pick(ALPHABETS), random.pick([5, 50, 200, 3000]))
    const bytes = Buffer.from('xxxx' + text).subarray(4 - random.int(4))
    const all = bytes.toString().match(/\r\n|\r|\n/g) ?? []
    const expected = {
      lf: all.filter(kind => kind === '\n').length,
      crlf: all.filter(kind => kind === '\r\n').length,
      cr: all.filter(kind => kind === '\r').length
    }
    if (JSON.stringify(new LineIndex(bytes).endings()) === JSON.stringify(expected)) continue
    t.fail('differs', { seed: SEED, round, text, expected })
    break
  }
  t.equal(new LineIndex(Buffer.from('a\r')).breaksBefore(2, 10), 0)
  t.end()
})
