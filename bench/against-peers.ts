// Compares editd with other servers that edit files: all get equal edits, each in its own process, over MCP on stdin
// and stdout.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KB, makeCase, MB, type Case, type Edit } from './corpora.ts'
import { cpuOf } from './machine.ts'
import { naiveReplace } from './naive.ts'
import { measure, type RoundOptions, type Variant } from './rounds.ts'
import { rowsOf, type Row } from './row.ts'

export const OVER_MCP = 'product over MCP, fast/local'
/**
 * Installed by `npm ci --ignore-scripts --prefix bench/peers`, and not by `npm ci` alone. This file runs from
 * dist/bench.
 */
const PEERS = fileURLToPath(new URL('../../bench/peers/node_modules', import.meta.url))

export const peersInstalled = (): boolean => existsSync(PEERS)

interface Call {
  name: string
  arguments: Record<string, unknown>
}

export interface Peer {
  name: string
  /** The program's arguments, for a `root`, and a `home` for its own files. */
  args(root: string, home: string): string[]
  calls(path: string, edits: readonly Edit[]): Call[]
}

const PRODUCT: Peer = {
  name: OVER_MCP,
  args: (root, home) => [
    fileURLToPath(new URL('../src/server.js', import.meta.url)),
    'mcp',
    root,
    '--state-dir',
    join(home, 'state'),
    '--durability',
    'fast',
    '--lock',
    'local',
    '--max-edits',
    '1000'
  ],
  calls: (path, edits) => [{ name: 'edit_file', arguments: { path, edits, show_diff: true } }]
}

export const FILESYSTEM: Peer = {
  name: '@modelcontextprotocol/server-filesystem',
  args: root => [programOf('@modelcontextprotocol/server-filesystem'), root],
  calls: (path, edits) => [
    {
      name: 'edit_file',
      arguments: { path, edits: edits.map(({ old_text, new_text }) => ({ oldText: old_text, newText: new_text })) }
    }
  ]
}

/** `several`: takes several edits in one call. The others skip the case of a hundred edits, which takes minutes. */
const OTHERS: (Peer & { several: boolean })[] = [
  { ...FILESYSTEM, several: true },
  {
    name: '@wonderwhy-er/desktop-commander',
    several: false,
    args: () => [programOf('@wonderwhy-er/desktop-commander')],
    calls: (path, edits) =>
      edits.map(({ old_text, new_text }) => ({
        name: 'edit_block',
        arguments: { file_path: path, old_string: old_text, new_string: new_text, expected_replacements: 1 }
      }))
  }
]

function programOf(name: string): string {
  const folder = join(PEERS, name)
  const { bin, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>
    version: string
  }
  versions.set(name, version)
  return join(folder, typeof bin === 'string' ? bin : Object.values(bin)[0]!)
}

const versions = new Map<string, string>()

export async function againstPeers(
  base: string,
  quick: boolean,
  options: RoundOptions,
  progress: (line: string) => void
): Promise<Row[]> {
  // The quick run takes two minutes, with the build.
  if (quick) return []
  if (!peersInstalled()) {
    progress('peers: left out, npm ci --ignore-scripts --prefix bench/peers installs them')
    return []
  }
  const sizes: [number, number][] = [
    [10 * KB, 1],
    [MB, 1],
    [MB, 100],
    [10 * MB, 1],
    [10 * MB, 100]
  ]
  const rows: Row[] = []
  for (const [size, edits] of sizes) {
    const it = makeCase('ASCII', size, edits)
    progress(`peers, ${it.name}, ${edits} edits`)
    rows.push(...(await compared(base, it, options)))
  }
  return rows
}

async function compared(base: string, it: Case, options: RoundOptions): Promise<Row[]> {
  const folder = join(base, 'peers')
  const running: Running[] = []
  const after = Buffer.from(naiveReplace(it.bytes.toString(), it.there))
  try {
    const variants: Variant[] = []
    for (const [index, peer] of [
      PRODUCT,
      ...OTHERS.filter(({ several }) => several || it.there.length === 1)
    ].entries()) {
      const place = join(folder, String(index))
      const server = await Running.start(peer, place)
      running.push(server)
      variants.push(await variantOf(peer, server, place, it, after))
    }
    return rowsOf(
      `${it.name}, MCP`,
      it.there.length,
      await measure(variants, { ...options, warm: 3 * options.warm })
    ).map(row => ({
      ...row,
      variant: versions.has(row.variant) ? `${row.variant} ${versions.get(row.variant)}` : row.variant
    }))
  } finally {
    await Promise.all(running.map(server => server.stop()))
    await rm(folder, { recursive: true })
  }
}

/** The result is compared with the naive variant's before anything is timed. */
async function variantOf(peer: Peer, server: Running, place: string, it: Case, after: Buffer): Promise<Variant> {
  const small = it.size < MB
  const files = Array.from({ length: small ? 40 : 2 }, (_, i) => ({
    path: join(place, 'root', `file${i}.ts`),
    there: true
  }))
  for (const { path } of files) writeFileSync(path, it.bytes)
  const step = async (file: (typeof files)[number]): Promise<void> => {
    await server.edit(file.path, file.there ? it.there : it.back)
    file.there = !file.there
  }
  for (const expected of [after, it.bytes]) {
    await step(files[0]!)
    if (!readFileSync(files[0]!.path).equals(expected)) {
      throw new Error(`${peer.name} makes other bytes of ${it.name} than the naive variant`)
    }
  }
  let next = 0
  const operations = small ? 20 : 1
  return {
    name: peer.name,
    against: PRODUCT.name,
    async run() {
      const before = server.cpu()
      for (let i = 0; i < operations; i++) await step(files[next++ % files.length]!)
      return { operations, cpu: server.cpu() - before }
    }
  }
}

class Running {
  readonly #peer: Peer
  readonly #client: Client
  readonly #pid: number
  readonly #root: string

  private constructor(peer: Peer, client: Client, pid: number, root: string) {
    this.#peer = peer
    this.#client = client
    this.#pid = pid
    this.#root = root
  }

  static async start(peer: Peer, place: string): Promise<Running> {
    const [root, home] = [join(place, 'root'), join(place, 'home')]
    mkdirSync(root, { recursive: true })
    mkdirSync(join(home, '.claude-server-commander'), { recursive: true })
    // Turns off one server's telemetry.
    writeFileSync(
      join(home, '.claude-server-commander', 'config.json'),
      JSON.stringify({ telemetryEnabled: false, allowedDirectories: [root], fileWriteLineLimit: 1_000_000 })
    )
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: peer.args(root, home),
      env: { ...(process.env as Record<string, string>), HOME: home },
      stderr: 'ignore'
    })
    const client = new Client({ name: 'editd-bench', version: '1' })
    await client.connect(transport)
    return new Running(peer, client, transport.pid!, root)
  }

  /** `path` is absolute. Throws if the tool reports a failure. */
  async edit(path: string, edits: readonly Edit[]): Promise<void> {
    const own = this.#peer === PRODUCT ? path.slice(this.#root.length + 1) : path
    for (const call of this.#peer.calls(own, edits)) {
      const answer = await this.#client.callTool(call, { timeout: 600_000 })
      if (answer.isError === true) {
        throw new Error(`${this.#peer.name}: ${JSON.stringify(answer.content).slice(0, 500)}`)
      }
    }
  }

  /** CPU time in ms that all its threads have used; NaN if the system doesn't say. */
  cpu(): number {
    return cpuOf(this.#pid)
  }

  stop(): Promise<void> {
    return this.#client.close()
  }
}
