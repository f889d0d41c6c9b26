// The worker thread of off-thread.ts. Knows one job at a time.
import { parentPort } from 'node:worker_threads'
import { searchText } from './engine/search.ts'
import { within, type Job } from './off-thread.ts'

parentPort!.on('message', ({ bytes, request, time }: Job) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  parentPort!.postMessage(searchText(buffer, request, within(time)))
})
