// Limits processes to a share of one processor, with a control group of the kernel (Linux, root). Does not know what
// they do.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The period of the limit, in µs. */
const PERIOD = 20_000

/** For versions 1 and 2 of control groups: a file that only this version has, and the files to write. */
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
  /** Removes the limit. */
  end(): void
}

/** `share`: of one processor, above 0. Null: this user can't set a limit on this system. */
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
        // The process has ended.
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
