// Binary search, against the search from the start.
import t from 'tap'
import { firstIndex } from '../../../src/engine/text/bisect.ts'

t.test('finds the first index that a search from the start finds, in few steps', async t => {
  for (const count of [0, 1, 2, 3, 7, 8, 9, 1000]) {
    for (let first = 0; first <= count; first++) {
      let asked = 0
      const found = firstIndex(count, index => {
        asked++
        return index >= first
      })
      if (found !== first) t.fail(`${found}, not ${first} of ${count}`)
      if (asked > Math.ceil(Math.log2(count + 1))) t.fail(`${asked} steps for ${count}`)
    }
  }
  t.equal(
    firstIndex(3, () => false),
    3
  )
})
