// What each program tells of its three calls, for the test to compare. Refuses what a generator left untyped.

type Typed<T> = 0 extends 1 & T ? never : T

/** `any` doesn't compile here. */
export const typed = <T>(value: T & Typed<T>): T => value

export function tell (told: { done: string, missed: string, put_right: string, stale: string, file_hash: string | undefined }): void {
  console.log(JSON.stringify(told))
}

export const url = process.env.EDITD_URL ?? ''
export const token = process.env.EDITD_TOKEN ?? ''
