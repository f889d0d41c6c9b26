// The diff of a change from its record, applied to the text before it.
import { applyPatch } from 'diff'
import t from 'tap'
import { planOfSplices } from '../../../src/engine/edit/plan-of-splices.ts'
import { Splices } from '../../../src/engine/edit/splice.ts'
import { AROUND, placesOf } from '../../../src/engine/undo/places.ts'
import { recordedDiff } from '../../../src/engine/report/recorded-diff.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const options = { path: 'a.txt', exists: true, max_lines: 1000 }

const recorded = (text: Buffer, splices: Splices, more: object = {}) => {
  const known = splices.list.map(({ start, end, insert }) => ({ start, old: text.subarray(start, end), insert }))
  return recordedDiff(known, placesOf(text, known), { ...options, ...more, kept: AROUND })
}

t.test('law: the diff of a record makes of the text before what the change made of it', t => {
  const random = new Random(SEED)
  for (let round = 0; round < often(20_000, 300); round++) {
    const text = Buffer.from(random.text(['a', 'b\n', '\n', 'cc\n', 'd'], 60))
    const list = []
    for (let at = random.int(8); at <= text.length; at += 1 + random.int(25)) {
      const end = Math.min(text.length, at + random.int(4))
      list.push({ start: at, end, insert: Buffer.from(random.text(['x', '\n', 'y\n'], 3)) })
      at = end
    }
    const splices = new Splices(list, text.length)
    const after = Buffer.concat(planOfSplices(text, splices).pieces).toString()
    const { diff } = recorded(text, splices) as { diff: string }
    const applied = diff === '' ? text.toString() : applyPatch(text.toString(), diff)
    if (applied !== after) t.equal(applied, after, `SEED=${SEED} round ${round}`)
  }
  t.end()
})

t.test('names what was not there before, or is not there afterwards', t => {
  const text = Buffer.from('a\n')
  const gone = new Splices([{ start: 0, end: 2, insert: Buffer.alloc(0) }], 2)
  t.match(recorded(text, gone, { remains: false }), { diff: '--- a/a.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n' })
  const made = new Splices([{ start: 0, end: 0, insert: text }], 0)
  t.match(recorded(Buffer.alloc(0), made, { exists: false }), { diff: /^--- \/dev\/null\n\+\+\+ b\/a\.txt\n/ })
  t.end()
})

t.test('has none where a line was too long to be kept', t => {
  const text = Buffer.from(`${'x'.repeat(5000)}\n`)
  const splices = new Splices([{ start: 4000, end: 4001, insert: Buffer.from('y') }], text.length)
  t.strictSame(recorded(text, splices), { diff_unavailable: 'too_long' })
  t.end()
})
