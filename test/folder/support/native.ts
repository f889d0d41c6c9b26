// Builds the C programs and libraries that do what Node can't. Does not know them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Builds `<name>.c` of this folder; `flags` can make it a library. Returns its path, or null if it can't be built. */
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
