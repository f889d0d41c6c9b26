// Tests with temporary objects of its own whether a store honors the conditions that editd relies on. It can't prove
// that; but if one test fails, the store isn't used.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempted } from './attempts.ts'
import { OWN } from './address.ts'
import type { EtagForm, S3Requests, SentCondition } from './s3-requests.ts'
import { StoreUnavailable, type Version } from './store.ts'

/** The store doesn't honor conditions; the message says what it did. */
export class Unsafe extends Error {}

type Requests = Pick<S3Requests, 'put' | 'list' | 'remove' | 'now'>
type Rechecked = Pick<S3Requests, 'put' | 'head' | 'remove'>

/** How many writers race for one object, and how many rounds. */
const WRITERS = 8
const ROUNDS = 20
/** How many answers may be lost while one form of ETag is tried. */
const FORM_TRIES = 5
/** How long to wait for a request to be answered, retries included, in ms. */
const PATIENCE = 10_000
/** In ms. Older probe objects were left by a server that was killed, and are removed. */
const LEFT = 3_600_000

/**
 * Finds which form of ETag the store accepts. Throws Unsafe, StoreRefused, StoreUnavailable. `prefix`: '' or ends with
 * a slash.
 */
export async function probe(requests: Requests, prefix: string): Promise<EtagForm> {
  const folder = `${prefix}${OWN}/probe/`
  const base = folder + randomUUID()
  const keys = new Set<string>()
  const { keys: left } = await requests.list(folder, null, 1000, false)
  for (const { key, modified_at } of left) if (modified_at.getTime() < requests.now() - LEFT) keys.add(key)
  const put = (key: string, text: string, condition: SentCondition): Promise<Attempted> => {
    keys.add(key)
    return requests.put(key, Buffer.from(text), condition)
  }
  try {
    return await conditionsOf({ put, base })
  } finally {
    await Promise.all([...keys].map(key => requests.remove(key).catch(() => {})))
  }
}

/**
 * Checks with some 20 requests that the store still writes, reads and removes objects, and honors conditions. Throws
 * what `probe` throws.
 */
export async function probeAgain(requests: Rechecked, prefix: string, form: EtagForm): Promise<void> {
  const base = `${prefix}${OWN}/probe/${randomUUID()}`
  const keys = [base, `${base}-race`] as const
  const put: Prober['put'] = (key, text, condition) => requests.put(key, Buffer.from(text), condition)
  const remove = () => Promise.all(keys.map(key => requests.remove(key)))
  try {
    const version = await written(() => put(base, 'one', null))
    await requests.head(base)
    await fails('If-None-Match: * on an object that exists', () => put(base, 'two', 'absent'))
    await race('If-None-Match: *', writer => put(keys[1], `${writer}`, 'absent'))
    await race('If-Match', writer => put(base, `${writer}`, sentForm(form, version)))
  } catch (error) {
    await remove().catch(() => {})
    throw error
  }
  await remove()
}

/** The condition that the object has this ETag. */
export const sentForm = (form: EtagForm, version: Version): { match: string } => ({
  match: form === 'quoted' ? `"${version}"` : version
})

interface Prober {
  put(key: string, text: string, condition: SentCondition): Promise<Attempted>
  base: string
}

async function conditionsOf(prober: Prober): Promise<EtagForm> {
  const { put, base } = prober
  const first = await written(() => put(base, 'one', null))
  await fails('If-None-Match: * on an object that exists', () => put(base, 'two', 'absent'))
  const other = '0'.repeat(32)
  await fails('If-Match with an ETag that the object does not have', () => put(base, 'two', { match: `"${other}"` }))
  await fails('the same without quotes', () => put(base, 'two', { match: other }))
  const form = await formOf(prober)
  const sent = (version: Version): SentCondition => sentForm(form, version)
  await written(() => put(base, 'two', null))
  await fails('If-Match with an ETag that the object had before', () => put(base, 'three', sent(first)))
  await fails('If-Match where there is no object', () => put(`${base}-absent`, 'one', sent(first)))
  for (let round = 0; round < ROUNDS; round++) {
    const key = `${base}-race`
    if (round % 2 === 1) {
      await race(`If-None-Match: *, round ${round + 1}`, writer => put(`${key}-${round}`, `${writer}`, 'absent'))
      continue
    }
    const before = await written(() => put(key, `round ${round}`, null))
    await race(`If-Match, round ${round + 1}`, writer => put(key, `${round} ${writer}`, sent(before)))
  }
  return form
}

/** Returns 'quoted', the standard form, if both work. */
async function formOf({ put, base }: Prober): Promise<EtagForm> {
  for (const [form, quote] of [
    ['quoted', '"'],
    ['unquoted', '']
  ] as const) {
    // Each try uses an object of its own, as an attempt without an answer may have changed the last one.
    for (let tries = 0; tries < FORM_TRIES; tries++) {
      const key = `${base}-${form}-${tries}`
      const version = await written(() => put(key, 'one', null))
      const { outcome } = await put(key, 'two', { match: quote + version + quote })
      if (outcome === 'written') return form
      if (outcome === 'failed') break
    }
  }
  throw new Unsafe('it refuses If-Match with the ETag that the object has')
}

/** All writers write at once with the same condition: exactly one may succeed. */
async function race(name: string, write: (writer: number) => Promise<Attempted>): Promise<void> {
  const done = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const winners = done.filter(({ outcome }) => outcome === 'written').length
  // A write without an answer may be the one that won.
  const lost = done.filter(({ outcome }) => outcome === 'unknown').length
  if (winners > 1) throw new Unsafe(`${winners} of ${WRITERS} writers won at once (${name})`)
  if (winners === 0 && lost === 0) throw new Unsafe(`none of ${WRITERS} writers won (${name})`)
}

async function fails(name: string, write: () => Promise<Attempted>): Promise<void> {
  const { outcome } = await answered(write)
  if (outcome === 'written') throw new Unsafe(`it writes although the condition does not hold (${name})`)
}

async function written(write: () => Promise<Attempted>): Promise<Version> {
  const done = await answered(write)
  if (done.outcome === 'written') return done.version
  throw new Unsafe('it refuses to write without a condition')
}

/** Retries until there is an answer, so `write` may happen twice. */
async function answered(
  write: () => Promise<Attempted>
): Promise<Exclude<Attempted, { outcome: 'unknown' | 'unsent' }>> {
  const deadline = Date.now() + PATIENCE
  for (let pause = 25; ; pause *= 2) {
    const done = await write()
    if (done.outcome === 'written' || done.outcome === 'failed') return done
    if (Date.now() + pause > deadline) {
      throw new StoreUnavailable('the object store does not answer', {
        cause: 'error' in done ? done.error : undefined
      })
    }
    await sleep(pause)
  }
}
