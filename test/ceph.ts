// A real object store for tests and the benchmark: a Ceph with two gateways, shared by all processes that run at once.
// Does not know any test.
import { execFile, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { Test } from 'tap'
import { ONLY_CI } from './often.ts'

export interface Ceph {
  /** URLs of the gateways, at least two, such as `http://127.0.0.1:7480`; all serve the same buckets. */
  endpoints: [string, string]
  accessKeyId: string
  secretAccessKey: string
  /** A user who may do only what a bucket's policy allows; its key is also its name. */
  guest: { accessKeyId: string; secretAccessKey: string }
  /** Process ids: the gateways in the order of the endpoints; the monitor and the disk behind them. */
  processes: { gateways: number[]; behind: number[] }
}

/** A bucket that no other test has. */
export interface Bucket extends Ceph {
  name: string
  /** What a server of this bucket needs in its environment. */
  environment: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string; AWS_REGION: string }
  /** A client of a gateway, by default the first. */
  client(gateway?: 0 | 1): S3Client
}

const NEEDED = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'ceph', 'monmaptool', 'setpriv']

const isInstalled = (command: string): boolean =>
  (process.env.PATH ?? '').split(':').some(folder => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** False, or why tests that need Ceph are skipped. */
export const NO_CEPH: string | false = (() => {
  if (ONLY_CI) return ONLY_CI
  if (process.env.NO_S3 === '1') return 'NO_S3=1: an object store is the same on every Node'
  if (process.platform !== 'linux') return 'Ceph is started on Linux only'
  const missing = NEEDED.filter(command => !isInstalled(command))
  return missing.length > 0 && `not installed: ${missing.join(', ')} (Debian: radosgw ceph-mon ceph-osd ceph-common)`
})()

/** This file's folder; the file is also built itself, for the benchmark. */
const SOURCES = new URL(import.meta.url.endsWith('.js') ? '../../test/' : '.', import.meta.url)

/** One for each user and tree; an abstract socket leaves no file behind. */
const SOCKET = `editd-ceph-${createHash('sha256')
  .update(`${process.getuid?.()} ${import.meta.url}`)
  .digest('hex')
  .slice(0, 16)}`

/** Null if no process listens. */
async function connected(): Promise<Socket | null> {
  const socket = connect(`\0${SOCKET}`)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return null
  }
}

/** Connects to the cluster's process, and starts it if none runs. It ends some time after its last user. */
async function use(): Promise<Ceph> {
  for (let tries = 0; ; tries++) {
    const socket = await connected()
    if (socket === null) {
      // Starting took more than 20 s on a busy machine.
      if (tries > 450) throw new Error('the process of the cluster does not listen')
      // Others may do so at the same time: one of them gets the socket, the rest end.
      if (tries % 50 === 0) {
        const loader = new URL('typescript.js', SOURCES).href
        const program = fileURLToPath(new URL('ceph-cluster.ts', SOURCES))
        // It serves later tests too, so it doesn't count as left behind by this one.
        const { TEST_RUN: _, NODE_V8_COVERAGE: __, ...env } = process.env
        const args = ['--import', loader, program, SOCKET]
        spawn(process.execPath, args, { detached: true, stdio: 'ignore', env }).unref()
      }
      await sleep(200)
      continue
    }
    const lines = createInterface({ input: socket })
    const line = await Promise.race([once(lines, 'line'), once(socket, 'close').then(() => null)])
    // The process was just ending.
    if (line === null) continue
    const facts = JSON.parse(String(line[0])) as Ceph | { fault: string }
    if ('fault' in facts) throw new Error(`Ceph does not start: ${facts.fault}`)
    // It counts as used until this process ends.
    socket.unref()
    return facts
  }
}

let using: Promise<Ceph> | undefined

/** The cluster. Takes some 20 s if no other test of this user has started it. */
export const ceph = (): Promise<Ceph> => (using ??= use())

export const clientOf = (
  { accessKeyId, secretAccessKey }: Pick<Ceph, 'accessKeyId' | 'secretAccessKey'>,
  endpoint: string,
  settings: S3ClientConfig = {}
): S3Client =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    ...settings
  })

/** Makes a bucket for one test, or for anything else with a `teardown`. */
export async function makeBucket(t: Pick<Test, 'teardown'>): Promise<Bucket> {
  const cluster = await ceph()
  const name = `test-${randomUUID()}`
  const clients = cluster.endpoints.map(endpoint => clientOf(cluster, endpoint))
  t.teardown(() => clients.forEach(client => client.destroy()))
  await clients[0]!.send(new CreateBucketCommand({ Bucket: name }))
  return {
    ...cluster,
    name,
    environment: {
      AWS_ACCESS_KEY_ID: cluster.accessKeyId,
      AWS_SECRET_ACCESS_KEY: cluster.secretAccessKey,
      AWS_REGION: 'us-east-1'
    },
    client: (gateway = 0) => clients[gateway]!
  }
}

/** The form of an ETag that its gateways take in a condition: quoted since version 20 (Ceph's pull request 63348). */
export async function etagForm(): Promise<'quoted' | 'unquoted'> {
  const { stdout } = await promisify(execFile)('radosgw', ['--version'])
  return Number(/version (\d+)/.exec(stdout)?.[1]) < 20 ? 'unquoted' : 'quoted'
}
