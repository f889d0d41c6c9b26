// manifest.json, with which a desktop client starts the bundle: its version, tools and settings are right, and its
// command speaks MCP. In this tree, or with BUNDLE=FOLDER in an unpacked bundle (.ci/bundle).
// runs in .ci/run
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { ONLY_CI } from './often.ts'
import { settingRows } from '../src/config/config.ts'
import { UNCOUNTED } from './running.ts'

const HOME = join(import.meta.dirname, '..')
const BUNDLE = process.env.BUNDLE ?? HOME

interface UserSetting {
  type: string
  default?: unknown
}
interface Bundle {
  version: string
  server: { entry_point: string; mcp_config: { command: string; args: string[]; env: Record<string, string> } }
  tools: { name: string }[]
  user_config: Record<string, UserSetting>
  compatibility: { runtimes: { node: string } }
}
const read = <T>(...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8')) as T
const bundle = read<Bundle>(BUNDLE, 'manifest.json')
const { command, args, env } = bundle.server.mcp_config
const [ENV, ...UNSET] = UNCOUNTED

/** What a client puts in for the variables of a text; fails for one that is neither asked for nor known. */
function filled(text: string, values: Record<string, unknown>): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => {
    if (name === '__dirname') return BUNDLE
    const value = values[name.replace(/^user_config\./, '')]
    if (value === undefined) throw new Error(`nothing to put in for ${name}`)
    return String(value)
  })
}

/** A client of the bundle as it is started with these settings, on a folder with one file. */
async function started(t: Test, settings: Record<string, unknown>) {
  const folder = mkdtempSync(join(tmpdir(), 'editd-bundle-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const root = join(folder, 'root')
  mkdirSync(root)
  writeFileSync(join(root, 'a.txt'), 'one\n')
  const defaults = Object.fromEntries(Object.entries(bundle.user_config).map(([name, of]) => [name, of.default]))
  const values = { ...defaults, root, ...settings }
  const client = new Client({ name: 'test', version: '0' })
  const given = Object.entries(env).map(([name, text]) => [name, filled(text, values)])
  await client.connect(
    new StdioClientTransport({
      command: ENV,
      args: [...UNSET, command, ...args.map(argument => filled(argument, values))],
      env: {
        ...(process.env as Record<string, string>),
        XDG_STATE_HOME: folder,
        ...Object.fromEntries(given)
      },
      stderr: 'ignore'
    })
  )
  t.teardown(() => client.close())
  const edit = { name: 'edit_file', arguments: { path: 'a.txt', old_text: 'one', new_text: 'two' } }
  return { client, edit: () => client.callTool(edit), text: () => readFileSync(join(root, 'a.txt'), 'utf8') }
}

t.test('has the version, the start and the Node of the package', { skip: ONLY_CI }, async t => {
  const { version, bin, engines } = read<{ version: string; bin: { editd: string }; engines: { node: string } }>(
    BUNDLE,
    'package.json'
  )
  t.equal(bundle.version, version)
  t.equal(bundle.server.entry_point, bin.editd)
  t.equal(args[0], `\${__dirname}/${bin.editd}`)
  t.equal(bundle.compatibility.runtimes.node, engines.node)
})

t.test('sets only variables that are settings', { skip: ONLY_CI }, async t => {
  const known = settingRows().map(({ environment }) => environment)
  t.strictSame(
    Object.keys(env).filter(name => !known.includes(name)),
    []
  )
})

t.test('starts, lists the tools that it says it has, and edits', { skip: ONLY_CI }, async t => {
  const deleting = await started(t, { allow_delete: true })
  const { client, edit, text } = await started(t, {})
  const namesOf = async (of: Client) => (await of.listTools()).tools.map(({ name }) => name)
  const named = bundle.tools.map(({ name }) => name)
  t.strictSame(await namesOf(deleting.client), named)
  t.strictSame(
    await namesOf(client),
    named.filter(name => name !== 'delete_file' && name !== 'move_file')
  )
  t.match(await edit(), { isError: undefined })
  t.equal(text(), 'two\n')
  t.match(client.getServerVersion(), { name: 'editd', version: bundle.version })
})

t.test('does not edit where a person asked for reading only', { skip: ONLY_CI }, async t => {
  const { client, edit, text } = await started(t, { read_only: true })
  t.strictSame(
    (await client.listTools()).tools.map(({ name }) => name),
    ['inspect_file', 'find']
  )
  t.match(await edit(), { isError: true })
  t.equal(text(), 'one\n')
})
