// Searches in a worker thread: results, order, and an event loop that goes on.
import t from 'tap'
import { searchText } from '../src/engine/search.ts'
import { Searcher } from '../src/off-thread.ts'

const request = (text: string) => ({ text, regex: true, ignore_case: false })
const file = (lines: number) => Buffer.from('const value = compute(1)\nfunction other () {}\n'.repeat(lines / 2))

t.test('finds in a worker what it finds at once', async t => {
  const searcher = new Searcher()
  for (const lines of [100, 100_000]) t.strictSame(await searcher.search(file(lines), request('c\\w+e\\(')), searchText(file(lines), request('c\\w+e\\(')))
  const [pool] = [Buffer.from('x\n'.repeat(100_000)).subarray(2)]
  t.match(await searcher.search(pool, request('x')), { total_matches: 99_999 }, 'of a view')
  await searcher.close()
})

t.test('lets the event loop go on, and takes one search after the other', async t => {
  const searcher = new Searcher()
  const order: number[] = []
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 2)
  await searcher.search(file(20_000), request('x'))
  longest = 0
  last = performance.now()
  await Promise.all([0, 1, 2].map(n => searcher.search(file(200_000), request('[a-z]+ = (c|d)ompute')).then(() => order.push(n))))
  clearInterval(timer)
  t.strictSame(order, [0, 1, 2])
  t.comment(`longest stall ${longest.toFixed(1)} ms`)
  await searcher.close()
})

t.test('stops in time, and says how far it came', async t => {
  const searcher = new Searcher({ time: 1 })
  t.match(await searcher.search(file(400_000), request('[a-z]+ = (c|d)ompute')), { truncated: true, stopped_at_line: Number })
  await searcher.close()
})

t.test('ends a worker that a single line keeps busy, and goes on with another', async t => {
  const searcher = new Searcher({ time: 20, grace: 20 })
  const line = Buffer.from('ab'.repeat(20_000_000))
  t.match(await searcher.search(line, request('(a|b|ab|ba|aba)*[^ab]x{20}')), { matches: [], truncated: true, stopped_at_line: 1 })
  t.match(await searcher.search(file(10_000), request('nowhere')), { total_matches: 0 })
  await searcher.close()
})

t.test('passes a failure of the worker on', async t => {
  const searcher = new Searcher()
  await t.rejects(searcher.search(file(100_000), request('(')))
  t.match(await searcher.search(file(100_000), request('value')), { total_matches: 50_000 })
  await searcher.close()
})
