// Runs the tests: `npm test`, `npm test -- test/engine test/listen.test.ts`, `npm run test:races -- --attempts 1000000`.
//
// Many files share a process, since a separate one costs two seconds of CPU. A file that can't share one says so in
// its first lines: `// runs alone: WHY`. One without tests for `npm test` says `// runs in .ci/run` there, and isn't
// loaded, which can take seconds. A file that fails runs again, alone, once; if it passes then, the run is green and
// its last lines name the file. With BAIL=1, no more files start after a failure. With NODE_V8_COVERAGE in the
// environment, V8 counts the lines that run.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { Parser } from 'tap-parser'

const HOME = fileURLToPath(new URL('..', import.meta.url))
/** The most files in one process, which bounds what they leave loaded or open. */
const SHARED = 80
/** Whether files for .ci/run and .ci/long run too. */
const ALL = process.env.CI !== undefined || process.env.LONG === '1'
/** Why they are not loaded otherwise. */
const NOT_LOADED = 'files all of whose tests run in .ci/run (CI=true)'
/** Processes at once: twice the cores, since many tests mostly wait. */
const JOBS = Number(process.env.JOBS ?? 2 * availableParallelism())
/** Seconds without a result after which a process is killed. The longest law takes 20 s when it runs alone. */
const SILENCE = process.env.LONG === '1' ? 1800 : 300
/** Seconds of CPU above which a file is reported as slow: few should be. */
const SLOW = 3
/** Seconds that a test's child processes have to end after it. */
const GRACE = 5

const { paths, env } = readArguments(process.argv.slice(2))
const files = testFiles(paths)
if (files.length === 0) fail(`no test file: ${paths.join(' ')}`)

const start = performance.now()
/** By file: `{ cpu, longest, pass, fail, skip, held, failures }`. */
const results = new Map()
const skipped = new Map()
const leftovers = []
const flaky = []

mkdirSync(`${HOME}.tap/fixtures`, { recursive: true })
const queue = ordered(files)
await Promise.all(Array.from({ length: Math.min(JOBS, queue.length) }, work))
for (const file of [...results.keys()]) {
  if (passed(file) || files.length === 1) continue
  const { failures } = results.get(file)
  process.stdout.write(`again, alone: ${file}\n`)
  await run([{ file, alone: true }])
  if (passed(file)) flaky.push(...new Set(failures.map(({ name }) => `${file} › ${name.split(' › ')[0]}`)))
}
report()

async function work() {
  while (queue.length > 0) await run(queue)
}

