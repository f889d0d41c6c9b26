// Whether a store keeps the conditions that editd builds on: found out with objects of its own, which are removed again.
// Does not know S3, and can't prove it: what it tries is right each time, or the store isn't used.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempted } from './attempts.ts'
import { OWN } from './address.ts'
import type { EtagForm, S3Requests, SentCondition } from './s3-requests.ts'
import { StoreUnavailable, type Version } from './store.ts'

/** The store doesn't keep them; the message says what it did. */
export class Unsafe extends Error {}

type Requests = Pick<S3Requests, 'put' | 'list' | 'remove' | 'now'>
type Rechecked = Pick<S3Requests, 'put' | 'head' | 'remove'>

/** So many writers of one object, so often. */
const WRITERS = 8
const ROUNDS = 20
/** How often an answer may be lost while a form is tried. */
const FORM_TRIES = 5
/** In ms, for an answer to one of its requests. */
const PATIENCE = 10_000
/** In ms: objects of a probe that are older were left by a server that was killed. */
const LEFT = 3_600_000

/**
 * Which form of an ETag it takes. Throws Unsafe, StoreRefused, StoreUnavailable. `prefix`: with a slash at its end, or
 * ''.
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
 * Tries in some 20 requests whether the store still does what `probe` found: writes, reads and removes objects, and keeps
 * the conditions. Throws as `probe` does.
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

/** An ETag in a condition. */
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

/** Quoted where both work, as the standard has it. */
async function formOf({ put, base }: Prober): Promise<EtagForm> {
  for (const [form, quote] of [
    ['quoted', '"'],
    ['unquoted', '']
  ] as const) {
    // Each time on an object of its own: an attempt without an answer may have changed it.
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

/** All write on the same condition at once: exactly one may. */
async function race(name: string, write: (writer: number) => Promise<Attempted>): Promise<void> {
  const done = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const winners = done.filter(({ outcome }) => outcome === 'written').length
  // One without an answer may have been the one.
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

/** Again until there is an answer: each of these may be done twice. */
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
