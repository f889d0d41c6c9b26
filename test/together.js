// Runs test files that test/run.js names over IPC, one after the other, in this process: `node test/together.js`.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

keepOpen()
const fixtures = t.testdirName
// The channel to the parent doesn't keep the process alive.
const alive = setInterval(() => {}, 60_000)
for (;;) {
  const next = once(process, 'message')
  process.send('next')
  const [{ file, alone }] = await next
  if (file === undefined) break
  if (!alone) {
    // t.jobs would apply to the tests of all files.
    const set = () => assert.fail('a file that sets t.jobs needs a line that begins with "// runs alone:"')
    Object.defineProperty(t, 'jobs', { get: () => 1, set, configurable: true })
  }
  // A file's timeout must not end the tests of another one.
  t.setTimeout(0)
  // A folder of its own for each file: else the top-level folder of one would be removed for the next.
  t.testdirName = `${fixtures}-${file.replaceAll('/', '-')}`
  // In the order of the results, so that the parent knows which file they belong to.
  t.comment(`file: ${file}`)
  const before = cpuSeconds()
  await import(pathToFileURL(resolve(file)).href)
  while (!isIdle()) await once(t, 'idle')
  t.comment(`cpu: ${(cpuSeconds() - before).toFixed(1)}`)
  // A throw outside a test would fail all files that follow.
  if (!t.passing()) break
}
clearInterval(alive)
delete t.idle
if (t.idle) t.emit('idle')

/** tap would end the tests of the process when none is left; the next file may still come. */
function keepOpen() {
  Object.defineProperty(t, 'idle', { get: () => false, configurable: true })
}

function isIdle() {
  delete t.idle
  const is = t.idle
  keepOpen()
  return is
}

/** Seconds of CPU that this process has used; on Linux with its ended child processes. */
function cpuSeconds() {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  // utime, stime, cutime, cstime (proc(5)), in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field) / 100, 0)
}