/** `paths`: files or folders. `--name 7` becomes LONG_NAME=7. */
function readArguments(args) {
  const env = {}
  const paths = []
  for (let i = 0; i < args.length; i++) {
    const name = /^--([a-z]+)$/.exec(args[i])?.[1]
    if (name === undefined) {
      paths.push(args[i].replace(/^\.\//, '').replace(/\/$/, ''))
      continue
    }
    if (!/^\d+$/.test(args[++i] ?? '')) fail(`--${name}: expected a number. SEED in the environment repeats a run.`)
    env[`LONG_${name.toUpperCase()}`] = args[i]
  }
  return { paths, env }
}

function testFiles(paths) {
  const all = readdirSync(`${HOME}test`, { recursive: true, encoding: 'utf8' })
    .map(name => `test/${name.replaceAll('\\', '/')}`)
    .filter(name => name.endsWith('.test.ts') && !name.includes('/node_modules/'))
    .sort()
  const missing = paths.filter(path => !all.some(name => name === path || name.startsWith(`${path}/`)))
  if (missing.length > 0) fail(`no test is at ${missing.join(' ')}`)
  return paths.length === 0 ? all : all.filter(name => paths.some(path => name === path || name.startsWith(`${path}/`)))
}

/** The files for this circle in the order in which they start: those that run alone first, since they take longest. */
function ordered(files) {
  const all = []
  for (const file of files) {
    const head = readFileSync(HOME + file, 'utf8').slice(0, 1000)
    if (ALL || !/^\/\/ runs in \.ci\/run$/m.test(head)) all.push({ file, alone: /^\/\/ runs alone: /m.test(head) })
    else skipped.set(NOT_LOADED, (skipped.get(NOT_LOADED) ?? 0) + 1)
  }
  return [...all.filter(({ alone }) => alone), ...all.filter(({ alone }) => !alone)]
}

/** Starts a process that takes files from the queue and runs them one by one; keeps their results. */
async function run(queue) {
  const id = randomUUID().slice(0, 8)
  const child = spawn(process.execPath, ['--import=./test/typescript.js', 'test/together.js', id], {
    cwd: HOME,
    // tap's limit would be for the process, not for a file.
    env: { ...process.env, ...env, TAP_TIMEOUT: '0', TEST_RUN: id },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true
  })
  const taken = []
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors = (errors + text).slice(-20_000)
  })
  /** The file that the lines being read are about, and since when. */
  let current
  let since
  const begin = file => {
    if (current !== undefined) {
      const result = results.get(current)
      if (result.pass + result.fail + result.skip === 0) addFailure(current, 'has no test')
      tell(current, performance.now() - since)
    }
    if (process.env.BAIL === '1' && current !== undefined && !passed(current)) queue.length = 0
    current = file
    since = performance.now()
  }
  child.on('message', message => {
    // tap sends other messages too.
    if (message !== 'next') return
    const isLast = taken.length >= SHARED || taken.at(-1)?.alone || (taken.length > 0 && queue[0]?.alone)
    const next = isLast ? undefined : queue.shift()
    if (next === undefined) return child.send({})
    taken.push(next)
    results.set(next.file, { cpu: 0, longest: { time: 0 }, pass: 0, fail: 0, skip: 0, held: 0, failures: [] })
    child.send(next)
  })
  let limit
  let reason
  const heard = () => {
    clearTimeout(limit)
    limit = setTimeout(() => {
      reason = `gave no result for ${SILENCE} s`
      kill(-child.pid)
    }, SILENCE * 1000)
  }
  heard()
  child.stdout.on('data', heard)
  const parser = new Parser()
  read(parser, begin, () => results.get(current), [])
  child.stdout.pipe(parser)
  const [code, signal] = await new Promise(resolve => child.on('close', (...how) => resolve(how)))
  clearTimeout(limit)
  const isFailed = taken.some(({ file }) => !passed(file))
  if (reason !== undefined || signal !== null || (code !== 0 && !isFailed)) {
    reason ??= signal === null ? `ended with exit status ${code}` : `was ended by ${signal}`
    if (taken.length === 0) fail(`a process ${reason}: ${errors}`)
    const { file } = taken.at(-1)
    if (current !== file) begin(file)
    addFailure(file, reason, errors.trim())
  }
  begin(undefined)
  for (const name of readdirSync(`${HOME}.tap/fixtures`)) {
    if (name.includes(id)) rmSync(`${HOME}.tap/fixtures/${name}`, { recursive: true, force: true })
  }
  for (const line of await endLeftovers(id)) {
    leftovers.push(`${taken.length === 1 ? taken[0].file : `one of ${taken.map(({ file }) => file).join()}`}: ${line}`)
  }
}

