// Names that models send out of habit, taken as the field that they mean, before validation. The only place that knows
// them.
import type { TSchema } from 'typebox'
import { fail, ok, type Result } from '../../result.ts'
import type { InvalidField, RequestFailure } from '../failure.ts'
import { checkTexts, escapePointer, parseStrictJson } from './json.ts'
import { hasProperty, maxItemsOf, requiredOf } from './json-schema.ts'

/** Our field → what others call it. */
const ALIASES: Record<string, readonly string[]> = {
  path: ['file_path', 'filename', 'filePath', 'relative_path'],
  old_text: ['old_string', 'old_str', 'oldText', 'oldString', 'search'],
  new_text: ['new_string', 'new_str', 'newText', 'newString', 'replace', 'new_content', 'newContent', 'content'],
  replace_all: ['replaceAll', 'allow_multiple'],
  occurrences: ['expected_replacements', 'expected_count', 'expectedReplacements'],
  expected_hash: ['expectedHash', 'file_hash'],
  dry_run: ['preview', 'dryRun'],
  start_line: ['startLine'],
  end_line: ['endLine'],
  content: ['file_text']
}

/** A body in our names. */
export interface Translated {
  body: unknown
  /** What was read as what, in sentences. */
  warnings: string[]
  /** Pointers to our fields → pointers with the names that were sent instead. */
  sentNames: SentNames
  /** Why the body can't be used; it is translated as far as it could be. */
  failure: RequestFailure | null
}
export type SentNames = ReadonlyMap<string, string>

/** What has to be known of the operation. */
export interface Fields {
  request: TSchema
  items: Readonly<Record<string, TSchema>>
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A copy of a body in which the fields that are known by another name are renamed, also in the objects of its lists,
 * and lists and numbers that came as strings are read. A name counts only where the operation has the field that it
 * means and no field of that very name. Fails where one field is sent under two names, or a string holds no list.
 */
export function translate(body: unknown, { request, items }: Fields): Translated {
  if (!isObject(body)) return { body, warnings: [], sentNames: new Map(), failure: null }
  const warnings = new Set<string>()
  const sentNames = new Map<string, string>()
  const errors: InvalidField[] = []
  const renamed = (original: Json, schema: TSchema, at: string) => {
    const object = { ...original }
    errors.push(
      ...renameFields(object, schema, (field, name) => {
        sentNames.set(`${at}/${field}`, `${at}/${escapePointer(name)}`)
        warnings.add(`${name} was read as ${field}.`)
      }).map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
    )
    const { occurrence } = object
    if (typeof occurrence === 'string' && /^\d{1,9}$/.test(occurrence) && hasProperty(schema, 'occurrence')) {
      object.occurrence = Number(occurrence)
      warnings.add(`occurrence ${JSON.stringify(occurrence)} was read as the number ${object.occurrence}.`)
    }
    return object
  }
  const translated = renamed(body, request, '')
  const result = (failure: RequestFailure | null) => ({
    body: translated,
    warnings: [...warnings],
    sentNames,
    failure
  })
  for (const [name, schema] of Object.entries(items)) {
    const text = translated[name]
    if (typeof text === 'string') {
      const parsed = listIn(text, name)
      if (!parsed.ok) return result(parsed.failure)
      translated[name] = parsed.value
      warnings.add(`${name} was a string, and was read as the JSON list in it.`)
    }
    const list = translated[name]
    // One that is too long is refused anyway.
    if (Array.isArray(list) && list.length <= maxItemsOf(request, name)) {
      translated[name] = list.map((item: unknown, i) =>
        isObject(item) ? renamed(item, schema, `/${name}/${i}`) : item
      )
    }
  }
  return result(errors.length > 0 ? { code: 'INVALID_REQUEST', errors } : null)
}

/** Renames, in place, the fields of one object; reports those that are sent under two names, and leaves them. */
function renameFields(object: Json, schema: TSchema, onRenamed: (field: string, name: string) => void): InvalidField[] {
  const errors: InvalidField[] = []
  for (const [field, names] of Object.entries(ALIASES)) {
    if (!hasProperty(schema, field)) continue
    const isRequired = requiredOf(schema).includes(field)
    // Null in an optional field is as good as nothing.
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

/** The list that a string holds as JSON. */
function listIn(text: string, field: string): Result<unknown, RequestFailure> {
  const read = parseStrictJson(Buffer.from(text))
  const fault = read.ok ? checkTexts(read.value) : null
  const parsed = fault === null ? read : fail(fault)
  if (parsed.ok && Array.isArray(parsed.value)) return parsed
  // What is wrong with its texts is reported as in any body.
  if (!parsed.ok && 'errors' in parsed.failure) {
    return fail({
      ...parsed.failure,
      errors: parsed.failure.errors.map(({ pointer, message }) => ({ pointer: `/${field}${pointer}`, message }))
    })
  }
  if (!parsed.ok && parsed.failure.code === 'INVALID_UNICODE') {
    return fail({ code: 'INVALID_UNICODE', pointer: `/${field}${parsed.failure.pointer ?? ''}` })
  }
  return fail({
    code: 'INVALID_REQUEST',
    errors: [{ pointer: `/${field}`, message: 'is a string that is not a JSON list; send a list of objects' }]
  })
}

/** A failure in the names that the caller sent. */
export function inSentNames<F extends { code: string }>(failure: F, sentNames: SentNames): F {
  if (sentNames.size === 0) return failure
  const named = (pointer: string) => sentNames.get(pointer) ?? pointer
  if ('errors' in failure && Array.isArray(failure.errors)) {
    return {
      ...failure,
      errors: failure.errors.map((error: InvalidField) => ({ ...error, pointer: named(error.pointer) }))
    }
  }
  if ('faults' in failure && Array.isArray(failure.faults)) {
    return {
      ...failure,
      faults: failure.faults.map((fault: { pointer: string }) => ({ ...fault, pointer: named(fault.pointer) }))
    }
  }
  if ('stray' in failure && 'pointer' in failure) return { ...failure, pointer: named(String(failure.pointer)) }
  if (failure.code === 'MIXED_MODES' && 'fields' in failure && Array.isArray(failure.fields)) {
    return { ...failure, fields: failure.fields.map((field: string) => named(`/${field}`).slice(1)) }
  }
  return failure
}
