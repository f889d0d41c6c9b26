// The access file: what it may say, and every fault of it at once, with its line.
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { loadAccess, type Access } from '../../src/config/access-file.ts'
import { loadConfig, type Disk } from '../../src/config/config.ts'

const SHA = createHash('sha256').update('one').digest('hex')
const SHA2 = createHash('sha256').update('two').digest('hex')
const TOKEN = `{ name: ci, sha256: ${SHA}, workspace: acme, scope: edit }`
const WORKSPACE = 'workspaces: { acme: { root: a } }'

const diskWith = (text: string | null): Disk => ({
  platform: 'linux',
  pid: 1,
  readText: () => (text === null ? { ok: false, failure: 'ENOENT' } : { ok: true, value: text }),
  kindOf: path => (path.endsWith('.txt') ? 'other' : 'folder'),
  realPath: path => path.replace('/link', '/etc/editd/a')
})

async function load(text: string | null, ...flags: string[]) {
  const disk = diskWith(text)
  const config = loadConfig(['--access', '/etc/editd/access.yaml', ...flags], { HOME: '/home/me' }, disk)
  if (!config.ok) throw new Error(config.failure.join(' '))
  return loadAccess(config.value, disk)
}

/** The file says this. */
async function check(t: Test, text: string, expected: object, ...flags: string[]): Promise<Access> {
  const loaded = await load(text, ...flags)
  t.ok(loaded.ok, JSON.stringify(loaded))
  if (!loaded.ok) throw new Error('it is at fault')
  t.match(loaded.value, expected)
  return loaded.value
}

/** It has exactly these faults. */
async function faults(t: Test, text: string | null, ...expected: string[]) {
  const loaded = await load(text)
  t.strictSame(loaded.ok ? [] : loaded.failure, expected, text ?? '')
}

t.test('has workspaces with settings of their own, and tokens', async t => {
  await check(
    t,
    `
workspaces:
  acme: { root: a, protect: ["*.lock"], allow_extensions: [md, .txt], read_only: true, require_hash: true, memory_root: m }
  beta: { root: /srv/beta }
tokens:
  - name: ci
    sha256: "${SHA.toUpperCase()}"
    workspace: acme
    scope: read
    paths: [docs/**, "*.md"]
    expires: 2027-01-31
    rate: 600/min
    memory_root: notes
  - { name: boss, sha256: ${SHA2}, workspace: beta, scope: review, expires: 2027-01-31T12:00:00+02:00 }
`,
    {
      workspaces: [
        {
          name: 'acme',
          settings: {
            root: '/etc/editd/a',
            allowExtensions: ['.md', '.txt'],
            readOnly: true,
            requireHash: true,
            memoryRoot: 'm',
            stateDir: /^\/home\/me\/\.local\/state\/editd\/a-[0-9a-f]{12}$/
          }
        },
        {
          name: 'beta',
          settings: {
            root: '/srv/beta',
            allowExtensions: null,
            readOnly: false,
            requireHash: false,
            memoryRoot: 'memories'
          }
        }
      ],
      tokens: [
        {
          name: 'ci',
          sha256: SHA,
          workspace: 'acme',
          scope: 'read',
          paths: ['docs/**', '*.md'],
          expires: Date.UTC(2027, 0, 31),
          rate: { requests: 600, per: 'min' },
          memoryRoot: 'notes'
        },
        { name: 'boss', scope: 'review', paths: null, expires: Date.UTC(2027, 0, 31, 10), memoryRoot: null }
      ]
    }
  )
})

t.test('adds to the settings of the server, and has a state folder for each workspace', async t => {
  const { workspaces } = await check(
    t,
    `${WORKSPACE.replace('root: a', 'root: a, protect: [b]')}\ntokens: [${TOKEN}]`,
    { workspaces: [{ settings: { stateDir: '/state/acme', readOnly: true, requireHash: true } }] },
    ...['--state-dir', '/state', '--protect', 'c', '--read-only', '--require-hash']
  )
  t.strictSame(workspaces[0]?.settings.protect.slice(-2), ['c', 'b'])
})

t.test('takes the aliases of YAML', async t => {
  await check(
    t,
    `${WORKSPACE}\ntokens:\n  - { name: a, sha256: ${SHA}, workspace: acme, scope: edit, paths: &p [docs/**] }\n` +
      `  - { name: b, sha256: ${SHA2}, workspace: acme, scope: edit, paths: *p }`,
    { tokens: [{ paths: ['docs/**'] }, { paths: ['docs/**'] }] }
  )
})

