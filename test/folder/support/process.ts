// Starts a worker (worker.ts, batch-worker.ts, or one of other tests) as a second process. It is built to JavaScript
// first, so that a test can start and kill it often. Does not know any test.
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type TypeScript from 'typescript'
import type { WriterOrder } from '../../log/support/writer.ts'
import type { ReplaceOrder } from '../../operations/support/replace-worker.ts'
import type { UndoOrder } from '../../operations/support/undo-worker.ts'
import type { WorkerOrder } from './batch-worker.ts'

export interface Second {
  readonly child: ChildProcess
  /** The lines that it has printed so far. */
  readonly lines: string[]
  /** Resolves when it has printed a line that begins with `start`; rejects if it ends without. */
  printed(start: string): Promise<void>
  /** Resolves when it has ended and its output is closed. */
  readonly ended: Promise<void>
}

const project = fileURLToPath(new URL('../../../', import.meta.url))
let built: string | null = null

const CACHE = join(project, 'node_modules/.cache/editd')
const load = createRequire(import.meta.url)

/** A source as JavaScript, cached by its hash: loading the compiler and compiling all sources takes seconds. */
function withoutTypes(text: string): string {
  const { version } = load('typescript/package.json') as { version: string }
  const cached = join(CACHE, `${createHash('sha256').update(`worker ${version} ${text}`).digest('hex')}.js`)
  if (existsSync(cached)) return readFileSync(cached, 'utf8')
  const ts = load('typescript') as typeof TypeScript
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true
    }
  })
  mkdirSync(CACHE, { recursive: true })
  // Other processes may write it at the same time.
  const temp = join(CACHE, randomUUID())
  writeFileSync(temp, outputText)
  renameSync(temp, cached)
  return outputText
}

/** The path of a built worker in a copy of the sources without types. `name`: below test/. */
function worker(name: string): string {
  if (built !== null) return join(built, name + '.js')
  const folder = mkdtempSync(join(tmpdir(), 'editd-built-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const sources = [
    ...['engine', 'log', 'operations', 'workers', 'workspace', 'folder', 'recording', 'change'].map(part =>
      join('src', part)
    ),
    ...['schemas', 'test/log/support', 'test/operations/support', 'test/folder/support']
  ]
  for (const name of [
    'src/error-code.ts',
    'src/result.ts',
    'test/gate.ts',
    ...sources.flatMap(part =>
      readdirSync(join(project, part), { recursive: true, encoding: 'utf8' }).map(file => join(part, file))
    )
  ].filter(name => name.endsWith('.ts'))) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name.replace(/ts$/, 'js')), withoutTypes(readFileSync(join(project, name), 'utf8')))
  }
  built = join(folder, 'test')
  return worker(name)
}

/** Starts the worker; `apart`: a command that runs it in other namespaces, as a container would. */
export function startWorker(
  order: {
    root: string
    state: string
    file: string
    count: number
    name: string
    pause?: number
    hold?: number
    durability?: 'full' | 'fast'
    lock?: 'shared' | 'local'
    creates?: boolean
    first?: number
    starts?: number
    ahead?: number
  },
  apart: string[] = []
): Second {
  return start(
    [...apart, process.execPath, worker('folder/support/worker'), JSON.stringify({ pause: 0, hold: 0, ...order })],
    {}
  )
}

/** Starts the worker for batches. `env` is all of its environment. */
export function startBatchWorker(order: WorkerOrder, env: Record<string, string> = {}, apart: string[] = []): Second {
  return start([...apart, process.execPath, worker('folder/support/batch-worker'), JSON.stringify(order)], env)
}

/** Starts the worker that edits, undoes and redoes. */
export const startUndoWorker = (order: UndoOrder): Second =>
  start([process.execPath, worker('operations/support/undo-worker'), JSON.stringify(order)], {})

/** Starts the worker that replaces a text in many files. */
export const startReplaceWorker = (order: ReplaceOrder): Second =>
  start([process.execPath, worker('operations/support/replace-worker'), JSON.stringify(order)], {})

/** Starts the worker that writes records and nothing else. */
export const startWriter = (order: WriterOrder): Second =>
  start([process.execPath, worker('log/support/writer'), JSON.stringify(order)], {})

/** Starts a process without tap's environment, which would make it measure coverage. */
function start([program = '', ...args]: readonly string[], env: Record<string, string>): Second {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
  child.stdin.on('error', () => {})
  const lines: string[] = []
  const waiting: { start: string; resolve: () => void }[] = []
  createInterface({ input: child.stdout }).on('line', line => {
    lines.push(line)
    for (const { start, resolve } of waiting) if (line.startsWith(start)) resolve()
  })
  const ended = new Promise<void>(resolve => child.on('close', () => resolve()))
  const isPrinted = (start: string) => lines.some(line => line.startsWith(start))
  const wait = async (start: string): Promise<void> => {
    if (isPrinted(start)) return
    await Promise.race([new Promise<void>(resolve => waiting.push({ start, resolve })), ended])
    if (!isPrinted(start)) throw new Error(`the process has ended and has not printed ${start}`)
  }
  return {
    child,
    lines,
    ended,
    printed: start => {
      const printed = wait(start)
      // A test may end the process without awaiting this.
      printed.catch(() => {})
      return printed
    }
  }
}
