// Translates, before validation, names that models send out of habit into our field names. The only place that knows
// these names.
import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import type { Callable, CallNames } from '../../operations/operation.ts'
import { BY_TOOL } from '../answers/call-names.ts'
import { listed } from '../answers/phrases.ts'
import type { Failure, InvalidField } from '../request-failure.ts'
import { readFind } from './find-aliases.ts'
import { listIn, readForms } from './forms.ts'
import { escapePointer } from './json.ts'
import { hasProperty, maxItemsOf, requiredOf } from './json-schema.ts'

/** Our field → other names for it. */
const ALIASES: Record<string, readonly string[]> = {
  path: ['file_path', 'filename', 'filePath', 'relative_path', 'file'],
  old_text: ['old_string', 'old_str', 'oldText', 'oldString', 'search', 'find'],
  new_text: [
    'new_string',
    'new_str',
    'newText',
    'newString',
    'replace',
    'replacement',
    'new_content',
    'newContent',
    'content',
    'text'
  ],
  replace_all: ['replaceAll', 'allow_multiple'],
  occurrences: ['expected_replacements', 'expected_count', 'expectedReplacements'],
  expected_hash: ['expectedHash', 'file_hash'],
  dry_run: ['preview', 'dryRun'],
  start_line: ['startLine'],
  end_line: ['endLine'],
  idempotency_key: ['idempotencyKey', 'Idempotency-Key', 'idempotency-key'],
  agent: ['agent_name', 'agentName'],
  session: ['session_id', 'sessionId'],
  reason: ['explanation'],
  content: ['file_text', 'text'],
  search: ['find', 'text'],
  heading: ['section'],
  symbol: ['symbol_name', 'symbolName', 'name_path'],
  regex: ['isRegexp', 'is_regexp', 'isRegex', 'is_regex', 'use_regex', 'regexp'],
  include: ['glob', 'globs', 'include_pattern', 'includePattern', 'file_pattern', 'filePattern', 'glob_pattern'],
  exclude: ['exclude_pattern', 'excludePattern', 'exclude_patterns', 'excludePatterns'],
  ignore_case: ['-i', 'ignoreCase', 'case_insensitive', 'caseInsensitive'],
  whole_word: ['-w', 'wholeWord', 'whole_words', 'match_whole_word', 'matchWholeWord'],
  ignored: ['include_ignored', 'includeIgnored', 'includeIgnoredFiles', 'no_ignore'],
  show: ['output_mode', 'outputMode'],
  context_lines: ['-C', 'contextLines', 'context'],
  max_lines: ['max_matches', 'maxMatches', 'maxLines'],
  max_files: ['maxFiles']
}

/** Other names for fields of one operation, by its tool. */
const ALIASES_OF: Readonly<Record<string, Record<string, readonly string[]>>> = {
  [BY_TOOL.delete]: { path: ['target', 'directory', 'dir_path'] },
  [BY_TOOL.move]: {
    path: ['source', 'from', 'old_path', 'oldPath', 'source_path', 'sourcePath', 'src', 'from_path', 'old_file_path'],
    to: [
      'destination',
      'new_path',
      'newPath',
      'destination_path',
      'destinationPath',
      'dest',
      'to_path',
      'move_to',
      'target'
    ]
  }
}

/** Our field → all other names for it, in a call of this operation. */
const aliasesOf = (id: string): readonly (readonly [field: string, names: readonly string[]])[] => {
  const own = ALIASES_OF[id]
  if (own === undefined) return ALL
  return Object.entries({ ...ALIASES, ...own }).map(([field, names]) => [
    field,
    [...new Set([...(ALIASES[field] ?? []), ...names])]
  ])
}

const ALL = Object.entries(ALIASES)

/** All those other names. */
const OTHER_NAMES = new Set([ALIASES, ...Object.values(ALIASES_OF)].flatMap(names => Object.values(names).flat()))

/** Fields in which other editors name the action. */
const COMMAND_FIELDS = ['command', 'operation', 'action']

/** Values of those fields → the operations that do it; the usual one first. */
const COMMANDS: Readonly<Record<string, readonly (keyof CallNames)[]>> = {
  view: ['inspect'],
  read: ['inspect'],
  open: ['inspect'],
  str_replace: ['edit'],
  replace: ['edit', 'edit_lines'],
  edit: ['edit', 'edit_lines'],
  insert: ['edit_lines'],
  delete: ['edit_lines', 'edit', 'delete'],
  remove: ['delete'],
  move: ['move'],
  rename: ['move'],
  write: ['create'],
  create: ['create'],
  search: ['find', 'inspect'],
  grep: ['find'],
  glob: ['find'],
  ...Object.fromEntries(
    (['edit', 'edit_lines', 'create', 'delete', 'move', 'inspect', 'find', 'replace'] as const).map(name => [
      BY_TOOL[name],
      [name]
    ])
  )
}

