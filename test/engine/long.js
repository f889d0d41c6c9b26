// The long mode of the engine: `npm run test:engine -- --rounds 1000000` holds its fast ways to the naive ones so often. Knows no law.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const FILES = ['replace-text', 'sightings', 'line-numbers'].map(name => `test/engine/${name}.test.ts`)

const [flag, rounds] = process.argv.slice(2)
if (flag !== '--rounds' || !/^[1-9]\d*$/.test(rounds ?? '') || process.argv.length > 4) {
  process.stderr.write('It accepts --rounds and a number; SEED in the environment repeats a run.\n')
  process.exit(2)
}

const start = performance.now()
const child = spawn('npx', ['tap', '--disable-coverage', '--timeout=0', '--reporter=tap', ...FILES], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ROUNDS: rounds } })
let held = 0
for await (const line of createInterface({ input: child.stdout })) {
  const cases = /# held for (\d+) cases/.exec(line)?.[1]
  held += Number(cases ?? 0)
  // What passed is told by the counts.
  if (cases === undefined && /^ *ok |^ *# (Subtest|time)/.test(line)) continue
  process.stdout.write(`${line}\n`)
}
process.exitCode = child.exitCode ?? await new Promise(resolve => child.on('exit', resolve)) ?? 1
process.stdout.write(`${held} cases held${process.exitCode === 0 ? '' : ', and something failed: see above'}, in ${((performance.now() - start) / 60_000).toFixed(1)} minutes\n`)
