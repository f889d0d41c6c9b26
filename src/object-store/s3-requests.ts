// Single requests to an S3 store, and their outcomes. Does not know retries, or where editd keeps what.
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
  /** Null: Amazon's endpoint. */
  endpoint: string | null
  /** Null: the region in the AWS environment variables; with an endpoint, us-east-1 if they name none. */
  region: string | null
}

/** How a condition sends an ETag: Ceph before 2025 accepts it only without quotes. */
export type EtagForm = 'quoted' | 'unquoted'

/** A condition as it is sent: the exact ETag header, 'absent' (no object may exist), or no condition. */
export type SentCondition = { match: string } | 'absent' | null

/**
 * Timeout of one request, in ms. A write gets a second more for each MB; a read gets this long for each chunk. Chosen,
 * not measured.
 */
const REQUEST = 10_000
const CONNECT = 3_000
/** The most connections at once. Chosen, not measured. */
const SOCKETS = 128

/** The SDK isn't installed. It is optional: it takes some 27 MB on disk, and only servers of a bucket need it. */
export class SdkMissing extends Error {}

async function loadSdk(): Promise<typeof Sdk> {
  // The SDK's warning about Node versions would put eight plain lines into a JSON log at each start.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  try {
    return await import('@aws-sdk/client-s3')
    /* c8 ignore next 4 -- test/bucket/servers.test.ts runs it in a copy without the SDK, where nothing is measured */
  } catch (error) {
    if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') throw new SdkMissing('@aws-sdk/client-s3 is not installed')
    throw error
  }
}

/** What was asked for does not exist. */
export const GONE: unique symbol = Symbol('gone')

export class S3Requests {
  readonly #sdk: typeof Sdk
  readonly #client: Sdk.S3Client
  readonly #bucket: string
  /** The store's time when performance.now() was 0; from this machine's clock until the first answer. */
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
      // Callers decide what is retried, and when.
      maxAttempts: 1,
      // Stores other than Amazon's often don't know these checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT,
        httpAgent: { keepAlive: true, maxSockets: SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: SOCKETS }
      }
    })
    this.#client.middlewareStack.add(
      next => async request => {
        const answered = await next(request)
        const { statusCode, headers } = answered.response as HttpResponse
        this.#sawTime(headers.date)
        // A 5xx may come from a proxy that can't reach the store: it is no answer of the store.
        if (statusCode < 500) this.#answeredAt = performance.now()
        return answered
      },
      // Low priority: runs before the SDK turns error responses into exceptions, so it sees those too.
      { step: 'deserialize', priority: 'low' }
    )
  }

  /** The store's time in ms since 1970, from its last answer. It is up to a second behind. */
  now(): number {
    return this.#zero + performance.now()
  }

  /** When the store last answered anything, on the clock of performance.now(). */
  get answeredAt(): number {
    return this.#answeredAt
  }

  /** Whether the bucket keeps old versions, from the answer to the last write; null: nothing was written yet. */
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
      // 404 on a conditional write: no object exists, so none has this ETag.
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
      // The timeout applies only until the first bytes arrive: the whole transfer takes as long as the size requires.
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

  /** Lists one page of at most 1000 entries. */
  async list(prefix: string, after: string | null, limit: number, folders: boolean): Promise<Listed> {
    const command = new this.#sdk.ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: prefix,
      MaxKeys: Math.min(limit, 1000),
      // XML can't represent every key.
      EncodingType: 'url',
      ...(after !== null && { StartAfter: after }),
      ...(folders && { Delimiter: '/' })
    })
    const answer = await reading(() => this.#client.send(command, signal()))
    if (answer === GONE) throw new StoreRefused('NoSuchBucket', `there is no bucket ${this.#bucket}`)
    const { Contents = [], CommonPrefixes = [], IsTruncated = false, EncodingType } = answer
    // Some stores ignore EncodingType.
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

/** Null: the key isn't UTF-8. */
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

/** `unsent`: the request can have had no effect on the store. */
type Kind = 'failed' | 'gone' | 'unknown' | 'unsent' | 'refused'

const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']
/** On such an answer the SDK corrects its clock, so a retry is signed correctly. */
const SKEWED = ['RequestTimeTooSkewed', 'RequestInTheFuture']
/** Statuses after which the same request may still succeed. */
const PASSING: Record<number, string> = {
  408: 'Request Timeout',
  409: 'Conflict',
  425: 'Too Early',
  429: 'Too Many Requests'
}
/** Error names and messages the SDK gives an answer that doesn't say what went wrong. */
const NAMELESS = /^(Unknown|UnknownError|Forbidden|403)$/
/** Errors that prevented the request from being signed. */
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
  // The answer to HEAD has no body that could give the reason.
  const reason = status === 403 && NAMELESS.test(name) ? 'AccessDenied' : name
  return new StoreRefused(
    reason,
    message === '' || NAMELESS.test(message) ? `${reason} ${status ?? ''}`.trim() : message
  )
}
