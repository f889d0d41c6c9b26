// The stream of events, shared by all tabs of a browser with the same token: the tab that has the lock reads it and
// passes events on. Does not know what is done with an event.
import type { Api } from './api.ts'
import { makeEventReader, type ServerEvent } from './sse.ts'
import type { FeedChange } from './wire.ts'

export type LiveState = 'live' | 'waiting' | 'refused'

interface LiveHandlers {
  onChange(change: FeedChange): void
  onState(state: LiveState): void
  /** A heartbeat: the stream is alive but has no event, some four times a minute. */
  onHeartbeat(): void
  /** The events continue from now, and some were missed: what is shown must be reloaded. */
  onGap(): void
}

type Message =
  | { kind: 'event'; event: ServerEvent }
  | { kind: 'state'; state: LiveState }
  | { kind: 'gap'; next_after: string }
  | { kind: 'heartbeat' }

const FIRST_WAIT = 500
const LONGEST_WAIT = 15_000
/** Wait in ms after a refusal. */
const REFUSED_WAIT = 60_000
/** In ms. Longer than two heartbeats: a connection that is silent for so long is dead. */
const SILENCE = 40_000

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A name shared by tabs with the same token; with another token, a tab may see another workspace, or less of it. */
async function nameOf(api: Api): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(api.token()))
  return `editd-events ${api.urlOf('/')} ${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

/**
 * Follows the events after `next_after`, until `signal` says to stop, as it must when there is another token. Resolves
 * once no later event can be missed.
 */
export async function follow(
  api: Api,
  handlers: LiveHandlers,
  { next_after, signal }: { next_after: string; signal: AbortSignal }
): Promise<void> {
  // Locks exist only with https and on this machine; elsewhere each tab reads the stream itself.
  const name = 'locks' in navigator ? await nameOf(api) : null
  const channel = name === null ? null : new BroadcastChannel(name)
  let last_id = next_after

  const take = (message: Message) => {
    if (signal.aborted) return
    if (message.kind === 'state') handlers.onState(message.state)
    else if (message.kind === 'heartbeat') handlers.onHeartbeat()
    else if (message.kind === 'gap') {
      last_id = message.next_after
      handlers.onGap()
    } else {
      last_id = message.event.id ?? last_id
      if (message.event.event !== 'ready') handlers.onChange(JSON.parse(message.event.data) as FeedChange)
    }
  }
  const publish = (message: Message) => {
    if (!signal.aborted) channel?.postMessage(message)
    take(message)
  }
  if (channel !== null) channel.onmessage = ({ data }: MessageEvent<Message>) => take(data)

  signal.addEventListener('abort', () => channel?.close())

  /** Reads one connection to its end. Resolves with whether to try again. */
  async function readOnce(): Promise<boolean> {
    const stop = new AbortController()
    let timer = setTimeout(() => stop.abort(), SILENCE)
    try {
      const answer = await fetch(api.urlOf('/events'), {
        headers: {
          ...api.headers(),
          accept: 'text/event-stream',
          'last-event-id': last_id
        },
        cache: 'no-store',
        redirect: 'error',
        signal: AbortSignal.any([stop.signal, signal])
      })
      if (answer.status === 410) {
        const now = await api.now()
        if (now.ok) publish({ kind: 'gap', next_after: now.body.next_after })
        return true
      }
      if (answer.status === 401) {
        publish({ kind: 'state', state: 'refused' })
        await api.renew()
      }
      if (!answer.ok || answer.body === null) return answer.status >= 500 || answer.status === 429
      publish({ kind: 'state', state: 'live' })
      const read = makeEventReader()
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(timer)
        timer = setTimeout(() => stop.abort(), SILENCE)
        const events = read(part.value)
        for (const event of events) publish({ kind: 'event', event })
        if (events.length === 0) publish({ kind: 'heartbeat' })
      }
      return true
    } catch {
      return true
    } finally {
      clearTimeout(timer)
    }
  }

  async function lead(): Promise<void> {
    for (let wait = FIRST_WAIT; ;) {
      const since = Date.now()
      if (!(await readOnce()) || signal.aborted) break
      publish({ kind: 'state', state: 'waiting' })
      wait = Date.now() - since > LONGEST_WAIT ? FIRST_WAIT : Math.min(LONGEST_WAIT, wait * 2)
      await sleep(wait)
    }
    publish({ kind: 'state', state: 'refused' })
  }

  /** Waiting for the lock ends with an error if it is to stop. */
  const ignoreStop = (error: unknown) => {
    if (!signal.aborted) throw error
  }
  const keepReading = async () => {
    while (!signal.aborted) {
      // A tab that is refused gives up the lock, so that others can read.
      await (name === null ? lead() : navigator.locks.request(name, { signal }, lead).catch(ignoreStop))
      // The server may have been replaced by then.
      await sleep(REFUSED_WAIT)
    }
  }
  keepReading()
  // A tab that doesn't lead learns the state with the next event; until then, assume live.
  if (channel !== null) handlers.onState('live')
}
