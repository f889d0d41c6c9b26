// The access file: the workspaces, and who may use them. Checks it and reports every fault at once. Does not know how a
// token is checked.
import { dirname, resolve } from 'node:path'
import { SCOPES, type Scope } from '../../schemas/access.ts'
import { fail, ok, type Result } from '../result.ts'
import { isBucketAddress } from '../object-store/address.ts'
import { DISK, readRoot, stateFolderOf, type Config, type Disk } from './config.ts'
import { AUDIENCE, ISSUER, JWT_ALGORITHM, SCOPE_TOKEN } from './issuer-kinds.ts'
import { BOOLEAN, EXTENSION, FOLDER, kind, oneOf, PATH_PATTERN, PATTERN, RATE, TEXT, type Rate } from './value-kinds.ts'
import type { Partly } from './yaml-reader.ts'

/** What the file says, as plain data. */
export interface Access {
  workspaces: AccessWorkspace[]
  tokens: AccessToken[]
  issuers: AccessIssuer[]
}

/** A workspace, with its own settings. */
export interface AccessWorkspace {
  name: string
  settings: Pick<
    Config,
    'root' | 'bucket' | 'stateDir' | 'protect' | 'readOnly' | 'requireHash' | 'allowExtensions' | 'memoryRoot'
  >
}

/** A token, known by its hash. */
interface AccessToken {
  name: string
  /** 64 lower-case hex digits. */
  sha256: string
  workspace: string
  scope: Scope
  /** Patterns, as for `Workspace.limitedTo`; null: all paths. */
  paths: string[] | null
  /** In ms since 1970; null: never. */
  expires: number | null
  memoryRoot: string | null
  /** Replaces the rate in the settings. */
  rate?: Rate
}

/** An issuer of accepted JWTs. */
interface AccessIssuer {
  /** The URL in `iss`, exactly as it is written there. */
  issuer: string
  /** The URL of this server as clients see it, which `aud` must have. */
  audience: string
  /** RFC 7518 names of algorithms that sign with a private key; no others are accepted. */
  algorithms: string[]
  /** The scopes that clients should ask for. */
  scopes: string[]
  /** What `aud` has instead of the audience. */
  aud?: string
  /** The claims with words for what a token may do, and the scope of each word; absent: the words are the scopes. */
  scopeClaims?: string[]
  scopeValues?: Map<string, Scope>
  /** The claim that says which workspace a token is for, and the workspace of each value; absent: values are names. */
  workspaceClaim?: string
  workspaceValues?: Map<string, string>
  /** The workspace of all its tokens. */
  workspace?: string
}

/** Names of workspaces and tokens: safe in a URL and in a line of a log. */
const NAME = kind('a name of letters, digits and ._-, up to 64', text =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text) ? text : undefined
)
const SHA256 = kind('the SHA-256 of a token as 64 hex digits, such as sha256sum prints it', text =>
  /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined
)
const DATE = kind('a date such as 2027-01-31, which begins at 00:00 UTC, or 2027-01-31T12:00:00Z', text => {
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = isDate ? Date.parse(text) : NaN
  // Date.parse reads 2027-02-30 as the 2nd of March.
  const day = Number(text.slice(8, 10))
  const isDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, day)).getUTCDate() === day
  return Number.isNaN(at) || !isDay ? undefined : at
})
/** What an agent needs; only people should keep changes and undo those of others. */
const USUAL_SCOPES: Scope[] = ['read', 'edit']
/** Enough for some ten thousand tokens; chosen, not measured. */
const MAX_CHARACTERS = 4e6

