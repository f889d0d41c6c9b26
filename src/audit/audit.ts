// The audit: who changed which file by which call, and what came of each call that was to change one. Never text of a
// file, nor what a caller says of why. Does not know operations, or how files are changed.
import { randomUUID } from 'node:crypto'
import type { AuditFile } from './audit-file.ts'

export interface AuditOptions {
  file: AuditFile
  /** Its name, where there is an access file. */
  workspace?: string
  /** No file is changed before a line on the disk says that it is about to be. */
  required: boolean
  /** Whether that line is synced. */
  durable: boolean
}

/** A call, as far as it is known before it is read. `operation`: the name of its tool. */
export interface CallFacts {
  operation?: string
  request_id?: string
  subject?: string
  /** Of the caller's span (W3C Trace Context), in hex. */
  trace?: { trace_id: string; span_id: string }
}

/** Who calls, as they say. */
export interface Claimed {
  agent?: string
  session?: string
}

/** A change that is about to be made. `hash_after`: SHA-256, 64 hex digits; null: there will be no file. */
export interface IntendedChange {
  hash_after?: string | null
  /** What the history calls it. */
  edit_id?: string
  batch_id?: string
}

export interface LineCounts {
  lines_added: number
  lines_removed: number
}

/** A change as the history has it; `token`: the name of the token that it came with. */
export interface KnownChange extends Claimed, LineCounts {
  edit_id: string
  batch_id?: string
  token?: string
  path: Buffer
  hash_before: string | null
  hash_after: string | null
}

/** In characters: of a path that is no file's, and so may have any length. */
const PATH_MAX = 4096

/** Of the workspaces of one server, each has its own. */
export class Audit {
  readonly #options: AuditOptions

  constructor(options: AuditOptions) {
    this.#options = options
  }

  get required(): boolean {
    return this.#options.required
  }

  /** The last line could not be written. */
  get failing(): boolean {
    return this.#options.file.failing
  }

  /** For one call that is to change files, other than a dry run. */
  call(facts: CallFacts = {}): AuditedCall {
    return new AuditedCall(this.#options, facts)
  }

  /** What became of a change whose server was killed: maybe once more, if it had said it itself. */
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
  /** There is a line that says what came of it, or that nobody knows. */
  #isTold = false

  constructor(options: AuditOptions, facts: CallFacts) {
    this.#options = options
    this.#facts = facts
  }

  by({ agent, session }: Claimed): void {
    this.#facts = { ...this.#facts, ...(agent !== undefined && { agent }), ...(session !== undefined && { session }) }
  }

  /**
   * One file that is to be changed, by its real path below the root. `hash_before` as `hash_after` of
   * `IntendedChange`.
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
        // Before the history says it: what that says, nobody looks for again after a kill.
        if (required) file.put(line)
        else file.append(line)
      }
    })
  }

  /** What came of the call, which is told where it changed nothing. `path`: as it was sent. */
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

/** One file of a call: before and after it gets its new content, or is gone. */
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
   * To be awaited before the file gets its content, the first time of several that this is tried. Rejects with
   * AuditUnwritable where it must not get it.
   */
  intend(change: IntendedChange): Promise<void> {
    this.#facts ??= change
    if (!this.#required) return Promise.resolve()
    this.#id ??= randomUUID()
    this.#intending ??= this.#intend({ ...change, change_id: this.#id })
    return this.#intending
  }

  /** How many lines it is, to be said once it is made. */
  count({ lines_added, lines_removed }: LineCounts): void {
    this.#counts = { lines_added, lines_removed }
  }

  /** It got it. `edit_id`: of its record; undefined: there is none. */
  done(edit_id: string | undefined): void {
    this.#ended = true
    this.#tell('done', { ...this.#facts, ...this.#counts, edit_id, change_id: this.#id })
  }

  /** Nobody knows whether it got it, or will: one of the others is told when it is found out. */
  uncertain(edit_id: string | undefined): void {
    this.#isUncertain = true
    this.#tell('uncertain', { ...this.#facts, ...this.#counts, edit_id, change_id: this.#id })
  }

  /** It didn't, and won't. */
  notDone(): void {
    if (this.#ended || (this.#id === undefined && !this.#isUncertain)) return
    this.#ended = true
    this.#tell('void', { ...this.#facts, change_id: this.#id })
  }
}

/** Bytes that aren't UTF-8 are shown as U+FFFD. */
const shownPath = (path: Buffer): string => path.toString()

/**
 * A line without its end. Characters that control a terminal, can't be seen or end a line for some readers are written
 * as JSON's escapes.
 */
function lineOf(facts: object): string {
  const line = JSON.stringify({ time: new Date().toISOString(), ...facts })
  // Most lines: a fifth of what the other look takes.
  if (!/[^ -~]/.test(line)) return line
  return line.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, character => character.split('').map(escaped).join(''))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
