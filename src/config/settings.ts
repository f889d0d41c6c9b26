// Every setting with its kind, its default and its help. Does not know where values come from, or what a setting does.
import type { Setting, Settings } from './sources.ts'
import {
  BOOLEAN,
  duration,
  ENDPOINT,
  EXTENSION,
  FOLDER,
  HOST_AND_PORT,
  HOST_NAME,
  integer,
  list,
  LISTEN,
  LOCK,
  oneOf,
  ORIGIN,
  PATTERN,
  RATE,
  size,
  TEXT,
  TOKEN,
  TOOL,
  type Kind
} from './value-kinds.ts'
import { DEFAULT_PRIVATE, DEFAULT_PROTECTED } from '../workspace/policy.ts'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A setting with a default, which is written as a user would write it and parsed the same way. */
const setting = <T>(kind: Kind<T>, text: string, help: string): Setting<T> & { default: string } => ({
  kind,
  default: text,
  shown: text,
  help
})
const switchSetting = (help: string): Setting<boolean> & { default: string } => ({
  ...setting(BOOLEAN, 'false', help),
  shown: 'off',
  boolean: true
})
/** A setting without a default; `shown` says what applies if it isn't given. */
const optional = <T>(kind: Kind<T>, shown: string, help: string): Setting<T> => ({ kind, shown, help })
const listSetting = <T>(element: Kind<T>, shown: string, help: string): Setting<T[]> => ({
  ...optional(list(element), shown, help),
  list: true
})

/**
 * Every setting: `--name`, and `EDITD_NAME` in the environment; `root` is the argument without a flag. This is the only
 * place for their defaults: --help and docs/settings.md are made from it.
 */
export const SETTINGS = {
  root: setting(
    TEXT,
    './workspace',
    'the folder whose files are edited, created if missing; or s3://BUCKET/PREFIX, objects of a bucket'
  ),
  's3-endpoint': optional(ENDPOINT, "Amazon's", 'the URL of the object store of a bucket, such as https://s3.example'),
  's3-region': optional(TEXT, 'AWS_REGION', 'the region of a bucket; with an endpoint, us-east-1 where none is named'),
  host: setting(HOST_NAME, '127.0.0.1', 'the address to listen on'),
  port: setting(integer(0, 65535), '7333', 'the port to listen on; 0 picks a free one'),
  listen: optional(
    LISTEN,
    'on the host and port',
    'where to listen instead: unix:PATH, a unix socket to make; fd:3, the first socket that systemd hands over'
  ),
  token: { ...optional(TOKEN, 'generated at each start', 'the bearer token that clients send'), secret: true },
  'token-file': optional(TEXT, 'none', 'a file that contains the token; read again when it has changed'),
  access: optional(
    TEXT,
    'none',
    'a file of workspaces and of the tokens that may use them, instead of a root and one token; read again on SIGHUP'
  ),
  'no-auth': switchSetting('require no token; on a loopback host or a unix socket only'),
  'stop-delay': optional(
    duration(60_000, '60s'),
    'none',
    'how long after a signal to stop requests are still taken, while /readyz says that the server stops'
  ),
  rate: optional(
    RATE,
    'none',
    'the most requests of a token, such as 600/min, 10/s or 5000/h; with --no-auth of an address'
  ),
  'state-dir': optional(
    TEXT,
    'in $XDG_STATE_HOME or ~/.local/state',
    'the folder for the history, locks and the journal; all servers on a root must share it'
  ),
  durability: setting(oneOf('full', 'fast'), 'full', 'full: fsync the file and its folder; fast: no fsync'),
  lock: setting(
    LOCK,
    'shared',
    'shared: also take a lock file, for servers in other containers or on other hosts; local: no lock file'
  ),
  'lock-timeout': setting(
    duration(3_600_000, '60m'),
    '10s',
    'how long a request waits for a file that is being edited'
  ),
  'max-file-size': setting(size(2 ** 31 - 1), '100MB', 'the largest file that can be read or edited'),
  'max-edits': setting(integer(1, 100_000), '1000', 'the most edits in one request'),
  'body-limit': setting(size(2 ** 29 - 25), '32MB', 'the largest request body'),
  'allow-extensions': listSetting(EXTENSION, 'all', 'the only file extensions allowed, such as .ts,.md'),
  protect: listSetting(PATTERN, 'none', 'additional paths that may not be edited'),
  unprotect: listSetting(
    PATTERN,
    'none',
    `paths to edit although they are protected by default (${DEFAULT_PROTECTED.join(', ')})`
  ),
  'read-only': switchSetting('refuse every edit and preview'),
  'require-hash': switchSetting('refuse edits without an expected_hash'),
  'allow-delete': switchSetting(
    'let `/delete`, `/move` and patches delete and move files whose content the history keeps'
  ),
  history: setting(
    oneOf('full', 'meta', 'required', 'off'),
    'full',
    "full: keep every change so that it can be undone; required: the same, and refuse what can't be recorded; " +
      'meta: keep who changed what, without text; off: keep nothing'
  ),
  'history-days': setting(integer(1, 36_500), '30', 'how many days a change is kept'),
  'history-size': setting(
    size(2 ** 50),
    '1GB',
    'how much the history may take; beyond it, copies of files go first, then the oldest changes'
  ),
  'history-private': listSetting(PATTERN, 'none', 'additional files whose texts the history does not keep'),
  'history-all-texts': switchSetting(
    `also keep the texts of files that often hold secrets (${DEFAULT_PRIVATE.join(', ')})`
  ),
  tools: listSetting(
    TOOL,
    'all but batch_edit, edit_history, preview_edit, redo_edit and replace_in_files',
    'the only tools to offer to models, such as edit_file,inspect_file'
  ),
  'memory-root': setting(FOLDER, 'memories', "the folder of Anthropic's memory tool, below the root"),
  'mcp-output-schema': switchSetting(
    'tell MCP clients the schema of each answer, and send answers as structuredContent too'
  ),
  'no-docs': switchSetting('serve neither the review page nor /docs nor the OpenAPI documents'),
  'allow-host': listSetting(HOST_NAME, 'none', 'additional Host names to accept'),
  'allow-origin': listSetting(ORIGIN, 'none', 'origins of web pages that may call this server'),
  'metrics-listen': optional(
    HOST_AND_PORT,
    'nowhere',
    'where to serve metrics for Prometheus, at /metrics and without a token, such as 127.0.0.1:9464'
  ),
  audit: optional(
    TEXT,
    'none',
    'a file to append a line to for each change, and for each call that tried to make one; opened again on SIGHUP'
  ),
  'audit-required': switchSetting('refuse a change that the audit file could not be told of first'),
  'log-level': setting(oneOf(...LOG_LEVELS), 'info', `what is logged: ${LOG_LEVELS.join(', ')}`),
  'log-paths': setting(oneOf('on', 'off'), 'on', 'whether the log line of a request has the path of its file: on, off')
} satisfies Settings

export type Name = keyof typeof SETTINGS
export type ValueOf<N extends Name> =
  (typeof SETTINGS)[N] extends Setting<infer T>
    ? (typeof SETTINGS)[N] extends { default: string }
      ? T
      : T | undefined
    : never
