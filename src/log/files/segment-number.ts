// Chooses the number of the next segment: the highest of all servers plus one. Servers that begin segments at the same
// time must not skip a number, as readers would think that its segment was removed.
import { constants } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import { closeFile, MODE, namesIn, NEW, openFile, readStart, remove, writeNow } from './files.ts'
import { highestNumber } from '../segment-name.ts'

type Claimant = Pick<HistoryOptions, 'folder' | 'nonce' | 'isAlive'>

/** In ms, between two looks at a number that another server has claimed. */
const BETWEEN = 2
/** After this many looks (0.2 s or more) at one number, and again after as many, we ask whether its server is alive. */
const ASKING = 100
/**
 * After this many looks (2 s or more), a claim without a nonce is that of a server that was killed before it wrote it.
 * A live server may take longer than 0.2 s for that on a busy machine. Chosen, not measured.
 */
const UNNAMED = 1000
/**
 * After this many looks (10 s or more), even a live server won't use its number any more, as it was stopped. On a
 * machine that was busy with tests, eight servers that began at once took more than one second.
 */
const LOOKS = 5000
/** In bytes: the longest nonce. */
const NONCE = 64

/** The claim file contains the nonce of the server that claims the number. The sweep removes leftovers. */
const claimOf = (folder: string, number: number): string => join(folder, `${number}.number.tmp`)

/** The highest number of segments of other servers. */
export const highestIn = async (folder: string, nonce: string): Promise<number> =>
  highestNumber(await namesIn(folder), nonce)

/**
 * Claims the number after `mine` and all others; no other server gets it until it is released. Skips a number if its
 * claimant is gone, or doesn't use it. Throws the system's error if the folder can't be written.
 */
export async function claimNumber(claimant: Claimant, mine: number): Promise<number> {
  const { folder, nonce } = claimant
  let leftOut = 0
  for (let [last, looks] = [0, 0]; ;) {
    const number = Math.max(mine, leftOut, await highestIn(folder, nonce)) + 1
    looks = number === last ? looks + 1 : 1
    last = number
    if (await claim(claimant, number)) {
      if ((await highestIn(folder, nonce)) < number) return number
      await unclaimNumber(folder, number)
    } else if (looks === LOOKS || (looks % ASKING === 0 && (await isAbandoned(claimant, number, looks)))) {
      leftOut = number
    } else {
      await setTimeout(BETWEEN)
    }
  }
}

/** False: another server has claimed it. */
async function claim({ folder, nonce }: Claimant, number: number): Promise<boolean> {
  let fd: number
  try {
    fd = await openFile(claimOf(folder, number), constants.O_WRONLY | NEW, MODE)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
  let isClaimed = false
  try {
    writeNow(fd, Buffer.from(nonce))
    isClaimed = true
  } finally {
    if (!isClaimed) await unclaimNumber(folder, number)
    await closeFile(fd)
  }
  return true
}

/**
 * Whether the server that claimed it is gone, after this many looks; false if that is unknown, or the claim is gone.
 */
async function isAbandoned(
  { folder, nonce: mine, isAlive }: Claimant,
  number: number,
  looks: number
): Promise<boolean> {
  try {
    const nonce = readStart(claimOf(folder, number), NONCE).bytes.toString()
    if (nonce === '') return looks >= UNNAMED
    // Our own nonce: a claim that we failed to remove.
    return nonce === mine || !(await isAlive(nonce))
  } catch {
    return false
  }
}

/** Best effort. */
export const unclaimNumber = async (folder: string, number: number): Promise<void> => {
  await remove(claimOf(folder, number)).catch(() => {})
}
