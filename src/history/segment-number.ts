// The number of the next segment: by one higher than the highest of all servers. Two that begin one at the same time must
// not leave out a number, as readers would take it for one that was removed. Does not know what segments are for.
import { constants } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { codeOf } from '../error-code.ts'
import { closeFile, MODE, namesIn, NEW, openFile, remove } from './files.ts'
import { highestNumber } from './segment-name.ts'

/**
 * Looks at a number that another server has claimed, and ms between them: then it was killed before it used it. That is
 * a second or more: on a machine that was busy with tests, eight servers that began at once took more than 0.1 s.
 */
const LOOKS = 500
const BETWEEN = 2

/** The sweep removes what was left behind. */
const claimOf = (folder: string, number: number): string => join(folder, `${number}.number.tmp`)

/** The highest number of segments of other servers. */
export const highestIn = async (folder: string, nonce: string): Promise<number> =>
  highestNumber(await namesIn(folder), nonce)

/**
 * The number after `mine` and all others; no other server has it until it is given back. Where that can't be made sure,
 * the number is returned all the same: it has to be looked again whether it is the highest.
 */
export async function claimNumber(folder: string, nonce: string, mine: number): Promise<number> {
  for (let look = 1; ; look++) {
    const number = Math.max(mine, await highestIn(folder, nonce)) + 1
    try {
      await closeFile(await openFile(claimOf(folder, number), constants.O_WRONLY | NEW, MODE))
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') return number
      if (look === LOOKS) return number + 1
      await setTimeout(BETWEEN)
      continue
    }
    if ((await highestIn(folder, nonce)) < number) return number
    await unclaimNumber(folder, number)
  }
}

/** Best effort. */
export const unclaimNumber = async (folder: string, number: number): Promise<void> => {
  await remove(claimOf(folder, number)).catch(() => {})
}