t.test('tells every fault, with its line', async t => {
  await faults(t, null, '--access "/etc/editd/access.yaml" can\'t be read: ENOENT.')
  await faults(t, 'x'.repeat(4e6 + 1), '--access "/etc/editd/access.yaml" has more than 4000000 characters.')
  await faults(
    t,
    `workspaces: { acme: { rot: a }, "b/c": { root: b } }
tokens:
  - { name: ci, sha256: abc, workspace: acme, scope: admin, expires: 2027-02-30 }
  - { name: x y, sha256: ${SHA}, workspace: acme, scope: edit, paths: [../x], note: hello }
extra: 1`,
    '/etc/editd/access.yaml:1: workspaces.acme.rot is an unknown field: the nearest is root.',
    '/etc/editd/access.yaml:1: workspaces.acme.root is missing.',
    '/etc/editd/access.yaml:1: workspaces has the name "b/c", which is invalid: expected a name of letters, digits and ._-, up to 64.',
    '/etc/editd/access.yaml:3: tokens[0].sha256 is invalid: expected the SHA-256 of a token as 64 hex digits, such as sha256sum prints it.',
    '/etc/editd/access.yaml:3: tokens[0].scope "admin" is invalid: expected read or edit or review.',
    '/etc/editd/access.yaml:3: tokens[0].expires "2027-02-30" is invalid: expected a date such as 2027-01-31, which begins at 00:00 UTC, or 2027-01-31T12:00:00Z.',
    '/etc/editd/access.yaml:4: tokens[1].name "x y" is invalid: expected a name of letters, digits and ._-, up to 64.',
    '/etc/editd/access.yaml:4: tokens[1].paths[0] "../x" is invalid: expected a path or pattern such as docs/** or src/*.ts: a pattern must not have . or .. as a name.',
    '/etc/editd/access.yaml:4: tokens[1].note is an unknown field: the nearest is name.',
    '/etc/editd/access.yaml:5: extra is an unknown field: the nearest is tokens.'
  )
  await faults(
    t,
    'workspaces: []\ntokens: { ci: 1 }',
    '/etc/editd/access.yaml:1: workspaces is invalid: expected a map of names and values.',
    '/etc/editd/access.yaml:2: tokens is invalid: expected a list.'
  )
  await faults(
    t,
    `workspaces: { acme: { root: [a] } }\ntokens: [${TOKEN}]`,
    '/etc/editd/access.yaml:1: workspaces.acme.root is invalid: expected some text.'
  )
  for (const text of ['', 'a', '- a']) {
    await faults(t, text, '/etc/editd/access.yaml:1: the file is invalid: expected a map of names and values.')
  }
  await faults(
    t,
    `${WORKSPACE}\n---\n${WORKSPACE}`,
    '/etc/editd/access.yaml:2: a second document begins here: leave out --- and below.'
  )
  await faults(
    t,
    'a: [',
    '/etc/editd/access.yaml:1: Flow sequence in block collection must be sufficiently indented and end with a ].'
  )
  await faults(
    t,
    'workspaces: {}\ntokens: []',
    '/etc/editd/access.yaml: workspaces is empty: name at least one.',
    '/etc/editd/access.yaml: it has neither tokens nor issuers, so that nobody could call: name at least one.'
  )
})

t.test('tells what is wrong between its parts also where a part is at fault itself', async t => {
  const line = (n: number, sentence: string) => `/etc/editd/access.yaml:${n}: ${sentence}`
  const file = (sentence: string) => `/etc/editd/access.yaml: ${sentence}`
  await faults(
    t,
    `workspaces: { acme: { root: a, protect: 5 }, b: { root: a/b }, c: { rot: c } }
tokens:
  - { name: ci, sha256: ${SHA}, workspace: acne, scope: admin }
  - { name: me, sha256: ${SHA}, workspace: c, scope: edit }
  - 7
issuers: [{ algorithms: [], workspace: nowhere }]`,
    line(1, 'workspaces.acme.protect is invalid: expected a list.'),
    line(1, 'workspaces.c.rot is an unknown field: the nearest is root.'),
    line(1, 'workspaces.c.root is missing.'),
    line(3, 'tokens[0].scope "admin" is invalid: expected read or edit or review.'),
    line(5, 'tokens[2] is invalid: expected a map of names and values.'),
    line(6, 'issuers[0].issuer is missing.'),
    line(6, 'issuers[0].audience is missing.'),
    file('the roots of acme and b overlap: give each workspace a root of its own.'),
    file('the token ci is for the workspace "acne", which is not one of acme, b, c.'),
    file('the tokens ci and me have the same sha256: give each its own.'),
    file('the issuer issuers[0] has no algorithms: name those that it signs with.'),
    file('the issuer issuers[0] names the workspace "nowhere", which is not one of acme, b, c.')
  )
  await faults(
    t,
    `workspaces: 7\ntokens: [{ name: ci, sha256: abc, workspace: acme, scope: edit }]`,
    line(1, 'workspaces is invalid: expected a map of names and values.'),
    line(
      2,
      'tokens[0].sha256 is invalid: expected the SHA-256 of a token as 64 hex digits, such as sha256sum prints it.'
    )
  )
})

