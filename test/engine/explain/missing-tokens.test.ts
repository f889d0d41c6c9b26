// Names that a text doesn't have, in texts small and large, against `includes`.
import t from 'tap'
import { missingTokens } from '../../../src/engine/explain/missing-tokens.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

function check(name: string, text: string | Buffer, sought: string, missing: string[]): void {
  t.test(name, async t => {
    t.strictSame(missingTokens(new Text([Buffer.from(text)]), sought), missing)
  })
}

const filler = 'one offset of a table\n'.repeat(5000)

check('a small text', 'const one = two', 'const two = three + fo', ['three'])
check('a large text', `${filler}last_one`, 'last_one = offset + offsets + lastly', ['offsets', 'lastly'])
check('at the start, and within a name', `zebra${filler}`, 'zebra bra zebras', ['zebras'])
check('whose rarest part stands there often', `${filler}offtable`, 'offtable tabled fable', ['tabled', 'fable'])
check('Latin-1', Buffer.from(`${filler}größe`, 'latin1'), 'größe größer', ['größer'])

t.test('finds what includes finds', async t => {
  for (let round = 0; round < often(200); round++) {
    const random = new Random(SEED + round)
    const letters = ['a', 'b', 'ab', 'é', '_', 'ca', ' ', '\n']
    const text = random.text(letters, random.pick([200, 3000])).repeat(random.pick([1, 100]))
    const names = Array.from({ length: 8 }, () => `${random.text(['a', 'b', 'é', '_', 'c'], 5)}abc`)
    const [half, bytes] = [random.int(text.length), Buffer.from(text)]
    const found = missingTokens(new Text([bytes.subarray(0, half), bytes.subarray(half)]), names.join(' '))
    const expected = [...new Set(names)].filter(name => !text.includes(name))
    if (found.join() !== expected.join()) t.fail(`${found}, not ${expected}: SEED=${SEED}, round ${round}`)
  }
})
