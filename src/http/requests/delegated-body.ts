// An operation whose body holds another one's: which one, and what its schema says of the fields. Does not know any operation by
// name.
import type { Operation } from '../../operations/operation.ts'
import type { Validated } from './validation.ts'
import { makeValidator, type SchemaError } from './validator.ts'

/** What is needed of the operation that a body is for. */
export type Chosen = Validated & Pick<Operation, 'expects_hash' | 'expects_none'>

/** How bodies of an operation are read: as its own, or as those of the operation that its field `operation` names. */
export function delegatedBody(operation: Operation): {
  chosen(body: unknown): Chosen
  faultsOf(body: unknown): readonly SchemaError[]
} {
  const others = operation.stands_for ?? {}
  const validate = makeValidator(
    [operation, ...Object.values(others)].flatMap(({ request, items }) => [request, ...Object.values(items)])
  )
  const otherIn = (body: unknown) => {
    const name = typeof body === 'object' && body !== null && 'operation' in body ? body.operation : undefined
    const other = typeof name === 'string' && Object.hasOwn(others, name) ? others[name] : undefined
    return other === undefined ? undefined : { name: String(name), other }
  }
  const chosen = (body: unknown): Chosen => {
    const named = otherIn(body)
    if (named === undefined) return operation
    const elsewhere = (field: string) =>
      Object.entries(others)
        .filter(([, { request }]) => Object.hasOwn(propertiesOf(request), field))
        .map(([other]) => other)
    return { ...named.other, within: named.name, elsewhere }
  }
  return {
    chosen,
    faultsOf(body) {
      const faults = validate(operation.request, body)
      const named = otherIn(body)
      if (named === undefined) return faults
      // What its own schema lets pass is looser than what the other asks for, but for `dry_run`.
      const { operation: _, dry_run, ...fields } = body as Record<string, unknown>
      return [
        ...faults.filter(({ instancePath }) => instancePath === '/dry_run').slice(0, 1),
        ...validate(named.other.request, fields)
      ]
    }
  }
}

const propertiesOf = (schema: object) => (schema as { properties?: object }).properties ?? {}
