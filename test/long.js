// Runs tests with counts from the command line: `npm run test:races -- --attempts 1000000` becomes
// LONG_ATTEMPTS=1000000. Does not know any test.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const args = process.argv.slice(2)
const end = args.findIndex(word => word.startsWith('-'))
const files = args.slice(0, end < 0 ? args.length : end).map(name => `test/${name}.test.ts`)
const flags = args.slice(files.length)

const env = { ...process.env }
for (let i = 0; i < flags.length; i += 2) {
  const name = /^--([a-z]+)$/.exec(flags[i])?.[1]
  if (name === undefined || !/^\d+$/.test(flags[i + 1] ?? '')) {
    process.stderr.write(`${flags[i]}: expected --name and a number. SEED in the environment repeats a run.\n`)
    process.exit(2)
  }
  env[`LONG_${name.toUpperCase()}`] = flags[i + 1]
}

const start = performance.now()
const child = spawn('npx', ['tap', '--disable-coverage', '--timeout=0', '--reporter=tap', ...files], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env
})
let held = 0
for await (const line of createInterface({ input: child.stdout })) {
  held += Number(/# held for (\d+) cases/.exec(line)?.[1] ?? 0)
  // For what passed, the counts are enough.
  if (!/^ *ok |^ *# (Subtest|time)/.test(line)) process.stdout.write(`${line}\n`)
}
process.exitCode = child.exitCode ?? (await new Promise(resolve => child.on('exit', resolve))) ?? 1
const minutes = ((performance.now() - start) / 60_000).toFixed(1)
const cases = held > 0 ? `${held} cases held, ` : ''
const result = process.exitCode === 0 ? 'all passed' : 'something failed: see above'
process.stdout.write(`${cases}${result}, in ${minutes} minutes\n`)
