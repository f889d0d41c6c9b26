// Reads settings from flags and the environment: first as texts, then as values. Works on the given table; does not
// know any setting by name.
import { closest } from 'fastest-levenshtein'
import { BOOLEAN, type Kind } from './value-kinds.ts'

/** One setting: how its text becomes a value, its default, and what it means. */
export interface Setting<T = unknown> {
  kind: Kind<T>
  /** The text of the default, if there is one. */
  default?: string
  /** The default, as people see it. */
  shown: string
  /** What it means, in a few words. */
  help: string
  /** May be given several times. */
  list?: true
  /** The flag without a value means true. */
  boolean?: true
  /** Its value is never shown in a fault. */
  secret?: true
}
export type Settings = Record<string, Setting>

/** The texts given for each setting, and the flag or variable that they came from. */
export type Given = Map<string, { texts: string[]; from: string }>

export const environmentName = (name: string): string => `EDITD_${name.toUpperCase().replaceAll('-', '_')}`

const shown = (setting: Setting | undefined, text: string) => (setting?.secret ? '…' : text)

/** Flags that are given alone, instead of settings. */
const INSTEAD = ['help', 'version']

/** Reads `--name value`, `--name=value`, and the one argument without a flag, which is the setting `positional`. */
export function readFlags(settings: Settings, positional: string, argv: readonly string[], faults: string[]): Given {
  const given: Given = new Map()
  const flags = Object.keys(settings).filter(name => name !== positional)
  const give = (name: string, text: string) => {
    const setting = settings[name]
    const from = name === positional ? `The ${name}` : `--${name}`
    const before = given.get(name)
    if (before === undefined) given.set(name, { texts: [text], from })
    else if (setting?.list) before.texts.push(text)
    else {
      faults.push(
        `${from} is given twice, as "${shown(setting, before.texts[0] ?? '')}" ` +
          `and "${shown(setting, text)}": give it only once.`
      )
    }
  }
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? ''
    const next = argv[i + 1]
    const equals = argument.indexOf('=')
    const flag = argument.startsWith('-') && equals > 0 ? argument.slice(0, equals) : argument
    const name = flag.slice(2)
    if (!argument.startsWith('-')) give(positional, argument)
    else if (!flag.startsWith('--') || !flags.includes(name)) {
      faults.push(
        name === positional
          ? `Unknown flag ${flag}: the ${positional} is given without a flag, as in "editd ./${positional}".`
          : `Unknown flag ${flag}: the nearest is --${closest(name, [...flags, ...INSTEAD])}, and --help lists them all.`
      )
      // The next argument may be its value, so don't take it for the root.
      if (flag === argument && next !== undefined && !next.startsWith('-')) i++
    } else if (flag !== argument) give(name, argument.slice(equals + 1))
    else if (settings[name]?.boolean) {
      give(name, 'true')
      if (next !== undefined && BOOLEAN.parse(next).ok) {
        faults.push(`${flag} takes its value after an equals sign: write ${flag}=${next}.`)
        i++
      }
    } else if (next === undefined || next.startsWith('--')) {
      faults.push(`${flag} needs a value: ${settings[name]?.help}.`)
    } else {
      give(name, next)
      i++
    }
  }
  return given
}

/** The server's address for clients, used in the documents and examples. */
const CLIENT_VARIABLE = 'EDITD_URL'

/**
 * Whether Kubernetes or Docker set the variable: they announce to every container a service or container named `editd`
 * or `editd-…`.
 */
const isServiceLink = (variable: string, text: string): boolean =>
  /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(variable) ||
  /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(variable) ||
  (variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))

/** The settings in the variables `EDITD_…`, and the names of variables that editd doesn't know. */
function sorted(settings: Settings, env: NodeJS.ProcessEnv): { given: Given; unknown: string[] } {
  const given: Given = new Map()
  const unknown: string[] = []
  const names = new Map(Object.keys(settings).map(name => [environmentName(name), name]))
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('EDITD_') || text === undefined) continue
    if (variable === CLIENT_VARIABLE || isServiceLink(variable, text)) continue
    const name = names.get(variable)
    if (name === undefined) unknown.push(variable)
    else given.set(name, { texts: [text], from: variable })
  }
  return { given, unknown }
}

/** Reads the variables `EDITD_…` that are settings. */
export const readEnvironment = (settings: Settings, env: NodeJS.ProcessEnv): Given => sorted(settings, env).given

/** A sentence for each variable `EDITD_…` that is neither a setting nor known to have another purpose. */
export const unknownVariables = (settings: Settings, env: NodeJS.ProcessEnv): string[] =>
  sorted(settings, env).unknown.map(
    variable =>
      `Unknown environment variable ${variable} is ignored: ` +
      `the nearest is ${closest(variable, Object.keys(settings).map(environmentName))}, ` +
      'and editd --help lists them all.'
  )

/** The defaults, as if they had been given. */
export const defaultsOf = (settings: Settings): Given =>
  new Map(
    Object.entries(settings).flatMap(([name, setting]) =>
      setting.default === undefined ? [] : [[name, { texts: [setting.default], from: `The default of ${name}` }]]
    )
  )

/** The value of each given setting; texts that don't parse are faults. */
export function parseGiven(settings: Settings, given: Given, faults: string[]): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [name, { texts, from }] of given) {
    const setting = settings[name]
    const text = texts.join(',')
    if (text === '') {
      faults.push(`${from} is empty: give it a value or leave it out.`)
      continue
    }
    const parsed = setting?.kind.parse(text)
    if (parsed?.ok) values.set(name, parsed.value)
    else faults.push(`${from} "${shown(setting, text)}" is invalid: expected ${parsed?.failure}.`)
  }
  return values
}