t.test('tells what is wrong between its parts', async t => {
  await faults(
    t,
    `workspaces: { acme: { root: a }, b: { root: a/b }, c: { root: f.txt }, d: { root: /link } }
tokens:
  - ${TOKEN}
  - { name: ci, sha256: ${SHA}, workspace: nowhere, scope: edit }`,
    '/etc/editd/access.yaml: the roots of acme and b overlap: give each workspace a root of its own.',
    '/etc/editd/access.yaml: workspaces.c.root "/etc/editd/f.txt" is not a usable folder: name a folder, or a path that does not exist yet.',
    '/etc/editd/access.yaml: the roots of acme and d overlap: give each workspace a root of its own.',
    '/etc/editd/access.yaml: the roots of b and d overlap: give each workspace a root of its own.',
    '/etc/editd/access.yaml: the token ci is for the workspace "nowhere", which is not one of acme, b, c, d.',
    '/etc/editd/access.yaml: the tokens ci and ci have the same name: give each its own.',
    '/etc/editd/access.yaml: the tokens ci and ci have the same sha256: give each its own.'
  )
})

t.test('has issuers, with or without tokens', async t => {
  const issuer =
    '{ issuer: https://id.example/realms/a/, audience: https://editd.example/mcp, algorithms: [ES256, EdDSA] }'
  await check(t, `${WORKSPACE}\nissuers: [${issuer}]`, {
    tokens: [],
    issuers: [
      {
        issuer: 'https://id.example/realms/a/',
        audience: 'https://editd.example/mcp',
        algorithms: ['ES256', 'EdDSA'],
        scopes: ['read', 'edit']
      }
    ]
  })
  for (const host of ['localhost:1', '127.3.2.1', '[::1]:80', 'id.localhost']) {
    const local = `{ issuer: "http://${host}", audience: "http://${host}/mcp", algorithms: [RS256] }`
    await check(t, `${WORKSPACE}\ntokens: [${TOKEN}]\nissuers: [${local}]`, { issuers: [{ issuer: `http://${host}` }] })
  }
})

t.test('says of each issuer which claims grant what', async t => {
  const claims =
    'scope_claims: [scp, realm_access.roles], scope_values: { Files.Write: edit, Files.Read: read }, ' +
    'workspace_claim: tid, workspace_values: { t1: acme }, aud: "api://editd"'
  const given = (more: string) =>
    `${WORKSPACE}\nissuers: [{ issuer: https://id.example, audience: https://e.example, algorithms: [ES256], ${more} }]`
  await check(t, given(claims), {
    issuers: [
      {
        aud: 'api://editd',
        scopes: ['Files.Write', 'Files.Read'],
        scopeClaims: ['scp', 'realm_access.roles'],
        scopeValues: new Map([
          ['Files.Write', 'edit'],
          ['Files.Read', 'read']
        ]),
        workspaceClaim: 'tid',
        workspaceValues: new Map([['t1', 'acme']])
      }
    ]
  })
  await check(t, given('workspace: acme, scopes: [api://editd/Files.Write]'), {
    issuers: [{ workspace: 'acme', scopes: ['api://editd/Files.Write'] }]
  })
  await faults(
    t,
    given('workspace: x, workspace_values: { t1: y }'),
    ...['x', 'y'].map(
      name =>
        `/etc/editd/access.yaml: the issuer https://id.example names the workspace "${name}", which is not one of acme.`
    )
  )
  await faults(
    t,
    given(`scope_values: { 'a"': edit, b: write }`),
    '/etc/editd/access.yaml:2: issuers[0].scope_values has "a"", which is invalid: expected a scope of an issuer, of visible ASCII without quotation marks and backslashes.',
    '/etc/editd/access.yaml:2: issuers[0].scope_values.b "write" is invalid: expected read or edit or review.'
  )
  await faults(
    t,
    given('scope_values: edit'),
    '/etc/editd/access.yaml:2: issuers[0].scope_values is invalid: expected a map of names and values.'
  )
})

