// Holds processes to a share of one processor, by a control group of the kernel (Linux, root). Does not know what they do.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In µs: how often the kernel gives the share anew. */
const PERIOD = 20_000

/** Where version 1 of control groups has them, and version 2: each by a file that only it has, and the files to write. */
const PLACES = [
  {
    folder: '/sys/fs/cgroup/cpu',
    sign: 'cpu.cfs_quota_us',
    limits: (quota: number) => ({ 'cpu.cfs_period_us': `${PERIOD}`, 'cpu.cfs_quota_us': `${quota}` })
  },
  {
    folder: '/sys/fs/cgroup',
    sign: 'cgroup.controllers',
    limits: (quota: number) => ({ 'cpu.max': `${quota} ${PERIOD}` })
  }
]

/** A process with its threads, in a group of its own. */
export interface Held {
  /** It gets what it wants again. */
  end(): void
}

/** `share`: of one processor, above 0. Null: this system doesn't let this user do that. */
export function holdTo(pid: number, share: number): Held | null {
  for (const { folder, sign, limits } of PLACES) {
    const group = join(folder, `editd-bench-${pid}`)
    try {
      if (!existsSync(join(folder, sign))) continue
      mkdirSync(group)
    } catch {
      continue
    }
    const end = (): void => {
      try {
        writeFileSync(join(folder, 'cgroup.procs'), String(pid))
      } catch {
        // It has ended.
      }
      rmdirSync(group)
    }
    try {
      for (const [name, value] of Object.entries(limits(Math.round(PERIOD * share)))) {
        writeFileSync(join(group, name), value)
      }
      writeFileSync(join(group, 'cgroup.procs'), String(pid))
      return { end }
    } catch {
      end()
    }
  }
  return null
}
