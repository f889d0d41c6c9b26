// A second process for the tests: appends records, each with its number, until it is ended; prints the id of each that is
// acknowledged. Does not know any test.
import { openHistory } from '../../../src/history/history.ts'
import { DURABLE, recordOf } from './history.ts'

const { folder, nonce, at } = JSON.parse(process.argv[2] ?? '{}')
const history = await openHistory({
  folder,
  nonce,
  level: 'full',
  isPrivate: () => false,
  isAlive: async () => true,
  stayAlive: () => 0,
  report: event => process.stdout.write(`event ${JSON.stringify(event)}\n`),
  limits: { segment: 20_000, text: 300 }
})
process.stdout.write('ready\n')
for (let i = 0; ; i += at) {
  await Promise.all(
    Array.from({ length: at }, async (_, k) => {
      const text = `${nonce} ${i + k} `.repeat(1 + ((i + k) % 40))
      const record = recordOf(history, `${nonce}.txt`, text)
      await history.append(record, DURABLE)
      history.settle(record.edit_id, 'done')
      process.stdout.write(`done ${record.edit_id} ${i + k}\n`)
    })
  )
}
