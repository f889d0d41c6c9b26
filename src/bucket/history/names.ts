// The keys of what a bucket's history consists of. Does not know what is in the objects.
//
// A log is what one server has written in a row, at most some MiB: numbered objects, from 0 on without gaps. Several of
// them may have been put together: then their object has a range of numbers. The one with the highest number is always
// by itself. An empty object ends the log. Logs are numbered in one order over all servers: the number is one more than
// the highest, and the first object is written on the condition that there is none.

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

/** Numbers of objects of one log; both are in it. */
export interface Range {
  from: number
  to: number
}

export const logPrefix = (log: number): string => `${LOGS}${digits(log)}/`

export const objectKey = (log: number, { from, to }: Range): string =>
  `${logPrefix(log)}${digits(from)}${to > from ? `-${digits(to)}` : ''}`

/** Comes after all objects of a log that begin with a lower number than `next`, and before all others. */
export const keyBefore = (log: number, next: number): string =>
  next === 0 ? logPrefix(log) : `${logPrefix(log)}${digits(next - 1)}~`

/** Comes after all objects of a log, and before those of the next. */
export const keyAfter = (log: number): string => `${LOGS}${digits(log)}0`

/** Null: it isn't the key of an object of a log. */
export function parseObject(key: string): (Range & { log: number }) | null {
  const [, log, from, to = from] = OBJECT.exec(key) ?? []
  const parsed = { log: Number(log), from: Number(from), to: Number(to) }
  return log === undefined || parsed.to < parsed.from || objectKey(parsed.log, parsed) !== key ? null : parsed
}

/** The number of the log that the key, or the prefix, is below; null: it isn't below one. */
export function parseLog(key: string): number | null {
  const [, log] = LOG.exec(key) ?? []
  return log === undefined ? null : Number(log)
}

/**
 * Which of these objects of one log hold all of it, in their order: of several that begin with one number, the widest.
 * `missing`: ranges of numbers before the last that none of them holds.
 */
export function cover<T extends Range>(objects: readonly T[]): { objects: T[]; missing: Range[] } {
  const sorted = objects.toSorted((a, b) => a.from - b.from || b.to - a.to)
  const [chosen, missing]: [T[], Range[]] = [[], []]
  let next = 0
  for (const object of sorted) {
    // What a wider one holds already.
    if (object.from < next) continue
    if (object.from > next) missing.push({ from: next, to: object.from - 1 })
    chosen.push(object)
    next = object.to + 1
  }
  return { objects: chosen, missing }
}

/** What is to be put together once the object `number` is written, so that few are left: of 16, of 256, and so on. */
export function rangeToMerge(number: number): Range | null {
  if (number === 0 || number % 16 !== 0) return null
  let width = 16
  for (; number % (width * 16) === 0; width *= 16);
  return { from: number - width, to: number - 1 }
}
