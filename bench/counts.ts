// npm run bench:counts -- [--edits N] [--clients N] [--rows N] [-- FLAG…]: the functions in which an edit's cycles are,
// as counted by valgrind's callgrind, independent of what else the machine does. The flags are the server's.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { functionsIn, type FunctionCost } from './callgrind.ts'
import { CORPORA, makeCase } from './corpora.ts'
import { requestOf } from './load/http-client.ts'
import { Load } from './load/load.ts'
import { Server, TOKEN } from './server.ts'

const { values, positionals: flags } = parseArgs({
  allowPositionals: true,
  options: {
    edits: { type: 'string', default: '400' },
    clients: { type: 'string', default: '4' },
    rows: { type: 'string', default: '60' }
  }
})
const edits = Number(values.edits)
const clients = Number(values.clients)
const rows = Number(values.rows)
/** Edits before counting starts; the compiler is busy for some 4,000. */
const WARM = 6000
/** Effectively no time limit: the server runs at a fiftieth of its speed. */
const MS = 3_600_000

const place = mkdtempSync(join(tmpdir(), 'editd-counts-'))
const root = join(place, 'root')
const output = join(place, 'callgrind')
mkdirSync(root)
const file = makeCase(CORPORA[0]!, 10_240, 1)
const requests = Array.from({ length: clients }, (_, i) => {
  const path = `f${i}.ts`
  writeFileSync(join(root, path), file.bytes)
  const request = (edit: object | undefined) => requestOf({ path, ...edit }, TOKEN)
  return { there: request(file.there[0]), back: request(file.back[0]) }
})
const server = await Server.start(
  [
    '--perf-basic-prof',
    fileURLToPath(new URL('../src/server.js', import.meta.url)),
    root,
    ...['--port', '0', '--state-dir', join(place, 'state')],
    ...flags
  ],
  {},
  [
    ...['valgrind', '--tool=callgrind', '--cache-sim=yes', '--dump-instr=yes', '--instr-atstart=no'],
    // Caches of a small machine; for the last one, the size of a core's own.
    ...['--I1=32768,8,64', '--D1=32768,8,64', '--LL=1048576,8,64'],
    ...['--smc-check=all-non-file', `--callgrind-out-file=${output}`]
  ]
)
const load = new Load()
const map = `/tmp/perf-${server.pid}.map`
try {
  const control = (...args: string[]) =>
    execFileSync('callgrind_control', [...args, String(server.pid)], { stdio: 'ignore' })
  const { group } = await load.ask('openHttp', { port: server.port, requests })
  const drive = (each: number) => load.ask('drive', { group, first: 0, clients, each, ms: MS })
  await drive(Math.ceil(WARM / clients))
  control('-i', 'on')
  // Valgrind first translates the code.
  await drive(20)
  control('-z')
  const counted = await drive(Math.ceil(edits / clients))
  control('-i', 'off')
  await server.stop()
  print(functionsIn(readFileSync(output, 'latin1'), readFileSync(map, 'utf8')), counted.edits)
} finally {
  await load.stop()
  await server.stop()
  rmSync(place, { recursive: true })
  rmSync(map, { force: true })
}

function print({ functions, total }: ReturnType<typeof functionsIn>, made: number): void {
  const one = (cycles: number): string => Math.round(cycles / made).toLocaleString('en')
  const sum = ({ own, calls }: FunctionCost): number =>
    own + [...calls.values()].reduce((all, { cycles }) => all + cycles, 0)
  console.log(
    `${one(total)} cycles for each of ${made} edits, as estimated from the counts; of these, by function of JavaScript:\n`
  )
  console.log('| cycles | its own | function | what it calls, times, cycles |\n| --- | --- | --- | --- |')
  for (const cost of functions.toSorted((a, b) => sum(b) - sum(a)).slice(0, rows)) {
    const calls = [...cost.calls]
      .sort(([, a], [, b]) => b.cycles - a.cycles)
      .slice(0, 4)
      .map(([name, { count, cycles }]) => `${name.slice(0, 50)} ${(count / made).toFixed(1)} × ${one(cycles)}`)
    const name = cost.name.replace(/^JS:[*^~]*/, '').replace(/ (?:file:\/\/)?\/.*\/(?=(?:dist|node_modules)\/)/, ' ')
    console.log(`| ${one(sum(cost))} | ${one(cost.own)} | ${name} | ${calls.join(', ')} |`)
  }
}
