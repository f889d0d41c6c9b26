// Every metric of the service: its name, and what it counts. Label values come from closed sets, so requests can't add
// new ones. Does not know how metrics are fetched.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ServerObserver } from '../http/observer.ts'
import type { Meter } from '../workspace/api.ts'
import { OfferedFixes } from './fixes.ts'
import { Registry, type Family } from './registry.ts'

export interface Metrics extends ServerObserver {
  /** Counts for one workspace, which has a name if there is an access file. */
  meter: (workspace?: string) => Meter
  snapshot(): Family[]
}

/** In seconds: from a file in memory to a slow disk, and to the longest usual wait for a lock. */
const REQUEST_BOUNDS = [0.01, 0.05, 0.25, 1, 5]
const COMMIT_BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5]
const LOCK_BOUNDS = [0.001, 0.01, 0.1, 1, 10]

/** Starts counting. `version`: of editd. */
export function makeMetrics(version: string): Metrics {
  const registry = new Registry()
  const calls = registry.counter(
    'editd_calls_total',
    'Calls of operations, through routes, tools, MCP and adapters, by the code of their problem; ok: none.',
    ['workspace', 'operation', 'code']
  )
  const misses = registry.counter('editd_misses_total', 'Edits whose old text was not found, by why it was not.', [
    'cause'
  ])
  const offered = registry.counter('editd_fixes_offered_total', 'Fixes in problems that could be sent as they were.', [
    'type'
  ])
  const taken = registry.counter(
    'editd_fixes_taken_total',
    'Problems after which the same caller sent a call on the same file with one of their fixes.',
    ['type']
  )
  const requests = registry.histogram<'route'>(
    'editd_request_duration_seconds',
    'From the headers of a request to the end of its answer, by route.',
    REQUEST_BOUNDS
  )
  const rateLimited = registry.counter(
    'editd_rate_limited_total',
    'Requests refused with 429: over the rate of a token or an address, or wrong tokens.',
    ['of']
  )
  const answers = registry.counter('editd_requests_total', 'Requests that have ended, by route and status.', [
    'route',
    'status'
  ])
  let openStreams = () => 0
  registry.gauge('editd_event_streams', 'Streams of events that are open.', () => openStreams())
  const meter = makeMeters(registry)
  ofProcess(registry)
  const build = { version, node: process.version }
  registry.gauges('editd_build_info', 'Always 1; the labels say what runs.', () => [[build, 1]])

  const fixes = new OfferedFixes()
  return {
    called(by, { operation, code = 'ok' }, made) {
      calls.add({ workspace: by?.workspace ?? '', operation: operation ?? 'none', code })
      if (made === undefined) return
      const { request, answer } = made
      const key = `${by?.name ?? ''} ${request?.path ?? ''}`
      const type = request === null ? null : fixes.taken(key, request)
      if (type !== null) taken.add({ type })
      if (answer === null || !('failure' in answer)) return
      const { failure, body } = answer
      if (failure.code === 'NO_MATCH') misses.add({ cause: failure.cause?.type ?? 'none' })
      if (body.suggested_fixes === undefined) return
      for (const type of fixes.offer(key, body.suggested_fixes)) offered.add({ type })
    },
    answered(route, status, seconds) {
      requests.observe({ route }, seconds)
      answers.add({ route, status })
    },
    rateLimited: of => rateLimited.add({ of }),
    streams(open) {
      openStreams = open
    },
    meter,
    snapshot: () => registry.snapshot()
  }
}

/** Counts what each workspace does to its files. */
function makeMeters(registry: Registry): Metrics['meter'] {
  const lockWaits = registry.histogram(
    'editd_lock_wait_seconds',
    'How long the lock of a file was waited for, or in a bucket other changes of it, whether or not it was had.',
    LOCK_BOUNDS
  )
  const lockFailures = registry.counter('editd_lock_failures_total', 'Locks that were not had in time.')
  const takeovers = registry.counter('editd_lock_takeovers_total', 'Locks taken over from a holder that is gone.')
  const commits = registry.histogram(
    'editd_commit_duration_seconds',
    'From a finished plan until the result is on the disk or in the bucket, of one file or of a batch.',
    COMMIT_BOUNDS
  )
  const read = registry.counter('editd_read_bytes_total', 'Bytes of files that were read to be changed.', ['workspace'])
  const written = registry.counter('editd_written_bytes_total', 'Bytes of files that were written.', ['workspace'])
  const histories = new Map<object, { workspace: string; bytes: number }>()
  registry.gauges('editd_history_bytes', 'Bytes that the history took when it was last tidied (each minute).', () => {
    const sums = new Map<string, number>()
    for (const { workspace, bytes } of histories.values()) sums.set(workspace, (sums.get(workspace) ?? 0) + bytes)
    return [...sums].map(([workspace, bytes]) => [{ workspace }, bytes])
  })
  return (workspace = '') => {
    read.add({ workspace }, 0)
    written.add({ workspace }, 0)
    const own = {}
    return {
      locked(seconds, isHeld) {
        lockWaits.observe({}, seconds)
        if (!isHeld) lockFailures.add({})
      },
      tookOver: () => takeovers.add({}),
      committed: (seconds, bytes) => {
        commits.observe({}, seconds)
        written.add({ workspace }, bytes)
      },
      read: bytes => read.add({ workspace }, bytes),
      history: bytes => histories.set(own, { workspace, bytes }),
      closed: () => histories.delete(own)
    }
  }
}

/** In ms: how often the event loop is sampled. The measured delays include it. */
const RESOLUTION = 20

/** The metrics that Prometheus defines for every process, as far as Node knows them. */
function ofProcess(registry: Registry): void {
  registry.counted('process_cpu_seconds_total', 'Seconds of CPU time, of all threads.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  registry.gauge('process_resident_memory_bytes', 'Memory that is resident.', () => process.memoryUsage.rss())
  registry.gauge(
    'process_start_time_seconds',
    'When the process started, in seconds since 1970; of several, the last one.',
    () => Date.now() / 1000 - process.uptime()
  )
  registry.gauge('nodejs_heap_used_bytes', 'The part of the heap of JavaScript that is in use.', () => {
    const { heapUsed } = process.memoryUsage()
    return heapUsed
  })
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  delay.enable()
  for (const [name, read] of [
    ['mean', () => delay.mean],
    ['p99', () => delay.percentile(99)],
    ['max', () => delay.max]
  ] as const) {
    registry.gauge(
      `nodejs_eventloop_lag_${name}_seconds`,
      `How late the event loop was since this was last fetched: ${name}.`,
      () => {
        const nanoseconds = read()
        // The last of these gauges in a snapshot.
        if (name === 'max') delay.reset()
        return Number.isNaN(nanoseconds) ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1e3)
      }
    )
  }
}
