// The goals of the design (P0, P2–P9), of small edits under load and of the cost of a server, and whether this run
// meets them.
import { OVER_MCP } from './against-peers.ts'
import { AS_BATCH, BATCH, SPAN } from './batch.ts'
import { CRAFTED } from './edges.ts'
import { eventVerdicts } from './events.ts'
import { BESIDE, EDIT_BESIDE, FIND, FOUND } from './find.ts'
import { auditVerdicts } from './audit.ts'
import { historyVerdicts } from './history.ts'
import { CONCAT, DIFF, ENGINE, FAST_PRODUCT } from './in-process.ts'
import { costVerdicts, loadVerdicts } from './load/goals.ts'
import { SHIPPED } from './load/parties.ts'
import { short, time, type Row } from './row.ts'
import { verdict, type Verdict } from './verdict.ts'

export function verdictsOf(rows: readonly Row[]): Verdict[] {
  const find = (what: string, variant: string, edits = 1) =>
    rows.find(row => row.what === what && row.variant === variant && row.edits === edits)
  // For rows that were not measured in the same rounds: CPU time, which depends less on what else the machine does.
  const cpu = (what: string, variant: string, edits = 1) => find(what, variant, edits)?.measured?.cpu ?? NaN
  const overFloor = (what: string, variant: string, edits = 1) =>
    find(what, variant, edits)?.measured?.wallRatio.median ?? NaN
  const value = (what: string, variant: string) => find(what, variant)?.value ?? NaN

  const [small, typical] = [find('10 KB ASCII, 1 client', SHIPPED)?.loaded, find('1 MB ASCII, 1 client', SHIPPED, 10)]
  const p50 = Math.max(small?.p50 ?? NaN, typical?.value ?? NaN)
  const longest = Math.max(small?.longest ?? NaN, typical?.longest ?? NaN)
  const big = '10 MB ASCII'
  const [one, thousand, concat] = [
    cpu(big, FAST_PRODUCT),
    cpu(big, FAST_PRODUCT, 1000),
    cpu(big, CONCAT, 1000) / cpu(big, ENGINE, 1000)
  ]
  const [once, often] = [value(`${big}, memory, 1 ×`, FAST_PRODUCT), value(`${big}, memory, 60 ×`, FAST_PRODUCT)]
  const diff = cpu(big, DIFF) / one
  const diffSmall = cpu('1 MB ASCII', DIFF) / cpu('1 MB ASCII', FAST_PRODUCT)
  const [stall10, stall100] = [
    value(`${big}, event loop`, FAST_PRODUCT),
    value('100 MB ASCII, event loop', FAST_PRODUCT)
  ]
  const craft = value(CRAFTED, ENGINE)
  const [near, far] = [
    value(`${big}, miss with a near counterpart`, ENGINE),
    value(`${big}, miss with no counterpart`, ENGINE)
  ]
  const peers = rows.filter(row => row.what === `${big}, MCP` && row.variant !== OVER_MCP)
  const than = (edits: number) =>
    Math.min(...peers.filter(row => row.edits === edits).map(row => row.measured?.wallRatio.median ?? NaN))
  const [peer1, peer100] = [than(1), than(100)]
  return [
    verdict(
      'P0',
      'a typical edit over HTTP < 100 ms always, < 5 ms median',
      [p50, longest],
      `median ${time(p50)}, longest ${time(longest)} (the slower of 10 KB and of ten edits in 1 MB)`,
      p50 < 5 && longest < 100
    ),
    verdict(
      'P2',
      '10 MB, one edit ≤ 1.75 × floor',
      [overFloor(big, FAST_PRODUCT)],
      `${short(overFloor(big, FAST_PRODUCT))} (CPU ${short(find(big, FAST_PRODUCT)?.measured?.cpuRatio.median ?? NaN)})`,
      overFloor(big, FAST_PRODUCT) <= 1.75
    ),
    verdict(
      'P3',
      '1000 edits in 10 MB ≤ 2.5 × one edit, ≥ 40 × faster than indexOf and concat',
      [thousand, concat],
      `${short(thousand / one)} × one edit, ${short(concat)} × faster (CPU)`,
      thousand <= 2.5 * one && concat >= 40
    ),
    verdict(
      'P4',
      'memory over 60 edits ≤ 1.25 × the file',
      [often],
      `${short(often)} (one edit: ${short(once)})`,
      often <= 1.25
    ),
    verdict(
      'P5',
      'diff ≤ 5 % of the edit at ≥ 1 MB',
      [diff, diffSmall],
      `${short(100 * diffSmall)} % at 1 MB, ${short(100 * diff)} % at 10 MB (CPU)`,
      diff <= 0.05 && diffSmall <= 0.05
    ),
    verdict(
      'P6',
      'stall ≤ 2 ms for a 10 MB edit, ≤ 10 ms for 100 MB',
      [stall10, stall100],
      `${time(stall10)} and ${time(stall100)}`,
      stall10 <= 2 && stall100 <= 10
    ),
    verdict('P7', 'a crafted pattern ≤ 40 × an ordinary search', [craft], short(craft), craft <= 40),
    verdict(
      'P8',
      'suggestion after a miss in 10 MB ≤ 22 ms p90 with no counterpart',
      [near, far],
      `${time(far)} CPU; with a near one ${time(near)}`,
      far <= 22
    ),
    verdict(
      'P9',
      '≥ 5 × each peer at 10 MB one edit, ≥ 20 × at 100 edits',
      [peer1, peer100].map(found => (found === Infinity ? NaN : found)),
      `${short(peer1)} × and ${short(peer100)} × the nearest peer, over MCP: ` +
        peers
          .map(({ variant, edits, measured }) => `${variant} ${short(measured?.wallRatio.median ?? NaN)} at ${edits}`)
          .join(', '),
      peer1 >= 5 && peer100 >= 20
    ),
    ...loadVerdicts(rows),
    ...batchVerdicts(rows),
    ...findVerdicts(rows),
    ...costVerdicts(rows),
    ...historyVerdicts(rows),
    ...auditVerdicts(rows),
    ...eventVerdicts(rows)
  ]
}

