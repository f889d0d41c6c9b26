// The keys of the objects of a bucket's history. Does not know what the objects contain.
//
// A log is what one server has written in a row, at most some MiB: objects numbered from 0 without gaps. Several may be
// merged: the merged object has a range of numbers. The object with the highest number is never merged. An empty object
// ends the log. Logs are numbered in one sequence over all servers: a new log takes the highest number plus one, and
// its first object is written on the condition that it doesn't exist.

const HOME = '.editd/'
export const LOGS = `${HOME}log/`
export const BLOBS = `${HOME}blobs/`
export const COPIES = `${HOME}copies/`
export const KEYS = `${HOME}keys/`
export const SERVERS = `${HOME}servers/`
export const SWEPT = `${HOME}swept/`

const DIGITS = 9
const OBJECT = /^\.editd\/log\/(\d{9})\/(\d{9})(?:-(\d{9}))?$/
const LOG = /^\.editd\/log\/(\d{9})\//

const digits = (number: number): string => String(number).padStart(DIGITS, '0')

/** A range of object numbers of one log, both ends included. */
export interface Range {
  from: number
  to: number
}

export const logPrefix = (log: number): string => `${LOGS}${digits(log)}/`

export const objectKey = (log: number, { from, to }: Range): string =>
  `${logPrefix(log)}${digits(from)}${to > from ? `-${digits(to)}` : ''}`

/** Sorts after all objects of a log that begin below `next`, and before its others. */
export const keyBefore = (log: number, next: number): string =>
  next === 0 ? logPrefix(log) : `${logPrefix(log)}${digits(next - 1)}~`

/** Sorts after all objects of a log, and before those of the next log. */
export const keyAfter = (log: number): string => `${LOGS}${digits(log)}0`

/** Null: not the key of an object of a log. */
export function parseObject(key: string): (Range & { log: number }) | null {
  const [, log, from, to = from] = OBJECT.exec(key) ?? []
  const parsed = { log: Number(log), from: Number(from), to: Number(to) }
  return log === undefined || parsed.to < parsed.from || objectKey(parsed.log, parsed) !== key ? null : parsed
}

/** The number of the log that the key or prefix belongs to; null: none. */
export function parseLog(key: string): number | null {
  const [, log] = LOG.exec(key) ?? []
  return log === undefined ? null : Number(log)
}

/**
 * Selects objects of one log that together hold all of it, in order; of several with the same first number, the widest.
 * `missing`: ranges of numbers before the last that no object holds.
 */
export function cover<T extends Range>(objects: readonly T[]): { objects: T[]; missing: Range[] } {
  const sorted = objects.toSorted((a, b) => a.from - b.from || b.to - a.to)
  const [chosen, missing]: [T[], Range[]] = [[], []]
  let next = 0
  for (const object of sorted) {
    // A wider object holds it already.
    if (object.from < next) continue
    if (object.from > next) missing.push({ from: next, to: object.from - 1 })
    chosen.push(object)
    next = object.to + 1
  }
  return { objects: chosen, missing }
}

/** The range to merge after object `number` is written, so that few objects remain: of 16, of 256, and so on. */
export function rangeToMerge(number: number): Range | null {
  if (number === 0 || number % 16 !== 0) return null
  let width = 16
  for (; number % (width * 16) === 0; width *= 16);
  return { from: number - width, to: number - 1 }
}
