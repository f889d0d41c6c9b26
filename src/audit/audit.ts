// The audit: who changed which file in which call, and the outcome of every call that may change one. Never contains
// text of a file or a caller's stated reason.
import { randomUUID } from 'node:crypto'
import type { AuditFile } from './audit-file.ts'

export interface AuditOptions {
  file: AuditFile
  /** The workspace's name, if there is an access file. */
  workspace?: string
  /** No file is changed before a line in the file announces the change. */
  required: boolean
  /** Whether that line is synced to disk. */
  durable: boolean
}

/** What is known of a call before its arguments are read. `operation`: the name of its tool. */
export interface CallFacts {
  operation?: string
  request_id?: string
  subject?: string
  /** The caller's span (W3C Trace Context), in hex. */
  trace?: { trace_id: string; span_id: string }
}

/** Who the caller claims to be. */
interface Claimed {
  agent?: string
  session?: string
}

/** A change about to be made. `hash_after`: SHA-256, 64 hex digits; null: the file will be removed. */
interface IntendedChange {
  hash_after?: string | null
  /** The change's id in the history. */
  edit_id?: string
  batch_id?: string
}

export interface LineCounts {
  lines_added: number
  lines_removed: number
}

/** A change that the history has recorded; `token`: the name of the token that authorized it. */
export interface KnownChange extends Claimed, LineCounts {
  edit_id: string
  batch_id?: string
  token?: string
  path: Buffer
  hash_before: string | null
  hash_after: string | null
}

/** In characters. Limits a path that names no file and so may have any length. */
const PATH_MAX = 4096

/** The audit of one workspace; each workspace of a server has its own. */
export class Audit {
  readonly #options: AuditOptions

  constructor(options: AuditOptions) {
    this.#options = options
  }

  get required(): boolean {
    return this.#options.required
  }

  /** Whether the last line could not be written. */
  get failing(): boolean {
    return this.#options.file.failing
  }

  /** Starts auditing one call that may change files; not for dry runs. */
  call(facts: CallFacts = {}): AuditedCall {
    return new AuditedCall(this.#options, facts)
  }

  /**
   * Reports the outcome of a change whose server was killed. It may be reported twice, if that server had done so
   * itself.
   */
  settled(change: KnownChange, outcome: 'done' | 'void' | 'uncertain'): void {
    const { file, workspace } = this.#options
    const { token: subject, agent, session, path, hash_before, hash_after, edit_id, batch_id } = change
    const { lines_added, lines_removed } = change
    const known = { hash_before, hash_after, lines_added, lines_removed, edit_id, batch_id }
    file.append(
      lineOf({ outcome, recovered: true, workspace, subject, agent, session, path: shownPath(path), ...known })
    )
  }
}

export class AuditedCall {
  readonly #options: AuditOptions
  #facts: CallFacts & Claimed
  /** A line already gives the call's outcome, or says that it is uncertain. */
  #isTold = false

  constructor(options: AuditOptions, facts: CallFacts) {
    this.#options = options
    this.#facts = facts
  }

  by({ agent, session }: Claimed): void {
    this.#facts = { ...this.#facts, ...(agent !== undefined && { agent }), ...(session !== undefined && { session }) }
  }

  /**
   * Starts one change of a file, given its real path below the root. `hash_before`: SHA-256, 64 hex digits; null: there
   * is no file.
   */
  change(path: Buffer, hash_before: string | null): AuditedChange {
    return this.#begin({ path: shownPath(path), hash_before })
  }

  /** A person's verdict on changes of one file. */
  verdict(path: Buffer, verdict: 'kept' | 'pending'): AuditedChange {
    return this.#begin({ path: shownPath(path), verdict })
  }

  #begin(known: object): AuditedChange {
    const { file, required, durable } = this.#options
    return new AuditedChange({
      required,
      intend: facts => file.commit(this.#line('intent', { ...known, ...facts }), durable),
      tell: (outcome, facts) => {
        if (outcome !== 'void') this.#isTold = true
        const line = this.#line(outcome, { ...known, ...facts })
        // Must precede the settlement in the history: after a kill, no one looks again at a change that is settled
        // there.
        if (required) file.put(line)
        else file.append(line)
      }
    })
  }

  /** Reports the outcome of the call if no line has yet. `path`: as it was sent. */
  end(
    outcome: 'unchanged' | 'replayed' | 'refused',
    { path, code }: { path: string | undefined; code: string | undefined }
  ): void {
    if (this.#isTold) return
    this.#options.file.append(this.#line(outcome, { path: path?.slice(0, PATH_MAX), code }))
  }

  #line(outcome: string, facts: object): string {
    const { trace, ...known } = this.#facts
    return lineOf({ outcome, workspace: this.#options.workspace, ...known, ...trace, ...facts })
  }
}

type Tell = (outcome: 'done' | 'void' | 'uncertain', facts: object) => void

/** One file of a call, before and after it gets its new content or is removed. */
export class AuditedChange {
  readonly #required: boolean
  readonly #intend: (facts: object) => Promise<void>
  readonly #tell: Tell
  #id: string | undefined
  #intending: Promise<void> | undefined
  #facts: IntendedChange | undefined
  #counts: LineCounts | undefined
  #isUncertain = false
  #ended = false

  constructor({ required, intend, tell }: { required: boolean; intend: (facts: object) => Promise<void>; tell: Tell }) {
    this.#required = required
    this.#intend = intend
    this.#tell = tell
  }

  /**
   * Await it before the file gets its content; later calls for retries return the same promise. Rejects with
   * AuditUnwritable if the file must not be changed.
   */
  intend(change: IntendedChange): Promise<void> {
    this.#facts ??= change
    if (!this.#required) return Promise.resolve()
    this.#id ??= randomUUID()
    this.#intending ??= this.#intend({ ...change, change_id: this.#id })
    return this.#intending
  }

  /** Sets the line counts; call it once the change is made. */
  count({ lines_added, lines_removed }: LineCounts): void {
    this.#counts = { lines_added, lines_removed }
  }

  /** The file got its content. `edit_id`: the id of its record; undefined: there is none. */
  done(edit_id: string | undefined): void {
    this.#ended = true
    this.#tell('done', { ...this.#facts, ...this.#counts, edit_id, change_id: this.#id })
  }

  /** It isn't known whether the file got its content, or will. `done` or `notDone` follows once it is known. */
  uncertain(edit_id: string | undefined): void {
    this.#isUncertain = true
    this.#tell('uncertain', { ...this.#facts, ...this.#counts, edit_id, change_id: this.#id })
  }

  /** The file didn't get its content, and won't. */
  notDone(): void {
    if (this.#ended || (this.#id === undefined && !this.#isUncertain)) return
    this.#ended = true
    this.#tell('void', { ...this.#facts, change_id: this.#id })
  }
}

/** Bytes that aren't UTF-8 are shown as U+FFFD. */
const shownPath = (path: Buffer): string => path.toString()

/**
 * Formats a line, without its line break. Control characters, invisible ones, and those that some readers take for a
 * line break are written as JSON escapes.
 */
function lineOf(facts: object): string {
  const line = JSON.stringify({ time: new Date().toISOString(), ...facts })
  // Most lines are plain ASCII; this check takes a fifth of the time of the replacement below.
  if (!/[^ -~]/.test(line)) return line
  return line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, character => character.split('').map(escaped).join(''))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
