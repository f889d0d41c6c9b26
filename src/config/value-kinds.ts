// Parses the text of a setting: sizes, durations, ports, lists. Does not know any setting by name, the process or the
// disk.
import { isIP } from 'node:net'
import { TOOL_NAMES } from '../../schemas/tools.ts'
import { fail, ok, type Result } from '../result.ts'
import { pathPatternFault, patternFault } from '../workspace/policy.ts'

/** A kind of value. `parse` fails with a description of valid texts, to follow "expected". */
export interface Kind<T> {
  parse(text: string): Result<T, string>
}

/** Makes a kind from a function that returns undefined for an invalid text. */
export const kind = <T>(expected: string, parse: (text: string) => T | undefined): Kind<T> => ({
  parse(text) {
    const value = parse(text)
    return value === undefined ? fail(expected) : ok(value)
  }
})

const SIZE_UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30
}
const TIME_UNITS: Record<string, number> = { ms: 1, '': 1000, s: 1000, m: 60_000, min: 60_000 }

const scaled = (text: string, units: Record<string, number>, max: number): number | undefined => {
  const match = /^(\d{1,15})([a-z]*)$/.exec(text.toLowerCase())
  const unit = match === null ? undefined : units[match[2] ?? '']
  const value = unit === undefined ? 0 : Number(match?.[1]) * unit
  return value >= 1 && value <= max ? value : undefined
}

/** Bytes. */
export const size = (max: number) =>
  kind(`bytes or a size such as 100MB (10^6) or 64KiB (2^10), from 1 to ${max}`, text => scaled(text, SIZE_UNITS, max))

/** Milliseconds. */
export const duration = (max: number, maxShown: string) =>
  kind(`seconds or a duration such as 10s or 500ms, up to ${maxShown}`, text => scaled(text, TIME_UNITS, max))

/** A number of requests in a second, a minute or an hour. */
export interface Rate {
  requests: number
  per: 's' | 'min' | 'h'
}

export const RATE: Kind<Rate> = kind('a number of requests such as 600/min, 10/s or 5000/h', text => {
  const [, requests = '', per] = /^([1-9]\d{0,8})\/(s|min|h)$/.exec(text) ?? []
  return per === 's' || per === 'min' || per === 'h' ? { requests: Number(requests), per } : undefined
})

export const integer = (min: number, max: number) =>
  kind(`a whole number from ${min} to ${max}`, text =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined
  )

const BOOLEANS = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false]
])
export const BOOLEAN = kind('1, true, 0 or false', text => BOOLEANS.get(text))

export const TEXT = kind('some text', text => text)

/** A path below the root, without `.` and `..`. */
export const FOLDER = kind('a folder below the root, such as agents/memories', text =>
  text.split('/').every(name => !['', '.', '..'].includes(name)) && !text.includes('\0') ? text : undefined
)

export const oneOf = <const T extends string>(...values: T[]): Kind<T> =>
  kind(values.join(' or '), text => values.find(value => value === text))

/** One element of a list; the list itself is comma-separated. */
export const list = <T>(element: Kind<T>): Kind<T[]> => ({
  parse(text) {
    const values: T[] = []
    for (const item of text.split(',')) {
      const parsed = element.parse(item.trim())
      if (!parsed.ok) return parsed
      values.push(parsed.value)
    }
    return ok(values)
  }
})

export const PATTERN = kind('comma-separated paths or names, none of them empty or with .. in it', text =>
  patternFault(text) === null ? text : undefined
)

/** A pattern of the paths that a token may use. */
export const PATH_PATTERN: Kind<string> = {
  parse(text) {
    const fault = pathPatternFault(text)
    return fault === null ? ok(text) : fail(`a path or pattern such as docs/** or src/*.ts: a pattern ${fault}`)
  }
}

export const EXTENSION = kind('extensions such as .ts,.md', text =>
  /^\.?[^./\\*\s]+(\.[^./\\*\s]+)*$/.test(text) ? `.${text.replace(/^\./, '')}` : undefined
)

export const TOOL = kind(`comma-separated names of tools (${TOOL_NAMES.join(', ')})`, text =>
  TOOL_NAMES.find(name => name === text)
)

export const HOST_NAME = kind('host names or addresses without a scheme or port, such as editd.example', text => {
  const name = text.toLowerCase()
  return isIP(name) !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name) ? name : undefined
})

/** A host and a port; an IPv6 address is in brackets. */
export interface HostAndPort {
  host: string
  port: number
}

export const HOST_AND_PORT: Kind<HostAndPort> = kind('HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464', text => {
  const [, six, other, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = HOST_NAME.parse(six ?? other ?? '')
  const isHost = host.ok && (six === undefined || isIP(six) === 6)
  return isHost && Number(digits) <= 65_535 ? { host: host.value, port: Number(digits) } : undefined
})

/** Where to listen, if not at a host and port: at the path of a unix socket, or on a socket that was passed. */
export type ListenOn = { path: string } | { fd: number }

export const LISTEN: Kind<ListenOn> = kind('unix:PATH or fd:N, such as unix:/run/editd/editd.sock or fd:3', text => {
  const fd = /^fd:([1-9]\d{0,3})$/.exec(text)?.[1]
  return fd !== undefined ? { fd: Number(fd) } : /^unix:./.test(text) ? { path: text.slice('unix:'.length) } : undefined
})

export const ORIGIN = kind('origins such as https://app.example, with nothing after the host and port', text => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.origin === text ? text : undefined
})

export const ENDPOINT = kind('a URL such as https://s3.example or http://127.0.0.1:9000, without a path', text => {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin } = new URL(text)
  return /^https?:$/.test(protocol) && origin === text.replace(/\/$/, '') ? origin : undefined
})

/** A bearer token (RFC 6750). */
export const TOKEN: Kind<string> = {
  parse(text) {
    if (/^[A-Za-z0-9._~+/=-]+$/.test(text)) return ok(text)
    return fail(
      'a token of letters, digits and ._~+/=-' +
        (text.includes(':') ? '; tokens with a name and a scope are in the file of --access' : '')
    )
  }
}

export const LOCK: Kind<'shared' | 'local'> = {
  parse: text =>
    text === 'shared' || text === 'local'
      ? ok(text)
      : fail('shared or local' + (text.startsWith('redis') ? '; Redis locks are not supported yet' : ''))
}
