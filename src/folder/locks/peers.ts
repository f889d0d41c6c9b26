// What a lock has to know of the other servers on its state folder: which has a socket, and whether one of them takes no
// lock files. Does not know locks.
import { socketsOf } from './server-identity.ts'
import { inodesOf } from './server-names.ts'

export interface Peers {
  /** Whether one of the servers has the socket of this name, or nobody. Synchronous, and reads much of /proc. */
  serversHave(name: string): boolean
  /** Whether another server takes no lock files (`--lock local`). Synchronous. */
  isAnyLocal(): boolean
}

/** So often it is looked: a socket that changes hands meanwhile is found with nobody. Chosen, not measured. */
const LOOKS = 3

/**
 * Whether one of these processes has the socket of this name, or nobody. A process that can't be looked into, or is of
 * another user, hasn't: the number may be used again.
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
