// Test servers of a bucket that is kept equal to a test's folder: so a test that writes and reads files in its folder
// tests the bucket. Does not know any test.
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
import { Searcher } from '../../../src/workers/search.ts'
import { etagForm, makeBucket, type Bucket } from '../../ceph.ts'
import { settingsOf, TOKEN, type Serve } from '../../http/test-server.ts'

interface Mirror {
  /** Copies the folder's changes since the last call of either method to the bucket. */
  take(): Promise<void>
  /** Copies the bucket's changes to the folder. */
  give(): Promise<void>
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

/** Calls run one after the other. `prefix` ends with a slash. */
function makeMirror(folder: string, client: S3Client, Bucket: string, prefix: string): Mirror {
  /** By path: the MD5 of the content that both have, which is also the object's ETag. */
  const same = new Map<string, string>()
  /** By path: the state of the file when it was read. */
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
/** By state folder: servers with the same state folder share a history. */
const mirrors = new Map<string, { mirror: Mirror; prefix: string; root: string }>()

/** Serves a prefix for each test in this process's bucket, by the first gateway; the mirror uses the second. */
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
      searcher: new Searcher(),
      form: await etagForm(),
      ...(audit !== undefined && { audit })
    })
    return { config, workspace, ...mirror }
  }
