// The worker thread of threads.ts. Knows one job at a time.
import { parentPort } from 'node:worker_threads'
import { type Job, READY, runJob } from './job.ts'

parentPort!.on('message', (job: Job) => {
  const { result, transfer } = runJob(job)
  parentPort!.postMessage(result, transfer)
})
parentPort!.postMessage(READY)
