// How much memory grows when a 10 MB file is edited once and 60 times, each in a fresh process. Never forces a garbage
// collection.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeCase, MB } from './corpora.ts'
import { short, type Row } from './row.ts'
import { median } from './statistics.ts'

const run = promisify(execFile)
const child = fileURLToPath(new URL('./memory-child.js', import.meta.url))

export async function memory(base: string, quick: boolean, progress: (line: string) => void): Promise<Row[]> {
  if (!existsSync('/proc/self/clear_refs')) return []
  const it = makeCase('ASCII', 10 * MB, 1)
  const root = join(base, 'memory')
  const path = join(root, 'file.ts')
  const rows: Row[] = []
  for (const variant of ['floor', 'product, fast/local', 'naive']) {
    for (const repetitions of quick && variant === 'naive' ? [1] : [1, 60]) {
      progress(`memory, ${variant}, ${repetitions}`)
      const grown: number[] = []
      for (let i = 0; i < (quick || (variant === 'naive' && repetitions > 1) ? 1 : 3); i++) {
        mkdirSync(root)
        writeFileSync(path, it.bytes)
        writeFileSync(`${path}.edits`, JSON.stringify({ there: it.there, back: it.back }))
        const { stdout } = await run(process.execPath, [child, variant, path, String(repetitions)])
        grown.push(Number(stdout) / it.bytes.length)
        await rm(root, { recursive: true })
        await rm(`${root}-state`, { recursive: true, force: true })
      }
      rows.push({
        what: `${it.name}, memory, ${repetitions} ×`,
        edits: 1,
        variant,
        figure: `grows by ${short(median(grown))} × the file`,
        value: median(grown),
        pairs: grown.length
      })
    }
  }
  return rows
}
