// Which operation a body is for: the one that was called, or, where that stands for others, the one that the body names
// in its field `operation`. Does not know any operation by name.
import type { TSchema } from 'typebox'
import type { Operation } from '../../operations/operation.ts'
import { hasProperty } from './json-schema.ts'
import type { Validated } from './validation.ts'
import { makeValidator, type SchemaError } from './validator.ts'

/** A schema, and those of the items of its lists. */
type Fields = Pick<Operation, 'request' | 'items'>

/** The operation that a body is for, as far as reading the body needs it. */
export interface TargetOperation extends Validated, Pick<Operation, 'id' | 'effect' | 'expects_hash' | 'expects_none'> {
  /** The schemas in whose optional fields null counts as left out. */
  nullable: readonly Fields[]
  /** What the schemas say against a body. */
  faultsOf(body: unknown): readonly SchemaError[]
}

/** How to tell which operation a body of `operation` is for. */
export function targetFinder(operation: Operation): (body: unknown) => TargetOperation {
  const others = operation.stands_for ?? {}
  const validate = makeValidator(
    [operation, ...Object.values(others)].flatMap(({ request, items }): TSchema[] => [request, ...Object.values(items)])
  )
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
        nullable: [operation, other],
        faultsOf(body) {
          // What the schema of `operation` lets pass is looser than what the other asks for, but for `dry_run`.
          const { operation: _, dry_run, ...fields } = body as Record<string, unknown>
          const onDryRun = validate(operation.request, body).filter(({ instancePath }) => instancePath === '/dry_run')
          return [...onDryRun.slice(0, 1), ...validate(other.request, fields)]
        }
      }
    ])
  )
  return body =>
    (typeof body === 'object' && body !== null && 'operation' in body && named.get(body.operation as string)) || own
}
