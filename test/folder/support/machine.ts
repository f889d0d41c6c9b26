// What this machine allows tests to do. Does not know any test.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

export const isRoot = process.getuid?.() === 0
export const onLinux = process.platform === 'linux'
export const canMount = isRoot && onLinux && spawnSync('unshare', ['-m', 'true']).status === 0

export const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** ext2 takes the times of changes from a clock that ticks. */
export type FileSystem = 'ext2' | 'ext4' | 'xfs'

/** Whether this machine can make a file system in a file, mount it and simulate a power cut. */
export const hasLoop = (type: FileSystem): boolean =>
  canMount && has('losetup') && has('xfs_io') && has(`mkfs.${type}`) && spawnSync('losetup', ['-f']).status === 0

/** Makes a file system in a file below `base` and mounts it until the test ends; `mount` mounts it again. */
export function loop(
  t: { teardown(work: () => unknown): void },
  base: string,
  type: FileSystem,
  { mounted = join(base, type), options = [] as string[] } = {}
): { mounted: string; mount(): void } {
  const image = join(base, `${type}.img`)
  mkdirSync(mounted)
  execFileSync('truncate', ['-s', '320M', image])
  execFileSync(`mkfs.${type}`, ['-q', ...options, image])
  const mount = () => {
    execFileSync('mount', ['-o', 'loop', image, mounted])
  }
  mount()
  t.teardown(() => spawnSync('umount', ['-l', mounted]))
  return { mounted, mount }
}

/** Freezes a mounted file system for at most `seconds`, as if its server were gone. Returns what ends that. */
export function freeze(t: { teardown(work: () => unknown): void }, mounted: string, seconds: number): () => void {
  execFileSync('fsfreeze', ['-f', mounted])
  // Ends the freeze even if the test itself is blocked by it.
  const guard = spawn('sh', ['-c', `sleep ${seconds}; fsfreeze -u "$0"`, mounted], { stdio: 'ignore', detached: true })
  const thaw = () => {
    if (guard.exitCode !== null || guard.killed) return
    guard.kill()
    process.kill(-guard.pid!)
    execFileSync('fsfreeze', ['-u', mounted])
  }
  t.teardown(thaw)
  return thaw
}

/** Shuts a file system down as a power cut would: the part of the journal that is only in memory is lost. */
export const cutOff = (mounted: string): void => {
  execFileSync('xfs_io', ['-x', '-c', 'shutdown', mounted])
}
