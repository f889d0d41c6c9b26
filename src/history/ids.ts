// Ids of edits: 26 characters that sort by time, whatever the clocks of the servers say. Does not know records.
import { randomBytes } from 'node:crypto'

/** Crockford's base32: no I, L, O, U; in the order of ASCII. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME = 10
const COUNTER = 8
/** The bytes of chance; 8 characters. Many are fetched at once: it costs a few system calls each time. */
const CHANCE = 5
const FETCHED = 256 * CHANCE
const FIRST_COUNTER = '0'.repeat(COUNTER)

const letters = (value: number, length: number): string => {
  let text = ''
  for (let i = 0; i < length; i++) {
    text = LETTERS[value % 32]! + text
    value = Math.floor(value / 32)
  }
  return text
}

const valueOf = (text: string): number => [...text].reduce((sum, letter) => sum * 32 + LETTERS.indexOf(letter), 0)

/** The year 2527. An id from after it is a mistake, and would leave no room for later ones. */
const END = letters(2 ** 44, TIME)

export const ID_LENGTH = TIME + 2 * COUNTER

export const isId = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text) && text < END

/** In ms since 1970: by the clock of the server that gave it, or of another whose id it was to follow. */
export const timeOf = (id: string): number => valueOf(id.slice(0, TIME))

/**
 * Gives ids, each later than all that it gave or was shown: ten characters of milliseconds, eight that count within one
 * millisecond, or while the clock is behind, and eight of chance, by which those of two servers differ.
 */
export class Ids {
  #latest = ''
  #chance = Buffer.alloc(0)

  /** The latest that was given or shown; '': none yet. */
  get latest(): string {
    return this.#latest
  }

  saw(id: string): void {
    if (id > this.#latest) this.#latest = id
  }

  /** `now`: in ms since 1970. */
  next(now = Date.now()): string {
    const head = letters(now, TIME) + FIRST_COUNTER
    const last = this.#latest.slice(0, TIME + COUNTER)
    if (this.#chance.length === 0) this.#chance = randomBytes(FETCHED)
    const chance = letters(this.#chance.readUIntBE(0, CHANCE), COUNTER)
    this.#chance = this.#chance.subarray(CHANCE)
    this.#latest = (head > last ? head : after(last)) + chance
    return this.#latest
  }
}

function after(head: string): string {
  const time = head.slice(0, TIME)
  const counter = valueOf(head.slice(TIME)) + 1
  return counter < 32 ** COUNTER ? time + letters(counter, COUNTER) : letters(valueOf(time) + 1, TIME) + FIRST_COUNTER
}