/** What may be in the file. The parser of YAML is loaded only if there is one. */
const fileReader = ({ list, map, named, optional, record, required, scalar }: typeof import('./yaml-reader.ts')) =>
  record({
    workspaces: required(
      named(
        NAME,
        record({
          root: required(scalar(TEXT)),
          protect: optional(list(scalar(PATTERN))),
          allow_extensions: optional(list(scalar(EXTENSION))),
          read_only: optional(scalar(BOOLEAN)),
          require_hash: optional(scalar(BOOLEAN)),
          memory_root: optional(scalar(FOLDER))
        })
      )
    ),
    tokens: optional(
      list(
        record({
          name: required(scalar(NAME)),
          sha256: required(scalar(SHA256, { secret: true })),
          workspace: required(scalar(TEXT)),
          scope: required(scalar(oneOf(...SCOPES))),
          paths: optional(list(scalar(PATH_PATTERN))),
          expires: optional(scalar(DATE)),
          rate: optional(scalar(RATE)),
          memory_root: optional(scalar(FOLDER))
        })
      )
    ),
    issuers: optional(
      list(
        record({
          issuer: required(scalar(ISSUER)),
          audience: required(scalar(AUDIENCE)),
          algorithms: required(list(scalar(JWT_ALGORITHM))),
          scopes: optional(list(scalar(SCOPE_TOKEN))),
          aud: optional(scalar(TEXT)),
          scope_claims: optional(list(scalar(TEXT))),
          scope_values: optional(map(SCOPE_TOKEN, scalar(oneOf(...SCOPES)))),
          workspace_claim: optional(scalar(TEXT)),
          workspace_values: optional(map(TEXT, scalar(TEXT))),
          workspace: optional(scalar(TEXT))
        })
      )
    )
  })

/**
 * Reads the access file of a config; `disk` is the same as for `loadConfig`. Fails with every fault, each a sentence
 * with its line.
 */
export async function loadAccess(config: Config, disk: Disk = DISK): Promise<Result<Access, string[]>> {
  const { access } = config
  if (access === null) throw new Error('there is no access file')
  const text = disk.readText(access.file)
  if (!text.ok) return fail([`--access "${access.file}" can't be read: ${text.failure}.`])
  if (text.value.length > MAX_CHARACTERS) {
    return fail([`--access "${access.file}" has more than ${MAX_CHARACTERS} characters.`])
  }
  const yaml = await import('./yaml-reader.ts')
  const read = yaml.readYaml(text.value, access.file, fileReader(yaml))
  const folder = dirname(access.file)
  const parts = read.ok ? read.value : read.failure.partly
  const between = parts === undefined ? [] : faultsBetween(parts, folder, disk)
  const faults = [...(read.ok ? [] : read.failure.faults), ...between.map(sentence => `${access.file}: ${sentence}`)]
  if (!read.ok || faults.length > 0) return fail(faults)
  const { tokens = [], issuers = [] } = read.value
  const workspaces = read.value.workspaces.map(
    ({ name, root: written, protect = [], allow_extensions, read_only, require_hash, memory_root }) => {
      const { root, bucket } = readRoot(written, folder)
      return {
        name,
        settings: {
          root,
          bucket: bucket?.ok === true ? bucket.value : null,
          stateDir:
            bucket !== null
              ? ''
              : access.stateDir === null
                ? stateFolderOf(disk.realPath(root), access.home)
                : resolve(access.stateDir, name),
          protect: [...config.protect, ...protect],
          allowExtensions: allow_extensions ?? config.allowExtensions,
          readOnly: config.readOnly || read_only === true,
          requireHash: config.requireHash || require_hash === true,
          memoryRoot: memory_root ?? config.memoryRoot
        }
      }
    }
  )
  return ok({
    workspaces,
    tokens: tokens.map(({ memory_root = null, paths = null, expires = null, rate, ...token }) => ({
      ...token,
      rate,
      paths,
      expires,
      memoryRoot: memory_root
    })),
    issuers: issuers.map(({ scopes, scope_claims, scope_values, workspace_claim, workspace_values, ...issuer }) => ({
      ...issuer,
      scopes: scopes ?? (scope_values === undefined ? USUAL_SCOPES : [...scope_values.keys()]),
      scopeClaims: scope_claims,
      scopeValues: scope_values,
      workspaceClaim: workspace_claim,
      workspaceValues: workspace_values
    }))
  })
}

