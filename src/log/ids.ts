// Ids of edits: 26 characters that sort by time, whatever the clocks of the servers say.
import { randomBytes } from 'node:crypto'

/** Crockford's base32: no I, L, O, U; in the order of ASCII. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME = 10
const COUNTER = 8
/** Random bytes of an id; 8 characters. Many are fetched at once, as each call costs a few system calls. */
const CHANCE = 5
const FETCHED = 256 * CHANCE

export const ID_LENGTH = TIME + 2 * COUNTER
/** The buffer in which an id is built. Shared, as it is turned into a string in the same tick. */
const ID = Buffer.alloc(ID_LENGTH)

/** Writes the letters of a number into `ID`, ending at `end`. */
function put(value: number, end: number, length: number): void {
  for (let at = end - 1; at >= end - length; at--) {
    const rest = Math.floor(value / 32)
    ID[at] = LETTERS.charCodeAt(value - 32 * rest)
    value = rest
  }
}

function valueOf(text: string): number {
  let value = 0
  for (const letter of text) value = value * 32 + LETTERS.indexOf(letter)
  return value
}

/** The year 2527. A later id is a mistake, and would leave no room for later ones. */
const END = '0G00000000'

export const isId = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text) && text < END

/** In ms since 1970: by the clock of the server that gave the id, or of another whose id it had to follow. */
export const timeOf = (id: string): number => valueOf(id.slice(0, TIME))

/**
 * Gives ids, each later than all that it gave or saw: ten characters of milliseconds; eight of a counter within a
 * millisecond, or while the clock is behind; eight random ones that tell servers apart.
 */
export class Ids {
  #latest = ''
  /** Time of the latest id. */
  #time = -1
  #counter = 0
  #chance = Buffer.alloc(0)
  /** Random bytes used so far. */
  #used = 0

  /** The latest id given or seen; '': none yet. */
  get latest(): string {
    return this.#latest
  }

  saw(id: string): void {
    if (id <= this.#latest) return
    this.#latest = id
    this.#time = timeOf(id)
    this.#counter = valueOf(id.slice(TIME, TIME + COUNTER))
  }

  /** `now`: in ms since 1970. */
  next(now = Date.now()): string {
    if (now > this.#time) [this.#time, this.#counter] = [now, 0]
    else if (++this.#counter === 32 ** COUNTER) [this.#time, this.#counter] = [this.#time + 1, 0]
    if (this.#used === this.#chance.length) [this.#chance, this.#used] = [randomBytes(FETCHED), 0]
    put(this.#time, TIME, TIME)
    put(this.#counter, TIME + COUNTER, COUNTER)
    put(this.#chance.readUIntBE(this.#used, CHANCE), ID_LENGTH, COUNTER)
    this.#used += CHANCE
    this.#latest = ID.toString('latin1')
    return this.#latest
  }
}
