// Servers that are killed at any time: what they had acknowledged is there, and whole.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { often } from '../often.ts'
import { makePlace } from './support/history.ts'

const WRITER = fileURLToPath(new URL('support/writer.ts', import.meta.url))
const LOADER = fileURLToPath(new URL('../typescript.js', import.meta.url))

t.test('three writers under kill -9 lose no acknowledged record', async t => {
  const place = makePlace(t)
  const acknowledged = new Map<string, { nonce: string; number: number }>()
  const events: string[] = []
  let starts = 0
  const run = async (at: number, kills: number): Promise<void> => {
    for (let i = 0; i < kills; i++) {
      const nonce = `writer${++starts}`
      const child = spawn(
        process.execPath,
        ['--import', LOADER, WRITER, JSON.stringify({ folder: place.folder, nonce, at })],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: {}
        }
      )
      const ended = new Promise(resolve => child.on('close', resolve))
      const ready = new Promise<void>(resolve => {
        createInterface({ input: child.stdout }).on('line', line => {
          const [word, id = '', number = ''] = line.split(' ')
          if (word === 'ready') resolve()
          else if (word === 'done') acknowledged.set(id, { nonce, number: Number(number) })
          else events.push(line)
        })
      })
      await ready
      await setTimeout(Math.random() * 400)
      child.kill('SIGKILL')
      await ended
      place.gone.add(nonce)
    }
  }
  const kills = often(10, 3)
  await Promise.all([run(1, kills), run(4, kills), run(16, kills)])
  const history = await place.open()
  let [count, wrong, unsettled] = [0, 0, 0]
  for (const nonce of place.gone) {
    const { records } = await history.ofPath(Buffer.from(`${nonce}.txt`))
    for (const { record, settled, texts } of records) {
      const known = acknowledged.get(record.edit_id)
      if (known === undefined) continue
      count++
      if (settled === null) unsettled++
      const text = record.splices?.[0]?.insert.toString() ?? ''
      if (texts !== 'kept' || !text.startsWith(`${nonce} ${known.number} `)) wrong++
    }
  }
  t.ok(acknowledged.size > 0)
  t.equal(count, acknowledged.size)
  t.equal(wrong, 0)
  t.strictSame(events, [])
  t.ok((await history.unsettled()).length >= unsettled, 'recovery is told of those that were not settled')
  t.comment(`${count} acknowledged records after ${3 * kills} kills; ${unsettled} not settled`)
})
