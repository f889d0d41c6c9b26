// The load process: clients that each send the next edit when the one before is answered. Takes orders from the bench
// over IPC; knows only the requests that it was given.
import { quantile } from '../statistics.ts'
import type { Client, Turn } from './client.ts'
import { HttpClient } from './http-client.ts'
import { McpClient, McpServer } from './mcp-client.ts'

export type Orders = {
  /** One client for each pair of requests. */
  openHttp: { port: number; requests: Record<Turn, Uint8Array>[] }
  /** Starts the server here, since only one process can own its pipes. */
  openMcp: { args: string[]; env: Record<string, string>; calls: Record<Turn, string>[] }
  drive: { group: number } & Drive
  close: { group: number }
}

/** Drives `clients` clients from `first` on; each sends edits for `ms`, at most `each`. */
export interface Drive {
  first: number
  clients: number
  each: number
  ms: number
}

/** Times in ms: in total, and of single answers. */
export interface Driven {
  edits: number
  took: number
  p50: number
  p99: number
  longest: number
}

/** `pid`: of the server that was started; null: it runs elsewhere. */
export interface Opened {
  group: number
  pid: number | null
}

export type Answers = { openHttp: Opened; openMcp: Opened; drive: Driven; close: null }
export type Order = { [K in keyof Orders]: { id: number; order: K; what: Orders[K] } }[keyof Orders]
export type Report = { id: number; answer: Answers[keyof Answers] } | { id: number; problem: string }

interface Group {
  members: { client: Client; turn: Turn }[]
  server: McpServer | null
}

const groups: Group[] = []

function add(clients: readonly Client[], server: McpServer | null): Opened {
  groups.push({ members: clients.map(client => ({ client, turn: 'there' })), server })
  return { group: groups.length - 1, pid: server?.pid ?? null }
}

async function drive(members: Group['members'], { each, ms }: Drive): Promise<Driven> {
  await Promise.all(members.map(({ client }) => client.ready()))
  const times: number[] = []
  const start = performance.now()
  const end = start + ms
  const all = members.map(
    member =>
      new Promise<void>((resolve, reject) => {
        let left = each
        let sent = performance.now()
        const answered = (problem: Error | null): void => {
          if (problem !== null) return reject(problem)
          const now = performance.now()
          times.push(now - sent)
          member.turn = member.turn === 'there' ? 'back' : 'there'
          left--
          if (left === 0 || now >= end) return resolve()
          sent = now
          member.client.send(member.turn, answered)
        }
        member.client.send(member.turn, answered)
      })
  )
  await Promise.all(all)
  const took = performance.now() - start
  const [p50, p99, longest] = [0.5, 0.99, 1].map(share => quantile(times, share)) as [number, number, number]
  return { edits: times.length, took, p50, p99, longest }
}

async function close({ members, server }: Group): Promise<null> {
  for (const { client } of members) client.close()
  await server?.stop()
  return null
}

async function carryOut(it: Order): Promise<Answers[keyof Answers]> {
  switch (it.order) {
    case 'openHttp': {
      const { port, requests } = it.what
      return add(
        requests.map(pair => new HttpClient(port, pair)),
        null
      )
    }
    case 'openMcp': {
      const server = await McpServer.start(it.what.args, it.what.env)
      return add(
        it.what.calls.map(pair => new McpClient(server, pair)),
        server
      )
    }
    case 'drive': {
      const { group, first, clients } = it.what
      return drive(groups[group]!.members.slice(first, first + clients), it.what)
    }
    case 'close':
      return close(groups[it.what.group]!)
  }
}

process.on('message', (it: Order) => {
  const report = (report: Report): void => {
    process.send!(report)
  }
  carryOut(it).then(
    answer => report({ id: it.id, answer }),
    (error: unknown) => report({ id: it.id, problem: String(error) })
  )
})
process.on('disconnect', () => {
  Promise.all(groups.map(close)).finally(() => process.exit())
})
