// Names that models send out of habit, taken as the field that they mean, before validation. The only place that knows
// them.
import type { TSchema } from 'typebox'
import { fail, ok, type Result } from '../../result.ts'
import type { InvalidField, RequestFailure } from '../failure.ts'
import { checkTexts, escapePointer, parseStrictJson } from './json.ts'

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

/** What was taken as what. */
export interface Taken {
  warnings: string[]
  /** Pointers to our fields → to the names that the caller gave. */
  own: Map<string, string>
}

/** What has to be known of the operation. */
export interface Fields {
  request: TSchema
  items: Readonly<Record<string, TSchema>>
}

interface Shape {
  properties?: Record<string, unknown>
  required?: string[]
}
type Json = Record<string, unknown>

const longest = (request: TSchema, list: string) =>
  ((request as Shape).properties?.[list] as { maxItems?: number }).maxItems ?? Infinity

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Renames, in place, the fields of a body that are known by another name, also in the objects of its lists, and reads
 * lists and numbers that came as strings. A name counts only where the operation has the field that it means and
 * no field of that very name. Fails where one field is given by two names, or a list in a string is none.
 */
export function translate(body: unknown, { request, items }: Fields): Result<Taken, RequestFailure> {
  const warnings = new Set<string>()
  const own = new Map<string, string>()
  const errors: InvalidField[] = []
  const rename = (object: Json, schema: Shape, at: string) => {
    errors.push(
      ...renameFields(object, schema, (field, name) => {
        own.set(`${at}/${field}`, `${at}/${escapePointer(name)}`)
        warnings.add(`${name} was read as ${field}.`)
      }).map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
    )
    const { occurrence } = object
    if (
      typeof occurrence === 'string' &&
      /^\d{1,9}$/.test(occurrence) &&
      Object.hasOwn(schema.properties ?? {}, 'occurrence')
    ) {
      object.occurrence = Number(occurrence)
      warnings.add(`occurrence ${JSON.stringify(occurrence)} was read as the number ${object.occurrence}.`)
    }
  }
  if (isObject(body)) {
    rename(body, request, '')
    for (const [name, schema] of Object.entries(items)) {
      const text = body[name]
      if (typeof text === 'string') {
        const parsed = listIn(text, name)
        if (!parsed.ok) return parsed
        body[name] = parsed.value
        warnings.add(`${name} was a string, and was read as the JSON list in it.`)
      }
      const list = body[name]
      // One that is too long is refused anyway.
      if (Array.isArray(list) && list.length <= longest(request, name)) {
        list.forEach((item, i) => {
          if (isObject(item)) rename(item, schema, `/${name}/${i}`)
        })
      }
    }
  }
  return errors.length > 0 ? fail({ code: 'INVALID_REQUEST', errors }) : ok({ warnings: [...warnings], own })
}

/** Renames what has another name in one object; what is given twice is left as it is and told. */
function renameFields(
  object: Json,
  { properties = {}, required = [] }: Shape,
  took: (field: string, name: string) => void
): InvalidField[] {
  const errors: InvalidField[] = []
  for (const [field, names] of Object.entries(ALIASES)) {
    if (!Object.hasOwn(properties, field)) continue
    // Null in an optional field is as good as nothing.
    const isGiven = (name: string) => Object.hasOwn(object, name) && (object[name] !== null || required.includes(field))
    const others = names.filter(name => Object.hasOwn(object, name) && !Object.hasOwn(properties, name))
    const given = [field, ...others].filter(isGiven)
    if (given.length > 1) {
      errors.push({
        pointer: `/${given[1]}`,
        message: `means ${field}, and ${given[0] === field ? `${field} is given too` : `so does ${given[0]}`}; send only one of them, preferably ${field}`
      })
      continue
    }
    for (const name of others) {
      if (isGiven(name)) {
        object[field] = object[name]
        took(field, name)
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
  // What is amiss in its texts is told as in any body.
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

/** A failure with the names that the caller gave. */
export function inOwnWords<F extends { code: string }>(failure: F, { own }: Taken): F {
  if (own.size === 0) return failure
  const named = (pointer: string) => own.get(pointer) ?? pointer
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
