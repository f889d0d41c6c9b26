// `--processes N`: one address, N processes (node:cluster). The primary accepts connections and hands them out in turn,
// replaces a process that has ended, and ends them all; each other process is a whole server. Does not know what a
// server does, the command line, signals that the primary gets, or any route.
//
// The order of things, and what is left when one of them is killed: docs/decisions/processes.md.
import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Access } from './config/access-file.ts'
import type { Config } from './config/config.ts'
import { keepOthersOff, type ListenPlace } from './listen.ts'
import { merged, type Family } from './metrics/registry.ts'
import type { Credentials, PreparedSpaces } from './spaces.ts'

/** Where a server listens, and what it serves, as `Spaces.served`. */
export interface Listening {
  served: string
  address: ListenPlace
}

/**
 * What a process is told. `group`: of the processes of one primary (WorkspaceOptions). `umask`: that of the primary
 * makes sockets. `declared`: what the access file says; null: there is none.
 */
export type GroupConfig = Config & { group: string; umask: number; declared: Access | null }

/**
 * What a process is told later: to get ready for other credentials, and then, when all have answered, to take them or
 * to leave them. `measure`: to tell its metrics.
 */
type Order = { prepare: Credentials } | 'take' | 'leave' | 'measure'

/**
 * What a process tells the primary: first that it can be told the settings. `prepared`: whether it could get ready, or a
 * sentence that says why not.
 */
type Report =
  | 'started'
  | { listening: Listening }
  | { failure: StartFailure }
  | { prepared: true | string }
  | { measured: readonly Family[] }

/** Why a process can't serve, as a sentence for a person. `isFault`: whoever starts it has to change something. */
export interface StartFailure {
  sentence: string
  isFault: boolean
}

/** Why the processes can't serve: what one of them says. */
export class ProcessFailed extends Error {
  readonly isFault: boolean

  constructor({ sentence, isFault }: StartFailure) {
    super(sentence)
    this.isFault = isFault
  }
}

/** In ms: how long the metrics of a process are waited for. Prometheus waits for ten seconds. Chosen, not measured. */
const MEASURING = 3_000

/** In ms: a process that served for less is replaced with a delay. Chosen, not measured, as are the next two. */
const STEADY = 10_000
/** In ms: the first delay; each next one is twice as long. */
const FIRST_DELAY = 100
/** In ms. */
const LONGEST_DELAY = 10_000

/** In ms: how long the last report of a process that has ended is waited for. Chosen, not measured. */
const LAST_REPORT = 1_000

/** A process that lives. */
interface Life {
  /** How many processes before it, each the replacement of the one before, ended soon. */
  readonly ended: number
  /** The port that it was told. */
  port: number
  /** In ms of performance.now(); null: not yet. */
  listensSince: number | null
  failure: StartFailure | null
  /** It is to open its audit file again once it listens. */
  reopensAudit: boolean
  /** Hears whether it is ready for other credentials, or that it has ended; null: it wasn't asked. */
  onPrepared: ((prepared: true | string) => void) | null
  /** Its metrics, as it told them last. */
  measured: readonly Family[]
  /** Hear its metrics, or that it has ended. */
  onMeasured: (() => void)[]
}

/** null: a socket has none. */
const portOf = ({ address }: Listening): number | null => (typeof address === 'string' ? null : address.port)

const listens = ({ listensSince }: Life): boolean => listensSince !== null

/**
 * node:cluster forgets a connection that is on its way to a process when that is killed: it would stay open, and its
 * client wait for ever. It hands out the next one only when the one before was taken, and has closed that here by then;
 * to close it once more does nothing. What is returned closes the last one.
 */
function followHandles({ process }: Worker): () => void {
  let last: { close(): void } | null = null
  const send = process.send.bind(process) as (...given: unknown[]) => boolean
  process.send = (...given: unknown[]) => {
    if (isClosable(given[1])) last = given[1]
    return send(...given)
  }
  return () => last?.close()
}

