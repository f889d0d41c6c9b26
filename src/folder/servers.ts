// How the servers on one root see each other, for the root lock: by their records of temp files and their sockets. Does
// not know locks.
import { Hindered } from '../workspace/errno.ts'
import type { NotReady } from '../workspace/failure.ts'
import { processesIn, isAnyLocalIn, livingIn, tempPathsOf, type Intents } from './commit/intents.ts'
import { fence } from './locks/fence.ts'
import type { LivenessSockets } from './locks/liveness.ts'
import type { Observer } from './locks/owner.ts'
import { isHeldBy, type Peers } from './locks/peers.ts'
import type { Servers } from './locks/root-lock.ts'
import { split } from '../workspace/path.ts'
import type { Root } from './root/pin.ts'
import { TEMP_NAME } from '../workspace/temp-name.ts'
import type { State } from './state.ts'

interface Seen {
  state: State
  observer: Observer
  sockets: LivenessSockets
  intents: Intents
  /** Null, or why the state folder can't be used. */
  checkState: () => NotReady | null
  report: (event: { event: string; [key: string]: unknown }) => void
}

export function serversOf({ state, observer, sockets, intents, checkState, report }: Seen): Servers {
  return {
    exists: () => intents.exists(),
    renew: () => intents.renew(),
    checkState: () => {
      const failure = checkState()
      if (failure !== null) throw new Hindered(failure)
    },
    generation: () => intents.generation,
    others: async () => (await livingIn(state.intents, observer)).length > 0,
    tell: async () => {
      try {
        const others = await livingIn(state.intents, observer)
        await Promise.all(others.map(nonce => sockets.tell(nonce)))
      } catch (error) {
        report({ event: 'look_failed', reason: String(error) })
      }
    }
  }
}

/** What file locks need to know of the servers on this state folder. */
export const peersOf = ({ state, observer: { me } }: Pick<Seen, 'state' | 'observer'>): Peers => ({
  serversHave: name => isHeldBy(processesIn(state.intents, me), name),
  isAnyLocal: () => isAnyLocalIn(state.intents, me)
})

/**
 * Removes the temp files that these servers have recorded, except those that must stay. Throws the system's error if
 * one can't be removed.
 */
export function fenceServers(
  root: Root,
  { intents }: State,
  nonces: readonly string[],
  isKept: (path: Buffer) => boolean
): void {
  for (const path of nonces.flatMap(nonce => tempPathsOf(intents, nonce))) {
    const leaf = split(path).leaf.toString('latin1')
    if (TEMP_NAME.test(leaf) && !isKept(path)) fence(root, path, [leaf])
  }
}
