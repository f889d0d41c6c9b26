// Opens what a server serves: the root in its settings, or the workspaces of an access file. Does not know the process,
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
import { Searcher } from './workers/search.ts'

/** `report` as for `openWorkspace`; with several workspaces, each event names its workspace. */
interface OpenOptions {
  config: Config
  report(event: object): void
  /** Measures a workspace, which has a name if there is an access file; without `meter`, nothing is measured. */
  meter?(workspace?: string): Meter
  /** Null: there is none. */
  auditFile?: AuditFile | null
}

/**
 * With several workspaces, how many of the process's threads (four, unless UV_THREADPOOL_SIZE says otherwise) may wait
 * for the file system of one of them: if it hangs, the others still have the rest.
 */
const THREADS = 2
/** In ms: how long a search for a find may go on after its time, so that its thread is free for the next. Chosen. */
const FIND_GRACE = 500

/** Loads the code for buckets only if there is a bucket. */
async function openBucketLate(
  settings: Config & Pick<WorkspaceOptions, 'audit' | 'meter' | 'report'>,
  address: BucketAddress
) {
  const { openBucket } = await import('./bucket/open.ts')
  const { FINDS_AT_ONCE } = await import('./bucket/find.ts')
  const searcher = new Searcher({ size: FINDS_AT_ONCE, grace: FIND_GRACE })
  return openBucket({ ...settings, address, endpoint: settings.s3Endpoint, region: settings.s3Region, searcher })
}

/** Creates roots that don't exist. Throws CantOpen. */
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
