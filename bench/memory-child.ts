// A fresh process that edits one file some number of times and prints by how many bytes its peak memory (VmHWM) grew.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeCase, type Edit } from './corpora.ts'

const [variant = '', path = '', repetitions = ''] = process.argv.slice(2)

async function editor(): Promise<(path: string, edits: readonly Edit[]) => unknown> {
  if (variant === 'floor') {
    const { floorEdit } = await import('./floor.ts')
    return path => floorEdit(path, false)
  }
  if (variant === 'naive') {
    const { naiveEdit } = await import('./naive.ts')
    return (path, edits) => naiveEdit(path, edits, true)
  }
  const { FAST, openProduct } = await import('./product.ts')
  const product = await openProduct(dirname(path), dirname(path) + '-state', FAST)
  return (path, edits) => product.edit(path.slice(dirname(path).length + 1), edits)
}

const kilobytes = (field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1])

const edit = await editor()
// Small files, and files just large enough for a thread: then the thread runs and the heaps have their usual size.
for (const size of [10_000, 300_000]) {
  const { bytes, there, back } = makeCase('ASCII', size, 1)
  const warm = join(dirname(path), `warm-${size}`)
  writeFileSync(warm, bytes)
  for (let i = 0; i < 60; i++) await edit(warm, i % 2 === 0 ? there : back)
}
// Not the case itself: the text that its edits came from would count as used memory.
const { there, back }: { there: Edit[]; back: Edit[] } = JSON.parse(readFileSync(`${path}.edits`, 'utf8'))
// Resets the high-water mark to the present use.
writeFileSync('/proc/self/clear_refs', '5')
const before = kilobytes('VmHWM')
for (let i = 0; i < Number(repetitions); i++) await edit(path, i % 2 === 0 ? there : back)
process.stdout.write(String((kilobytes('VmHWM') - before) * 1024) + '\n')
process.exit(0)
