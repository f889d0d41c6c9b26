// Rate limits: requests per token (per address if there are no tokens), and wrong tokens per address. Does not know
// HTTP, or how requests are counted.
import type { Rate } from '../../config/config.ts'
import type { Failure, RequestFailure } from '../request-failure.ts'
import type { Grant } from './grant.ts'
import { addressKey, RateLimiter } from './rates.ts'

export type RateLimited = Extract<RequestFailure, { code: 'RATE_LIMITED' }>

/** Per address. Always on: a caller with the right token never reaches it. */
const WRONG_TOKENS: Rate = { requests: 60, per: 'min' }

interface Limits {
  /** Counts a request. Returns null, or the failure if it exceeds the limit. `grant`: null without an access file. */
  request(grant: Grant | null, address: string | undefined): RateLimited | null
  /** The failure to answer a refused request with: RATE_LIMITED if the address has sent too many wrong tokens. */
  refusal<F extends Failure>(failure: F, address: string | undefined): F | RateLimited
}

/**
 * `rate`: for each token without a rate of its own; null: no limit. `hasTokens`: whether requests need a token.
 * `onLimited` is called for each request that exceeds a limit.
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
      // A workspace name has no slash in it.
      const by = grant !== null ? `${grant.workspace}/${grant.name}` : hasTokens ? '' : addressKey(address)
      return limited(hasTokens ? 'token' : 'address', allowed, requests.take(by, allowed))
    },
    refusal(failure, address) {
      if (failure.code !== 'UNAUTHORIZED' || failure.reason === 'missing') return failure
      return limited('wrong_tokens', WRONG_TOKENS, wrong.take(addressKey(address), WRONG_TOKENS)) ?? failure
    }
  }
}
