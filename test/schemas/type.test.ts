// The schemas that schemas/type.ts makes are those that typebox makes.
import t from 'tap'
import { Type as Typebox } from 'typebox'
import { Type } from '../../schemas/type.ts'

const schemas = (make: typeof Type) => {
  const name = make.String({ minLength: 1, description: 'A name.' })
  return {
    text: make.String(),
    name,
    count: make.Integer({ minimum: 0 }),
    ratio: make.Number({ maximum: 1 }),
    flag: make.Boolean(),
    nothing: make.Null(),
    yes: make.Literal(true, { description: 'Only true.' }),
    word: make.Literal('word'),
    bare: make.Object({}),
    optional: make.Object({ a: make.Optional(make.Boolean()) }),
    both: make.Object(
      { first: name, second: make.Optional(name), third: make.Array(name, { maxItems: 3 }) },
      { $id: 'Both', additionalProperties: false }
    ),
    // An optional field that was written out anew is required.
    rewritten: make.Object({ a: make.Unsafe<string>({ ...make.Optional(name), description: 'Another.' }) }),
    kept: make.Object({ a: make.Unsafe<string>(make.Optional(name)) }),
    union: make.Union([make.Null(), make.Integer()], { description: 'One of both.' }),
    written: make.Unsafe<object>({ $ref: 'Both#' })
  }
}

t.test('makes what typebox makes, keyword by keyword', async t => {
  const theirs = schemas(Typebox)
  for (const [name, schema] of Object.entries(schemas(Type))) {
    t.equal(JSON.stringify(schema), JSON.stringify(theirs[name as keyof typeof theirs]), name)
  }
})
