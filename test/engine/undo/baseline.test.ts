import t from 'tap'
import {
  baselineOf,
  keptOf,
  reviewed,
  reviewOf,
  type ReviewState,
  type Verdict
} from '../../../src/engine/undo/baseline.ts'
import { IndexSet } from '../../../src/engine/undo/index-set.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const A = 'a'
const kept = (...of: Verdict['of']): Verdict => ({ verdict: 'kept', of })
const pending = (...of: Verdict['of']): Verdict => ({ verdict: 'pending', of })
const whole = { edit_id: A, stood: true }
const some = (stood: boolean, ...change_indexes: number[]) => ({ edit_id: A, change_indexes, stood })

/** Which of the first three changes of an edit are in the baseline. */
function check(name: string, verdicts: readonly Verdict[], expected: readonly number[]): void {
  t.test(name, async t => {
    const isKept = baselineOf(verdicts)
    t.strictSame(
      [0, 1, 2].filter(index => isKept(A, index)),
      expected
    )
    t.notOk(isKept('b', 0), 'another edit has none')
  })
}

check('has nothing before a verdict', [], [])
check('has what was kept', [kept(whole)], [0, 1, 2])
check('has single changes', [kept(some(true, 1))], [1])
check('has not what was undone when it was kept', [kept({ edit_id: A, stood: false })], [])
check('has not the part that was undone', [kept(some(true, 0, 2), some(false, 1))], [0, 2])
check('takes the last verdict', [kept(whole), pending(some(true, 0))], [1, 2])
check('takes the last verdict, of a part first', [kept(some(true, 0)), pending(whole)], [])
check('takes the last verdict, of the whole last', [pending(some(true, 0)), kept(whole)], [0, 1, 2])
check('passes over an empty verdict', [kept(whole), pending()], [0, 1, 2])

function checkReview(name: string, count: number, sets: { undone?: number[]; kept?: number[] }, is?: ReviewState) {
  t.test(name, async t => {
    const [undone, own] = [new IndexSet(count), new IndexSet()]
    undone.put(true, sets.undone ?? [])
    own.put(true, sets.kept ?? [])
    t.equal(reviewOf(undone, own, count), is)
  })
}

checkReview('is pending before a verdict', 2, {}, 'pending')
checkReview('is kept where all of it is', 2, { kept: [0, 1] }, 'kept')
checkReview('is pending where a part is kept', 2, { kept: [1] }, 'pending')
checkReview('is pending where what was kept is undone', 2, { kept: [0, 1], undone: [1] }, 'pending')
checkReview('is kept where the rest is undone', 2, { kept: [0], undone: [1] }, 'kept')
checkReview('needs no review where nothing of it stands or was kept', 2, { undone: [0, 1] })
checkReview('is judged where the number of its changes is not known', Infinity, {}, 'pending')
checkReview('does not count changes that it doesn’t have', 1, { kept: [0, 7] }, 'kept')

t.test('means an edit as a whole where the number of its changes is not known', async t => {
  const units = { undone: new IndexSet(), kept: new IndexSet(), count: Infinity }
  t.strictSame(reviewed('kept', { edit_id: A }, units), [whole])
  t.strictSame(reviewed('pending', { edit_id: A }, units), [])
})

t.test('tells the baseline as a list of single changes does', async t => {
  for (let round = 0; round < often(20_000, 2000); round++) {
    const random = new Random(SEED * 7919 + round)
    const edits = Array.from({ length: 1 + random.int(3) }, (_, i) => ({
      edit_id: `e${i}`,
      count: 1 + random.int(4),
      stands: new Set<number>(),
      kept: new Set<number>(),
      undone: new IndexSet()
    }))
    for (const edit of edits) {
      edit.undone = new IndexSet(edit.count)
      for (let index = 0; index < edit.count; index++) edit.stands.add(index)
    }
    const verdicts: Verdict[] = []
    for (let step = 0; step < 8; step++) {
      const edit = random.pick(edits)
      const all = Array.from({ length: edit.count }, (_, index) => index)
      const part = random.chance(50) ? undefined : all.filter(() => random.chance(60))
      const selection = { edit_id: edit.edit_id, ...(part !== undefined && { change_indexes: part }) }
      if (random.chance(50)) {
        edit.undone.toggle(part)
        for (const index of part ?? all) edit.stands[edit.stands.has(index) ? 'delete' : 'add'](index)
      } else {
        const verdict = random.chance(60) ? 'kept' : 'pending'
        const known = keptOf(verdicts).get(edit.edit_id) ?? new IndexSet()
        const of = reviewed(verdict, selection, { undone: edit.undone, kept: known, count: edit.count })
        const isNew = (part ?? all).some(
          index => edit.kept.has(index) !== (verdict === 'kept' && edit.stands.has(index))
        )
        if (isNew !== of.length > 0) return t.fail('a verdict too many, or none', { round, seed: SEED })
        verdicts.push({ verdict, of })
        for (const index of part ?? all) {
          edit.kept[verdict === 'kept' && edit.stands.has(index) ? 'add' : 'delete'](index)
        }
      }
    }
    const isKept = baselineOf(verdicts)
    const keptSets = keptOf(verdicts)
    for (const { edit_id, count, kept: own, stands, undone } of edits) {
      const all = Array.from({ length: count }, (_, index) => index)
      const wrong = all.find(
        index => isKept(edit_id, index) !== own.has(index) || undone.has(index) === stands.has(index)
      )
      const isPending = all.some(index => stands.has(index) !== own.has(index))
      const review = isPending ? 'pending' : stands.size > 0 ? 'kept' : undefined
      if (wrong !== undefined || reviewOf(undone, keptSets.get(edit_id) ?? new IndexSet(), count) !== review) {
        return t.fail('another baseline', { round, seed: SEED, edit_id, wrong })
      }
    }
  }
  t.pass()
})
