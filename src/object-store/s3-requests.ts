// Single requests to an S3 store, and what came of each. Does not know what is tried again, or where editd keeps what.
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { codeOf } from '../error-code.ts'
import type { Attempted } from './attempts.ts'
import { LANDED, parseLanded } from './landed.ts'
import {
  StoreRefused,
  StoreUnavailable,
  type Listed,
  type ObjectFacts,
  type OpenObject,
  type Version
} from './store.ts'

export interface S3Settings {
  bucket: string
  /** Null: Amazon's. */
  endpoint: string | null
  /** Null: as the environment of AWS says; with an endpoint, us-east-1 where it says nothing. */
  region: string | null
}

/** How the ETag of a condition is sent: Ceph before 2025 takes it only without its quotes. */
export type EtagForm = 'quoted' | 'unquoted'

/** A condition as it is sent: an ETag as it is, or none. */
export type SentCondition = { match: string } | 'absent' | null

/**
 * In ms, of one request; one that writes has a second more for each MB, and one that reads has as long for each part of
 * what it reads. Chosen, not measured.
 */
const REQUEST = 10_000
const CONNECT = 3_000
/** Connections at once. Chosen, not measured. */
const SOCKETS = 128

/** The SDK isn't installed: it takes some 27 MB of the disk, which only who serves a bucket needs. */
export class SdkMissing extends Error {}

async function loadSdk(): Promise<typeof Sdk> {
  // Which Node later versions of it need is no news at each start, and eight lines in a log that is JSON.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  try {
    return await import('@aws-sdk/client-s3')
    /* c8 ignore next 4 -- test/bucket/servers.test.ts runs it in a copy without the SDK, where nothing is measured */
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') throw new SdkMissing('@aws-sdk/client-s3 is not installed')
    throw error
  }
}

/** Of what was asked for, there is nothing. */
export const GONE: unique symbol = Symbol('gone')

export class S3Requests {
  readonly #sdk: typeof Sdk
  readonly #client: Sdk.S3Client
  readonly #bucket: string
  /** The store's time when performance.now() was 0; until it has told one, by this machine's clock. */
  #zero = Date.now() - performance.now()
  #isVersioned: boolean | null = null
  #answeredAt = -Infinity

  static async open(settings: S3Settings): Promise<S3Requests> {
    return new S3Requests(await loadSdk(), settings)
  }

  private constructor(sdk: typeof Sdk, { bucket, endpoint, region }: S3Settings) {
    this.#sdk = sdk
    this.#bucket = bucket
    const named = region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION
    const chosen = named ?? (endpoint === null ? undefined : 'us-east-1')
    this.#client = new sdk.S3Client({
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      region: chosen,
      // What is tried again, and when, is decided by whoever asks.
      maxAttempts: 1,
      // Others than Amazon's often don't know these.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS }
      }
    })
    this.#client.middlewareStack.add(
      next => async asked => {
        const answered = await next(asked)
        const { statusCode, headers } = answered.response as HttpResponse
        this.#sawTime(headers.date)
        // What a proxy says of a store behind it that it can't reach isn't one.
        if (statusCode < 500) this.#answeredAt = performance.now()
        return answered
      },
      // Of errors too: what makes them of an answer comes later.
      { step: 'deserialize', priority: 'low' }
    )
  }

  /** The store's time in ms since 1970, as its last answer had it. It is up to a second behind. */
  now(): number {
    return this.#zero + performance.now()
  }

  /** When it answered last, whatever that was, of performance.now(). */
  get answeredAt(): number {
    return this.#answeredAt
  }

  /** Whether the bucket keeps old versions, as the last write's answer had it; null: nothing was written yet. */
  get isVersioned(): boolean | null {
    return this.#isVersioned
  }

  #sawTime(date: string | undefined): void {
    const time = Date.parse(date ?? '')
    if (!Number.isNaN(time)) this.#zero = time - performance.now()
  }

  async put(
    key: string,
    bytes: Buffer,
    condition: SentCondition,
    metadata: Readonly<Record<string, string>> = {}
  ): Promise<Attempted> {
    const command = new this.#sdk.PutObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      Body: bytes,
      Metadata: { ...metadata },
      ...(condition === 'absent' && { IfNoneMatch: '*' }),
      ...(condition !== null && condition !== 'absent' && { IfMatch: condition.match })
    })
    try {
      const { ETag, VersionId } = await this.#client.send(command, signal(bytes.length))
      this.#isVersioned = VersionId !== undefined
      if (ETag === undefined) {
        throw new StoreRefused('no ETag', 'the object store gives no ETag for what it has written')
      }
      return { outcome: 'written', version: bare(ETag) }
    } catch (error) {
      const kind = kindOf(error)
      // No object with this ETag is there, since no object is.
      if (kind === 'failed' || (kind === 'gone' && condition !== null)) return { outcome: 'failed' }
      if (kind === 'unknown' || kind === 'unsent') return { outcome: kind, error }
      throw refused(error)
    }
  }

  async head(key: string): Promise<ObjectFacts | typeof GONE> {
    const command = new this.#sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: key })
    return reading(async () => factsOf(await this.#client.send(command, signal())))
  }

  async open(key: string): Promise<OpenObject | typeof GONE> {
    const command = new this.#sdk.GetObjectCommand({ Bucket: this.#bucket, Key: key })
    return reading(async () => {
      // Only until the object begins to come: how long all of it takes depends on its size.
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), REQUEST)
      const answer = await this.#client.send(command, { abortSignal: limit.signal }).finally(() => clearTimeout(timer))
      const facts = factsOf(answer)
      const body = answer.Body as Readable
      return { ...facts, chunks: chunksOf(body, facts.size), discard: () => body.destroy() }
    })
  }

  async remove(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: key })
    await reading(() => this.#client.send(command, signal()))
  }

  /** One page, of at most 1000. */
  async list(prefix: string, after: string | null, limit: number, folders: boolean): Promise<Listed> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: prefix,
      MaxKeys: Math.min(limit, 1000),
      // XML can't hold every key.
      EncodingType: 'url',
      ...(after !== null && { StartAfter: after }),
      ...(folders && { Delimiter: '/' })
    })
    const answer = await reading(() => this.#client.send(command, signal()))
    if (answer === GONE) throw new StoreRefused('NoSuchBucket', `there is no bucket ${this.#bucket}`)
    const { Contents = [], CommonPrefixes = [], IsTruncated = false, EncodingType } = answer
    // Not every store does what it was asked for.
    const plain = (text: string | undefined) => (EncodingType === 'url' ? decoded(text) : (text ?? null))
    const keys = Contents.flatMap(({ Key, ETag, Size = 0, LastModified = new Date(0) }) => {
      const key = plain(Key)
      if (key === null || ETag === undefined) return []
      return [{ key, version: bare(ETag), size: Size, modified_at: LastModified }]
    })
    const prefixes = CommonPrefixes.flatMap(({ Prefix }) => plain(Prefix) ?? [])
    const last = [keys.at(-1)?.key, prefixes.at(-1)]
      .filter(key => key !== undefined)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .at(-1)
    return { keys, prefixes, next_after: IsTruncated ? (last ?? null) : null }
  }

  close(): void {
    this.#client.destroy()
  }
}