const isClosable = (handle: unknown): handle is { close(): void } =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'

/** Whether it listens on a socket that it was handed. */
const isHanded = ({ listen }: Config): boolean => listen !== null && 'fd' in listen

interface Outcome {
  resolve(): void
  reject(error: Error): void
}

/** The primary's side. */
export class Processes {
  #config: Config
  readonly #logger: Logger
  readonly #patience: number
  readonly #group = randomUUID()
  #umask = 0
  #declared: Access | null
  readonly #lives = new Map<Worker, Life>()
  readonly #delays = new Set<NodeJS.Timeout>()
  /** Once all have listened; that of the first counts. */
  #listening: Listening | null = null
  /**
   * What the next process is told to listen on. With port 0 node:cluster has one address for all that were told so,
   * until none of them is left: who comes then has to be told the port that it was. But as long as one of them has the
   * address, who is told that port finds it in use.
   */
  #port: number
  #onListening: (listening: Listening) => void = () => {}
  #outcome: Outcome | null = null
  /** The counts of processes that have ended. */
  #ended: readonly Family[] = []
  #isServing = false
  #isStopping = false
  #failure: Error | null = null

  /** `declared`: as of GroupConfig. `patience`: ms after `stop`. */
  constructor(config: Config, declared: Access | null, logger: Logger, patience: number) {
    this.#config = config
    this.#declared = declared
    this.#logger = logger
    this.#patience = patience
    this.#port = config.port
  }

