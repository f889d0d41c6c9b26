// A conditional write, tried until it is known whether it took place. Does not know S3: whoever calls it sends one
// attempt, and looks.
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
 * What came of one request. `failed`: the condition doesn't hold; `unknown`: it may have been done, or may still be;
 * `unsent`: it wasn't.
 */
export type Attempted =
  { outcome: 'written'; version: Version } | { outcome: 'failed' } | { outcome: 'unknown' | 'unsent'; error: unknown }

export interface Attempts {
  attempt: string
  condition: WriteCondition
  /** In ms since 1970; nothing is begun after it. */
  deadline: number
  /** Sends the write; each time the same. Rejects where the store refuses it. */
  send(): Promise<Attempted>
  /** What is there now; null: nothing. Rejects with StoreUnavailable, or where the store refuses it. */
  look(): Promise<ObjectFacts | null>
}

/** In ms, before the second attempt; twice as long before each later one, up to the second. Chosen, not measured. */
const PAUSE = 25
const LONGEST_PAUSE = 2000

/**
 * Null: the condition doesn't hold, and nothing was written. Each attempt has the same condition, so that of those whose
 * answer was lost at most one replaced what the condition names. Throws StoreUnavailable, with `unknown` where it can't
 * be known what became of one.
 */
export async function writeOnce(attempts: Attempts): Promise<Written | null> {
  const { attempt, condition, deadline, send, look } = attempts
  /** An attempt was sent, and it isn't known what came of it. */
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
      // A look without an answer: the next attempt ends with one again.
      if (error.unknown) throw error
      last = error
    }
    if (Date.now() + pause >= deadline) {
      throw unknown ? lost(last) : new StoreUnavailable('the object store does not answer', { cause: last })
    }
    // Not all at once where many wait for the same.
    await sleep(pause * (0.5 + Math.random()))
  }
}

const lost = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('it is not known whether the object store has written it', { unknown: true, cause })

/**
 * What the object as it is now tells of attempts whose answers were lost: it was written; it was not, and can't be any
 * more; or it can be sent again. Throws Overwritten where none of these is known.
 */
function whatCame(now: ObjectFacts | null, attempt: string, condition: WriteCondition): Written | null | 'again' {
  const at = now?.landed.findIndex(landed => landed.attempt === attempt) ?? -1
  if (at === 0) return { version: now!.version }
  if (at > 0) return { version: null }
  const wanted = condition === 'absent' ? null : condition.is
  if ((now?.version ?? null) === wanted) return 'again'
  // Another write has replaced what this one was to replace.
  if (now?.landed.some(({ replaced }) => replaced === wanted)) return null
  const before = condition === 'absent' ? undefined : condition.landed?.[0]?.attempt
  if (before !== undefined && now?.landed.some(landed => landed.attempt === before)) return null
  throw new Overwritten()
}