/** A body translated into our names. */
interface Translated {
  body: unknown
  /** Sentences that say what was read as what. */
  warnings: string[]
  /** Pointers to our fields → pointers with the names that were sent instead. */
  sentNames: SentNames
  /** Why the body can't be used. It is translated as far as possible all the same. */
  failure: Failure | null
  /** The index of the part that failed, if there are several. */
  part?: number
}
export type SentNames = ReadonlyMap<string, string>

/** What `translate` needs to know about an operation. `within`: its name in the body's field `operation`. */
interface Fields extends Pick<Callable, 'id' | 'effect' | 'request' | 'items'> {
  within?: string
  /** Set if it has a list of requests of other operations, in this field. */
  parts?: { field: string; targetOf(part: unknown): Fields }
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A copy of a body in which: fields with another known name are renamed, also in objects in its lists; lists and
 * numbers sent as strings are parsed; other ways to request lines become ours; a tool name becomes the operation's
 * name; a command that names this very operation is removed. A name is translated only if the operation has the field
 * it means and no field of that name. Of a tool call (`isTool`), fields that hosts add are left out. Fails if one field is sent under two names, a string holds no list, or a command
 * names another operation.
 */
export function translate(body: unknown, operation: Fields, isTool = false): Translated {
  const { request, items } = operation
  if (!isObject(body)) return { body, warnings: [], sentNames: new Map(), failure: null }
  const warnings = new Set<string>()
  const sentNames = new Map<string, string>()
  const errors: InvalidField[] = []
  const renamed = (original: Json, schema: TSchema, at: string) => {
    const object = { ...original }
    errors.push(
      ...renameFields(object, schema, aliasesOf(operation.id), (field, name) => {
        sentNames.set(`${at}/${field}`, `${at}/${escapePointer(name)}`)
        warnings.add(`${name} was read as ${field}.`)
      }).map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
    )
    readForms(object, schema, warning => warnings.add(warning))
    return object
  }
  const translated = renamed(body, request, '')
  if (operation.id === BY_TOOL.find) errors.push(...readFind(translated, { warnings, sentNames }))
  // If limit is a field, it is the number of lines to list.
  if (operation.effect === 'looks' && hasProperty(request, 'start_line') && !hasProperty(request, 'limit')) {
    errors.push(...readRange(translated, warnings, sentNames))
  }
  const result = (failure: Failure | null) => ({
    body: translated,
    warnings: [...warnings],
    sentNames,
    failure
  })
  const { within } = operation
  if (within !== undefined && translated.operation !== within) {
    warnings.add(`operation ${JSON.stringify(translated.operation)} was read as ${within}.`)
    translated.operation = within
  }
  const other = dropCommand(translated, operation, warnings)
  if (other !== null) return result(other)
  if (isTool) dropHostFields(translated, request, warnings)
  dropEmpty(translated, request, warnings)
  for (const [name, schema] of Object.entries(items)) {
    if (!Object.hasOwn(translated, name)) continue
    const read = listIn(translated[name], name, warning => warnings.add(warning))
    if (!read.ok) return result(read.failure)
    const list = (translated[name] = read.value)
    // A list that is too long is refused later.
    if (!Array.isArray(list) || list.length > maxItemsOf(request, name)) continue
    if (operation.parts?.field !== name) {
      translated[name] = list.map((item: unknown, i) =>
        isObject(item) ? renamed(item, schema, `/${name}/${i}`) : item
      )
      continue
    }
    const parts = list.map((part: unknown, i) => ({
      ...translate(part, operation.parts!.targetOf(part)),
      at: `/${name}/${i}`
    }))
    translated[name] = parts.map(({ body: part }) => part)
    for (const part of parts) {
      for (const warning of part.warnings) warnings.add(warning)
      for (const [field, sent] of part.sentNames) sentNames.set(`${part.at}${field}`, `${part.at}${sent}`)
    }
    const failed = parts.findIndex(({ failure }) => failure !== null)
    if (failed !== -1 && errors.length === 0) {
      return { ...result(pointingInto(parts[failed]!.failure!, parts[failed]!.at)), part: failed }
    }
  }
  return result(errors.length > 0 ? { code: 'INVALID_REQUEST', errors } : null)
}

/** A failure of a request that is part of another one, at `at`: prefixes its pointers with `at`. */
export function pointingInto<F extends { code: string }>(failure: F, at: string): F {
  const moved = (faults: unknown) =>
    (faults as { pointer: string }[]).map(fault => ({ ...fault, pointer: `${at}${fault.pointer}` }))
  return {
    ...failure,
    ...('errors' in failure && { errors: moved(failure.errors) }),
    ...('faults' in failure && { faults: moved(failure.faults) }),
    ...('pointer' in failure && { pointer: `${at}${String(failure.pointer)}` })
  }
}

/** The sent names of the part at `at`. */
export const sentNamesIn = (sentNames: SentNames, at: string): SentNames =>
  new Map(
    [...sentNames]
      .filter(([field]) => field.startsWith(`${at}/`))
      .map(([field, sent]) => [field.slice(at.length), sent.slice(at.length)])
  )

/** Renames an object's fields in place. Reports those that are sent under two names, and leaves them. */
function renameFields(
  object: Json,
  schema: TSchema,
  aliases: ReturnType<typeof aliasesOf>,
  onRenamed: (field: string, name: string) => void
): InvalidField[] {
  const errors: InvalidField[] = []
  // Few requests have such a name, and checking each alias takes longer than validating the request.
  if (!Object.keys(object).some(name => OTHER_NAMES.has(name) && !hasProperty(schema, name))) return errors
  for (const [field, names] of aliases) {
    if (!hasProperty(schema, field)) continue
    const isRequired = requiredOf(schema).includes(field)
    // Null in an optional field means absent.
    const isSent = (name: string) => Object.hasOwn(object, name) && (object[name] !== null || isRequired)
    const others = names.filter(name => Object.hasOwn(object, name) && !hasProperty(schema, name))
    const [first, second] = [field, ...others].filter(isSent)
    if (second !== undefined) {
      const conflict = first === field ? `${field} is given too` : `so does ${first}`
      errors.push({
        pointer: `/${second}`,
        message: `means ${field}, and ${conflict}; send only one of them, preferably ${field}`
      })
      continue
    }
    for (const name of others) {
      if (isSent(name)) {
        object[field] = object[name]
        onRenamed(field, name)
      }
      Reflect.deleteProperty(object, name)
    }
  }
  return errors
}

/**
 * Removes, in place, a field that names this very operation. Fails if it names another one. Any other value stays, and
 * is refused as an unknown field.
 */
function dropCommand(object: Json, { id, request, within }: Fields, warnings: Set<string>): Failure | null {
  const known = (name: string) => hasProperty(request, name) || (name === 'operation' && within !== undefined)
  // If the operation has an action of its own, a command may mean that.
  if (hasProperty(request, 'action')) return null
  for (const name of COMMAND_FIELDS) {
    const value = object[name]
    if (typeof value !== 'string' || known(name)) continue
    const meant = Object.hasOwn(COMMANDS, value) ? COMMANDS[value] : undefined
    const [usual] = meant ?? []
    if (meant === undefined || usual === undefined) continue
    if (!meant.some(operation => BY_TOOL[operation] === id)) {
      const fault = { pointer: `/${name}`, reason: 'other_operation' as const, operation: usual }
      return { code: 'INVALID_REQUEST', faults: [fault] }
    }
    Reflect.deleteProperty(object, name)
    warnings.add(`${name} ${JSON.stringify(value)} was left out: it names this operation.`)
  }
  return null
}

/** What hosts add to the arguments of every tool call; n8n sends the first four. */
const HOST_FIELDS = [
  'sessionId',
  'action',
  'chatInput',
  'toolCallId',
  'tool_call_id',
  '_meta',
  'requestId',
  'request_id'
]

/** Removes, in place, fields that a host added. */
function dropHostFields(object: Json, request: TSchema, warnings: Set<string>): void {
  const added = HOST_FIELDS.filter(name => Object.hasOwn(object, name) && !hasProperty(request, name))
  if (added.length === 0) return
  for (const name of added) Reflect.deleteProperty(object, name)
  warnings.add(
    `${listed(added)} ${added.length === 1 ? 'is no field' : 'are no fields'} of this call, and had no effect.`
  )
}

/** Removes, in place, an empty hash, and an empty list of edits beside the one edit. */
function dropEmpty(object: Json, request: TSchema, warnings: Set<string>): void {
  const isEmpty = (name: string) => object[name] === '' || (Array.isArray(object[name]) && object[name].length === 0)
  const others = ['old_text', 'start_line'].some(name => (object[name] ?? null) !== null)
  for (const name of ['expected_hash', ...(others ? ['edits'] : [])]) {
    if (!isEmpty(name) || !hasProperty(request, name) || requiredOf(request).includes(name)) continue
    Reflect.deleteProperty(object, name)
    warnings.add(`${name} was empty, and had no effect.`)
  }
}

const LINES = ['start_line', 'end_line'] as const

/** Translates, in place, `view_range`, `offset` with `limit`, and -1 for the end into `start_line` and `end_line`. */
function readRange(object: Json, warnings: Set<string>, sentNames: Map<string, string>): InvalidField[] {
  const isSent = (name: string) => object[name] !== undefined && object[name] !== null
  // Beside a search, a limit counts matches.
  const isRange = isSent('offset') || !(isSent('search') || object.structure === true)
  const counted = isRange ? ['offset', 'limit'] : []
  const forms = [LINES, ['view_range'], counted].map(names => names.filter(isSent)).filter(sent => sent.length > 0)
  const [form = [], other] = forms
  if (other !== undefined) {
    const given = `${listed(form)} ${form.length > 1 ? 'are' : 'is'} given too`
    const message = `means start_line and end_line, and ${given}; send only start_line and end_line`
    return [{ pointer: `/${other[0]}`, message }]
  }
  const sent = form.map(name => `${name} ${JSON.stringify(object[name])}`)
  const { view_range, offset, limit } = object
  for (const name of ['view_range', ...counted]) Reflect.deleteProperty(object, name)
  const isOwn = form[0] === undefined || form[0] === 'start_line' || form[0] === 'end_line'
  const errors = isOwn
    ? []
    : form[0] === 'view_range'
      ? readViewRange(object, view_range, sentNames)
      : readOffset(object, offset ?? undefined, limit ?? undefined, sentNames)
  const toEnd = object.end_line === -1
  if (toEnd) Reflect.deleteProperty(object, 'end_line')
  const { start_line, end_line } = object
  if (!isOwn) {
    const to = toEnd ? ' to the end of the file' : end_line === undefined ? '' : ` and end_line ${end_line}`
    warnings.add(`${sent.join(' and ')} ${sent.length > 1 ? 'were' : 'was'} read as start_line ${start_line}${to}.`)
  } else if (toEnd) warnings.add('end_line -1 was read as the end of the file.')
  return errors
}

function readViewRange(object: Json, range: unknown, sentNames: Map<string, string>): InvalidField[] {
  if (!Array.isArray(range) || range.length !== 2) {
    return [{ pointer: '/view_range', message: 'must be two line numbers, such as [1, 40]; [1, -1] is the whole file' }]
  }
  for (const [i, field] of LINES.entries()) {
    object[field] = range[i]
    sentNames.set(`/${field}`, `/view_range/${i}`)
  }
  return []
}

/**
 * Translates `offset`, the first line. Some callers count it from 0, so 0 means line 1. The answer says which lines it
 * shows.
 */
function readOffset(object: Json, offset: unknown, limit: unknown, sentNames: Map<string, string>): InvalidField[] {
  const fault = (name: string, value: unknown, least: number): InvalidField[] =>
    value === undefined || (Number.isSafeInteger(value) && Number(value) >= least)
      ? []
      : [{ pointer: `/${name}`, message: `must be a whole number from ${least}` }]
  const errors = [...fault('offset', offset, 0), ...fault('limit', limit, 1)]
  if (errors.length > 0) return errors
  const start = Math.max(1, Number(offset ?? 1))
  object.start_line = start
  sentNames.set('/start_line', offset === undefined ? '/limit' : '/offset')
  if (limit !== undefined) {
    object.end_line = start + Number(limit) - 1
    sentNames.set('/end_line', '/limit')
  }
  return []
}

/** Merges two equal faults into one if both numbers of a list, sent instead of two fields, have the same fault. */
function inOne<F extends { pointer: string }>(faults: readonly F[], sentNames: SentNames): readonly F[] {
  const [first, second] = faults
  if (first === undefined || second === undefined || faults.length > 2) return faults
  if (!first.pointer.endsWith('/0') || ![...sentNames.values()].includes(first.pointer)) return faults
  const list = first.pointer.slice(0, -'/0'.length)
  return isDeepStrictEqual({ ...first, pointer: `${list}/1` }, second) ? [{ ...first, pointer: list }] : faults
}

/** A failure in the caller's own names. */
export function inSentNames<F extends { code: string }>(failure: F, sentNames: SentNames): F {
  if (sentNames.size === 0) return failure
  const named = (pointer: string) => sentNames.get(pointer) ?? pointer
  const allNamed = (faults: { pointer: string }[]) =>
    inOne(
      faults.map(fault => ({ ...fault, pointer: named(fault.pointer) })),
      sentNames
    )
  if ('errors' in failure && Array.isArray(failure.errors)) return { ...failure, errors: allNamed(failure.errors) }
  if ('faults' in failure && Array.isArray(failure.faults)) return { ...failure, faults: allNamed(failure.faults) }
  if (('stray' in failure || failure.code === 'INVALID_UNICODE') && 'pointer' in failure) {
    return { ...failure, pointer: named(String(failure.pointer)) }
  }
  if (failure.code === 'MIXED_MODES' && 'fields' in failure && Array.isArray(failure.fields)) {
    return { ...failure, fields: failure.fields.map((field: string) => named(`/${field}`).slice(1)) }
  }
  return failure
}