  /**
   * Starts the processes; calls `onListening` once all of them listen. Resolves when they have ended because of `stop`.
   * Rejects, when they have ended, with why they can't serve: with ProcessFailed, if one of them has said so.
   */
  run(onListening: (listening: Listening) => void): Promise<void> {
    this.#onListening = onListening
    // In turn: the kernel would give most connections to one of them (measured, see the decision).
    cluster.schedulingPolicy = cluster.SCHED_RR
    // It makes the socket whenever the first process listens.
    this.#umask = keepOthersOff()
    const ended = new Promise<void>((resolve, reject) => {
      this.#outcome = { resolve, reject }
    })
    for (let i = 0; i < this.#config.processes; i++) this.#start(0)
    return ended
  }

  /**
   * Tells all of them to finish what runs and to end; kills those that haven't when the patience is over. False: it was
   * called before.
   */
  stop(): boolean {
    if (this.#isStopping) return false
    this.#isStopping = true
    for (const delay of this.#delays) clearTimeout(delay)
    for (const { process } of this.#lives.keys()) process.kill('SIGTERM')
    setTimeout(() => this.#kill(), this.#patience).unref()
    this.#settle()
    return true
  }

  /**
   * All of them take other credentials, or none does; rejects with ProcessFailed where one of them can't. Only while they
   * serve, and one call at a time.
   */
  async replace(credentials: Credentials): Promise<void> {
    const asked = [...this.#lives].filter(([, life]) => listens(life))
    const answers = await Promise.all(asked.map(([worker, life]) => this.#prepare(worker, life, credentials)))
    const failure = answers.find(answer => answer !== true)
    for (const [worker] of asked) this.#order(worker, failure === undefined ? 'take' : 'leave')
    if (failure !== undefined) throw new ProcessFailed({ sentence: failure, isFault: false })
    if (typeof credentials === 'string') this.#config = { ...this.#config, token: credentials }
    else this.#declared = credentials
    // Those that started meanwhile were told what was.
    for (const [worker] of this.#lives) if (!asked.some(([other]) => other === worker)) worker.process.kill('SIGTERM')
  }

  /**
   * The metrics of all processes as one; of those that have ended, what they told last. One that doesn't answer in time
   * counts as it did before.
   */
  async measure(): Promise<Family[]> {
    const asked = [...this.#lives].filter(([, life]) => listens(life))
    await Promise.all(
      asked.map(
        ([worker, life]) =>
          new Promise<void>(resolve => {
            const timer = setTimeout(resolve, MEASURING)
            life.onMeasured.push(() => {
              clearTimeout(timer)
              resolve()
            })
            this.#order(worker, 'measure')
          })
      )
    )
    return merged([this.#ended, ...this.#living().map(({ measured }) => measured)])
  }

  /** All of them open their audit file again. */
  reopenAudit(): void {
    for (const [worker, life] of this.#lives) {
      if (listens(life)) worker.process.kill('SIGHUP')
      // It may have opened the old one, and may not know the signal yet.
      else life.reopensAudit = true
    }
  }

  #prepare(worker: Worker, life: Life, credentials: Credentials): Promise<true | string> {
    return new Promise(resolve => {
      life.onPrepared = resolve
      this.#order(worker, { prepare: credentials })
    })
  }

  #order(worker: Worker, order: Order): void {
    // Of one that is about to end nothing is expected.
    if (worker.isConnected()) worker.send(order)
  }

  /** Whatever still runs: the next start cleans up after it. */
  #kill(): void {
    for (const worker of this.#lives.keys()) this.#end(worker, 'SIGKILL')
  }

  /** `ended`: as in Life. */
  #start(ended: number): void {
    const worker = cluster.fork()
    const closeUnanswered = followHandles(worker)
    this.#lives.set(worker, {
      ended,
      port: this.#port,
      listensSince: null,
      failure: null,
      reopensAudit: false,
      onPrepared: null,
      measured: [],
      onMeasured: []
    })
    worker.on('message', (report: Report) => this.#hear(worker, report))
    worker.on('error', error => this.#end(worker, String(error)))
    worker.on('exit', (code, signal) => {
      // What it told last may not have been read yet. The timer also keeps this process alive for that.
      const late = setTimeout(() => end(), worker.isConnected() ? LAST_REPORT : 0)
      worker.once('disconnect', () => end())
      const end = () => {
        clearTimeout(late)
        // One that ends by itself has answered all that it was handed.
        if (code !== 0) closeUnanswered()
        this.#end(worker, signal ?? `exit status ${code}`)
      }
    })
  }

  #hear(worker: Worker, report: Report): void {
    const life = this.#lives.get(worker)
    if (life === undefined) return
    if (report === 'started') {
      life.port = this.#port
      const told = { group: this.#group, umask: this.#umask, declared: this.#declared }
      worker.send({ ...this.#config, port: life.port, ...told } satisfies GroupConfig)
      return
    }
    if ('prepared' in report) {
      life.onPrepared?.(report.prepared)
      return
    }
    if ('measured' in report) {
      life.measured = report.measured
      for (const hear of life.onMeasured.splice(0)) hear()
      return
    }
    if ('failure' in report) {
      life.failure = report.failure
      return
    }
    this.#listening ??= report.listening
    life.listensSince = performance.now()
    if (life.reopensAudit) worker.process.kill('SIGHUP')
    const port = portOf(this.#listening)
    const hasAddress = portOf(report.listening) === port
    this.#port = hasAddress ? life.port : (port ?? 0)
    // It was told port 0 just before the last of those with the address ended: nobody would find it.
    if (!hasAddress) worker.process.kill('SIGTERM')
    else if (this.#isServing) this.#logger.info({ event: 'process_replaced', process: worker.process.pid })
    else if (this.#living().every(listens) && !this.#isStopping) {
      this.#isServing = true
      this.#onListening(this.#listening)
    }
  }

  #living(): Life[] {
    return [...this.#lives.values()]
  }

  /** It has ended, or can't be reached any more. */
  #end(worker: Worker, how: string): void {
    const life = this.#lives.get(worker)
    if (life === undefined) return
    this.#lives.delete(worker)
    // Its replacement is told what is decided now.
    life.onPrepared?.(true)
    for (const hear of life.onMeasured.splice(0)) hear()
    // What it has counted stays counted; gauges are of processes that are there.
    this.#ended = merged([this.#ended, life.measured.filter(({ type }) => type !== 'gauge')])
    worker.process.kill('SIGKILL')
    if (!this.#isStopping) this.#replace(life, worker.process.pid, how)
    this.#settle()
  }

  #replace(life: Life, pid: number | undefined, how: string): void {
    const others = this.#living()
    // node:cluster has closed what it was handed; whoever handed it over can do so again.
    const isClosed = isHanded(this.#config) && !others.some(listens)
    // At the start, one that fails is one too many; later on, it is the last one.
    if (!this.#isServing || isClosed || (!listens(life) && others.length === 0)) {
      this.#failure =
        life.failure === null ? new Error(`one of its processes ended with ${how}`) : new ProcessFailed(life.failure)
      this.stop()
      return
    }
    if (!others.some(listens) && this.#listening !== null) this.#port = portOf(this.#listening) ?? this.#port
    const isSteady = life.listensSince !== null && performance.now() - life.listensSince >= STEADY
    const ended = isSteady ? 0 : life.ended + 1
    const delay = isSteady ? 0 : Math.min(FIRST_DELAY * 2 ** life.ended, LONGEST_DELAY)
    const reason = life.failure === null ? {} : { reason: life.failure.sentence }
    this.#logger.error({ event: 'process_ended', process: pid, how, ...reason, replaced_in_ms: delay })
    const timer = setTimeout(() => {
      this.#delays.delete(timer)
      this.#start(ended)
    }, delay)
    this.#delays.add(timer)
  }

  #settle(): void {
    if (!this.#isStopping || this.#lives.size > 0) return
    if (this.#failure === null) this.#outcome?.resolve()
    else this.#outcome?.reject(this.#failure)
  }
}

/** A server that listens. */
interface Served extends Listening {
  measure(): readonly Family[]
  prepare(credentials: Credentials): Promise<PreparedSpaces>
  /** Finishes what runs and ends the process. */
  stop(why: { reason: string }): void
}

/**
 * The side of every other process: serves with the settings of the primary. If the primary is gone, it stops. A failure
 * to start is told to the primary, as `describe` has it; then the process ends.
 */
export async function serveForPrimary(
  worker: Worker,
  serve: (config: GroupConfig) => Promise<Served>,
  describe: (error: unknown, config: Config) => Promise<StartFailure>
): Promise<void> {
  let stop: Served['stop'] = () => process.exit(0)
  worker.on('disconnect', () => {
    // Otherwise Node ends the process here and now, and with it what runs.
    worker.exitedAfterDisconnect = true
    stop({ reason: 'the primary process has ended' })
  })
  const settings = once(process, 'message') as Promise<[GroupConfig]>
  worker.send('started' satisfies Report)
  const [config] = await settings
  process.umask(config.umask)
  // The primary reads again what is to be read; a terminal sends this to all of them.
  process.on('SIGHUP', () => {})
  try {
    const served = await serve(config)
    stop = served.stop
    followOrders(worker, served, async error => (await describe(error, config)).sentence)
    worker.send({ listening: { served: served.served, address: served.address } } satisfies Report)
  } catch (error) {
    worker.send({ failure: await describe(error, config) } satisfies Report, () => process.exit(1))
  }
}

/** Gets ready for other credentials, takes them or leaves them, as the primary says. */
function followOrders(
  worker: Worker,
  { prepare, measure }: Served,
  describe: (error: unknown) => Promise<string>
): void {
  let prepared: PreparedSpaces | null = null
  const report = (answer: true | string) => worker.send({ prepared: answer } satisfies Report)
  process.on('message', (order: Order) => {
    if (order === 'measure') {
      worker.send({ measured: measure() } satisfies Report)
      return
    }
    if (order === 'take') prepared?.take()
    else if (order === 'leave') prepared?.leave()
    else {
      prepare(order.prepare).then(
        ready => {
          prepared = ready
          report(true)
        },
        async error => report(await describe(error))
      )
      return
    }
    prepared = null
  })
}
