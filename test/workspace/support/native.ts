// Programs in C for what Node can't do.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/**
 * The path of the program built from `<name>.c` beside this file, or of the library with the flags for one; null where
 * it can't be built.
 */
export function build(name: string, flags: readonly string[] = []): string | null {
  if (process.platform !== 'linux') return null
  const folder = mkdtempSync(join(tmpdir(), 'editd-native-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, name)
  return spawnSync('cc', ['-O1', '-o', program, fileURLToPath(new URL(`${name}.c`, import.meta.url)), ...flags])
    .status === 0
    ? program
    : null
}
