// Runs ripgrep and cuts what it writes into parts. Does not know policy, or what the parts mean.
import { spawn } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { pipeline, Readable } from 'node:stream'
import { LF } from '../../engine/text/lines.ts'
import { codeOf, quietly } from '../../workspace/errno.ts'
import type { Pace } from './pace.ts'

/** Bytes kept of its messages: of about 10,000 files. Chosen, not measured. */
const MESSAGES = 1024 * 1024
/** Messages for those who look for faults in ripgrep, except the ones on files that are too large. */
const OTHER_MESSAGES = /^rg: DEBUG(?!.*: \d+ bytes$)/
/**
 * How much nicer it is than this process, so that edits get the processor first. Beside 20 finds on two cores, an edit
 * took 1.7 × its time alone with 19, 2.8 × with 10, 3.2 × with 5 (`npm run bench -- --only find`).
 */
const NICER = 19

/** The program's path; null: none is installed for this system. */
export async function ripgrepPath(): Promise<string | null> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    return null
  }
}

/** How to run ripgrep. */
export interface Ripgrep {
  program: string
  /** The folder to run in. */
  cwd: string
  /** Aborted: it is killed. */
  signal: AbortSignal
  /** For the work on its output. */
  pace: Pace
}

/**
 * How it ended: 0, it found something; 1, nothing; 2, there were errors, which `messages` are about; null, it was
 * stopped.
 */
export interface RipgrepEnd {
  status: number | null
  messages: string
}

/** Its arguments are more than the system takes. */
export class TooManyArguments extends Error {}

/**
 * Runs ripgrep, without environment and shell, with `input` as its standard input, and calls `part` for each part of
 * its output that ends in `delimiter`, without that, and for the rest; null in place of a part of more than `bound`
 * bytes. Throws TooManyArguments.
 */
export async function runRipgrep(
  { program, cwd, signal, pace }: Ripgrep,
  args: readonly string[],
  { delimiter, bound, input = [] }: { delimiter: number; bound: number; input?: readonly Buffer[] },
  part: (part: Buffer | null) => void
): Promise<RipgrepEnd> {
  if (signal.aborted) return { status: null, messages: '' }
  const child = start(program, args, cwd)
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  signal.addEventListener('abort', kill)
  const messages = messagesOf(child.stderr)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  // Its output, which ends first, may fail too.
  for (const later of [ended, messages]) later.catch(() => {})
  quietly(() => setPriority(child.pid!, Math.min(getPriority() + NICER, constants.priority.PRIORITY_LOW)))
  // It may end before it has read everything; then its status says why.
  pipeline(Readable.from(input), child.stdin, () => {})
  try {
    const parts = new Parts(delimiter, bound)
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      for (const one of parts.endingIn(chunk)) {
        part(one)
        // There may be very many.
        if (pace.isLong) await pace.rest()
      }
    }
    for (const rest of signal.aborted ? [] : parts.rest()) part(rest)
    const status = await ended
    if (!signal.aborted && ![0, 1, 2].includes(status!)) throw new Error(`ripgrep ended with ${status}`)
    return { status: signal.aborted ? null : status, messages: await messages }
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
  }
}

function start(program: string, args: readonly string[], cwd: string) {
  try {
    return spawn(program, ['--no-config', ...args], { cwd, env: {}, stdio: 'pipe' })
  } catch (error) {
    throw codeOf(error) === 'E2BIG' ? new TooManyArguments() : error
  }
}

async function messagesOf(output: AsyncIterable<Buffer>): Promise<string> {
  const parts = new Parts(LF, MESSAGES)
  let kept = ''
  for await (const chunk of output) {
    for (const line of parts.endingIn(chunk)) {
      const text = line?.toString() ?? ''
      if (!OTHER_MESSAGES.test(text) && kept.length < MESSAGES) kept += `${text}\n`
    }
  }
  return kept
}

/** Cuts a stream into the parts that end in `delimiter`, without it; null in place of one of more than `bound` bytes. */
class Parts {
  readonly #delimiter: number
  readonly #bound: number
  #pending: Buffer[] = []
  #length = 0

  constructor(delimiter: number, bound: number) {
    this.#delimiter = delimiter
    this.#bound = bound
  }

  *endingIn(chunk: Buffer): Generator<Buffer | null> {
    let from = 0
    for (let at = chunk.indexOf(this.#delimiter); at !== -1; at = chunk.indexOf(this.#delimiter, from)) {
      this.#push(chunk.subarray(from, at))
      from = at + 1
      yield this.#take()
    }
    this.#push(chunk.subarray(from))
  }

  *rest(): Generator<Buffer | null> {
    if (this.#length > 0) yield this.#take()
  }

  #push(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length > this.#bound) this.#pending = []
    else this.#pending.push(bytes)
  }

  #take(): Buffer | null {
    const [first, ...others] = this.#pending
    const part = others.length === 0 ? (first ?? null) : Buffer.concat(this.#pending)
    this.#pending = []
    this.#length = 0
    return part
  }
}
