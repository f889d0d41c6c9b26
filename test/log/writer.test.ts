// When lines are written, and which of them together.
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { EncodedLine } from '../../src/log/record-json.ts'
import { Writer } from '../../src/log/writer.ts'

const line = (text: string): EncodedLine => ({ bytes: Buffer.from(text), entry: { settles: text, as: 'done' } })

/** Whose writes take until they are let go, and whose time passes with `wait`: a busy machine can't make it pass. */
function openWriter(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const written: string[] = []
  const held: (() => void)[] = []
  const writer = new Writer({
    report: () => {},
    lost: () => {},
    appender: {
      append: async lines => {
        written.push(lines.map(({ bytes }) => bytes.toString()).join(' '))
        await new Promise<void>(resolve => held.push(resolve))
      },
      rotate: async () => {},
      close: async () => {}
    }
  })
  const wait = async (ms: number): Promise<void> => {
    mock.timers.tick(ms)
    // A group begins in the next turn of the event loop.
    await turn()
  }
  const release = async (): Promise<void> => {
    held.shift()?.()
    await wait(5)
  }
  return { writer, written, release, wait }
}

t.test('writes what nobody waits for with the next line, not by itself as soon as it can', async t => {
  const { writer, written, release, wait } = openWriter(t)
  const first = writer.append(line('first'), true)
  await wait(5)
  writer.add(line('settled'))
  await release()
  await first
  t.strictSame(written, ['first'])
  const second = writer.append(line('second'), true)
  await wait(5)
  t.strictSame(written, ['first', 'settled second'])
  await release()
  await second
})

t.test('writes it by itself when its time is up, also where that is while others are written', async t => {
  const { writer, written, release, wait } = openWriter(t)
  writer.add(line('settled'))
  await wait(100)
  t.strictSame(written, ['settled'])
  writer.add(line('later'))
  await wait(100)
  t.strictSame(written, ['settled'], 'one after the other')
  await release()
  t.strictSame(written, ['settled', 'later'])
  writer.add(line('last'))
  await release()
  t.strictSame(written, ['settled', 'later'])
  const flushed = writer.flush()
  await wait(5)
  t.strictSame(written, ['settled', 'later', 'last'])
  await release()
  await flushed
})
