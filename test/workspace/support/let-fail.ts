// Lets system calls of this process fail where a test wants it. Does not know any test.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

export type Call = 'linkSync' | 'renameSync' | 'unlinkSync' | 'openSync' | 'fchownSync' | 'mkdirSync'
/** An error's name for a call with these last names of its paths; null: it works. */
export type Fault = (call: Call, from: string, to: string) => string | null

/** Lets calls of this process fail until the function that it returns is called. */
export function letFail(fault: Fault): () => void {
  const undo: (() => void)[] = []
  const leaf = (path: unknown): string =>
    Buffer.isBuffer(path) || typeof path === 'string' ? basename(String(path)) : ''
  for (const call of ['linkSync', 'renameSync', 'unlinkSync', 'openSync', 'fchownSync', 'mkdirSync'] as const) {
    const real: (...args: never[]) => unknown = fs[call]
    Object.assign(fs, {
      [call]: (...args: never[]) => {
        const code = fault(call, leaf(args[0]), leaf(args[1]))
        if (code !== null) throw Object.assign(new Error(`${code}, as the test wants it`), { code })
        return real(...args)
      }
    })
    undo.push(() => Object.assign(fs, { [call]: real }))
  }
  syncBuiltinESMExports()
  return () => {
    for (const one of undo) one()
    syncBuiltinESMExports()
  }
}
