// What is in each worker thread of threads.ts: takes one job after the other. Knows not what a job is.
import { parentPort } from 'node:worker_threads'

/** What a thread says first, when it has loaded its code: the time of a job begins then. */
export const READY = 'ready'

/** What a job comes to, and the buffers that go along instead of being copied. */
export interface Answer {
  result: unknown
  transfer: ArrayBuffer[]
}

/** Does jobs until a null ends the thread. A rejection ends it too, and the one who asked is told. */
export function serve<J>(run: (job: J) => Answer | Promise<Answer>): void {
  const port = parentPort!
  port.on('message', async (job: J | null) => {
    if (job === null) return port.close()
    const { result, transfer } = await run(job)
    port.postMessage(result, transfer)
  })
  port.postMessage(READY)
}
