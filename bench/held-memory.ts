// Loaded into a server (`--expose-gc --import`): at SIGUSR2 it collects its garbage and writes down the bytes that it
// still holds, to the file that HELD_MEMORY names. Does not know what it is loaded into.
import { writeFileSync } from 'node:fs'

process.on('SIGUSR2', () => {
  const collect = (globalThis as { gc?: () => void }).gc!
  // What the first run finds dead may have held buffers.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(process.env.HELD_MEMORY!, `${heapUsed + external}\n`)
})
