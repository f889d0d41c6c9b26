// Retries a conditional write until its outcome is known. Does not know S3: the caller sends each attempt and reads the
// object.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Overwritten,
  StoreUnavailable,
  type ObjectFacts,
  type Version,
  type WriteCondition,
  type Written
} from './store.ts'

/**
 * The outcome of one request. `failed`: the condition doesn't hold; `unknown`: the write may have happened, or may
 * still happen; `unsent`: it did not happen.
 */
export type Attempted =
  { outcome: 'written'; version: Version } | { outcome: 'failed' } | { outcome: 'unknown' | 'unsent'; error: unknown }

interface Attempts {
  attempt: string
  condition: WriteCondition
  /** In ms since 1970; no attempt starts after it. */
  deadline: number
  /** Sends the same write each time. Rejects if the store refuses it. */
  send(): Promise<Attempted>
  /**
   * Reads the facts of the object as it is now; null: there is none. Rejects with StoreUnavailable, or if the store
   * refuses.
   */
  look(): Promise<ObjectFacts | null>
}

/**
 * The pause before the second attempt, in ms. It doubles before each later one, up to LONGEST_PAUSE. Chosen, not
 * measured.
 */
const PAUSE = 25
const LONGEST_PAUSE = 2000

/**
 * Returns null if the condition doesn't hold and nothing was written. All attempts have the same condition, so at most
 * one of those with a lost answer replaced the version that the condition names. Throws StoreUnavailable, with
 * `unknown` if the outcome of an attempt can't be known.
 */
export async function writeOnce(attempts: Attempts): Promise<Written | null> {
  const { attempt, condition, deadline, send, look } = attempts
  /** An attempt was sent, and its outcome isn't known. */
  let unknown = false
  let last: unknown
  for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      const sent = await send()
      if (sent.outcome === 'written') return { version: sent.version }
      if (sent.outcome === 'failed' && !unknown) return null
      if ('error' in sent) last = sent.error
      if (sent.outcome === 'unknown') unknown = true
      if (unknown) {
        const found = whatCame(await look(), attempt, condition)
        if (found !== 'again') return found
      }
    } catch (error) {
      if (!unknown || !(error instanceof StoreUnavailable)) throw unknown ? lost(error) : error
      // The look got no answer: the next attempt ends with another look.
      if (error.unknown) throw error
      last = error
    }
    if (Date.now() + pause >= deadline) {
      throw unknown ? lost(last) : new StoreUnavailable('the object store does not answer', { cause: last })
    }
    // Jitter, so that concurrent writers don't all retry at once.
    await sleep(pause * (0.5 + Math.random()))
  }
}

const lost = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('it is not known whether the object store has written it', { unknown: true, cause })

/**
 * Decides from the object as it is now what happened to the attempts whose answers were lost: the write happened; it
 * did not and no longer can; or it can be sent again. Throws Overwritten if none of these is certain.
 */
function whatCame(now: ObjectFacts | null, attempt: string, condition: WriteCondition): Written | null | 'again' {
  const at = now?.landed.findIndex(landed => landed.attempt === attempt) ?? -1
  if (at === 0) return { version: now!.version }
  if (at > 0) return { version: null }
  const wanted = condition === 'absent' ? null : condition.is
  if ((now?.version ?? null) === wanted) return 'again'
  // Another write replaced the version that this one would have replaced.
  if (now?.landed.some(({ replaced }) => replaced === wanted)) return null
  const before = condition === 'absent' ? undefined : condition.landed?.[0]?.attempt
  if (before !== undefined && now?.landed.some(landed => landed.attempt === before)) return null
  throw new Overwritten()
}
