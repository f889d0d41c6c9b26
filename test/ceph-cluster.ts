// The process of one Ceph: monitor, one disk in memory and two gateways. Listens on an abstract socket named by its
// first argument, sends each client the gateways' addresses, and ends when no client has been connected for a while.
// Does not know any test.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** ms from when the last user disconnects; longer than the time between two test files. */
const IDLE = 15_000
/** The most ms until Ceph is up: it takes 15 to 25 s on two idle cores. */
const START = 150_000

const run = promisify(execFile)
const deadline = Date.now() + START
const folder = mkdtempSync(join(tmpdir(), 'editd-ceph-'))
const children: ChildProcess[] = []
const users = new Set<Socket>()

/** Starts a process that ends with this one, even if this one is killed. */
function start(command: string, ...args: string[]): ChildProcess {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], { stdio: 'ignore' })
  children.push(child)
  return child
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    })
  )
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

const config = (mon: number, fsid: string): string => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${mon}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon warn on pool no redundancy = false
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
pid file = ${folder}/run/$name.$pid.pid
log file = ${folder}/$name.log
ms mon client mode = crc
[mon]
mon data = ${folder}/mon
mon data avail crit = 1
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
[client]
ms mon client mode = crc secure
rgw data = ${folder}/rgw
rgw enable ops log = false
rgw thread pool size = 64
`

/** setpriv becomes the command, so its id is the command's. */
const pidOf = ({ pid = 0 }: ChildProcess): number => pid

/** Resolves when the gateway answers. */
async function untilUp(endpoint: string, gateway: ChildProcess): Promise<void> {
  for (;;) {
    if (gateway.exitCode !== null) throw new Error(`radosgw ended with ${gateway.exitCode}`)
    const isUp = await fetch(endpoint).then(
      () => true,
      () => false
    )
    if (isUp) return
    if (Date.now() > deadline) throw new Error('radosgw does not answer')
    await sleep(100)
  }
}

async function cluster(): Promise<object> {
  for (const name of ['mon', 'osd', 'rgw', 'run']) mkdirSync(join(folder, name))
  const [mon = 0, ...ports] = await freePorts(3)
  const fsid = randomUUID()
  const conf = join(folder, 'ceph.conf')
  writeFileSync(conf, config(mon, fsid))
  const timeout = START
  const map = join(folder, 'monmap')
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${mon}]`, map], { timeout })
  await run('ceph-mon', ['-c', conf, '--mkfs', '-i', 'a', '--monmap', map], { timeout })
  const monitor = start('ceph-mon', '-c', conf, '-i', 'a', '-f')
  const disk = randomUUID()
  await run('ceph', ['-c', conf, 'osd', 'new', disk], { timeout })
  await run('ceph-osd', ['-c', conf, '-i', '0', '--mkfs', '--osd-uuid', disk], { timeout })
  const osd = start('ceph-osd', '-c', conf, '-i', '0', '-f')
  const [accessKeyId, secretAccessKey] = ['tests', randomUUID()]
  const guest = { accessKeyId: 'guest', secretAccessKey: randomUUID() }
  const makeUser = async (name: string, secret: string): Promise<unknown> => {
    const user = [`--uid=${name}`, `--display-name=${name}`, '--max-buckets=100000']
    const keys = [`--access-key=${name}`, `--secret-key=${secret}`]
    return run('radosgw-admin', ['-c', conf, 'user', 'create', ...user, ...keys], { timeout })
  }
  // The first one makes the pools.
  await makeUser(accessKeyId, secretAccessKey)
  await makeUser(guest.accessKeyId, guest.secretAccessKey)
  const gateways = await Promise.all(
    ports.map(async port => {
      const endpoint = `http://127.0.0.1:${port}`
      // Without `tcp_nodelay`, a GET takes 45 ms instead of 4: it waits for the client's system to acknowledge the
      // headers.
      const flags = ['-f', '--ms_mon_client_mode=crc', `--rgw_frontends=beast endpoint=127.0.0.1:${port} tcp_nodelay=1`]
      const gateway = start('radosgw', '-c', conf, '-n', 'client.admin', ...flags)
      await untilUp(endpoint, gateway)
      return { endpoint, pid: pidOf(gateway) }
    })
  )
  return {
    endpoints: gateways.map(({ endpoint }) => endpoint),
    accessKeyId,
    secretAccessKey,
    guest,
    processes: { gateways: gateways.map(({ pid }) => pid), behind: [pidOf(monitor), pidOf(osd)] }
  }
}

let idle: NodeJS.Timeout | undefined
function endWhenIdle(): void {
  clearTimeout(idle)
  idle = setTimeout(() => end(0), IDLE)
}

function end(status: number): never {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(status)
}

let starting: Promise<object> | undefined
const server = createServer(socket => {
  clearTimeout(idle)
  users.add(socket)
  socket.on('error', () => {})
  socket.on('close', () => {
    users.delete(socket)
    if (users.size === 0) endWhenIdle()
  })
  // Without reading, 'close' would never be emitted.
  socket.resume()
  starting?.then(facts => socket.write(`${JSON.stringify(facts)}\n`))
})
// Another process owns the socket already.
server.on('error', () => end(0))
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end(1))
server.listen(`\0${process.argv[2]}`, () => {
  endWhenIdle()
  starting = cluster().catch((error: unknown) => ({ fault: String(error) }))
})
