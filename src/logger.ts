// The log of the process, on stderr: JSON lines for programs, columns for a person at a terminal. Does not know what is
// logged.
import pino, { type Logger } from 'pino'

interface Entry {
  level: number
  time: string
  status?: number
  aborted?: true
  operation?: string
  method?: string
  route?: string
  event?: string
  msg?: string
  path?: string
  code?: string
  duration_ms?: number
  stack?: string[]
}

/** Characters that a terminal doesn't show, or that begin a line. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u

/**
 * The text with `\u{1b}` for each control character and each invisible one, so that it can neither control a terminal
 * nor begin a line.
 */
export const printable = (text: string): string =>
  // Most texts have none; this check takes a quarter of the time.
  UNSEEN.test(text)
    ? text.replaceAll(new RegExp(UNSEEN, 'gu'), character => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    : text

/**
 * A line of JSON as columns: local time and level; for a request status, operation, path, code and milliseconds; for
 * anything else its members. Ends with a line break, as `line` does.
 */
export function columns(line: string): string {
  const {
    level,
    time,
    status = '',
    aborted,
    operation,
    method,
    route,
    event,
    msg = '',
    path = '',
    code = aborted ? 'client gone' : '',
    duration_ms,
    stack = [],
    ...others
  } = JSON.parse(line) as Entry
  const isRequest = duration_ms !== undefined
  const column = (text: string, width: number) => (isRequest ? text.padEnd(width) : text)
  const cells = [
    new Date(time).toTimeString().slice(0, 8),
    (pino.levels.labels[level] ?? '').padEnd(5),
    String(status).padStart(3),
    column(operation ?? event ?? (route === undefined ? '' : `${method} ${route}`), 12),
    column(path, 24),
    code,
    isRequest ? `${duration_ms} ms` : '',
    msg,
    ...Object.entries(isRequest ? {} : others).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
    )
  ]
  const shown = printable(cells.filter(cell => cell !== '').join('  '))
  return [shown, ...stack.map(frame => `    ${printable(frame)}`), ''].join('\n')
}

/**
 * In bytes: how much is written to a pipe in one piece, not mixed with another process's output (PIPE_BUF of Linux).
 */
const ATOMIC = 4096
/**
 * In ms: how long a line waits for others, so that they are written together. Each write is a task for another thread,
 * which costs as much as a tenth of a small edit. Chosen: nobody reads a log sooner.
 */
const GATHERED = 10

/** Gathers lines and passes them on in blocks of at most `ATOMIC` bytes, unless a single line is longer. */
function gathering(pass: (lines: string) => void): { write(line: string): void; flush(): void } {
  let lines = ''
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const block = lines
    lines = ''
    bytes = 0
    if (block !== '') pass(block)
  }
  return {
    flush,
    write(line) {
      const more = Buffer.byteLength(line)
      if (bytes + more > ATOMIC) flush()
      lines += line
      bytes += more
      timer ??= setTimeout(flush, GATHERED)
    }
  }
}

/** The second of the last line, and its text up to the second. */
let [second, upToSecond] = [-1, '']

/** The time in a line, in the format of `pino.stdTimeFunctions.isoTime`, which takes seven times as long. */
function timestamp(): string {
  const now = Date.now()
  if (Math.floor(now / 1000) !== second) {
    second = Math.floor(now / 1000)
    upToSecond = new Date(now).toISOString().slice(0, -4)
  }
  return `,"time":"${upToSecond}${String(now % 1000).padStart(3, '0')}Z"`
}

/** Opens the log. `close` resolves when everything is written; nothing may be logged after it. */
export function openLog(level: string): { logger: Logger; close(): Promise<void> } {
  const stderr = pino.destination({ dest: 2, sync: false })
  const options = { level, base: null, timestamp }
  const gathered = gathering(lines => stderr.write(lines))
  // A bug may end the process. This runs before pino's own listener, which writes the rest.
  process.prependListener('exit', gathered.flush)
  const logger = process.stderr.isTTY
    ? pino(options, { write: line => gathered.write(columns(line)) })
    : pino(options, gathered)
  let isOpen = true
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    // pino stops writing when the reader is gone.
    if (error.code !== 'EPIPE') throw error
    isOpen = false
  })
  return {
    logger,
    // Not flushSync: it would write the last lines before those that another thread is writing.
    close: () =>
      new Promise(resolve => {
        gathered.flush()
        if (!isOpen) {
          resolve()
          return
        }
        for (const event of ['close', 'error']) stderr.once(event, () => resolve())
        stderr.end()
      })
  }
}
