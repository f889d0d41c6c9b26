// The keys of logs: in the order of what was written, and which objects hold all of one.
import t from 'tap'
import {
  cover,
  keyAfter,
  keyBefore,
  objectKey,
  parseLog,
  parseObject,
  rangeToMerge,
  type Range
} from '../../../src/bucket/log/names.ts'

t.test('keys are in the order of logs and numbers, and say what they are of', async t => {
  const ranges: [number, Range][] = [
    [1, { from: 0, to: 0 }],
    [1, { from: 0, to: 15 }],
    [1, { from: 9, to: 9 }],
    [1, { from: 10, to: 10 }],
    [2, { from: 0, to: 0 }],
    [10, { from: 0, to: 0 }]
  ]
  const keys = ranges.map(([log, range]) => objectKey(log, range))
  t.strictSame(keys, [...keys].sort())
  t.strictSame(
    keys.map(key => parseObject(key)),
    ranges.map(([log, range]) => ({ log, ...range }))
  )
  const before = keyBefore(1, 10)
  t.ok(before > objectKey(1, { from: 9, to: 20 }))
  t.ok(before < objectKey(1, { from: 10, to: 10 }))
  t.ok(keyBefore(1, 0) < keys[0]!)
  t.ok(keyAfter(1) > keyBefore(1, 999_999_999))
  t.ok(keyAfter(1) < keys[4]!)
  t.equal(parseLog(keys[5]!), 10)
})

t.test('takes no other key for one of a log', async t => {
  const wrong = [
    '',
    '1/0',
    '000000001/',
    '000000001/000000005-000000004',
    '000000001/000000005-000000005',
    '1/000000000'
  ]
  for (const key of [...wrong, '000000001/0000000000', '000000001/000000000/x']) {
    t.equal(parseObject(`.editd/log/${key}`), null, key)
  }
  t.equal(parseLog('.editd/log/x/0'), null)
})

t.test('covers a log with the widest objects, and says what is missing', async t => {
  const range = (text: string): Range => {
    const [from = '', to = from] = text.split('-')
    return { from: Number(from), to: Number(to) }
  }
  const check = (objects: string, chosen: string, missing = '') => {
    const parse = (text: string) => text.split(' ').filter(Boolean).map(range)
    t.strictSame(cover(parse(objects)), { objects: parse(chosen), missing: parse(missing) }, objects)
  }
  check('', '')
  check('0 1 2', '0 1 2')
  check('2 0 1', '0 1 2')
  check('0 1 0-1 2', '0-1 2')
  check('0-15 3 15 16', '0-15 16')
  check('0-15 0-255 256', '0-255 256')
  check('0 3 4', '0 3 4', '1-2')
  check('2', '2', '0-1')
})

t.test('puts 16 objects together, and 16 of these, and so on: few are left of many', async t => {
  t.equal(rangeToMerge(0), null)
  t.equal(rangeToMerge(15), null)
  t.strictSame(rangeToMerge(16), { from: 0, to: 15 })
  t.strictSame(rangeToMerge(48), { from: 32, to: 47 })
  t.strictSame(rangeToMerge(256), { from: 0, to: 255 })
  let objects: Range[] = []
  let most = 0
  for (let number = 0; number < 10_000; number++) {
    objects.push({ from: number, to: number })
    const merged = rangeToMerge(number)
    if (merged !== null) objects = [...objects.filter(({ from }) => from < merged.from || from > merged.to), merged]
    most = Math.max(most, objects.length)
    if (!objects.some(({ from, to }) => from === number && to === number)) t.fail(`${number} isn't by itself`)
  }
  t.ok(most <= 64, `${most}`)
  t.strictSame(cover(objects).missing, [])
})
