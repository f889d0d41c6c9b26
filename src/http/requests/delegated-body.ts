// Which operation a body is for: the one that was called, or, where that stands for others, the one that the body names
// in its field `operation`, by its name there or as a tool; or which ones, where it has a list of such bodies. Does not
// know any operation by name.
import type { TSchema } from 'typebox'
import type { Callable, Readable } from '../../operations/operation.ts'
import { hasProperty, propertiesOf, toJsonSchema } from './json-schema.ts'
import type { Validated } from './validation.ts'
import { makeValidator, type SchemaError } from './validator.ts'

/** A schema, and those of the items of its lists. */
type Fields = Pick<Readable, 'request' | 'items'>

/** The operation that a body is for, as far as reading the body needs it. */
export interface TargetOperation
  extends Validated, Pick<Callable, 'id' | 'effect' | 'expects_hash' | 'expects_none' | 'many_in'> {
  /** The schemas in whose optional fields null counts as left out. */
  nullable: readonly Fields[]
  /** What the schemas say against a body; nothing of its parts. */
  faultsOf(body: unknown): readonly SchemaError[]
  /** It has a list of bodies of other operations, in this field. */
  parts?: Parts
}

/** Bodies in a list: which operation each is for. */
interface Parts {
  field: string
  targetOf(part: unknown): TargetOperation
}

/** How to tell which operation a body of `operation` is for. */
export function targetFinder(operation: Callable): (body: unknown) => TargetOperation {
  const { many_in: field, stands_for: others = {} } = operation
  const validate = makeValidator(
    [operation, ...Object.values(others)].flatMap(({ request, items }): TSchema[] => [request, ...Object.values(items)])
  )
  /** What a body that names an operation is taken for, before that. */
  const each: Fields = field === undefined ? operation : { request: operation.items[field]!, items: operation.items }
  // What is said of all of a list together, and of none of them.
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
        // A strict tool sends null for every field of all of them.
        nullable: [each, other],
        ...(field !== undefined && { of_all }),
        faultsOf(body) {
          if (field !== undefined) return faultsOfPart(body, other)
          // What the schema of `operation` lets pass is looser than what the other asks for, but for `dry_run`.
          const { operation: _, dry_run, ...fields } = body as Record<string, unknown>
          const onDryRun = validate(operation.request, body).filter(({ instancePath }) => instancePath === '/dry_run')
          return [...onDryRun.slice(0, 1), ...validate(other.request, fields)]
        }
      }
    ])
  )
  // Models know an operation that is a tool of its own by that name.
  for (const target of [...named.values()]) if (target.id !== operation.id) named.set(target.id, target)
  const namedBy = (body: unknown): TargetOperation | undefined =>
    typeof body === 'object' && body !== null && 'operation' in body ? named.get(body.operation as string) : undefined
  if (field === undefined) return body => namedBy(body) ?? own
  // Of a part that names none of them.
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
