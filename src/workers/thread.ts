// What both sides of a worker thread share: the loop that runs one job after the other, and how bytes move between
// threads. Does not know what a job is.
import { parentPort } from 'node:worker_threads'

/** The first message of a thread, sent when it has loaded its code: the time of a job starts then. */
export const READY = 'ready'

/** Sent by a job that continues with another text: its time starts again. */
export const AGAIN = 'again'

/** The result of a job, and the buffers that are moved with it instead of being copied. */
interface JobOutput {
  result: unknown
  transfer: ArrayBuffer[]
}

/**
 * Runs jobs until a null ends the thread. A rejection ends it too, and the caller's job rejects. `again` restarts a
 * job's time.
 */
export function serve<J>(run: (job: J, again: () => void) => JobOutput | Promise<JobOutput>): void {
  const port = parentPort!
  port.on('message', async (job: J | null) => {
    if (job === null) return port.close()
    const { result, transfer } = await run(job, () => port.postMessage(AGAIN))
    port.postMessage(result, transfer)
  })
  port.postMessage(READY)
}

/** A buffer on bytes that came from another thread. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/**
 * The bytes as an array that can move to another thread. A large buffer that starts at the beginning of its memory owns
 * that memory, as the workspace's buffers do. A view into Node's pool of small buffers is copied, and so is an empty
 * buffer, which may be a constant.
 */
export const transferable = (bytes: Buffer): Uint8Array<ArrayBuffer> =>
  (bytes.byteLength > 0 &&
  (bytes.byteLength === bytes.buffer.byteLength || (bytes.byteOffset === 0 && bytes.byteLength > Buffer.poolSize))
    ? bytes
    : Uint8Array.from(bytes)) as Uint8Array<ArrayBuffer>
