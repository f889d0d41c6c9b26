// Values by name: those that were used last are kept.
import t from 'tap'
import { LruCache } from '../../src/log/lru-cache.ts'

t.test('keeps what was used last, up to its size', async t => {
  const cache = new LruCache<Buffer>(10, ({ length }) => length)
  const of = (size: number) => Buffer.alloc(size)
  const kept = () => ['a', 'b', 'c', 'd'].filter(name => cache.get(name) !== undefined).join('')
  cache.keep('a', of(4))
  cache.keep('b', of(4))
  cache.get('a')
  cache.keep('c', of(4))
  t.equal(kept(), 'ac')
  cache.keep('a', of(2))
  cache.keep('b', of(4))
  t.equal(kept(), 'abc', 'what replaces something counts once')
  cache.keep('d', of(11))
  t.equal(kept(), '', 'what is larger than all may be is not kept')
  cache.keep('a', of(10))
  t.equal(cache.get('a')?.length, 10)
})