const signal = (bytes = 0) => ({ abortSignal: AbortSignal.timeout(REQUEST + Math.ceil(bytes / 1e6) * 1000) })

const bare = (etag: string): Version => etag.replace(/^(W\/)?"(.*)"$/, '$2')

/** Null: it isn't UTF-8. */
function decoded(text: string | undefined): string | null {
  if (text === undefined) return null
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'))
  } catch {
    return null
  }
}

function factsOf({
  ETag,
  ContentLength,
  LastModified,
  Metadata = {}
}: Pick<Sdk.HeadObjectCommandOutput, 'ETag' | 'ContentLength' | 'LastModified' | 'Metadata'>): ObjectFacts {
  if (ETag === undefined || ContentLength === undefined) {
    throw new StoreRefused('no ETag', 'the object store does not say which version of an object it has')
  }
  const metadata = Object.fromEntries(Object.entries(Metadata).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    version: bare(ETag),
    size: ContentLength,
    modified_at: LastModified ?? new Date(0),
    metadata,
    landed: parseLanded(metadata[LANDED])
  }
}

async function* chunksOf(body: Readable, size: number): AsyncGenerator<Buffer> {
  const timer = setTimeout(() => body.destroy(new Error('no more came')), REQUEST)
  let read = 0
  try {
    for await (const chunk of body) {
      timer.refresh()
      read += (chunk as Buffer).length
      yield chunk as Buffer
    }
  } catch (error) {
    throw new StoreUnavailable('an object was cut off while it was read', { cause: error })
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  if (read !== size) throw new StoreUnavailable('an object was cut off while it was read')
}

async function reading<T>(work: () => Promise<T>): Promise<T | typeof GONE> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreRefused) throw error
    const kind = kindOf(error)
    if (kind === 'gone') return GONE
    if (kind === 'unknown' || kind === 'unsent') {
      throw new StoreUnavailable('the object store does not answer', { cause: error })
    }
    throw refused(error)
  }
}

interface HttpResponse {
  statusCode: number
  headers: Readonly<Record<string, string>>
}

interface SdkError {
  name?: string
  message?: string
  $metadata?: { httpStatusCode?: number }
}

/** `unsent`: nothing of the request can have reached the store. */
type Kind = 'failed' | 'gone' | 'unknown' | 'unsent' | 'refused'

const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']
/** The SDK corrects its clock by such an answer, so that the next request is right. */
const SKEWED = ['RequestTimeTooSkewed', 'RequestInTheFuture']
/** Answers after which the same request may be carried out. */
const PASSING: Record<number, string> = {
  408: 'Request Timeout',
  409: 'Conflict',
  425: 'Too Early',
  429: 'Too Many Requests'
}
/** What the SDK calls an answer that doesn't say what it is. */
const NAMELESS = /^(Unknown|UnknownError|Forbidden|403)$/
/** No request was signed. */
const UNSIGNED = ['CredentialsProviderError', 'TokenProviderError']

function kindOf(error: unknown): Kind {
  if (error instanceof StoreRefused) return 'refused'
  const { name = '', $metadata, message = '' } = error as SdkError
  const status = $metadata?.httpStatusCode
  if (UNSIGNED.includes(name) || message.startsWith('Region is missing')) return 'refused'
  if (SKEWED.includes(name) || UNSENT.includes(codeOf(error))) return 'unsent'
  if (status === undefined || status < 300 || name === 'RequestTimeout') return 'unknown'
  if (status === 412) return 'failed'
  if (status === 404) return name === 'NoSuchBucket' ? 'refused' : 'gone'
  if (status === 501) return 'refused'
  return status in PASSING || status >= 500 ? 'unknown' : 'refused'
}

function refused(error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error
  const { name = 'unknown', message = '', $metadata } = error as SdkError
  const status = $metadata?.httpStatusCode
  // The answer to HEAD has no body that could say why.
  const reason = status === 403 && NAMELESS.test(name) ? 'AccessDenied' : name
  return new StoreRefused(
    reason,
    message === '' || NAMELESS.test(message) ? `${reason} ${status ?? ''}`.trim() : message
  )
}
