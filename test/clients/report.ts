// Prints the answers that each program got, for the test to compare. A value that a generator left untyped doesn't
// compile.

type Typed<T> = 0 extends 1 & T ? never : T

/** The value itself; doesn't compile for `any`. */
export const typed = <T>(value: T & Typed<T>): T => value

interface Results {
  /** The message of a success. */
  done: string
  /** The code of a miss. */
  missed: string
  /** The message of the request that corrects it. */
  corrected: string
  /** The code for a stale file, and its hash. */
  stale: string
  file_hash: string | undefined
  /** The hash of the file, and the names in the root. */
  inspected: string
  entries: string[]
}

export function report (results: Results): void {
  console.log(JSON.stringify(results))
}

export const url = process.env.EDITD_URL ?? ''
export const token = process.env.EDITD_TOKEN ?? ''
