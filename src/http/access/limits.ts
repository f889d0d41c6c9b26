// Which requests are one too many: those of a token, or where none is asked for of an address, and wrong tokens of an
// address. Does not know HTTP, or how it is counted.
import type { Rate } from '../../config/config.ts'
import type { Failure, RequestFailure } from '../request-failure.ts'
import type { Grant } from './grant.ts'
import { addressKey, RateLimiter } from './rates.ts'

export type RateLimited = Extract<RequestFailure, { code: 'RATE_LIMITED' }>

/** Of each address. It holds always: who has the right token doesn't get to it. */
const WRONG_TOKENS: Rate = { requests: 60, per: 'min' }

interface Limits {
  /** Counts a request; null, or why it is one too many. `grant`: null where there is no access file. */
  request(grant: Grant | null, address: string | undefined): RateLimited | null
  /** What answers a request that was refused: where that is for one more wrong token than is allowed, that. */
  refusal<F extends Failure>(failure: F, address: string | undefined): F | RateLimited
}

/**
 * `rate`: of each token that has none of its own; null: no limit. `hasTokens`: whether one is asked for. `onLimited` is
 * called for each request that is refused.
 */
export function makeLimits({
  rate,
  hasTokens,
  onLimited
}: {
  rate: Rate | null
  hasTokens: boolean
  onLimited?(of: RateLimited['of']): void
}): Limits {
  const [requests, wrong] = [new RateLimiter(), new RateLimiter()]
  const limited = (of: RateLimited['of'], rate: Rate, wait: number): RateLimited | null => {
    if (wait === 0) return null
    onLimited?.(of)
    return { code: 'RATE_LIMITED', of, rate, retry_after: wait / 1000 }
  }
  return {
    request(grant, address) {
      const allowed = grant?.rate ?? rate
      if (allowed === null) return null
      // The name of a workspace has no slash in it.
      const by = grant !== null ? `${grant.workspace}/${grant.name}` : hasTokens ? '' : addressKey(address)
      return limited(hasTokens ? 'token' : 'address', allowed, requests.take(by, allowed))
    },
    refusal(failure, address) {
      if (failure.code !== 'UNAUTHORIZED' || failure.reason === 'missing') return failure
      return limited('wrong_tokens', WRONG_TOKENS, wrong.take(addressKey(address), WRONG_TOKENS)) ?? failure
    }
  }
}
