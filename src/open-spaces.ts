// Opens what a server serves: the root of its settings, or the workspaces of an access file. Does not know the process,
// or how an access file is read.
import { Audit } from './audit/audit.ts'
import type { AuditFile } from './audit/audit-file.ts'
import type { Access } from './config/access-file.ts'
import type { Config } from './config/config.ts'
import type { BucketAddress } from './object-store/address.ts'
import { AccessSpaces, CantOpen, oneSpace, type Spaces } from './spaces.ts'
import { ensureDir } from './folder/commit/ensure-dir.ts'
import type { Meter, WorkspaceOptions } from './workspace/api.ts'
import { openWorkspace } from './folder/open.ts'

/** `report` as of `openWorkspace`; an event of one of several workspaces says of which. */
export interface OpenOptions {
  config: Config
  report(event: object): void
  /** Measures a workspace, whose name it gets with an access file; without it nothing is measured. */
  meter?(workspace?: string): Meter
  /** Null: there is none. */
  auditFile?: AuditFile | null
}

/**
 * How many of the process's threads (four, unless UV_THREADPOOL_SIZE says otherwise) may wait for the file system of one of
 * several workspaces: one that hangs leaves the rest to the others.
 */
const THREADS = 2

/** What a bucket needs is loaded only where there is one. */
async function openBucketLate(
  settings: Config & Pick<WorkspaceOptions, 'audit' | 'meter' | 'report'>,
  address: BucketAddress
) {
  const { openBucket } = await import('./bucket/open.ts')
  return openBucket({ ...settings, address, endpoint: settings.s3Endpoint, region: settings.s3Region })
}

/** Roots that don't exist are made. Throws CantOpen. */
export async function openSpaces(
  { config, report, meter, auditFile: file = null }: OpenOptions,
  access: Access | null
): Promise<Spaces> {
  const open = async (settings: Config, named: { workspace?: string }) => {
    const measured = meter?.(named.workspace)
    try {
      const opened = {
        ...settings,
        meter: measured,
        ...(file !== null && { audit: new Audit({ file, ...named, ...auditing(settings) }) }),
        report(event: { event: string }) {
          if (event.event === 'lock_taken_over') measured?.tookOver()
          report({ ...event, ...named })
        }
      }
      if (settings.bucket !== null) return await openBucketLate(opened, settings.bucket)
      ensureDir(settings.root)
      return await openWorkspace({
        ...opened,
        ...(access !== null && { threads: THREADS })
      })
    } catch (error) {
      throw new CantOpen(settings, error)
    }
  }
  if (access === null) return oneSpace(config, await open(config, {}), report)
  const spaces = new AccessSpaces(config, (settings, workspace) => open(settings, { workspace }), report)
  await spaces.replace(access)
  return spaces
}

const auditing = ({ auditRequired: required, durability }: Config) => ({ required, durable: durability === 'full' })
