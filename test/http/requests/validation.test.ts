// What is said against a field comes from the schema that it failed, wherever that stands.
import t, { type Test } from 'tap'
import { Type, type TSchema } from 'typebox'
import { ALLOWED, expectedHash, time } from '../../../schemas/common.ts'
import type { InvalidField } from '../../../src/http/request-failure.ts'
import { queryReader } from '../../../src/http/requests/query.ts'
import { toFailure } from '../../../src/http/requests/validation.ts'
import { makeValidator } from '../../../src/http/requests/validator.ts'
import { makeOperations } from '../../../src/operations.ts'
import { check, startServer } from '../test-server.ts'

interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  $id?: string
  $ref?: string
}

/** A body with this wrong value at this place, each of whose objects has the members that it needs. */
function bodyWith(
  [name = '', star, ...others]: readonly string[],
  wrong: unknown,
  needed: (list: string) => object,
  list = ''
): object {
  const value = star === undefined ? wrong : [bodyWith(others, wrong, needed, name)]
  return { ...needed(list), [name]: value }
}

/** Every place of a schema that has the keyword, as a pointer; `*` is an item of a list. */
function* placesOf(keyword: string, schema: Schema, resolve: (ref: string) => Schema, at = ''): Generator<string> {
  const own = schema.$ref === undefined ? schema : resolve(schema.$ref)
  if (keyword in own) yield at
  for (const [name, property] of Object.entries(own.properties ?? {})) {
    yield* placesOf(keyword, property, resolve, `${at}/${name}`)
  }
  if (own.items !== undefined) yield* placesOf(keyword, own.items, resolve, `${at}/*`)
}

t.test('has words for every union and pattern of a request', async t => {
  const server = await startServer(t)
  const operations = Object.entries(makeOperations(server.workspace, { max_edits: 5, max_file_size: 1 }))
  const items = operations.flatMap(([, operation]) => Object.values(operation.items) as Schema[])
  const resolve = (ref: string) => items.find(({ $id }) => `${$id}#` === ref)!
  const said = new Map<string, string>()
  for (const [name, { route, request, stands_for = {}, many_in = '' }] of operations) {
    const others = Object.keys(stands_for).map(operation => ({ operation }))
    const chosen = others.length === 0 ? [{}] : others
    for (const keyword of ['anyOf', 'pattern']) {
      for (const place of placesOf(keyword, request as Schema, resolve)) {
        const pointer = place.replaceAll('*', '0')
        const bodies = chosen.map(other =>
          bodyWith(place.split('/').slice(1), /clude$/.test(place) ? 1 : 'other', list =>
            list === many_in ? { path: 'a', ...other } : {}
          )
        )
        const replies = await Promise.all(bodies.map(body => server.call('POST', route, { body })))
        const errors = replies.flatMap(({ body }) => (body.errors ?? []) as InvalidField[])
        const found = errors.filter(error => error.pointer === pointer && error.message.startsWith('must be'))
        t.ok(found.length > 0, `${name} says what ${pointer} has to be`)
        for (const { message } of found) said.set(`${name}${place}`, message)
      }
    }
  }
  const file_hash = 'must be the file_hash or sha256 of an answer: 16 to 64 hex digits in lower case'
  const occurrence = 'must be "first", "last", "all" or a whole number from 1'
  const globs = 'must be a string or a list'
  const date = 'must be a date and time with its zone, such as 2026-11-22T12:40:00Z'
  t.strictSame(Object.fromEntries(said), {
    'edit/occurrence': occurrence,
    'edit/edits/*/occurrence': occurrence,
    'edit/expected_hash': file_hash,
    'edit_lines/expected_hash': file_hash,
    'edit_section/expected_hash': file_hash,
    'preview/occurrence': occurrence,
    'preview/edits/*/occurrence': occurrence,
    'preview/expected_hash': file_hash,
    'create/expected_hash': file_hash,
    'batch/operations/*/occurrence': occurrence,
    'batch/operations/*/edits/*/occurrence': occurrence,
    'batch/operations/*/expected_hash': file_hash,
    'replace/include': globs,
    'replace/exclude': globs,
    'delete/expected_hash': file_hash,
    'move/expected_hash': file_hash,
    'find/include': globs,
    'find/exclude': globs,
    'history/include': globs,
    'history/since': date,
    'history/until': date,
    'history/before': 'must be the next_before of an answer, unchanged',
    'undo/expected_hash': file_hash,
    'redo/expected_hash': file_hash
  })
  const { before } = operations.find(([name]) => name === 'history')![1].request.properties as Record<string, TSchema>
  const patterns = [expectedHash(''), time(''), before].map(
    schema => (schema as unknown as { pattern: string }).pattern
  )
  t.strictSame(Object.keys(ALLOWED), patterns)
})

