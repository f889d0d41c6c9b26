// Texts that say which edit made them, and whether they are whole. Does not know any server.
import { readFileSync } from 'node:fs'

/** The text after edit `n`: some hundred bytes to some thousands, so that a torn one can be told. */
export const version = (n: number): string => `version ${n}\n${FILLER.repeat(n % 50)}end ${n}\n`
const FILLER = `${'x'.repeat(100)}\n`

/** How many lines it has. */
export const linesOf = (n: number): number => (n % 50) + 2

/** Which edit made this text; null if it isn't whole. */
export function versionOf(text: string): number | null {
  const number = /^version (\d+)\n/.exec(text)?.[1]
  return number !== undefined && text === version(Number(number)) ? Number(number) : null
}

/** The same of a file; null also where there is none. */
export function versionIn(path: string): number | null {
  try {
    return versionOf(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
