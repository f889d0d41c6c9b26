// The process of the event readers: connects them, records when each receives an edit, takes orders from the bench over
// IPC. Does not know what is measured.
import { setTimeout } from 'node:timers/promises'
import { readEvents, type EventReader } from '../test/http/sse.ts'
import { TOKEN } from './server.ts'

export type Orders = {
  /** Opens this many readers of the server at this port, and more connections that read nothing. */
  open: { port: number; readers: number; stalled: number }
  /** Waits until each reader has received this many edits. Sent once. */
  collect: { edits: number }
  /** How many connections that read nothing were cut: reads them now to find out. */
  cut: null
  close: null
}

/** `collect`: the times (ms since 1970) at which each edit was received, by its id. */
export type Answers = { open: null; collect: Record<string, number[]>; cut: number; close: null }
export type Order = { [K in keyof Orders]: { order: K; what: Orders[K] } }[keyof Orders]

let readers: EventReader[] = []
let stalled: EventReader[] = []
const received: Record<string, number[]> = {}

const answers: { [K in keyof Orders]: (what: Orders[K]) => Promise<Answers[K]> } = {
  async open({ port, readers: count, stalled: unread }) {
    const url = `http://127.0.0.1:${port}`
    readers = Array.from({ length: count }, () => readEvents(url, TOKEN))
    stalled = Array.from({ length: unread }, () => readEvents(url, TOKEN, { reads: false }))
    await Promise.all(readers.map(reader => reader.until(1)))
    for (const { socket, events } of readers) {
      let seen = events.length
      // Runs after the reader's own listener, which has added the events.
      socket.on('data', () => {
        const now = Date.now()
        for (const { event, data } of events.slice(seen)) {
          if (event === 'edit') (received[String(data.edit_id)] ??= []).push(now)
        }
        seen = events.length
      })
    }
    return null
  },
  async collect({ edits }) {
    await Promise.all(readers.map(reader => reader.until(1 + edits)))
    return received
  },
  async cut() {
    let cut = 0
    for (const { socket, closed } of stalled) {
      closed.then(() => cut++)
      socket.resume()
    }
    await setTimeout(1000)
    return cut
  },
  async close() {
    for (const { socket } of [...readers, ...stalled]) socket.destroy()
    return null
  }
}

process.on('message', async ({ order, what }: Order) => {
  const answer = answers[order] as (what: unknown) => Promise<unknown>
  process.send!(await answer(what))
})
