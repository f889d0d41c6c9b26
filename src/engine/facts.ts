// What a whole text is, and a window of it, at once. Knows no files.
import type { Result } from '../result.ts'
import type { LineOutOfRange } from './failure.ts'
import { Scan, type TextFacts } from './scan.ts'
import type { Window, WindowRequest } from './window.ts'

export type { LineOutOfRange } from './failure.ts'

export function textFacts (bytes: Buffer, path: string): TextFacts {
  const scan = new Scan(path)
  scan.push(bytes)
  return scan.finish().facts!
}

export function lineWindow (bytes: Buffer, request: WindowRequest, totalLines: number): Result<Window, LineOutOfRange> {
  const scan = new Scan('', request)
  scan.push(bytes)
  return scan.finish().window!
}
export { MAX_WINDOW_BYTES, MAX_WINDOW_LINES } from './window.ts'