t.test('tells every fault of issuers, with its line', async t => {
  const url = (what: string, example: string, more = '') =>
    `expected the URL ${what} such as ${example}, by https (http only on this machine), ${more}without query and fragment.`
  const expected = url('of an issuer', 'https://id.example', 'up to 150 characters, ')
  const bad = [
    'http://id.example',
    'http://127.0.0.1.example',
    'https://u:p@id.example',
    'https://id.example?a',
    'https://id.example#',
    'https:///id.example',
    'https:id.example',
    'id.example',
    'file:///etc/passwd',
    'https://id.example\\x',
    'https://ïd.example',
    `https://id.example/${'a'.repeat(140)}`
  ]
  const right = 'audience: https://editd.example/mcp, algorithms: [ES256]'
  await faults(
    t,
    [`${WORKSPACE}`, 'issuers:', ...bad.map(text => `  - { issuer: '${text}', ${right} }`)].join('\n'),
    ...bad.map((text, i) => `/etc/editd/access.yaml:${i + 3}: issuers[${i}].issuer "${text}" is invalid: ${expected}`)
  )
  await faults(
    t,
    `${WORKSPACE}
issuers:
  - { issuer: https://id.example, audience: editd, algorithms: [none, HS256, ES256] }
  - { issuer: https://id.example, audience: https://e.example, algorithm: ES256 }`,
    `/etc/editd/access.yaml:3: issuers[0].audience "editd" is invalid: ${url('that clients have of this server', 'https://editd.example/mcp')}`,
    ...['none', 'HS256'].map(
      (name, i) =>
        `/etc/editd/access.yaml:3: issuers[0].algorithms[${i}] "${name}" is invalid: expected ES256 or ES384 or ES512 or ` +
        'RS256 or RS384 or RS512 or PS256 or PS384 or PS512 or EdDSA or Ed25519.'
    ),
    '/etc/editd/access.yaml:4: issuers[1].algorithm is an unknown field: the nearest is algorithms.',
    '/etc/editd/access.yaml:4: issuers[1].algorithms is missing.',
    '/etc/editd/access.yaml: the issuer https://id.example is named twice: name it once.'
  )
  await faults(
    t,
    `${WORKSPACE}
issuers:
  - { issuer: https://id.example, ${right} }
  - { issuer: https://id.example, audience: https://e.example, algorithms: [] }`,
    '/etc/editd/access.yaml: the issuer https://id.example has no algorithms: name those that it signs with.',
    '/etc/editd/access.yaml: the issuer https://id.example is named twice: name it once.'
  )
})

t.test('goes with neither a root nor a token', async t => {
  for (const [flags, name] of [
    [['/srv/a'], 'a root'],
    [['--token', 'abc'], '--token'],
    [['--token-file', 'token'], '--token-file'],
    [['--no-auth'], '--no-auth'],
    [['--allow-delete'], '--allow-delete']
  ] as const) {
    const config = loadConfig(['--access', 'access.yaml', ...flags], { HOME: '/home/me' }, diskWith('abc'))
    t.match(config.ok ? '' : config.failure.join(' '), `--access and ${name} are both given: the access file says`)
  }
})

t.test('goes without the root of the environment, which an image has', async t => {
  const env = { HOME: '/home/me', EDITD_ROOT: '/workspace' }
  for (const [argv, more] of [
    [['--access', '/a.yaml'], {}],
    [[], { EDITD_ACCESS: '/a.yaml' }]
  ] as const) {
    const config = loadConfig(argv, { ...env, ...more }, diskWith('abc'))
    t.equal(config.ok && config.value.access?.file, '/a.yaml')
  }
  const config = loadConfig(['/srv/a'], { ...env, EDITD_ACCESS: '/a.yaml' }, diskWith('abc'))
  t.match(config.ok ? '' : config.failure.join(' '), /^EDITD_ACCESS and a root are both given/)
})