/** The messages about a field with this schema that holds this value. */
function says(t: Test, schema: TSchema, value: unknown, ...messages: string[]) {
  const request = Type.Object({ field: schema })
  const body = { field: value }
  const faults = makeValidator([request])(request, body)
  const errors = messages.map(message => ({ pointer: '/field', message }))
  t.strictSame(toFailure(faults, body, { request, items: {} }), { code: 'INVALID_REQUEST', errors })
}

t.test('says what the schema allows that failed, not what another does', async t => {
  const digit = { type: 'integer', minimum: 2, maximum: 9 }
  const union = (...anyOf: object[]) => Type.Unsafe({ anyOf })
  says(t, union(digit, { type: 'string', enum: ['x', 'y'] }), [], 'must be a whole number from 2 to 9, "x" or "y"')
  says(t, union({ type: 'string', enum: ['only'] }, { type: 'null' }), 1, 'must be "only" or null')
  says(t, Type.String({ pattern: '^[a-z]+$' }), '1', 'must be text that matches ^[a-z]+$')
  const words = Type.Unsafe({ type: 'string', enum: ['a', 'b', 'c'] })
  says(t, words, false, 'must be a string, not true or false', 'must be "a", "b" or "c"')
  says(t, Type.Boolean({ enum: [true] }), false, 'may only be true here; leave it out')
  says(t, Type.String({ minLength: 3 }), 'ab', 'must have at least 3 characters')
  says(t, Type.Array(Type.String(), { minItems: 2, maxItems: 3 }), ['a'], 'must have at least 2 items')
  says(t, Type.Array(Type.String(), { minItems: 2, maxItems: 3 }), ['a', 'b', 'c', 'd'], 'must have at most 3 items')
  says(t, Type.String({ minLength: 1 }), '', 'must not be empty')
  says(t, Type.Integer({ multipleOf: 2 }), 3, 'must be multiple of 2')
  const query = Type.Object({ format: Type.Optional(Type.String()) }, { additionalProperties: false })
  const message = 'is an unknown field (did you mean format?)'
  t.match(queryReader(query)('/?formats=x'), { failure: { errors: [{ pointer: '/formats', message }] } })
})

t.test('names a field that may have been meant, or all that there are', async t => {
  const server = await startServer(t)
  const one = { start_line: 1, end_line: 1, new_text: 'x' }
  const refuses = (route: string, edit: object, field: string, message: string) => {
    const request = { path: 'a', edits: [edit], ...(route === '/preview' && { operation: 'edit_lines' }) }
    return check(t, server, route, request, 400, { errors: [{ pointer: `/edits/0/${field}`, message }] })
  }
  const all = 'is an unknown field (known fields: start_line, end_line, new_text, expected_text)'
  for (const route of ['/edit-lines', '/preview']) {
    await refuses(route, { ...one, old_text: 'y' }, 'old_text', all)
    await refuses(route, { ...one, context: 'y' }, 'context', all)
    await refuses(route, { ...one, start_line_: 2 }, 'start_line_', 'is an unknown field (start_line is already given)')
    await refuses(
      route,
      { ...one, expectedtxt: 'y' },
      'expectedtxt',
      'is an unknown field (did you mean expected_text?)'
    )
  }
  const section = (request: object, ...errors: object[]) =>
    check(t, server, '/edit-section', { path: 'a', action: 'delete', ...request }, 400, { errors })
  const fields = 'is an unknown field (known fields: index, language, under_heading)'
  await section({ code_block: { lang: 'js' } }, { pointer: '/code_block/lang', message: fields })
  await section(
    { action: false, heading: 'x' },
    { pointer: '/action', message: 'must be a string, not true or false' },
    { pointer: '/action', message: /^must be "replace", "delete", .* or "insert_after"$/ }
  )
})