export function goalsOf(verdicts: readonly Verdict[]): string {
  return [
    ['', 'goal', 'found', ''],
    ['---', '---', '---', '---'],
    ...verdicts.map(({ goal, asks, found, met }) => [goal, asks, found, met])
  ]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n')
}

/** Verdicts on batches, with the default settings. */
function batchVerdicts(rows: readonly Row[]): Verdict[] {
  const find = (what: string) => rows.find(row => row.what === what && row.variant === `${AS_BATCH}, full/shared`)
  const ratio = find(BATCH)?.measured?.wallRatio.median ?? NaN
  const span = find(SPAN)?.value ?? NaN
  return [
    verdict('B1', 'a batch of 20 files ≤ 0.6 × 20 edits', [ratio], short(ratio), ratio <= 0.6),
    verdict('B2', 'its first rename to its last ≤ 2 ms', [span], time(span), span <= 2)
  ]
}

/** Verdicts on finding. */
function findVerdicts(rows: readonly Row[]): Verdict[] {
  const ratioOf = (what: string, variant: string) =>
    rows.find(row => row.what === what && row.variant === variant)?.measured?.wallRatio.median ?? NaN
  const [whole, beside] = [ratioOf(FIND, FOUND), ratioOf(BESIDE, EDIT_BESIDE)]
  return [
    verdict('F1', '10,000 files, 100 MB: a find ≤ 2 × rg --json', [whole], short(whole), whole <= 2),
    verdict('F2', 'an edit beside 20 finds ≤ 2 × its time alone', [beside], short(beside), beside <= 2)
  ]
}
