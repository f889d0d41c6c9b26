// Clients generated from openapi.yaml: each is generated, compiled with --strict, and used on the built server.
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { testFolder } from './folder.ts'
import { start, uncounted } from './running.ts'

const SOURCE = join(import.meta.dirname, 'clients')
const MODULES = join(SOURCE, 'node_modules')

const GENERATORS: Record<string, string[]> = {
  'openapi-fetch': ['openapi-typescript', 'openapi.yaml', '-o', 'generated/openapi-typescript.ts'],
  'hey-api': ['openapi-ts', '-i', 'openapi.yaml', '-o', 'generated/hey-api'],
  orval: ['orval'],
  'swagger-typescript-api': [
    'swagger-typescript-api',
    'generate',
    '-p',
    'openapi.yaml',
    '-o',
    'generated',
    '-n',
    'swagger-typescript-api.ts',
    '--disable-throw-on-error'
  ]
}

t.test(
  'generated clients',
  { skip: !existsSync(MODULES) && 'they are not installed (npm ci --prefix test/clients)' },
  async t => {
    const folder = testFolder(t, { node_modules: t.fixture('symlink', MODULES), generated: {} })
    for (const { name } of readdirSync(SOURCE, { withFileTypes: true }).filter(entry => entry.isFile())) {
      copyFileSync(join(SOURCE, name), join(folder, name))
    }
    copyFileSync(join(import.meta.dirname, '../openapi.yaml'), join(folder, 'openapi.yaml'))
    const workspace = mkdtempSync(join(tmpdir(), 'editd-clients-'))
    const state = mkdtempSync(join(tmpdir(), 'editd-state-'))
    t.teardown(() => {
      for (const made of [workspace, state]) rmSync(made, { recursive: true })
    })
    const server = await start(workspace, state)
    const env = {
      ...process.env,
      EDITD_URL: server.url,
      EDITD_TOKEN: 'a-token-for-tests',
      DO_NOT_TRACK: '1'
    }
    const run = async (command: string, args: string[]) => {
      try {
        return { code: 0, ...(await promisify(execFile)(...uncounted(command, args), { cwd: folder, env })) }
      } catch (error) {
        return error as { code: number; stdout: string; stderr: string }
      }
    }
    const bin = (name: string) => join(MODULES, '.bin', name)

    for (const [name, generated] of await Promise.all(
      Object.entries(GENERATORS).map(
        async ([name, [command = '', ...args]]) => [name, await run(bin(command), args)] as const
      )
    )) {
      t.equal(generated.code, 0, `${name} is generated: ${generated.stderr}`)
    }
    const compiled = await run(bin('tsc'), ['-p', '.'])
    t.equal(compiled.code, 0, `they compile: ${compiled.stdout}`)
    for (const name of Object.keys(GENERATORS)) {
      writeFileSync(join(workspace, `${name}.txt`), 'one\ntwo words\nthree\n')
      const { stdout, stderr } = await run(process.execPath, [`built/${name}.js`])
      const file = `${name}.txt`
      t.equal(stderr, '', name)
      t.match(
        JSON.parse(stdout || '{}'),
        {
          done: `Successfully replaced 1 occurrence in ${file} (line 1).`,
          missed: 'NO_MATCH',
          corrected: `Successfully replaced 1 occurrence in ${file} (line 2).`,
          stale: 'STALE_FILE',
          file_hash: /^[0-9a-f]{16}$/,
          inspected: /^[0-9a-f]{16}$/,
          entries: readdirSync(workspace).sort()
        },
        name
      )
      t.equal(readFileSync(join(workspace, file), 'utf8'), 'eins\nzwei Wörter\nthree\n')
    }
    t.equal(await server.stop(), 0)
  }
)
