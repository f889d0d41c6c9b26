// The long modes: `npm run test:races -- --attempts 1000000` and the like become what the tests look for in the environment. Knows no test.
import { spawnSync } from 'node:child_process'

const [file, ...flags] = process.argv.slice(2)
const env = { ...process.env }
for (let i = 0; i < flags.length; i += 2) {
  const name = /^--([a-z]+)$/.exec(flags[i])?.[1]
  if (name === undefined || !/^\d+$/.test(flags[i + 1] ?? '')) {
    process.stderr.write(`${flags[i]}: it accepts --name and a number\n`)
    process.exit(2)
  }
  env[`THREATS_${name.toUpperCase()}`] = flags[i + 1]
}
process.exitCode = spawnSync('npx', ['tap', '--disable-coverage', '--timeout=0', '--reporter=tap', `test/threats/${file}.test.ts`], { stdio: 'inherit', env }).status ?? 1
