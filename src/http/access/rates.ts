// How many requests somebody may send: a count for each token or address, in the memory of this process. Does not know
// HTTP, tokens, or which requests count.
import { isIPv6 } from 'node:net'
import type { Rate } from '../../config/config.ts'

const PERIODS: Record<Rate['per'], number> = { s: 1_000, min: 60_000, h: 3_600_000 }

/** How many tokens or addresses are counted at once. A bound on memory; chosen, not measured. */
const MAX_COUNTED = 10_000

/**
 * The generic cell rate algorithm: as many as a rate says at once, and from then on as they come free again, evenly over
 * the period. Of each of those who are counted only one time is kept.
 */
export class RateLimiter {
  readonly #now: () => number
  readonly #most: number
  /** By whom: when the last of the requests is paid off. The one that was counted longest ago comes first. */
  readonly #paidAt = new Map<string, number>()

  /** `now` in ms, never going back. `most`: how many are counted at once. */
  constructor(now: () => number = () => performance.now(), most = MAX_COUNTED) {
    this.#now = now
    this.#most = most
  }

  /** Counts a request; 0, or where it is one too many, and isn't counted, in how many ms one is free again. */
  take(by: string, { requests, per }: Rate): number {
    const now = this.#now()
    const each = PERIODS[per] / requests
    const paidAt = Math.max(this.#paidAt.get(by) ?? 0, now) + each
    // What a sum of fractions is off by is far less than the time between two requests.
    const wait = paidAt - now - PERIODS[per]
    if (wait > each / 1e6) return wait
    this.#paidAt.delete(by)
    if (this.#paidAt.size >= this.#most) this.#forget(now)
    this.#paidAt.set(by, paidAt)
    return 0
  }

  /** How many are counted now. */
  get size(): number {
    return this.#paidAt.size
  }

  /** Makes room: whoever has paid off is as one who never sent anything. Where nobody has, the oldest goes. */
  #forget(now: number): void {
    for (const [by, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(by)
    const [oldest] = this.#paidAt.keys()
    if (this.#paidAt.size >= this.#most && oldest !== undefined) this.#paidAt.delete(oldest)
  }
}

/**
 * Whom an address stands for: itself, an IPv4 address in IPv6 form for that, any other of IPv6 for its first 64 bits,
 * which one machine has all of. `undefined`: who came through a unix socket.
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return 'unix'
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  // An IPv4 address at the end stands for two groups.
  const behind = groups(after ?? '').flatMap(group => (group.includes('.') ? ['0', '0'] : [group]))
  const zeros = after === undefined ? 0 : 8 - groups(before).length - behind.length
  const all = [...groups(before), ...Array<string>(zeros).fill('0'), ...behind]
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
