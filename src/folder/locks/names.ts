// Names of locks that protect no single file. Does not know what they protect.
import type { FileId } from '../root/pin.ts'

/** No path has a NUL, so that no file's lock has such a name. */
const NO_FILE = 0

/** The lock for the recovery of a batch. */
export const batchLock = (id: string): Buffer => Buffer.from(`\0batch\0${id}`)

/** The lock of what is written in place, by any of its names: two mounts of it have one device and inode. */
export const objectLock = ({ dev, ino }: FileId): Buffer => Buffer.from(`\0object\0${dev}\0${ino}`)

/** What the holder of a socket with this name proves itself by; it is no lock's name. */
export const proofBy = (socket: string, nonce: string): Buffer => Buffer.from(`\0proof\0${socket}\0${nonce}`)

/** Whether a lock is of a file, whose real path is its name. */
export const isOfFile = (name: Buffer): boolean => name[0] !== NO_FILE
