// What a lock needs to know of the other servers on its state folder: which has a socket, and whether one takes no lock
// files. Does not know locks.
import { socketsOf } from './server-identity.ts'
import { inodesOf } from './server-names.ts'

export interface Peers {
  /** Whether one of the servers, or nobody, has the socket with this name. Synchronous, and reads much of /proc. */
  serversHave(name: string): boolean
  /** Whether another server takes no lock files (`--lock local`). Synchronous. */
  isAnyLocal(): boolean
}

/** How often to look: a socket that changes hands meanwhile has no holder. Chosen, not measured. */
const LOOKS = 3

/**
 * Whether one of these processes, or nobody, has the socket with this name. A process that can't be examined, or
 * belongs to another user, doesn't count: its pid may have been reused.
 */
export function isHeldBy(pids: readonly number[], name: string): boolean {
  for (let i = 0; i < LOOKS; i++) {
    const inodes = inodesOf(name)
    if (inodes.length === 0) return true
    for (const pid of pids) {
      const sockets = socketsOf(pid)
      if (sockets?.uid === process.geteuid?.() && inodes.some(inode => sockets?.inodes.has(inode))) return true
    }
  }
  return false
}
