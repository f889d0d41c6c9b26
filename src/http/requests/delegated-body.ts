// Finds the operation that a body is for. Usually that is the operation called. If that one stands for others, the
// body's field `operation` names one of them, or its tool; a body with a list has such an `operation` in each item.
// Does not know any operation by name.
import type { TSchema } from 'typebox'
import type { Callable, Readable } from '../../operations/operation.ts'
import { hasProperty, propertiesOf, toJsonSchema } from './json-schema.ts'
import type { Validated } from './validation.ts'
import { makeValidator, type SchemaError } from './validator.ts'

/** A schema, and the schemas for items in its lists. */
type Fields = Pick<Readable, 'request' | 'items'>

/** The operation that a body is for: what reading the body needs to know of it. */
export interface TargetOperation
  extends Validated, Pick<Callable, 'id' | 'effect' | 'expects_hash' | 'expects_none' | 'many_in'> {
  /** The schemas that decide which fields are optional: null there counts as left out. */
  nullable: readonly Fields[]
  /** The schema errors of a body, without those of its parts. */
  faultsOf(body: unknown): readonly SchemaError[]
  /** Set if it has a list of bodies of other operations, in this field. */
  parts?: Parts
}

/** A list of bodies, and how to find the operation of each. */
interface Parts {
  field: string
  targetOf(part: unknown): TargetOperation
}

/** Makes a function that finds which operation a body of `operation` is for. */
export function targetFinder(operation: Callable): (body: unknown) => TargetOperation {
  const { many_in: field, stands_for: others = {} } = operation
  const validate = makeValidator(
    [operation, ...Object.values(others)].flatMap(({ request, items }): TSchema[] => [request, ...Object.values(items)])
  )
  /** The schemas for a body before the operation it names is known. */
  const each: Fields = field === undefined ? operation : { request: operation.items[field]!, items: operation.items }
  // Fields of the list as a whole, which no item of it has.
  const of_all = Object.keys(propertiesOf(operation.request)).filter(name => !hasProperty(each.request, name))
  const faultsOfPart = (body: unknown, { request }: Readable): readonly SchemaError[] => {
    const { operation: _, ...fields } = body as Record<string, unknown>
    const parentSchema = toJsonSchema(request)
    const misplaced = of_all
      .filter(name => Object.hasOwn(fields, name))
      .map((name): SchemaError => {
        Reflect.deleteProperty(fields, name)
        return { keyword: 'additionalProperties', instancePath: '', params: { additionalProperty: name }, parentSchema }
      })
    return [...misplaced, ...validate(request, fields)]
  }
  const own: TargetOperation = {
    ...operation,
    nullable: [operation],
    faultsOf: body => validate(operation.request, body)
  }
  const elsewhere = (field: string) =>
    Object.entries(others)
      .filter(([, { request }]) => hasProperty(request, field))
      .map(([name]) => name)
  const named = new Map(
    Object.entries(others).map(([name, other]): [string, TargetOperation] => [
      name,
      {
        ...other,
        within: name,
        elsewhere,
        // A strict tool sends null for every field of all its operations.
        nullable: [each, other],
        ...(field !== undefined && { of_all }),
        faultsOf(body) {
          if (field !== undefined) return faultsOfPart(body, other)
          // Except for `dry_run`, the schema of `operation` is looser than that of the operation it stands for.
          const { operation: _, dry_run, ...fields } = body as Record<string, unknown>
          const onDryRun = validate(operation.request, body).filter(({ instancePath }) => instancePath === '/dry_run')
          return [...onDryRun.slice(0, 1), ...validate(other.request, fields)]
        }
      }
    ])
  )
  // An operation that is also a tool is known to models by its tool name.
  for (const target of [...named.values()]) if (target.id !== operation.id) named.set(target.id, target)
  const namedBy = (body: unknown): TargetOperation | undefined =>
    typeof body === 'object' && body !== null && 'operation' in body ? named.get(body.operation as string) : undefined
  if (field === undefined) return body => namedBy(body) ?? own
  // For an item that names none of the operations.
  const unnamed: TargetOperation = {
    ...own,
    ...each,
    of_all,
    nullable: [each],
    faultsOf: part => validate(each.request, part)
  }
  const parts = { field, targetOf: (part: unknown) => namedBy(part) ?? unnamed }
  const ofOthers = `/${field}/`
  const all: TargetOperation = {
    ...own,
    parts,
    faultsOf: body => own.faultsOf(body).filter(({ instancePath }) => !instancePath.startsWith(ofOthers))
  }
  return () => all
}
