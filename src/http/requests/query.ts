// Reads the query of a URL as strictly as a body: no unknown field, none twice. Does not know any route.
import type { Static, TObject } from 'typebox'
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import { toFailure } from './validation.ts'
import { makeValidator } from './validator.ts'

/** Reads the query that a schema of text fields describes. Pointers in its failures name fields of the query. */
export function queryReader<S extends TObject>(schema: S): (url: string) => Result<Static<S>, RequestFailure> {
  const validate = makeValidator([schema])
  return url => {
    const fields = [...new URLSearchParams(url.split('?')[1] ?? '')]
    const twice = fields.find(([name], i) => fields.findIndex(([other]) => other === name) < i)
    if (twice !== undefined) {
      return fail({
        code: 'INVALID_REQUEST',
        errors: [{ pointer: `/${twice[0]}`, message: 'is given twice in the query' }]
      })
    }
    const query = Object.fromEntries(fields)
    const faults = validate(schema, query)
    return faults.length === 0
      ? ok(query as Static<S>)
      : fail(toFailure(faults, query, { request: schema, items: {} }) as RequestFailure)
  }
}
