// Readers of what is changed, where the history can't be read for a while.
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Followers } from '../../src/recording/follow.ts'
import { breakFolder, makePlace, recordOf, write } from '../log/support/history.ts'

const ALL = (): boolean => true
const UNREADABLE = { ok: false, failure: { code: 'NOT_READY', reason: 'history_unreadable', retry_after: 5 } }

async function makeFollowers(t: Test) {
  const place = makePlace(t)
  const history = await place.open()
  const followers = new Followers(history)
  t.teardown(() => followers.close())
  const change = async () => {
    const [record] = await write(history, [recordOf(history, 'a.txt')])
    // Its settlement too, which would be news later.
    await history.flush()
    // Followers hear about written lines in the next turn of the event loop.
    await setImmediate()
    await setImmediate()
    return record!.edit_id
  }
  return { place, followers, change }
}

t.test('tells nobody who comes while it cannot be read, and those who come later', async t => {
  const { place, followers, change } = await makeFollowers(t)
  const mend = breakFolder(place.folder)
  t.strictSame(await followers.follow(null, ALL, String), UNREADABLE)
  mend()
  const following = await followers.follow(null, ALL, String)
  const edit_id = await change()
  t.match(following.ok && (await following.value.next(5)), { ok: true, value: [{ facts: { edit_id } }] })
})

for (const [name, hasLooked] of [
  ['where to read to', false],
  ['what is there', true]
] as const) {
  t.test(`fails for a reader while nobody can see ${name}, and goes on from the same place after that`, async t => {
    const { place, followers, change } = await makeFollowers(t)
    const following = await followers.follow(null, ALL, String)
    if (!following.ok) throw new Error('no cursor was given')
    const reader = following.value
    const edit_id = await change()
    await reader.more()
    if (hasLooked) await followers.read(reader.after, 1, ALL)
    const mend = breakFolder(place.folder)
    t.strictSame(await reader.next(5), UNREADABLE)
    t.strictSame(await reader.next(5), UNREADABLE)
    mend()
    t.match(await reader.next(5), { ok: true, value: [{ facts: { edit_id } }] })
    t.match(await reader.next(5), { ok: true, value: [] })
  })
}
