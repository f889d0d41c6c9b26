// Reads values that are right but in another form than the schema asks for, where they have one meaning: "true", "3",
// JSON in a string, one object in place of a list. Does not know any field or operation by name.
import type { TSchema } from 'typebox'
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import { checkTexts, cutOff, parseSentJson } from './json.ts'
import { propertiesOf, type JsonSchema } from './json-schema.ts'

type Json = Record<string, unknown>

/** Texts that mean a boolean. */
const BOOLEANS = new Map([
  ['true', true],
  ['false', false]
])

/** Changes the fields of an object in place. `warn` says how a field was read. */
export function readForms(object: Json, schema: TSchema, warn: (warning: string) => void): void {
  const properties = propertiesOf(schema)
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'string' || !Object.hasOwn(properties, name)) continue
    const meant = meantBy(value, branchesOf(properties[name]!))
    if (meant === undefined) continue
    object[name] = meant
    const sent = Array.isArray(meant) ? 'was a string, and' : JSON.stringify(value)
    const what = Array.isArray(meant) ? 'a list' : typeof meant === 'number' ? `the number ${meant}` : String(meant)
    warn(`${name} ${sent} was read as ${what}.`)
  }
}

const branchesOf = (schema: JsonSchema): readonly JsonSchema[] => schema.anyOf ?? [schema]

/** What a text means where no text may be; undefined where one may be, or if it means nothing. */
function meantBy(text: string, branches: readonly JsonSchema[]): unknown {
  if (branches.some(branch => branch.type === 'string' && (branch.enum?.includes(text) ?? true))) return undefined
  for (const { type, items } of branches) {
    if (type === 'boolean') return BOOLEANS.get(text.toLowerCase())
    if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
    // Lists of objects are read by `listIn`.
    if (type === 'array' && items?.type !== undefined && items.type !== 'object') {
      const read = /^\s*[["]/.test(text) ? parseSentJson(text) : null
      if (read?.ok === true && Array.isArray(read.value)) return read.value
      return items.type === 'string' && read === null ? [text] : undefined
    }
  }
  return undefined
}

/** The list in this field of a request: as it is, of one object, or the JSON of one in a string. */
export function listIn(sent: unknown, field: string, warn: (warning: string) => void): Result<unknown, RequestFailure> {
  if (typeof sent === 'string') {
    const parsed = parsedIn(sent, `/${field}`)
    if (!parsed.ok) return parsed
    const { value } = parsed
    if (!Array.isArray(value) && !isObject(value)) return refuse(`/${field}`)
    warn(`${field} was a string, and was read as the JSON list in it.`)
    return listIn(value, field, () => {})
  }
  if (isObject(sent)) {
    warn(`${field} was one object, and was read as a list of it.`)
    return ok([sent])
  }
  if (!Array.isArray(sent) || !sent.some(item => typeof item === 'string')) return ok(sent)
  const list: unknown[] = []
  for (const [i, item] of sent.entries()) {
    const parsed = typeof item === 'string' ? parsedIn(item, `/${field}/${i}`) : ok(item)
    if (!parsed.ok) return parsed
    list.push(parsed.value)
  }
  warn(`${field} had objects as strings, which were read as the JSON in them.`)
  return ok(list)
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const refuse = (pointer: string, message = 'is a string that is not a JSON list; send a list of objects') =>
  fail<RequestFailure>({ code: 'INVALID_REQUEST', errors: [{ pointer, message }] })

function parsedIn(text: string, at: string): Result<unknown, RequestFailure> {
  const read = parseSentJson(text)
  const fault = read.ok ? checkTexts(read.value) : null
  const parsed = fault === null ? read : fail(fault)
  if (parsed.ok) return parsed
  const { failure } = parsed
  // Faults in its texts are reported as in any body.
  if ('errors' in failure) {
    return fail({
      ...failure,
      errors: failure.errors.map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
    })
  }
  if (failure.code === 'INVALID_UNICODE') return fail({ ...failure, pointer: `${at}${failure.pointer ?? ''}` })
  const where = failure.code === 'INVALID_JSON' && failure.reason === 'syntax' ? failure.where : undefined
  const place = where === undefined ? '' : ` (${where})`
  return refuse(at, cutOff(text, failure) ?? `is a string that is not a JSON list${place}; send a list of objects`)
}