/** The parts of the file; a part that is itself at fault is missing. */
interface Parts {
  workspaces?: Partly<{ name: string; root: string }[]>
  tokens?: Partly<Pick<AccessToken, 'name' | 'sha256' | 'workspace'>[]>
  issuers?:
    | Partly<{ issuer: string; algorithms: string[]; workspace?: string; workspace_values?: Map<string, string> }[]>
    | undefined
}

/** Faults that only the parts together show, such as overlapping roots or a token for an unknown workspace. */
function faultsBetween(parts: Parts, folder: string, disk: Disk): string[] {
  const faults: string[] = []
  const { workspaces, tokens, issuers } = parts
  if (workspaces?.length === 0) faults.push('workspaces is empty: name at least one.')
  if ((tokens?.length === 0 || !('tokens' in parts)) && (issuers?.length === 0 || !('issuers' in parts))) {
    faults.push('it has neither tokens nor issuers, so that nobody could call: name at least one.')
  }
  const roots: { name: string | undefined; root: string; real: string }[] = []
  for (const [, { name, root: written }] of there(workspaces)) {
    if (written === undefined) continue
    const { root, bucket } = readRoot(written, folder)
    if (bucket?.ok === false) faults.push(`workspaces.${name}.root "${root}" ${bucket.failure}.`)
    const isBucket = isBucketAddress(root)
    if (!isBucket && disk.kindOf(root) === 'other') {
      faults.push(
        `workspaces.${name}.root "${root}" is not a usable folder: name a folder, or a path that does not exist yet.`
      )
    }
    const real = isBucket ? root : disk.realPath(root)
    for (const other of roots) {
      if (!`${real}/`.startsWith(`${other.real}/`) && !`${other.real}/`.startsWith(`${real}/`)) continue
      faults.push(`the roots of ${other.name} and ${name} overlap: give each workspace a root of its own.`)
    }
    roots.push({ name, root, real })
  }
  const names = workspaces && there(workspaces).map(([, { name }]) => name)
  /** If no workspaces could be read, any name may be one. */
  const isUnknown = (name: string | undefined) => name !== undefined && names?.includes(name) === false
  for (const [i, { name, workspace }] of there(tokens)) {
    if (!isUnknown(workspace)) continue
    const token = name ?? `tokens[${i}]`
    faults.push(`the token ${token} is for the workspace "${workspace}", which is not one of ${names?.join(', ')}.`)
  }
  for (const field of ['name', 'sha256'] as const) {
    const seen = new Map<string, string>()
    for (const [i, token] of there(tokens)) {
      const { name = `tokens[${i}]`, [field]: value } = token
      if (value === undefined) continue
      const first = seen.get(value)
      if (first !== undefined) faults.push(`the tokens ${first} and ${name} have the same ${field}: give each its own.`)
      seen.set(value, name)
    }
  }
  const known: string[] = []
  for (const [i, { issuer = `issuers[${i}]`, algorithms, workspace, workspace_values }] of there(issuers)) {
    if (algorithms?.length === 0) faults.push(`the issuer ${issuer} has no algorithms: name those that it signs with.`)
    if (known.includes(issuer)) faults.push(`the issuer ${issuer} is named twice: name it once.`)
    known.push(issuer)
    for (const named of [workspace, ...(workspace_values?.values() ?? [])].filter(isUnknown)) {
      faults.push(`the issuer ${issuer} names the workspace "${named}", which is not one of ${names?.join(', ')}.`)
    }
  }
  return faults
}

/** The values that could be read, with their indexes. */
const there = <T>(values: readonly (T | undefined)[] = []): [number, T][] =>
  values.flatMap((value, i) => (value === undefined ? [] : [[i, value]]))
