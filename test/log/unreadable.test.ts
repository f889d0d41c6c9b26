// A history that can't be read for a while: what is asked of it is refused, not answered as if there were nothing.
import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { History, PastFacts } from '../../src/log/api.ts'
import { codeOf } from '../../src/error-code.ts'
import { Ids } from '../../src/log/ids.ts'
import { limitsOf } from '../../src/log/limits.ts'
import { SegmentFiles } from '../../src/log/files/segment-files.ts'
import { breakFolder, makePlace, NO_PRLIMIT, recordOf, takeDescriptors, write, type Place } from './support/history.ts'

const A = Buffer.from('a.txt')
const DIGEST = 'd'.repeat(64)

/** Lets the history of a place be unreadable until the function that it returns is called. */
type Break = (place: Place) => () => void

/** Something else stands at the name of its folder. */
const replaced: Break = ({ folder }) => breakFolder(folder)

/** The process has no descriptor left. */
const exhausted: Break = () => takeDescriptors()

const BREAKS = [
  { name: 'something else is at its name', code: 'ENOTDIR', breaks: replaced },
  {
    name: 'there are no descriptors',
    code: 'EMFILE',
    breaks: exhausted,
    skip: NO_PRLIMIT
  }
]

/** All that is asked of a history about an edit, each as whether it is found. */
async function questions(history: History, edit_id: string): Promise<Record<string, () => Promise<boolean>>> {
  const start = await history.feedEnd()
  const isIt = (stored: { record: { edit_id: string } } | null) => stored?.record.edit_id === edit_id
  return {
    list: async () => (await history.list({}, 9)).records.some(isIt),
    ofPath: async () => (await history.ofPath(A)).records.some(isIt),
    byId: async () => isIt(await history.byId(edit_id)),
    byKey: async () => isIt(await history.byKey(DIGEST)),
    unsettled: async () => (await history.unsettled()).every(stored => !isIt(stored)),
    feedEnd: async () => (await history.feedEnd()).toString() !== '',
    readOn: async () => (await history.readOn(start, 9)).ok
  }
}

for (const { name, code, breaks, skip = false } of BREAKS) {
  t.test(`refuses what is asked while ${name}, and answers after that`, { skip }, async t => {
    for (const isRead of [true, false]) {
      const place = makePlace(t)
      const writer = await place.open({ nonce: 'one' })
      const key = { digest: DIGEST, fingerprint: '', outcome: 'kept' }
      const [{ edit_id } = { edit_id: '' }] = await write(writer, [recordOf(writer, 'a.txt', 'text\n', { key })])
      await writer.flush()
      const reader = await place.open()
      if (isRead) await reader.list({}, 1)
      const asked = await questions(reader, edit_id)
      const answers: Record<string, unknown> = {}
      const mend = breaks(place)
      // A check that fails would need descriptors.
      for (const [what, ask] of Object.entries(asked)) answers[what] = await ask().catch(codeOf)
      await reader.refresh()
      await t.rejects(reader.forget(A))
      mend()
      const refused = Object.keys(asked).map(what => [what, 'HISTORY_UNREADABLE'])
      t.strictSame(answers, Object.fromEntries(refused))
      const told = place.events.splice(0).map(event => `${event.event} ${String(event.code)}`)
      t.strictSame([...new Set(told)], [`history_unreadable ${code}`])
      for (const [what, ask] of Object.entries(asked)) t.ok(await ask(), what)
      t.ok(await reader.forget(A))
      t.strictSame(place.events, [])
      await place.clear()
    }
  })
}

t.test('reads later what it knew of, and could not read for want of descriptors', { skip: NO_PRLIMIT }, async t => {
  const place = makePlace(t)
  const writer = await place.open({ nonce: 'one' })
  const reader = await place.open()
  const questions = {
    // What was found by the look before is read now.
    lastOf: async () => (await reader.lastOf(A))?.edit_id,
    // The line of what was read is read again.
    newestOf: async () => {
      const newest: PastFacts[] = []
      for await (const one of reader.newestOf(A)) newest.push(one)
      return newest[0]?.facts.edit_id
    }
  }
  const [{ edit_id } = { edit_id: '' }] = await write(writer, [recordOf(writer, 'a.txt')])
  await writer.flush()
  await reader.refresh()
  for (const [what, ask] of Object.entries(questions)) {
    const mend = exhausted(place)
    const answer = await ask().catch(codeOf)
    mend()
    t.equal(answer, 'HISTORY_UNREADABLE', what)
    t.strictSame(place.events.splice(0), [{ event: 'history_unreadable', code: 'EMFILE' }], what)
    t.equal(await ask(), edit_id, what)
  }
})

for (const { name, breaks, skip = false } of BREAKS) {
  t.test(`looks again for what was written before it was alone, if ${name} at its first look`, { skip }, async t => {
    const place = makePlace(t)
    const writer = await place.open({ nonce: 'one' })
    const reader = await place.open()
    await reader.refresh()
    const [{ edit_id } = { edit_id: '' }] = await write(writer, [recordOf(writer, 'a.txt')])
    await writer.flush()
    const mend = breaks(place)
    await reader.refresh('then')
    mend()
    await reader.refresh('then')
    t.equal((await reader.lastOf(A))?.edit_id, edit_id)
  })
}

t.test('reports that it could not write the index of a segment that it ended, and reads that without', async t => {
  const place = makePlace(t)
  const writer = await place.open({ nonce: 'one' })
  const [{ edit_id } = { edit_id: '' }] = await write(writer, [recordOf(writer, 'a.txt')])
  await writer.flush()
  const mend = replaced(place)
  await writer.close()
  t.match(place.events.splice(0), [{ event: 'history_index_unwritten', code: 'ENOTDIR' }])
  mend()
  t.ok(await (await place.open()).byId(edit_id))
  t.strictSame(place.events, [])
})

t.test('refuses to say which segments there are, where their folder cannot be listed', async t => {
  const place = makePlace(t)
  const { folder } = place
  const limits = limitsOf({})
  const options = { folder, nonce: 'one', isAlive: async () => true, report: () => {}, limits, ids: new Ids() }
  const segments = new SegmentFiles({ ...options, saw() {}, sawIndex() {} })
  writeFileSync(folder, '')
  await t.rejects(segments.present(), { code: 'HISTORY_UNREADABLE' })
})
