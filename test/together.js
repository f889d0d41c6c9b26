// Runs test files that test/run.js names over IPC, one after the other, in this process: `node test/together.js`.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

keepOpen()
const fixtures = t.testdirName
// tap and Node let the channel keep no process alive.
const alive = setInterval(() => {}, 60_000)
for (;;) {
  const next = once(process, 'message')
  process.send('next')
  const [{ file, alone }] = await next
  if (file === undefined) break
  if (!alone) {
    // It would hold for the tests of all files.
    const set = () => assert.fail('a file that sets t.jobs needs a line that begins with "// runs alone:"')
    Object.defineProperty(t, 'jobs', { get: () => 1, set, configurable: true })
  }
  // Nor may a limit that one file sets end the tests of another.
  t.setTimeout(0)
  // Else the folder that one file makes at its top would be removed for that of the next.
  t.testdirName = `${fixtures}-${file.replaceAll('/', '-')}`
  // In the order of the tests, so that the reader knows whose results follow.
  t.comment(`file: ${file}`)
  const before = cpuSeconds()
  await import(pathToFileURL(resolve(file)).href)
  while (!isIdle()) await once(t, 'idle')
  t.comment(`cpu: ${(cpuSeconds() - before).toFixed(1)}`)
  // What threw outside a test would fail all files that follow.
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

/** Seconds of CPU that this process has used, and on Linux the processes that it started and that have ended. */
function cpuSeconds() {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
  // utime, stime, cutime, cstime (proc(5)), in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field) / 100, 0)
}
