// Texts that show which edit wrote them and whether they are complete. Does not know any server.
import { readFileSync } from 'node:fs'

/** The text after edit `n`: up to 5 KB, so that a torn write shows. */
export const version = (n: number): string => `version ${n}\n${FILLER.repeat(n % 50)}end ${n}\n`
const FILLER = `${'x'.repeat(100)}\n`

/** How many lines `version(n)` has. */
export const linesOf = (n: number): number => (n % 50) + 2

/** The number of the edit that wrote this text; null if it isn't complete. */
export function versionOf(text: string): number | null {
  const number = /^version (\d+)\n/.exec(text)?.[1]
  return number !== undefined && text === version(Number(number)) ? Number(number) : null
}

/** As `versionOf` for a file; also null if there is none. */
export function versionIn(path: string): number | null {
  try {
    return versionOf(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