/** Reads the results of a process and, recursively, of subtests. `names`: of the tests around. */
function read(parser, onFile, result, names) {
  let summary = false
  parser.on('comment', text => {
    const file = names.length === 0 && /^# file: (.+)\n$/.exec(text)?.[1]
    if (file) onFile(file)
    const cpu = names.length === 0 && /^# cpu: ([\d.]+)\n$/.exec(text)?.[1]
    if (cpu) result().cpu = Number(cpu)
    const held = /# held for (\d+) cases/.exec(text)?.[1]
    if (held !== undefined) result().held += Number(held)
  })
  parser.on('child', child => {
    summary = true
    read(child, onFile, result, [...names, child.name])
  })
  parser.on('assert', ({ ok, name, skip, todo, diag, time }) => {
    if (names.length === 0 && time > result().longest.time) result().longest = { name, time }
    const ofChild = summary
    summary = false
    const file = result()
    if (skip || todo) {
      file.skip++
      if (typeof skip === 'string') skipped.set(`${skip}`, (skipped.get(`${skip}`) ?? 0) + 1)
    } else if (ok) {
      if (!ofChild) file.pass++
    } else if (!ofChild || file.fail === 0) {
      file.fail++
      file.failures.push({ name: [...names, name].join(' › '), diag })
    }
  })
  parser.on('bailout', reason => {
    result().fail++
    result().failures.push({ name: `bailed out: ${reason}` })
  })
}

function addFailure(file, name, diag) {
  const result = results.get(file)
  result.fail++
  result.failures.push({ name, diag })
}

/** Whether no test of a file failed. */
function passed(file) {
  return results.get(file).fail === 0
}

/** Kills the processes that tests left behind (TEST_RUN is in their environment); returns their command lines. */
async function endLeftovers(id) {
  if (process.platform !== 'linux') return []
  for (const until = performance.now() + GRACE * 1000; ; await sleep(100)) {
    const left = readdirSync('/proc').filter(
      pid => /^\d+$/.test(pid) && proc(pid, 'environ').includes(`TEST_RUN=${id}`)
    )
    if (left.length === 0) return []
    if (performance.now() < until) continue
    const lines = left.map(
      pid => `left process ${pid} behind: ${proc(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200)}`
    )
    for (const pid of left) kill(Number(pid))
    return lines
  }
}

function proc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    // The process has ended meanwhile, or is another user's.
    return ''
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** Prints a line for a file whose tests have ended, and its failures. */
function tell(file, milliseconds) {
  const { pass, fail, failures } = results.get(file)
  process.stdout.write(
    `${fail === 0 ? 'ok    ' : 'FAILED'} ${file}: ${pass} passed${fail > 0 ? `, ${fail} failed` : ''} (${(milliseconds / 1000).toFixed(1)} s)\n`
  )
  for (const { name, diag } of failures) {
    process.stdout.write(`  ${file} › ${name}\n`)
    const text = typeof diag === 'string' ? diag : diag ? JSON.stringify(diag, null, 2).replaceAll('\\n', '\n') : ''
    if (text !== '') process.stdout.write(text.slice(0, 4000).replace(/^/gm, '      ').concat('\n'))
  }
}

function report() {
  const all = [...results.values()]
  const sum = key => all.reduce((total, result) => total + result[key], 0)
  for (const [why, count] of skipped) process.stdout.write(`skipped: ${why}${count > 1 ? ` (${count} times)` : ''}\n`)
  const failed = [...results.keys()].filter(file => !passed(file))
  for (const file of failed) process.stdout.write(`failed: ${file}\n`)
  for (const line of leftovers) process.stdout.write(`failed: ${line}\n`)
  for (const line of flaky) process.stdout.write(`flaky: ${line}\n`)
  const slow = [...results].filter(([, { cpu }]) => cpu > SLOW).sort(([, a], [, b]) => b.cpu - a.cpu)
  for (const [file, { cpu, longest }] of slow) {
    process.stdout.write(
      `slow: ${file} (${cpu} s of CPU; longest: ${longest.name}, ${(longest.time / 1000).toFixed(1)} s)\n`
    )
  }
  if (sum('held') > 0) process.stdout.write(`${sum('held')} cases held\n`)
  process.stdout.write(`took ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
  process.stdout.write(
    `${sum('pass')} passed, ${sum('fail') + leftovers.length} failed${sum('skip') > 0 ? `, ${sum('skip')} skipped` : ''}\n`
  )
  process.exitCode = failed.length + leftovers.length > 0 || sum('pass') === 0 ? 1 : 0
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
