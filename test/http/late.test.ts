// What is made at its first use: once for all who wait, and again after a failure.
import t from 'tap'
import { late } from '../../src/http/late.ts'
import { startServer } from './test-server.ts'

t.test('is made at the first call, once', async t => {
  let made = 0
  const value = late(async () => ({ number: ++made }))
  t.equal(made, 0)
  const [first, second] = await Promise.all([value(), value()])
  t.equal(first, second)
  t.equal(await value(), first)
  t.equal(made, 1)
})

t.test('fails for all who wait, and is tried again by the next', async t => {
  let made = 0
  const value = late(async () => {
    if (++made === 1) throw new Error('no file descriptor is left')
    return made
  })
  const failed = await Promise.allSettled([value(), value()])
  t.match(failed, [{ status: 'rejected' }, { status: 'rejected' }])
  t.equal(await value(), 2)
  t.equal(await value(), 2)
})

t.test('answers requests that come together while it is made', async t => {
  const server = await startServer(t)
  const paths = ['/docs', '/docs/static/swagger-ui.css', '/openapi.json', '/openapi.yaml', '/docs/static/docs.js']
  const answers = await Promise.all([...paths, ...paths].map(path => server.call('GET', path)))
  t.strictSame(
    answers.map(({ status }) => status),
    answers.map(() => 200)
  )
})
