// server.json, with which the MCP registry lists the package: it has the form of the schema of 2025-12-11, and its
// arguments and variables are right. Does not ask the registry.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { loadLocalConfig, settingRows } from '../src/config/config.ts'

const HOME = join(import.meta.dirname, '..')
const read = (path: string): unknown => JSON.parse(readFileSync(join(HOME, path), 'utf8'))

interface Input {
  name?: string
  value?: string
  valueHint?: string
  description?: string
  format?: 'string' | 'number' | 'boolean' | 'filepath'
  default?: string
}
interface ServerJson {
  name: string
  description: string
  version: string
  packages: { identifier: string; version: string; packageArguments: Input[]; environmentVariables: Input[] }[]
}

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })
const strict = (required: object, optional = {}) => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false
})
const INPUT = {
  description: text(200),
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  default: text(200),
  isRequired: { type: 'boolean' }
}
/** What the registry's schema says of the fields that are used here; it knows more of them. */
const SCHEMA = strict({
  $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
  name: { type: 'string', maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
  title: text(100),
  description: text(100),
  // Not a range.
  version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$' },
  packages: {
    type: 'array',
    minItems: 1,
    items: strict({
      registryType: { const: 'npm' },
      identifier: text(200),
      version: text(200),
      runtimeHint: { const: 'npx' },
      transport: strict({ type: { const: 'stdio' } }),
      packageArguments: {
        type: 'array',
        items: {
          anyOf: [
            strict({ type: { const: 'positional' }, value: text(200) }),
            strict({ type: { const: 'positional' }, valueHint: text(200) }, INPUT)
          ]
        }
      },
      environmentVariables: { type: 'array', items: strict({ name: text(200) }, INPUT) }
    })
  }
})
const isValid = new Ajv({ allErrors: true }).compile(SCHEMA)

const server = read('server.json') as ServerJson
const manifest = read('package.json') as { name: string; version: string; mcpName: string }

t.test('has the form that the registry asks for', async t => {
  t.ok(isValid(server), JSON.stringify(isValid.errors))
  for (const [what, wrong] of [
    ['a name without a namespace', { ...server, name: 'editd' }],
    ['a long description', { ...server, description: 'x'.repeat(101) }],
    ['a range of versions', { ...server, version: '^0.1.0' }],
    ['an unknown field', { ...server, license: 'MIT' }]
  ] as const) {
    t.notOk(isValid(wrong), what)
  }
})

t.test('names the package as it names itself', async t => {
  t.equal(server.name, manifest.mcpName)
  t.equal(server.version, manifest.version)
  for (const { identifier, version } of server.packages) {
    t.strictSame({ identifier, version }, { identifier: manifest.name, version: manifest.version })
  }
})

t.test('has only arguments and variables that are settings, with their meaning and default', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'editd-server-json-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const rows = new Map(
    settingRows().flatMap(row => [
      [row.flag, row],
      [row.environment, row]
    ])
  )
  const shown: Record<string, string> = { false: 'off', true: 'on' }
  const check = (name: string, { description, default: value }: Input) => {
    t.equal(description, rows.get(name)?.meaning, name)
    if (value !== undefined) t.equal(shown[value] ?? value, rows.get(name)?.default, name)
  }
  const given = ({ value, format, default: initial }: Input) =>
    value ?? (format === 'filepath' ? folder : (initial ?? 'one.txt'))
  for (const { packageArguments, environmentVariables } of server.packages) {
    const [command, ...others] = packageArguments
    t.equal(command?.value, 'mcp', 'speaks over stdio')
    for (const argument of others) check(`[${argument.valueHint}]`, argument)
    for (const variable of environmentVariables) check(variable.name!, variable)
    const env = Object.fromEntries(environmentVariables.map(variable => [variable.name!, given(variable)]))
    const config = loadLocalConfig(others.map(given), env)
    t.match(config, { ok: true, value: { root: folder, stateDir: folder, readOnly: false, allowDelete: false } })
    t.ok(config.ok && config.value.protect.includes('one.txt'))
  }
})
