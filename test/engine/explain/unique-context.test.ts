// The least context of a match: what it has to be, on random texts whose breaks are cut in two.
import t from 'tap'
import { locate, Needle } from '../../../src/engine/match/locate.ts'
import { Text } from '../../../src/engine/text/text.ts'
import { uniqueContext } from '../../../src/engine/explain/unique-context.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

t.test('holds the match and occurs once', t => {
  let foundContexts = 0
  for (let round = 0; round < often(4000); round++) {
    const random = new Random(SEED * 31_337 + round)
    const alphabet = random.pick([
      ['a', '\r\n'],
      ['a', 'b', '\r\n', '\n'],
      ['a', '\r', '\n'],
      ['a', 'é', '\n']
    ])
    const whole = random.text(alphabet, 24)
    const text = new Text([Buffer.from(whole)])
    const sought = random.text([...alphabet, '\r', '\n'], 3)
    if (sought === '') continue
    const line_endings = random.pick(['exact', 'adapt'] as const)
    const { all } = locate(text, new Needle(sought), line_endings, 'mixed')
    for (let i = 0; i < all.count; i++) {
      const match = all.at(i)
      const context = uniqueContext(text, match, all, line_endings === 'adapt')
      if (context === undefined) continue
      foundContexts++
      const input = `SEED=${SEED}, round ${round}: ${JSON.stringify({ whole, sought, line_endings, match, context })}`
      if (context.start > match.start || context.end < match.end) t.fail(`doesn’t hold the match, ${input}`)
      const found = locate(
        text,
        new Needle(text.slice(context.start, context.end).toString()),
        line_endings,
        'mixed'
      ).all
      if (found.count !== 1) t.fail(`occurs ${found.count} times, ${input}`)
    }
  }
  t.ok(foundContexts > often(1000, 16), `${foundContexts} contexts`)
  t.end()
})
