// What a result depends on besides the code: Node, processor, file system, load; and what resources a process has used.
import { readdirSync, readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, platform, release } from 'node:os'

const FILE_SYSTEMS: Record<number, string> = {
  0xef53: 'ext4',
  0x01021994: 'tmpfs',
  0x9123683e: 'btrfs',
  0x58465342: 'xfs',
  0x794c7630: 'overlayfs',
  0x2fc12fc1: 'zfs',
  0x6969: 'nfs'
}

export function fileSystemOf(path: string): string | null {
  try {
    const { type } = statfsSync(path)
    return FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}`
  } catch {
    return null
  }
}

/** CPU time in ms that all threads of a process and its children have used; NaN if the system doesn't say. */
export function cpuOf(pid: number | undefined): number {
  try {
    const tasks = `/proc/${pid}/task`
    let ms = 0
    for (const task of readdirSync(tasks)) {
      ms += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
      const children = readFileSync(`${tasks}/${task}/children`, 'utf8').trim()
      if (children !== '') for (const child of children.split(' ')) ms += cpuOf(Number(child))
    }
    return ms
  } catch {
    return NaN
  }
}

/** Bytes of a process in memory (VmRSS); NaN if the system doesn't say. */
export function residentOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return NaN
  }
}

export const loadNow = (): string =>
  loadavg()
    .map(load => load.toFixed(2))
    .join(' ')

export const machineOf = (folder: string): Record<string, string> => ({
  node: process.version,
  system: `${platform()} ${release()}`,
  processor: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
  file_system: fileSystemOf(folder) ?? 'unknown'
})
