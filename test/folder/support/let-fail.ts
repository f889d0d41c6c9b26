// Makes system calls of this process fail when a test wants it. Does not know any test.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

export type Call = 'linkSync' | 'renameSync' | 'unlinkSync' | 'openSync' | 'fchownSync' | 'mkdir'
/** The error code with which a call fails; null: it works. `from`, `to`: the base names of its paths. */
export type Fault = (call: Call, from: string, to: string) => string | null

/** Makes calls of this process fail. Returns what undoes that. */
export function letFail(fault: Fault): () => void {
  const undo: (() => void)[] = []
  const leaf = (path: unknown): string =>
    Buffer.isBuffer(path) || typeof path === 'string' ? basename(String(path)) : ''
  const throwIfWanted = (call: Call, args: unknown[]): void => {
    const code = fault(call, leaf(args[0]), leaf(args[1]))
    if (code !== null) throw Object.assign(new Error(`${code}, as the test wants it`), { code })
  }
  for (const call of ['linkSync', 'renameSync', 'unlinkSync', 'openSync', 'fchownSync'] as const) {
    const real: (...args: never[]) => unknown = fs[call]
    Object.assign(fs, {
      [call]: (...args: never[]) => {
        throwIfWanted(call, args)
        return real(...args)
      }
    })
    undo.push(() => Object.assign(fs, { [call]: real }))
  }
  const { mkdir } = fs.promises
  Object.assign(fs.promises, {
    mkdir: async (path: string | Buffer) => {
      throwIfWanted('mkdir', [path])
      await mkdir(path)
    }
  })
  undo.push(() => Object.assign(fs.promises, { mkdir }))
  syncBuiltinESMExports()
  return () => {
    for (const one of undo) one()
    syncBuiltinESMExports()
  }
}
