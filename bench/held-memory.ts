// Loaded into a server (`--expose-gc --import`): at SIGUSR2 it collects garbage and writes how many bytes are still
// held to the file that HELD_MEMORY names. Does not know the server.
import { writeFileSync } from 'node:fs'

process.on('SIGUSR2', () => {
  const collect = (globalThis as { gc?: () => void }).gc!
  // Garbage that the first run finds may have held buffers.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(process.env.HELD_MEMORY!, `${heapUsed + external}\n`)
})
