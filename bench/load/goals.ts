// The goals of small edits under load and of the cost of a server, and whether a run meets them.
import { READY, RESIDENT } from '../cost.ts'
import { FAST_PRODUCT } from '../in-process.ts'
import { ratio, short, time, type Row } from '../row.ts'
import { NO_QUARTILES, type Quartiles } from '../statistics.ts'
import { verdict, type Verdict } from '../verdict.ts'
import { FLOOR, MCP_FILESYSTEM, SHIPPED, SYNCED_FLOOR } from './parties.ts'

export function loadVerdicts(rows: readonly Row[]): Verdict[] {
  const over = (clients: string, variant: string, other: string, figure: 'rate' | 'p50' | 'p99'): Quartiles =>
    rows.find(row => row.what === `10 KB ASCII, ${clients}` && row.variant === variant)?.loaded?.over[other]?.[
      figure
    ] ?? NO_QUARTILES
  const both = (clients: string, figure: 'rate' | 'p50' | 'p99', others: readonly [string, string]) => {
    const [shipped, fast] = [over(clients, SHIPPED, others[0], figure), over(clients, FAST_PRODUCT, others[1], figure)]
    const found = `as shipped ${ratio(shipped)}, fast/local ${ratio(fast)}`
    return { shipped: shipped.median, fast: fast.median, found, numbers: [shipped.median, fast.median] }
  }
  const floors = [SYNCED_FLOOR, FLOOR] as const
  const rate = both('16 clients', 'rate', floors)
  const peer = both('16 clients', 'rate', [MCP_FILESYSTEM, MCP_FILESYSTEM])
  const slowest = both('16 clients', 'p99', floors)
  const one = both('1 client', 'p50', floors)
  return [
    verdict(
      'L1',
      '16 clients, 10 KB: as shipped ≥ 0.6 × the synced floor, fast/local ≥ 0.7 × the floor',
      rate.numbers,
      rate.found,
      rate.shipped >= 0.6 && rate.fast >= 0.7
    ),
    verdict(
      'L2',
      '16 clients, 10 KB: both ahead of MCP filesystem',
      peer.numbers,
      peer.found,
      peer.shipped > 1 && peer.fast > 1
    ),
    verdict(
      'L3',
      '16 clients, 10 KB: p99 ≤ 3 × that of its floor',
      slowest.numbers,
      slowest.found,
      slowest.shipped <= 3 && slowest.fast <= 3
    ),
    verdict(
      'L4',
      'one client, 10 KB: p50 ≤ 1.5 × that of its floor',
      one.numbers,
      one.found,
      one.shipped <= 1.5 && one.fast <= 1.5
    )
  ]
}

export function costVerdicts(rows: readonly Row[]): Verdict[] {
  const value = (what: string): number => rows.find(row => row.what === what && row.variant === SHIPPED)?.value ?? NaN
  const [ready, resident] = [value(READY), value(RESIDENT)]
  return [
    verdict('C1', 'ready ≤ 0.6 s after it was started', [ready], time(ready), ready <= 600),
    verdict('C2', '≤ 75 MB resident at rest', [resident], `${short(resident)} MB`, resident <= 75)
  ]
}
