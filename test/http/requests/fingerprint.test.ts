// Two requests ask for the same exactly where they have the same members with the same values, in whatever order.
import t from 'tap'
import { fingerprintOf } from '../../../src/http/requests/fingerprint.ts'
import { Random, SEED } from '../../random.ts'

t.test('is the same for the same members in any order, and for nothing else', t => {
  const one = { path: 'a', edits: [{ old_text: 'x', new_text: 'y' }], nested: { b: 1, a: [2, 3] } }
  const same = { nested: { a: [2, 3], b: 1 }, edits: [{ new_text: 'y', old_text: 'x' }], path: 'a' }
  t.match(fingerprintOf(one), /^[0-9a-f]{64}$/)
  t.equal(fingerprintOf(one), fingerprintOf(same))
  const { path, ...less } = one
  for (const other of [
    less,
    { ...one, path: 'b' },
    { ...one, path: ['a'] },
    { ...one, more: false },
    { ...one, nested: { b: 1, a: [3, 2] } },
    { ...one, nested: { b: '1', a: [2, 3] } },
    { ...one, edits: [...one.edits, ...one.edits] },
    { ...one, edits: [{ old_text: 'y', new_text: 'x' }] },
    { edits: one.edits, nested: { ...one.nested, path } }
  ]) {
    t.not(fingerprintOf(one), fingerprintOf(other), JSON.stringify(other))
  }
  t.end()
})

/** A JSON value, and a copy of it with the members of its objects in another order. */
function twins(random: Random, depth: number): [unknown, unknown] {
  const kind = depth === 0 ? random.int(3) : random.int(5)
  if (kind === 0) return [null, null]
  if (kind === 1) return Array<number>(2).fill(random.int(4)) as [number, number]
  if (kind === 2) return Array<string>(2).fill(random.pick(['', 'a', '10', '2', 'ä'])) as [string, string]
  const members = Array.from({ length: random.int(4) }, () => twins(random, depth - 1))
  if (kind === 3) return [members.map(([value]) => value), members.map(([, value]) => value)]
  const names = ['b', 'a', '10', '9', 'é'].slice(0, members.length)
  const object = members.map(([value], i): [string, unknown] => [names[i]!, value])
  const other = members.map(([, value], i): [string, unknown] => [names[i]!, value]).reverse()
  return [Object.fromEntries(object), Object.fromEntries(other)]
}

t.test('does not depend on the order of members, at any depth', t => {
  const random = new Random(SEED)
  t.comment(`SEED=${SEED}`)
  const byFingerprint = new Map<string, unknown>()
  for (let i = 0; i < 2000; i++) {
    const [value, twin] = twins(random, 3)
    const fingerprint = fingerprintOf(value)
    if (fingerprint !== fingerprintOf(twin)) t.fail(`SEED=${SEED} ${JSON.stringify([value, twin])}`)
    if (byFingerprint.has(fingerprint)) t.same(value, byFingerprint.get(fingerprint))
    byFingerprint.set(fingerprint, value)
  }
  t.ok(byFingerprint.size > 200)
  t.end()
})
