// An object store over S3, limited to the keys below a prefix of a bucket. Does not know what is stored there.
import { setTimeout as sleep } from 'node:timers/promises'
import { formatBucketAddress, OWN, type BucketAddress } from './address.ts'
import { writeOnce } from './attempts.ts'
import { formatLanded, LANDED } from './landed.ts'
import { probe, probeAgain, sentForm } from './probe.ts'
import { GONE, S3Requests, type EtagForm, type S3Settings } from './s3-requests.ts'
import {
  StoreUnavailable,
  writeDeadline,
  type Listed,
  type ListOptions,
  type ObjectFacts,
  type ObjectStore,
  type OpenObject,
  type StoredObject,
  type Write,
  type Written
} from './store.ts'

export interface S3StoreOptions extends Omit<S3Settings, 'bucket'>, BucketAddress {
  /** Nothing will be written, so the store doesn't have to honor conditions. */
  readOnly: boolean
  /** The result of an earlier probe of the same store; skips the probe. */
  form?: EtagForm
}

/** How long reads are retried, in ms; for writes see `writeDeadline`. Chosen, not measured. */
const READ = 15_000
/** The first pause before a read is retried, in ms; it doubles each time. */
const PAUSE = 25

/**
 * Opens the store and checks that it honors conditions. Throws SdkMissing, Unsafe (it doesn't), StoreRefused,
 * StoreUnavailable.
 */
export async function openS3Store({
  bucket,
  prefix,
  readOnly,
  form: known,
  ...settings
}: S3StoreOptions): Promise<ObjectStore> {
  const requests = await S3Requests.open({ ...settings, bucket })
  try {
    const below = prefix === '' ? '' : `${prefix}/`
    // Read-only stores check this too: the bucket exists and may be listed.
    await again(() => requests.list(below, null, 1, false))
    const form = known ?? (readOnly ? 'quoted' : await probe(requests, below))
    return new S3Store(requests, { prefix: below, form, readOnly, name: formatBucketAddress({ bucket, prefix }) })
  } catch (error) {
    requests.close()
    throw error
  }
}

interface Opened {
  /** '' or ends with a slash. */
  prefix: string
  form: EtagForm
  readOnly: boolean
  name: string
}

class S3Store implements ObjectStore {
  readonly name: string
  readonly #requests: S3Requests
  readonly #prefix: string
  readonly #form: EtagForm
  readonly #readOnly: boolean

  constructor(requests: S3Requests, { prefix, form, readOnly, name }: Opened) {
    this.#requests = requests
    this.#prefix = prefix
    this.#form = form
    this.#readOnly = readOnly
    this.name = name
  }

  async get(key: string, limit = Infinity): Promise<StoredObject | (ObjectFacts & { bytes: null }) | null> {
    return again(async () => {
      const found = await this.#requests.open(this.#prefix + key)
      if (found === GONE) return null
      const { chunks, discard, ...facts } = found
      if (facts.size > limit) {
        discard()
        return { ...facts, bytes: null }
      }
      const read: Buffer[] = []
      for await (const chunk of chunks) read.push(chunk)
      return { ...facts, bytes: Buffer.concat(read) }
    })
  }

  async open(key: string): Promise<OpenObject | null> {
    const found = await again(() => this.#requests.open(this.#prefix + key))
    return found === GONE ? null : found
  }

  async head(key: string): Promise<ObjectFacts | null> {
    return again(() => this.#look(key))
  }

  async #look(key: string): Promise<ObjectFacts | null> {
    const facts = await this.#requests.head(this.#prefix + key)
    return facts === GONE ? null : facts
  }

  async write(key: string, { bytes: given, if: condition, attempt, metadata }: Write): Promise<Written | null> {
    const bytes = Buffer.isBuffer(given) ? given : Buffer.concat(given)
    const replaced = condition === 'absent' ? null : condition.is
    const before = condition === 'absent' ? [] : (condition.landed ?? [])
    const sent = { ...metadata, [LANDED]: formatLanded([{ attempt, replaced }, ...before]) }
    const match = condition === 'absent' ? condition : sentForm(this.#form, condition.is)
    return writeOnce({
      attempt,
      condition,
      deadline: Date.now() + writeDeadline(bytes.length),
      send: () => this.#requests.put(this.#prefix + key, bytes, match, sent),
      look: () => this.#look(key)
    })
  }

  async remove(key: string): Promise<void> {
    await again(() => this.#requests.remove(this.#prefix + key))
  }

  async list(prefix: string, { after, limit = 1000, folders = false }: ListOptions = {}): Promise<Listed> {
    const cut = this.#prefix.length
    const whole = this.#prefix + prefix
    const listed: Listed = { keys: [], prefixes: [], next_after: null }
    let from = after === undefined ? null : this.#prefix + after
    for (;;) {
      const wanted = limit - listed.keys.length - listed.prefixes.length
      const start = from !== null && folders && isPrefix(from, whole) ? from + BEHIND : from
      const page = await again(() => this.#requests.list(whole, start, wanted, folders))
      for (const entry of page.keys) listed.keys.push({ ...entry, key: entry.key.slice(cut) })
      for (const folder of page.prefixes) listed.prefixes.push(folder.slice(cut))
      if (page.next_after === null) return listed
      from = page.next_after
      if (listed.keys.length + listed.prefixes.length >= limit) {
        return { ...listed, next_after: page.next_after.slice(cut) }
      }
    }
  }

  async check(): Promise<void> {
    await again(() => this.#requests.list(this.#prefix, null, 1, false))
    if (this.#readOnly) await this.head(NOTHING)
    else await probeAgain(this.#requests, this.#prefix, this.#form)
  }

  get answeredAt(): number {
    return this.#requests.answeredAt
  }

  get isVersioned(): boolean | null {
    return this.#requests.isVersioned
  }

  now(): number {
    return this.#requests.now()
  }

  close(): void {
    this.#requests.close()
  }
}

/** A key that no object has. */
const NOTHING = `${OWN}/probe/none`

/**
 * Sorts after every key below a prefix. Starting after the bare prefix would list that prefix again. No key begins with
 * this character.
 */
const BEHIND = '\u{10ffff}'
const isPrefix = (after: string, whole: string): boolean => after.length > whole.length && after.endsWith('/')

/** Retries until there is an answer, or the time for reads is over. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + READ
  for (let pause = PAUSE; ; pause = Math.min(2 * pause, 1000)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || Date.now() + pause >= deadline) throw error
    }
    await sleep(pause * (0.5 + Math.random()))
  }
}
