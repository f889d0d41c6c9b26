// When lines are written, and which of them together.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Groups } from '../../src/history/groups.ts'
import type { SaidLine } from '../../src/history/record-json.ts'

const line = (text: string): SaidLine => ({ bytes: Buffer.from(text), said: { settles: text, as: 'done' } })

/** Whose writes take until they are let go. */
function openGroups() {
  const written: string[] = []
  const held: (() => void)[] = []
  const groups = new Groups({
    report: () => {},
    lost: () => {},
    write: async lines => {
      written.push(lines.map(({ bytes }) => bytes.toString()).join(' '))
      await new Promise<void>(resolve => held.push(resolve))
    }
  })
  const release = async (): Promise<void> => {
    held.shift()?.()
    await sleep(5)
  }
  return { groups, written, release }
}

t.test('writes what nobody waits for with the next line, not by itself as soon as it can', async t => {
  const { groups, written, release } = openGroups()
  const first = groups.append(line('first'), true)
  await sleep(5)
  groups.add(line('settled'))
  await release()
  await first
  t.strictSame(written, ['first'])
  const second = groups.append(line('second'), true)
  await sleep(5)
  t.strictSame(written, ['first', 'settled second'])
  await release()
  await second
})

t.test('writes it by itself when its time is up, also where that is while others are written', async t => {
  const { groups, written, release } = openGroups()
  groups.add(line('settled'))
  await sleep(100)
  t.strictSame(written, ['settled'])
  groups.add(line('later'))
  await sleep(100)
  t.strictSame(written, ['settled'], 'one after the other')
  await release()
  t.strictSame(written, ['settled', 'later'])
  groups.add(line('last'))
  await release()
  t.strictSame(written, ['settled', 'later'])
  const flushed = groups.flush()
  await sleep(5)
  t.strictSame(written, ['settled', 'later', 'last'])
  await release()
  await flushed
})
