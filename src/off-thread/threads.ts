// A few worker threads, and the jobs that wait for one. Knows what a job is, not for whom.
import { Worker, type ResourceLimits } from 'node:worker_threads'
import { type Job, READY, type ResultOf } from './job.ts'

export interface ThreadsOptions {
  /** The most that are started: each when it is first needed. */
  size: number
  /** Of each thread's heap. */
  limits?: ResourceLimits
}

interface Order {
  job: Job
  transfer: ArrayBuffer[]
  /** Milliseconds; then the thread is ended. */
  time: number | undefined
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread, and what it works at. */
interface Thread { worker: Worker, ready: boolean, order: Order | null, timer: NodeJS.Timeout | undefined }

/** Answered for a job whose time was over. */
export const OVERDUE = Symbol('overdue')

/** The same file is .ts where tests load it, .js where it was built. */
const WORKER = new URL(import.meta.url.replace(/threads(\.[jt]s)/, 'worker$1'))

/** Jobs are begun in their order. Idle threads don't keep the process alive; one that fails is given up, and the next job gets a new one. */
export class Threads {
  readonly #options: ThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #waiting: Order[] = []
  #whenIdle: (() => void)[] = []

  constructor (options: ThreadsOptions) {
    this.#options = options
  }

  /** Jobs that run or wait. */
  get jobs (): number {
    return this.#waiting.length + [...this.#threads].filter(({ order }) => order !== null).length
  }

  /**
   * Runs a job; buffers of `transfer` move to the thread, and can't be used here any more. OVERDUE where it took longer than `time` milliseconds.
   * Rejects where the job throws, or the thread ends: of too much memory, say.
   */
  run<J extends Job> (job: J, options: { transfer: ArrayBuffer[], time: number }): Promise<ResultOf<J> | typeof OVERDUE>
  run<J extends Job> (job: J, options: { transfer: ArrayBuffer[] }): Promise<ResultOf<J>>
  run (job: Job, { transfer, time }: { transfer: ArrayBuffer[], time?: number }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, transfer, time, resolve, reject })
      this.#next()
    })
  }

  /** Waits for the jobs, and ends the threads. */
  async close (): Promise<void> {
    if (this.jobs > 0) await new Promise<void>(resolve => this.#whenIdle.push(resolve))
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  #next (): void {
    const order = this.#waiting[0]
    const thread = order && this.#free()
    if (thread !== undefined) {
      this.#waiting.shift()
      this.#begin(thread, order!)
    } else if (this.jobs === 0) for (const tell of this.#whenIdle.splice(0)) tell()
  }

  #free (): Thread | undefined {
    const idle = [...this.#threads].find(({ order }) => order === null)
    return idle ?? (this.#threads.size < this.#options.size ? this.#start() : undefined)
  }

  #start (): Thread {
    const worker = new Worker(WORKER, { resourceLimits: this.#options.limits ?? {} })
    const thread: Thread = { worker, ready: false, order: null, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', message => {
      if (message === READY) {
        thread.ready = true
        this.#watch(thread)
      } else this.#end(thread, order => order.resolve(message))
    })
    worker.on('error', error => {
      this.#threads.delete(thread)
      this.#end(thread, order => order.reject(error))
    })
    return thread
  }

  #begin (thread: Thread, order: Order): void {
    thread.order = order
    thread.worker.ref()
    thread.worker.postMessage(order.job, order.transfer)
    if (thread.ready) this.#watch(thread)
  }

  /** The time of a job begins when its thread has loaded the code. */
  #watch (thread: Thread): void {
    if (thread.order?.time === undefined) return
    thread.timer = setTimeout(() => {
      this.#threads.delete(thread)
      thread.worker.terminate()
      this.#end(thread, order => order.resolve(OVERDUE))
    }, thread.order.time)
  }

  #end (thread: Thread, tell: (order: Order) => void): void {
    const { order } = thread
    clearTimeout(thread.timer)
    thread.order = null
    thread.worker.unref()
    if (order !== null) tell(order)
    this.#next()
  }
}
