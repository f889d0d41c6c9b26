// Streams of server-sent events, one per reader: changes, a heartbeat, and an end to all streams when the server stops.
// An event is serialized once for all readers that have caught up. Does not know routes, or which paths a reader may
// see.
import type { ServerResponse } from 'node:http'
import { changeOf } from '../operations/changes.ts'
import type { Follower, ChangeEvent } from '../workspace/api.ts'

/** In ms. Proxies close a connection that is silent for a minute. */
const HEARTBEAT = 15_000
/** In bytes: a reader that had caught up and now leaves more than this unread is disconnected. */
const UNREAD = 256 * 1024
/** In ms: the longest delay of a Node timer, 24 days. */
const LONGEST = 2 ** 31 - 1
/** Changes read at once. */
const PAGE = 50

export interface EventStreams {
  /** How many streams are open. */
  readonly count: number
  /** How often `endAll` was called. */
  readonly ends: number
  /**
   * Writes events until the reader leaves, the follower ends, `endAll` is called, or the token expires (in ms since
   * 1970; null: never). Then ends the response and resolves.
   */
  run(response: ServerResponse, follower: Follower, admitted: Admitted): Promise<void>
  /** Ends all streams whose readers were admitted before this call. */
  endAll(): void
}

/** `ends`: its value when the reader was admitted. `expires`: when the reader's token does. */
interface Admitted {
  ends: number
  expires?: number | null
}

interface Stream {
  response: ServerResponse
  follower: Follower
  /** Heartbeats since it began waiting for the reader to drain the buffer; null: it isn't waiting. */
  waited: number | null
}

/** `heartbeat` in ms. `onBug` receives unexpected errors. */
export function makeEventStreams(onBug: (error: unknown) => void, heartbeat = HEARTBEAT): EventStreams {
  const streams = new Set<Stream>()
  const frames = new WeakMap<ChangeEvent, Frame>()
  let timer: NodeJS.Timeout | undefined
  let ends = 0

  const beat = () => {
    for (const stream of streams) {
      // A reader that takes nothing between two heartbeats has stopped reading.
      if (stream.waited !== null && ++stream.waited > 1) stream.response.destroy()
      else if (stream.waited === null) stream.response.write(': \n\n')
    }
  }
  const frameOf = (event: ChangeEvent): Frame => {
    const known = frames.get(event)
    if (known !== undefined) return known
    const change = changeOf(event)
    const frame = { event: change.type, data: JSON.stringify(change) }
    frames.set(event, frame)
    return frame
  }
  return {
    get count() {
      return streams.size
    },
    get ends() {
      return ends
    },
    async run(response, follower, { ends: before, expires = null }) {
      const stream: Stream = { response, follower, waited: null }
      streams.add(stream)
      const end =
        expires === null ? undefined : setTimeout(() => follower.end(), Math.min(expires - Date.now(), LONGEST))
      timer ??= setInterval(beat, heartbeat).unref()
      // No further event would report that the reader has already left, or that `endAll` was called meanwhile.
      if (response.destroyed || before !== ends) follower.end()
      else response.once('close', () => follower.end())
      // The reader may have left; 'close' reports that.
      response.on('error', () => {})
      try {
        response.write(eventText({ event: 'ready', data: '{}' }, follower.textOf(follower.after)))
        await tellAll(stream, frameOf)
      } catch (error) {
        onBug(error)
      } finally {
        streams.delete(stream)
        clearTimeout(end)
        follower.end()
        if (streams.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
        response.end()
      }
    },
    endAll() {
      ends++
      for (const { follower } of streams) follower.end()
    }
  }
}

/** One event, shared by all readers. `data` is JSON without line breaks. */
interface Frame {
  event: string
  data: string
}

const eventText = ({ event, data }: Frame, id: string): string => `event: ${event}\nid: ${id}\ndata: ${data}\n\n`

/**
 * Writes events until the follower ends. Past changes are written as fast as the reader takes them; after that, the
 * reader has to keep up.
 */
async function tellAll(stream: Stream, frameOf: (event: ChangeEvent) => Frame): Promise<void> {
  const { response, follower } = stream
  let hasCaughtUp = false
  while (!follower.isEnded) {
    const page = await follower.next(PAGE)
    // The cursor has become invalid. The reader learns that when it reconnects.
    if (!page.ok) return
    for (const event of page.value) {
      if (follower.isEnded) return
      response.write(eventText(frameOf(event), follower.textOf(event.after)))
      if (hasCaughtUp && response.writableLength > UNREAD) {
        response.destroy()
        return
      }
      if (!hasCaughtUp && response.writableNeedDrain) await drained(stream)
    }
    if (page.value.length === 0) {
      hasCaughtUp = true
      await follower.more()
    }
  }
}

async function drained(stream: Stream): Promise<void> {
  const { response } = stream
  stream.waited = 0
  await new Promise<void>(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
  stream.waited = null
}
