// Files read whole and written in pieces, at sizes around those at which it is done in steps, against what Node reads.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { binaryEncodingOf } from '../../src/engine/text/encoding.ts'
import { openRoot } from '../../src/folder/root/root.ts'
import { SYNC_IO_BYTES } from '../../src/workspace/content.ts'
import { readWhole, writeAll } from '../../src/folder/snapshot.ts'
import { testFolder } from '../folder.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'

const random = new Random(SEED)
const between = (least: number, most: number): number => least + random.int(most - least + 1)
/** Sizes around the limits of synchronous reading. */
const SIZES = [0, 1, 2, 3, 5].flatMap(steps => [-1, 0, 1].map(more => steps * SYNC_IO_BYTES + more)).filter(n => n >= 0)

/** `size` bytes, none of them 0. */
function someBytes(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  for (let i = 0; i < size; i++) bytes[i] = 1 + ((i * 31 + (i >> 9)) % 255)
  return bytes
}

t.test('reads a file whole, with its hash, and sees a NUL anywhere in a large one', async t => {
  const folder = testFolder(t)
  const root = openRoot(folder)
  t.teardown(() => root.close())
  const check = async (bytes: Buffer, name: string): Promise<void> => {
    writeFileSync(join(folder, 'file'), bytes)
    const pinned = root.pin(Buffer.from('file'))
    if (!pinned.ok) throw new Error(pinned.failure.code)
    const read = await readWhole(pinned.value, Infinity)
    if (!read.ok) throw new Error(read.failure.code)
    const { bytes: found, digest, hasNul, close } = read.value
    t.ok(found.equals(bytes), `${name}: its bytes`)
    t.equal(digest, createHash('sha256').update(bytes).digest('hex'), `${name}: its hash`)
    t.equal(hasNul, bytes.length > SYNC_IO_BYTES ? bytes.includes(0) : undefined, `${name}: NUL`)
    t.equal(binaryEncodingOf(found, hasNul), binaryEncodingOf(bytes), `${name}: its encoding`)
    close()
    pinned.value.close()
  }
  for (const size of SIZES) {
    const bytes = someBytes(size)
    await check(bytes, `${size} bytes`)
    if (size === 0) continue
    const at = between(0, size - 1)
    bytes[at] = 0
    await check(bytes, `SEED=${SEED}, ${size} bytes with a NUL at ${at}`)
  }
})

t.test('does not hash again what it is told the hash of, if it is that', async t => {
  const folder = testFolder(t, { file: 'abc' })
  const root = openRoot(folder)
  t.teardown(() => root.close())
  const digestOf = async (known: string) => {
    const pinned = root.pin(Buffer.from('file'))
    if (!pinned.ok) throw new Error(pinned.failure.code)
    const read = await readWhole(pinned.value, 9, undefined, { bytes: Buffer.from(known), hash: 'as told' })
    if (!read.ok) throw new Error(read.failure.code)
    read.value.close()
    pinned.value.close()
    return read.value.digest
  }
  const digest = createHash('sha256').update('abc').digest('hex')
  t.equal(await digestOf('abc'), 'as told')
  for (const other of ['abd', 'ab', 'abcd', '']) t.equal(await digestOf(other), digest, other)
})

t.test('writes pieces of any number and size', async t => {
  const path = join(testFolder(t), 'file')
  const check = async (pieces: readonly Buffer[], name: string): Promise<void> => {
    const whole = Buffer.concat(pieces)
    const fd = openSync(path, 'w')
    try {
      await writeAll(fd, pieces, whole.length)
    } finally {
      closeSync(fd)
    }
    t.ok(readFileSync(path).equals(whole), `${name}: ${pieces.length} pieces of ${whole.length} bytes`)
  }
  for (const size of SIZES) await check([someBytes(size)], 'one')
  // More than the system takes in one call.
  await check(
    Array.from({ length: 5000 }, (_, i) => someBytes(i % 7)),
    'tiny'
  )
  await check(
    Array.from({ length: 5000 }, (_, i) => someBytes(200 + (i % 600))),
    'small'
  )
  for (let i = 0; i < often(40); i++) {
    const most = random.pick([10, 5000, 400_000, 2_000_000])
    const pieces = Array.from({ length: between(1, most > 1e6 ? 4 : 40) }, () => someBytes(between(0, most)))
    await check(pieces, `SEED=${SEED}, ${i}`)
  }
})
