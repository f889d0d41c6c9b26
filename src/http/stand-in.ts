// An operation whose body holds another one's: which one, and what its schema says of the fields. Knows no operation by name.
import type { FastifyRequest } from 'fastify'
import { ref } from '../../schemas/common.ts'
import type { Operation } from '../operations/operation.ts'
import type { SchemaError, Validated } from './validation.ts'

/** What is needed of the operation that a body is for. */
export type Chosen = Validated & Pick<Operation, 'expects_hash' | 'expects_none'>

/** How bodies of an operation are read: as its own, or as those of the operation that its field `operation` names. */
export function standIn (operation: Operation): { chosen (body: unknown): Chosen, faultsOf (request: FastifyRequest): readonly SchemaError[] } {
  const others = operation.stands_for ?? {}
  const schemas = new Map(Object.entries(others).map(([name, { request }]) => [name, ref(request)]))
  const nameIn = (body: unknown) => {
    const name = typeof body === 'object' && body !== null && 'operation' in body ? body.operation : undefined
    return typeof name === 'string' && Object.hasOwn(others, name) ? name : undefined
  }
  const chosen = (body: unknown): Chosen => {
    const name = nameIn(body)
    if (name === undefined) return operation
    const elsewhere = (field: string) => Object.entries(others).filter(([, { request }]) => field in propertiesOf(request)).map(([other]) => other)
    return { ...others[name] ?? operation, within: name, elsewhere }
  }
  return {
    chosen,
    faultsOf (request) {
      const { validationContext } = request.validationError ?? {}
      const validation = (request.validationError?.validation ?? []) as SchemaError[]
      const name = nameIn(request.body)
      const schema = name === undefined ? undefined : schemas.get(name)
      if (schema === undefined || validationContext === 'headers') return validation
      // What its own schema lets pass is looser than what the other asks for, but for `dry_run`.
      const { operation: _, dry_run, ...fields } = request.body as Record<string, unknown>
      const validate = request.compileValidationSchema(schema, 'body')
      const own = validation.filter(({ instancePath }) => instancePath === '/dry_run').slice(0, 1)
      return validate(fields) ? own : [...own, ...(validate.errors ?? []) as SchemaError[]]
    }
  }
}

const propertiesOf = (schema: object) => (schema as { properties?: object }).properties ?? {}
