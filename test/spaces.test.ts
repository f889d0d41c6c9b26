// The workspaces of an access file: which are opened, kept and closed when another access file replaces it.
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Access } from '../src/config/access-file.ts'
import { loadConfig, type Config } from '../src/config/config.ts'
import type { Grant } from '../src/http/access/grant.ts'
import { openSpaces } from '../src/open-spaces.ts'
import { CantOpen } from '../src/spaces.ts'
import { makeViews } from '../src/views.ts'
import { Workers } from '../src/workers/workers.ts'
import { testFolder } from './folder.ts'
import { makeKey, now, sign, startIssuer } from './http/access/issuer.ts'

const grant = (workspace: string, rest: Partial<Grant> = {}): Grant => ({
  name: 'ann',
  workspace,
  scope: 'edit',
  paths: null,
  memoryRoot: null,
  expires: null,
  ...rest
})

/** Spaces of these workspaces, whose folders are made. */
async function open(t: Test, ...names: string[]) {
  const dir = testFolder(t, { 'file.txt': '' })
  const loaded = loadConfig(['--access', join(dir, 'access.yaml'), '--state-dir', join(dir, 'state')], { HOME: dir })
  if (!loaded.ok) throw new Error(loaded.failure.join(' '))
  const { value: config } = loaded
  const declare = (name: string, more: Partial<Config> = {}): Access['workspaces'][number] => {
    const { bucket, protect, readOnly, requireHash, allowExtensions, memoryRoot } = config
    const own = { root: join(dir, name), stateDir: join(dir, 'state', name) }
    return { name, settings: { bucket, protect, readOnly, requireHash, allowExtensions, memoryRoot, ...own, ...more } }
  }
  const access = (...workspaces: Access['workspaces']): Access => ({ workspaces, tokens: [], issuers: [] })
  const events: object[] = []
  const options = { config, report: (event: object) => events.push(event) }
  const spaces = await openSpaces(options, access(...names.map(name => declare(name))))
  t.teardown(() => spaces.close())
  return { dir, spaces, declare, access, events }
}

const READY = { failure: null, isPartial: false }

t.test('keeps open what has not changed, and closes the rest once nothing runs in it', async t => {
  const { dir, spaces, declare, access } = await open(t, 'a', 'b', 'c')
  const [a, b] = ['a', 'b'].map(name => spaces.of(grant(name)))
  t.equal(spaces.served, 'workspaces=a,b,c')
  const leave = b!.enter()
  const replaced = spaces.replace(access(declare('a'), declare('c', { readOnly: true }), declare('d')))
  t.equal(spaces.of(grant('d')), undefined, 'nothing has changed before all are open')
  await replaced
  t.equal(spaces.of(grant('a')), a)
  t.equal(spaces.of(grant('b')), undefined)
  t.equal(spaces.of(null), undefined)
  t.equal(spaces.of(grant('c'))?.config.readOnly, true)
  t.ok(existsSync(join(dir, 'd')))
  writeFileSync(join(dir, 'b', 'f'), 'old')
  const edited = await b!.workspace.look({ path: 'f' }, {
    file: () => ({ push() {}, finish: () => 1 }),
    directory: { max_entries: 1 }
  } as never)
  t.ok(edited.ok, 'a request that runs still has its workspace')
  leave()
  t.strictSame(await spaces.ready(), READY)
  t.equal(spaces.degraded(), false)
  spaces.endFollowing()
})

t.test('says once that a workspace can’t be used, and once that it can again', async t => {
  const { dir, spaces, events } = await open(t, 'a', 'b')
  const config = { ...spaces.config, root: join(dir, 'c'), stateDir: join(dir, 'state', 'c') }
  const single = await openSpaces({ config, report: event => events.push(event) }, null)
  t.teardown(() => single.close())
  const failed = { failure: { reason: 'state_unwritable' }, isPartial: false }
  for (const [asked, stateDir, named, then] of [
    [spaces, join(dir, 'state', 'b'), { workspace: 'b' }, { failure: null, isPartial: true }],
    [single, config.stateDir, {}, failed]
  ] as const) {
    for (let i = 0; i < 2; i++) {
      events.length = 0
      t.strictSame(await asked.ready(), READY)
      renameSync(stateDir, `${stateDir}.away`)
      for (let n = 0; n < 2; n++) t.match(await asked.ready(), then)
      renameSync(`${stateDir}.away`, stateDir)
      for (let n = 0; n < 2; n++) t.strictSame(await asked.ready(), READY)
      t.strictSame(events, [
        { event: 'not_ready', reason: 'state_unwritable', ...named },
        { event: 'ready_again', ...named }
      ])
    }
  }
  for (const name of ['a', 'b']) renameSync(join(dir, 'state', name), join(dir, `${name}.away`))
  t.match(await spaces.ready(), failed, 'none of them can be used')
  for (const name of ['a', 'b']) renameSync(join(dir, `${name}.away`), join(dir, 'state', name))
})

t.test('knows nobody any more by a file that was replaced while a token was checked', async t => {
  const { spaces, declare, access } = await open(t, 'a')
  const issuer = await startIssuer(t)
  const key = await makeKey('ES256', 'one')
  issuer.keys.push(key.jwk)
  const audience = 'https://editd.example/mcp'
  const issuers = [{ issuer: issuer.url, audience, algorithms: ['ES256'], scopes: [] }]
  const claims = { iss: issuer.url, aud: audience, sub: 'ann', iat: now(), exp: now() + 100, scope: 'edit' }
  const token = await sign(key, { ...claims, workspace: 'a' })
  await spaces.replace({ ...access(declare('a')), issuers })
  t.match(await spaces.identify!(token), { ok: true })
  const identified = spaces.identify!(token)
  await spaces.replace(access(declare('a')))
  t.match(await identified, { ok: false, failure: { code: 'UNAUTHORIZED', reason: 'wrong' } })
})

t.test('closes all that it has opened where one can not be opened', async t => {
  const { dir, spaces, declare, access } = await open(t, 'a')
  const impossible = declare('e', { root: join(dir, 'file.txt') })
  const error = await spaces.replace(access(declare('b'), impossible)).then(
    () => null,
    (e: unknown) => e
  )
  t.ok(error instanceof CantOpen)
  if (error instanceof CantOpen) t.equal(error.config.root, join(dir, 'file.txt'))
  t.ok(spaces.of(grant('a')))
  await spaces.replace(access(declare('b')))
  t.equal(spaces.served, 'workspaces=b')
})

t.test('makes one view for all that may see the same', async t => {
  const { spaces } = await open(t, 'a')
  const workers = new Workers()
  t.teardown(() => workers.close())
  const viewFor = makeViews(workers, new Map() as never)
  const space = spaces.any()
  const docs = grant('a', { paths: ['docs/**'] })
  t.equal(viewFor(space, docs), viewFor(space, { ...docs, name: 'bob' }))
  t.not(viewFor(space, docs), viewFor(space, grant('a')))
  t.not(viewFor(space, docs), viewFor(space, { ...docs, scope: 'read' }))
  t.not(viewFor(space, docs), viewFor(space, { ...docs, memoryRoot: 'notes' }))
  t.equal(viewFor(space, grant('a')).workspace, space.workspace, 'all of it is not limited')
})
