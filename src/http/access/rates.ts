// A rate limiter that counts per token or address, in this process's memory. Does not know HTTP, tokens, or which
// requests count.
import { isIPv6 } from 'node:net'
import type { Rate } from '../../config/config.ts'

const PERIODS: Record<Rate['per'], number> = { s: 1_000, min: 60_000, h: 3_600_000 }

/** The most tokens or addresses counted at once. Bounds memory; chosen, not measured. */
const MAX_COUNTED = 10_000

/**
 * The generic cell rate algorithm: allows a burst of as many requests as the rate has per period; after that, requests
 * become free again evenly over the period. Keeps only one time for each token or address.
 */
export class RateLimiter {
  readonly #now: () => number
  readonly #most: number
  /** Token or address → the time at which all its requests are paid off. Least recently counted first. */
  readonly #paidAt = new Map<string, number>()

  /** `now` in ms, monotonic. `most`: how many tokens or addresses are counted at once. */
  constructor(now: () => number = () => performance.now(), most = MAX_COUNTED) {
    this.#now = now
    this.#most = most
  }

  /**
   * Counts a request and returns 0; if it exceeds the limit, doesn't count it and returns the ms until one is free
   * again.
   */
  take(by: string, { requests, per }: Rate): number {
    const now = this.#now()
    const each = PERIODS[per] / requests
    const paidAt = Math.max(this.#paidAt.get(by) ?? 0, now) + each
    // Tolerates rounding: the error of a sum of fractions is far smaller than the time between two requests.
    const wait = paidAt - now - PERIODS[per]
    if (wait > each / 1e6) return wait
    this.#paidAt.delete(by)
    if (this.#paidAt.size >= this.#most) this.#forget(now)
    this.#paidAt.set(by, paidAt)
    return 0
  }

  /** How many tokens or addresses are counted now. */
  get size(): number {
    return this.#paidAt.size
  }

  /** Makes room: removes entries that are paid off, as they limit nothing; if it is still full, the oldest. */
  #forget(now: number): void {
    for (const [by, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(by)
    const [oldest] = this.#paidAt.keys()
    if (this.#paidAt.size >= this.#most && oldest !== undefined) this.#paidAt.delete(oldest)
  }
}

/**
 * The key under which an address is counted: the address itself; an IPv4 address in IPv6 form as IPv4; any other IPv6
 * address by its first 64 bits, since one machine has all addresses below them. `undefined` means a unix socket.
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return 'unix'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  // An IPv4 address at the end takes two groups.
  const behind = groups(after ?? '').flatMap(group => (group.includes('.') ? ['0', '0'] : [group]))
  const zeros = after === undefined ? 0 : 8 - groups(before).length - behind.length
  const all = [...groups(before), ...Array<string>(zeros).fill('0'), ...behind]
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
