// A few worker threads, and the jobs that wait for them. Does not know what a job is or who asks.
import { Worker, type ResourceLimits } from 'node:worker_threads'
import { AGAIN, READY } from './thread.ts'

/**
 * How long a thread may be idle, in ms, before it is ended. That frees its grammars and its heap, which after a change
 * of 100,000 places stays at 200 MB (two threads, `VmRSS`: 480 MB before and 100 after); a new thread takes 0.15 s
 * (load 4).
 */
const IDLE = 60_000

export interface ThreadsOptions {
  /** The most threads; each is started when it is first needed. */
  size: number
  /** Limits of each thread's heap. */
  limits?: ResourceLimits
  /** Initial data for its code. */
  data?: unknown
  /** Replaces `IDLE` in tests. */
  idle?: number
}

interface QueuedJob {
  job: object
  transfer: ArrayBuffer[]
  /** In ms; then the thread is ended. */
  time: number | undefined
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread and its job. `timer` ends the thread when the job, or its idle time, has lasted too long. */
interface Thread {
  worker: Worker
  ready: boolean
  queued: QueuedJob | null
  timer: NodeJS.Timeout | undefined
}

/** Receives the error that ended a thread during a job, for the log. */
export type CrashReport = (error: unknown) => void

/** The result of a job that took too long. */
export const TIMED_OUT = Symbol('timed out')

/**
 * Jobs start in order. Idle threads don't keep the process alive; a failed one is dropped, and the next job gets a new
 * one. `J`: the jobs, `R`: the result of each type.
 */
export class Threads<J extends { type: string }, R extends Record<J['type'], unknown>> {
  readonly #url: URL
  readonly #options: ThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #waiting: QueuedJob[] = []
  #whenIdle: (() => void)[] = []

  /** `worker`: the file in this folder that a thread runs. */
  constructor(worker: 'worker' | 'parse-worker', options: ThreadsOptions) {
    // It is next to this file if each module is a file: .ts where tests load it, .js where it was compiled. In a
    // bundle, the worker has a file of its own.
    const ending = /\/threads(\.[jt]s)$/.exec(import.meta.url)?.[1]
    this.#url = new URL(ending ? worker + ending : import.meta.resolve(`#workers/${worker}.js`), import.meta.url)
    this.#options = options
  }

  /** How many jobs run or wait. */
  get jobs(): number {
    return this.#waiting.length + [...this.#threads].filter(({ queued }) => queued !== null).length
  }

  /**
   * Runs a job; buffers in `transfer` move to the thread, and can't be used here any more. TIMED_OUT if it took longer
   * than `time` ms. Rejects if the job throws, or the thread ends, for instance because it needs too much memory.
   */
  run<K extends J>(job: K, options: { transfer: ArrayBuffer[]; time: number }): Promise<R[K['type']] | typeof TIMED_OUT>
  run<K extends J>(job: K, options: { transfer: ArrayBuffer[] }): Promise<R[K['type']]>
  run(job: J, { transfer, time }: { transfer: ArrayBuffer[]; time?: number }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, transfer, time, resolve, reject })
      this.#next()
    })
  }

  /** Waits for the jobs, and ends the threads. */
  async close(): Promise<void> {
    if (this.jobs > 0) await new Promise<void>(resolve => this.#whenIdle.push(resolve))
    await Promise.all([...this.#threads].map(thread => this.#stop(thread)))
  }

  #next(): void {
    const queued = this.#waiting[0]
    let thread: Thread | undefined
    try {
      thread = queued && this.#free()
    } catch (error) {
      this.#waiting.shift()
      queued!.reject(error)
      this.#next()
      return
    }
    if (thread !== undefined) {
      this.#waiting.shift()
      this.#begin(thread, queued!)
    } else if (this.jobs === 0) for (const settle of this.#whenIdle.splice(0)) settle()
  }

  /** A free thread; undefined if all are busy. Throws if there is none, and the system can't start one. */
  #free(): Thread | undefined {
    const { size } = this.#threads
    const idle = [...this.#threads].find(({ queued }) => queued === null)
    if (idle !== undefined || size === this.#options.size) return idle
    try {
      return this.#start()
    } catch (error) {
      if (size > 0) return undefined
      throw error
    }
  }

  #start(): Thread {
    const { limits = {}, data } = this.#options
    const worker = new Worker(this.#url, { resourceLimits: limits, workerData: data })
    const thread: Thread = { worker, ready: false, queued: null, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', message => {
      if (message === READY || message === AGAIN) {
        thread.ready = true
        this.#watch(thread)
      } else this.#end(thread, queued => queued.resolve(message))
    })
    worker.on('error', error => {
      this.#threads.delete(thread)
      this.#end(thread, queued => queued.reject(error))
    })
    return thread
  }

  #begin(thread: Thread, queued: QueuedJob): void {
    try {
      thread.worker.postMessage(queued.job, queued.transfer)
    } catch (error) {
      // The job can't be sent, for lack of memory for instance: the thread stays free for the next job.
      thread.worker.unref()
      queued.reject(error)
      this.#next()
      return
    }
    clearTimeout(thread.timer)
    thread.queued = queued
    thread.worker.ref()
    if (thread.ready) this.#watch(thread)
  }

  /** Starts a job's time when its thread has loaded the code, and again whenever the job says so. */
  #watch(thread: Thread): void {
    clearTimeout(thread.timer)
    if (thread.queued?.time === undefined) return
    thread.timer = setTimeout(() => {
      this.#threads.delete(thread)
      thread.worker.terminate()
      this.#end(thread, queued => queued.resolve(TIMED_OUT))
    }, thread.queued.time)
  }

  #end(thread: Thread, settle: (queued: QueuedJob) => void): void {
    const { queued } = thread
    clearTimeout(thread.timer)
    thread.queued = null
    thread.worker.unref()
    if (queued !== null) settle(queued)
    this.#next()
    if (thread.queued === null && this.#threads.has(thread)) {
      thread.timer = setTimeout(() => {
        this.#stop(thread)
      }, this.#options.idle ?? IDLE).unref()
    }
  }

  /** Ends an idle thread. */
  async #stop(thread: Thread): Promise<void> {
    clearTimeout(thread.timer)
    this.#threads.delete(thread)
    thread.worker.ref()
    thread.worker.postMessage(null)
    await new Promise(resolve => thread.worker.once('exit', resolve))
  }
}
