// Test servers that serve a bucket, which is kept equal to a test's folder: a test that writes and reads files in its
// folder then tests the bucket. Does not know any test.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client
} from '@aws-sdk/client-s3'
import type { Test } from 'tap'
import { openBucket } from '../../../src/bucket/open.ts'
import { etagForm, makeBucket, type Bucket } from '../../ceph.ts'
import { settingsOf, TOKEN, type Serve } from '../../http/test-server.ts'

interface Mirror {
  /** Writes to the bucket what has changed in the folder since the last call of either. */
  take(): Promise<void>
  /** And the other way round. */
  give(): Promise<void>
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

/** One at a time, in the order of the calls. `prefix`: with a slash at its end. */
function makeMirror(folder: string, client: S3Client, Bucket: string, prefix: string): Mirror {
  /** By path: the MD5 of what both have, which is also the object's ETag. */
  const same = new Map<string, string>()
  /** By path: which state of the file that was read from. */
  const seen = new Map<string, string>()

  const take = async (): Promise<void> => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    for (const path of paths) {
      const { size, mtimeMs, ino } = lstatSync(join(folder, path))
      const state = `${size} ${mtimeMs} ${ino}`
      if (seen.get(path) === state) continue
      seen.set(path, state)
      const Body = readFileSync(join(folder, path))
      if (same.get(path) === md5(Body)) continue
      await client.send(new PutObjectCommand({ Bucket, Key: prefix + path, Body }))
      same.set(path, md5(Body))
    }
    for (const path of [...same.keys()].filter(path => !paths.includes(path))) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + path }))
      same.delete(path)
      seen.delete(path)
    }
  }

  const give = async (): Promise<void> => {
    const there = new Set<string>()
    let StartAfter: string | undefined
    do {
      const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, StartAfter }))
      const { Contents = [] } = page
      for (const { Key = '', ETag = '' } of Contents) {
        const path = Key.slice(prefix.length)
        if (path.startsWith('.editd/')) continue
        there.add(path)
        if (same.get(path) === ETag.replaceAll('"', '')) continue
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
        const bytes = Buffer.from(await Body!.transformToByteArray())
        const file = join(folder, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, bytes)
        same.set(path, md5(bytes))
        const { size, mtimeMs, ino } = lstatSync(file)
        seen.set(path, `${size} ${mtimeMs} ${ino}`)
      }
      StartAfter = page.IsTruncated ? Contents.at(-1)?.Key : undefined
    } while (StartAfter !== undefined)
    for (const path of [...same.keys()].filter(path => !there.has(path))) {
      rmSync(join(folder, path))
      same.delete(path)
      seen.delete(path)
    }
  }

  let turn = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => () => (turn = turn.then(work))
  return { take: inTurn(take), give: inTurn(give) }
}

let bucket: Promise<Bucket> | undefined
let prefixes = 0
/** By state folder: a test that starts two servers with the same one means the same history. */
const mirrors = new Map<string, { mirror: Mirror; prefix: string; root: string }>()

/**
 * Each test has a prefix of its own, in the one bucket of this process. It is served by the first gateway and read by
 * the second.
 */
export const serveBucket =
  (top: Test): Serve =>
  async (_t, { root, stateDir }, { root: _root, stateDir: _state, ...settings }, audit) => {
    const { name, endpoints, environment, client } = await (bucket ??= makeBucket(top))
    Object.assign(process.env, environment)
    const known = mirrors.get(stateDir)
    const prefix = known?.prefix ?? `test-${++prefixes}`
    const { mirror } = known ?? { mirror: makeMirror(root, client(1), name, `${prefix}/`) }
    mirrors.set(stateDir, { mirror, prefix, root })
    await mirror.take()
    const flags = [`s3://${name}/${prefix}`, '--token', TOKEN, '--s3-endpoint', endpoints[0]]
    const config = { ...settingsOf(flags), ...settings }
    const workspace = await openBucket({
      ...config,
      address: { bucket: name, prefix },
      endpoint: endpoints[0],
      region: null,
      form: await etagForm(),
      ...(audit !== undefined && { audit })
    })
    return { config, workspace, ...mirror }
  }
