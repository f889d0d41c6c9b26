// Streams of server-sent events, one for each reader: what is changed, a heartbeat, and the end of all when the server
// stops. An event is written out once for all who have caught up. Does not know routes, or which paths may be told.
import type { ServerResponse } from 'node:http'
import { changeOf } from '../operations/changes.ts'
import type { Follower, Told } from '../workspace/api.ts'

/** In ms. Proxies close what is silent for a minute. */
const HEARTBEAT = 15_000
/** In bytes: a reader that has caught up once and leaves more than this unread is cut off. */
const UNREAD = 256 * 1024
/** In ms: the longest that a timer of Node waits, which is 24 days. */
const LONGEST = 2 ** 31 - 1
/** Changes that are read at once. */
const PAGE = 50

export interface EventStreams {
  /** How many run. */
  readonly count: number
  /** How often `endAll` was called. */
  readonly ends: number
  /**
   * Writes events until the reader goes, the follower ends, all are ended or its token expires (in ms since 1970; null:
   * never); then ends the response. Resolves then.
   */
  run(response: ServerResponse, follower: Follower, admitted: Admitted): Promise<void>
  /** Ends all whose readers were let in before this. */
  endAll(): void
}

/** `ends`: as it was when the reader was let in. `expires`: when its token does. */
interface Admitted {
  ends: number
  expires?: number | null
}

interface Stream {
  response: ServerResponse
  follower: Follower
  /** Heartbeats since it has been waiting for the reader to take what was written. */
  waited: number | null
}

/** `heartbeat` in ms. `onBug`: an error that nobody expects. */
export function makeEventStreams(onBug: (error: unknown) => void, heartbeat = HEARTBEAT): EventStreams {
  const streams = new Set<Stream>()
  const frames = new WeakMap<Told, Frame>()
  let timer: NodeJS.Timeout | undefined
  let ends = 0

  const beat = () => {
    for (const stream of streams) {
      // A reader that takes nothing between two heartbeats isn't reading.
      if (stream.waited !== null && ++stream.waited > 1) stream.response.destroy()
      else if (stream.waited === null) stream.response.write(': \n\n')
    }
  }
  const frameOf = (told: Told): Frame => {
    const known = frames.get(told)
    if (known !== undefined) return known
    const change = changeOf(told)
    const frame = { event: change.type, data: JSON.stringify(change) }
    frames.set(told, frame)
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
      // Neither a reader that is gone by now nor an `endAll` before this is told again.
      if (response.destroyed || before !== ends) follower.end()
      else response.once('close', () => follower.end())
      // The reader may have gone, which 'close' tells.
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

/** What every reader of a change gets. `data` is JSON, whose texts have no line breaks. */
interface Frame {
  event: string
  data: string
}

const eventText = ({ event, data }: Frame, id: string): string => `event: ${event}\nid: ${id}\ndata: ${data}\n\n`

/** Until it ends. What was changed before is written as fast as it is read; after that, a reader has to keep up. */
async function tellAll(stream: Stream, frameOf: (told: Told) => Frame): Promise<void> {
  const { response, follower } = stream
  let hasCaughtUp = false
  while (!follower.isEnded) {
    const page = await follower.next(PAGE)
    // Its cursor has come to nothing: connected again, it is told so.
    if (!page.ok) return
    for (const told of page.value) {
      if (follower.isEnded) return
      response.write(eventText(frameOf(told), follower.textOf(told.after)))
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
