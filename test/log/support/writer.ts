// A second process for the tests: appends numbered records until it is killed, and prints the id of each acknowledged
// one. Does not know any test.
import { openHistory } from '../../../src/log/folder-log.ts'
import { DURABLE, FAST, recordOf } from './history.ts'

export interface WriterOrder {
  folder: string
  nonce: string
  /** How many records it appends at a time. */
  at: number
  durable: boolean
  /** Nonces of servers that are gone. */
  gone: readonly string[]
  /** Sweeps after each closed segment, and keeps this many bytes; absent: never. */
  keep?: number
  /** Whether its first record has an idempotency key. */
  keyed?: boolean
}

const order: WriterOrder = JSON.parse(process.argv[2] ?? '{}')
const { folder, nonce, at, durable, gone, keep, keyed = false } = order
let sweeping = Promise.resolve()
const history = await openHistory({
  folder,
  nonce,
  level: 'full',
  isPrivate: () => false,
  isAlive: async nonce => !gone.includes(nonce),
  stayAlive: () => 0,
  report: event => process.stdout.write(`event ${JSON.stringify(event)}\n`),
  grown: () => {
    if (keep === undefined) return
    sweeping = sweeping.then(async () => {
      const { removed } = await history.sweep({ days: 30, bytes: keep })
      process.stdout.write(`swept ${removed}\n`)
    })
  },
  limits: { segment: 20_000, text: 300 }
})
process.stdout.write('ready\n')
for (let i = 0; ; i += at) {
  await Promise.all(
    Array.from({ length: at }, async (_, k) => {
      const number = i + k
      const text = `${nonce} ${number} `.repeat(1 + (number % 40))
      const key = { digest: nonce, fingerprint: 'f', outcome: number }
      const record = recordOf(history, `${nonce}.txt`, text, keyed && number === 0 ? { key } : {})
      await history.append(record, durable ? DURABLE : FAST)
      history.settle(record.edit_id, 'done')
      process.stdout.write(`done ${record.edit_id} ${number}\n`)
    })
  )
}
