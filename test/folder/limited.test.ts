// A workspace for a caller that may use only some paths: real paths decide, and nothing about others is revealed.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { ok } from '../../src/result.ts'
import type { BatchStep, Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED } from '../random.ts'
import {
  append,
  become,
  descriptors,
  DRY,
  isRoot,
  look,
  heldEdit,
  makeFolders,
  onLinux,
  open,
  REAL,
  removeFolders,
  type Folders
} from './support/open.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const kinds = onLinux ? (['proc', 'portable'] as const) : (['portable'] as const)

interface Opened extends Folders {
  workspace: Workspace
  report: { event: string }[]
}

async function fresh(t: Test, options: Partial<WorkspaceOptions> = {}): Promise<Opened> {
  const folders = makeFolders()
  const report: { event: string }[] = []
  const workspace = await open(folders, { history: 'full', report: event => report.push(event), ...options })
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  return { ...folders, workspace, report }
}

/** Text: a file; null: a folder; `→ x`: a link to x. */
type Tree = Record<string, string | null>

function plant(root: string, tree: Tree): void {
  for (const [path, what] of Object.entries(tree)) {
    const at = join(root, path)
    mkdirSync(dirname(at), { recursive: true })
    if (what === null) mkdirSync(at, { recursive: true })
    else if (what.startsWith('→ ')) symlinkSync(what.slice(2).replace('ROOT', root), at)
    else writeFileSync(at, what)
  }
}

/** The failure of whatever may not be used. */
const refusedBy = (allowed_paths: string[]) => ({ code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths })

/** What a limited workspace answers to everything that can be asked of a path. */
async function answersTo(workspace: Workspace, path: string): Promise<Record<string, unknown>> {
  const target = { path }
  const create = { path, overwrite: false, create_parents: true }
  const steps: BatchStep<unknown, never>[] = [
    { operation: 'create', target: { ...create, path: 'docs/other.md' }, plan: become('other') },
    { operation: 'edit', target, plan: append('x') }
  ]
  const changes = await workspace.changes({ path, limit: 5, wait_ms: 0 })
  const looked = await look(workspace, target)
  if (looked.ok && looked.value.type === 'file') Reflect.deleteProperty(looked.value, 'modified_at')
  return {
    look: looked,
    hashed: await workspace.edit({ path, expected_hash: '0123456789abcdef' }, DRY, append('x')),
    edit: await workspace.edit(target, REAL, append('x')),
    create: await workspace.create(create, DRY, become('new')),
    replace: await workspace.create({ ...create, overwrite: true }, DRY, become('new')),
    last: await workspace.batch(steps, DRY),
    first: await workspace.batch(
      [...steps.slice(1), { operation: 'edit', target: { path: 'a' }, plan: append('x') }],
      DRY
    ),
    recall: await workspace.recall(target, async ({ bytes, file_hash }) => ok([bytes.toString(), file_hash])),
    history: await workspace.history({ path, limit: 5 }),
    under: await workspace.history({ under: path, limit: 5 }),
    changes: changes.ok || changes
  }
}

const ALLOWED = ['docs/**', 'notes.md']
const REFUSED = refusedBy(ALLOWED)

const TREE: Tree = {
  'docs/a.md': 'a\n',
  'docs/sub/b.md': 'b\n',
  'docs/own': '→ a.md',
  'notes.md': 'notes\n',
  'src/app.ts': 'secret\n',
  'src/deep/x.ts': 'secret\n',
  'src/loop': '→ loop',
  'src/out': '→ /etc/passwd',
  'src/back': '→ ../docs',
  'src/priv/x': 'secret\n',
  'into.md': '→ docs/a.md',
  'docs/to-file': '→ ../src/app.ts',
  'docs/to-folder': '→ ../src',
  'docs/to-none': '→ ../src/none.ts',
  'docs/to-absolute': '→ ROOT/src/app.ts',
  'docs/to-below-file': '→ ../src/app.ts/x',
  'docs/to-loop': '→ ../src/loop',
  'docs/to-out': '→ ../src/out',
  'docs/chain': '→ chain2',
  'docs/chain2': '→ ../src/app.ts',
  'docs/round': '→ ../src/round',
  'src/round': '→ ../docs/round',
  'docs/over': '→ ../src/none/../../docs/gone.md',
  'docs/git': '→ ../.git/config',
  '.git/config': 'secret\n',
  '.hidden.0123456789abcdef01234567': '',
  '.0123456789abcdef01234567.tmp': ''
}

/** What is asked, and what may not be told apart from each other. */
const DENIED = [
  'src/app.ts',
  'src/none.ts',
  'src',
  'src/',
  'none',
  'none/none/x.ts',
  'src/app.ts/',
  'src/app.ts/x',
  'src/none.ts/x',
  'src/deep',
  'src/deep/none/x',
  'src/loop',
  'src/loop/x',
  'src/out',
  'src/out/x',
  'src/priv/x',
  'src/round',
  'docs/to-file',
  'docs/to-file/x',
  'docs/to-folder',
  'docs/to-folder/app.ts',
  'docs/to-folder/none.ts',
  'docs/to-none',
  'docs/to-none/x',
  'docs/to-absolute',
  'docs/to-below-file',
  'docs/to-loop',
  'docs/to-out',
  'docs/chain',
  'docs/round',
  'docs/over',
  'docs/git',
  'docs/../src/app.ts',
  '.git/config',
  '.git',
  '.0123456789abcdef01234567.tmp',
  'DOCS/a.md',
  'Docs',
  'notes.md2',
  'notes',
  'do\u0063\u0327s/a.md'
]

for (const confinement of kinds) {
  t.test(`refuses all that isn’t allowed in one and the same way (${confinement})`, async t => {
    const { workspace, root } = await fresh(t, { confinement })
    plant(root, TREE)
    const limited = workspace.limitedTo(ALLOWED)
    for (const path of DENIED) {
      // As it is asked for; nothing but what was asked is in it.
      const normalised = relative('/', join('/', path))
      const refused = { ok: false, failure: REFUSED, path: normalised }
      const { history, under, changes, first, last, ...others } = await answersTo(limited, path)
      for (const [what, answer] of Object.entries(others)) t.strictSame(answer, refused, `${what} ${path}`)
      t.strictSame(
        [first, last],
        [
          { ...refused, at: 0 },
          { ...refused, at: 1 }
        ],
        `batch ${path}`
      )
      t.strictSame([history, under], Array(2).fill({ ok: false, failure: REFUSED }), `history ${path}`)
      t.strictSame(changes, { ok: false, failure: REFUSED }, `changes ${path}`)
    }
    t.equal(readFileSync(join(root, 'src/app.ts'), 'utf8'), 'secret\n')
  })

  t.test(`does all that it may by the real path (${confinement})`, async t => {
    const { workspace, root } = await fresh(t, { confinement })
    plant(root, TREE)
    const limited = workspace.limitedTo(ALLOWED)
    for (const [path, resolved_path] of [
      ['docs/a.md'],
      ['docs/sub/b.md'],
      ['notes.md'],
      ['docs/own', 'docs/a.md'],
      ['into.md', 'docs/a.md'],
      ['src/back/a.md', 'docs/a.md'],
      ['docs/to-folder/back/sub/b.md', 'docs/sub/b.md']
    ] as const) {
      const led = resolved_path === undefined ? {} : { resolved_path }
      t.match(await look(limited, { path }), { ok: true, value: { type: 'file', path, ...led } }, path)
      t.match(await limited.edit({ path }, REAL, append('x')), { ok: true, value: { path, ...led } }, path)
      t.match(await limited.history({ path, limit: 1 }), { ok: true, value: { edits: [{ record: {} }] } }, path)
    }
    for (const path of ['docs/new/c.md', 'src/back/d.md']) {
      const target = { path, overwrite: false, create_parents: true }
      t.match(await limited.create(target, REAL, become('new')), { ok: true, value: { path } }, path)
    }
    t.ok(existsSync(join(root, 'docs/d.md')))
    const failures = [
      ['docs/gone.md', { code: 'FILE_NOT_FOUND' }],
      ['docs', { code: 'PATH_NOT_ALLOWED', reason: 'token' }],
      ['docs/sub', { code: 'NOT_A_FILE', type: 'directory' }],
      ['../x', { code: 'PATH_NOT_ALLOWED', reason: 'outside' }],
      ['a\0', { code: 'INVALID_PATH' }]
    ] as const
    for (const [path, failure] of failures) {
      t.match(await limited.edit({ path }, REAL, append('x')), { ok: false, failure }, path)
    }
  })

  t.test(`tells of a link out of the root only where the link is allowed (${confinement})`, async t => {
    const { workspace, root } = await fresh(t, { confinement })
    plant(root, { 'docs/out': '→ /etc', 'docs/up': '→ ../../x', 'docs/none-up': '→ none/../../../x', ...TREE })
    const limited = workspace.limitedTo(ALLOWED)
    for (const path of ['docs/out', 'docs/out/passwd', 'docs/up', 'docs/up/x', 'docs/none-up']) {
      const answer = await look(limited, { path })
      t.strictSame(answer, { ok: false, failure: { code: 'PATH_NOT_ALLOWED', reason: 'outside' }, path })
    }
    for (const path of ['src/out', 'docs/to-out']) t.match(await look(limited, { path }), { failure: REFUSED }, path)
  })
}

t.test(
  'refuses in the same way where the system lets nobody look',
  { skip: !isRoot || !onLinux ? 'needs root' : false },
  async t => {
    const { workspace, root } = await fresh(t)
    plant(root, { 'src/priv/x': '', 'docs/priv/x': '', 'docs/to-priv': '→ ../src/priv/x' })
    const limited = workspace.limitedTo(ALLOWED)
    for (const path of ['src/priv', 'docs/priv']) chmodSync(join(root, path), 0)
    chmodSync(dirname(root), 0o755)
    process.seteuid?.(65534)
    try {
      for (const path of ['src/priv/x', 'src/priv/none', 'src/priv/x/y', 'docs/to-priv', 'docs/to-priv/y']) {
        t.strictSame(await look(limited, { path }), { ok: false, failure: REFUSED, path }, path)
        t.strictSame(await limited.history({ path, limit: 1 }), { ok: false, failure: REFUSED }, path)
      }
      t.match(await look(limited, { path: 'docs/priv/x' }), { failure: { code: 'PERMISSION_DENIED' } })
    } finally {
      process.seteuid?.(0)
    }
  }
)

t.test('lists what is allowed, and the folders that lead to it', async t => {
  const { workspace, root } = await fresh(t)
  plant(root, TREE)
  const names = async (patterns: string[], path: string) => {
    const looked = await look(workspace.limitedTo(patterns), { path })
    if (!looked.ok) return looked.failure.code
    return looked.value.type === 'directory' ? looked.value.entries.map(({ name }) => name) : 'a file'
  }
  t.strictSame(await names(ALLOWED, '.'), ['docs', 'notes.md'])
  t.strictSame(await names(['docs/sub', 'src/*/x*'], '.'), ['docs', 'src'])
  t.strictSame(await names(['docs/sub', 'src/*/x*'], 'docs'), ['sub'])
  t.strictSame(await names(['docs/sub', 'src/*/x*'], 'src'), ['deep', 'priv'])
  t.strictSame(await names(['docs/sub', 'src/*/x*'], 'src/deep'), ['x.ts'])
  t.strictSame(await names(['**/*.ts'], 'src'), ['app.ts', 'deep', 'priv'])
  // A link is shown as one, wherever it leads.
  t.strictSame(await names(['docs/t*'], 'docs'), [
    'to-absolute',
    'to-below-file',
    'to-file',
    'to-folder',
    'to-loop',
    'to-none',
    'to-out'
  ])
  t.strictSame(await names(['docs/**'], 'src'), 'PATH_NOT_ALLOWED')
  t.strictSame(await names(['**'], 'src/back'), await names(['docs/**'], 'docs'))
  t.strictSame(await names([], '.'), 'PATH_NOT_ALLOWED')
  t.match(await look(workspace.limitedTo(['docs/**']), { path: '.' }, { limit: 1 }), {
    value: { truncated: false, entries: [{ name: 'docs' }] }
  })
})

t.test('suggests no path that may not be known', async t => {
  const { workspace, root } = await fresh(t)
  plant(root, {
    'docs/app.md': '',
    'src/apx.md': '',
    'src/only.md': '',
    'src/in': '→ ../docs',
    'docs/apq.md': '→ ../src/apx.md'
  })
  // As many as are looked at, and nearer.
  for (let i = 0; i < 30; i++) plant(root, { [`a${i}/found.md`]: '' })
  plant(root, { 'docs/z/found.md': '' })
  const limited = workspace.limitedTo(['docs/**'])
  const near = async (path: string) => {
    const answer = await limited.edit({ path }, DRY, append('x'))
    return 'failure' in answer && 'did_you_mean' in answer.failure ? answer.failure.did_you_mean : []
  }
  t.strictSame(await near('docs/apx.md'), ['docs/app.md'])
  t.strictSame(await near('docs/only.md'), [])
  t.strictSame(await near('docs/x/found.md'), ['docs/z/found.md'])
  t.strictSame(await near('/workspace/src/only.md'), [])
  t.strictSame(await near('/workspace/src/in/app.md'), [], 'its name isn’t to be known, though it leads to what is')
  t.strictSame(await near('/workspace/docs/app.md'), ['docs/app.md'])
})

t.test('knows only the edits of what may be used', async t => {
  const { workspace, root } = await fresh(t)
  plant(root, { 'docs/a.md': 'a\n', 'src/b.ts': 'b\n' })
  const limited = workspace.limitedTo(['docs/**'])
  const start = await limited.follow()
  const whole = await workspace.follow()
  if (!start.ok || !whole.ok) throw new Error('nobody can follow')
  const done = await workspace.batch<string, never>(
    [
      { operation: 'edit', target: { path: 'docs/a.md' }, plan: append('x') },
      { operation: 'edit', target: { path: 'src/b.ts' }, plan: append('y') }
    ],
    REAL
  )
  if (!done.ok) throw new Error(done.failure.code)
  const { batch_id, steps } = done.value
  const [mine, other] = steps.map(({ edit_id }) => edit_id)
  const ids = async (query: object) => {
    const page = await limited.history({ ...query, limit: 10 })
    return page.ok ? page.value.edits.map(({ record }) => record.edit_id) : page.failure.code
  }
  t.strictSame(await ids({}), [mine])
  t.strictSame(await ids({ batch_id }), [mine])
  t.strictSame(await ids({ edit_ids: [other] }), [], 'as of one that never was')
  t.strictSame(await ids({ edit_ids: ['never'] }), [])
  t.strictSame(await ids({ under: '.' }), [mine])
  t.strictSame(await ids({ path: 'src/b.ts' }), 'PATH_NOT_ALLOWED')
  const told = async (follower: typeof start.value) => {
    for (;;) {
      const page = await follower.next(10)
      if (!page.ok) return page.failure.code
      if (page.value.length > 0) return page.value.map(({ facts }) => facts.path.toString())
      // What wakes it doesn't keep a process going.
      await Promise.race([follower.more(), sleep(50)])
    }
  }
  t.strictSame(await told(start.value), ['docs/a.md'])
  t.strictSame(await told(whole.value), ['docs/a.md', 'src/b.ts'])
  const page = await limited.changes({ limit: 10, wait_ms: 0 })
  t.match(page, { ok: true, value: { events: [] } })
})

const REFUSED_DOCS = refusedBy(['docs/**'])

t.test('gives no answer again that names what may not be used', async t => {
  const { workspace, root } = await fresh(t)
  plant(root, { 'docs/a.md': 'a\n', 'src/b.ts': 'b\n' })
  const limited = workspace.limitedTo(['docs/**'])
  const request = (key: string) => ({ scope: '', key, fingerprint: 'same' })
  const edit = (use: Workspace, key: string, path: string) =>
    use.keyed(request(key), held =>
      use.edit(
        { path },
        { ...REAL, origin: { operation: 'edit', key: held }, outcome: () => `of ${path}` },
        append('x')
      )
    )
  await edit(workspace, 'mine', 'docs/a.md')
  await edit(workspace, 'other', 'src/b.ts')
  t.strictSame(await edit(limited, 'mine', 'docs/a.md'), ok({ replayed: 'of docs/a.md' }))
  const refused = { ok: false, failure: REFUSED_DOCS, path: 'src/b.ts' }
  t.strictSame(await edit(limited, 'other', 'src/b.ts'), ok({ done: refused }))
  t.strictSame(await edit(workspace, 'other', 'src/b.ts'), ok({ replayed: 'of src/b.ts' }))
  const many = await limited.keyed(
    request('mine'),
    async () => 'never',
    () => ['docs/a.md', 'src/b.ts']
  )
  t.strictSame(many, { ok: false, failure: REFUSED_DOCS })
})

t.test('shares everything but what may be used with the whole workspace', async t => {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  plant(folders.root, { 'docs/a.md': 'a\n' })
  const workspace = await open(folders, { history: 'full' })
  const limited = workspace.limitedTo(['docs/**'])
  t.equal(limited.root, workspace.root)
  t.equal(limited.confinement, workspace.confinement)
  t.equal(workspace.limitedTo(['docs/**']), limited)
  t.not(workspace.limitedTo(['docs/**', 'a']), limited)
  t.equal(await limited.ready(), null)
  t.equal(limited.degraded(), false)
  const narrow = limited.limitedTo(['**/*.md', 'src'])
  t.match(await look(narrow, { path: 'docs/a.md' }), { ok: true })
  t.match(await look(narrow, { path: 'src/a' }), { failure: { reason: 'token' } })

  await limited.close()
  limited.endFollowing()
  const follower = await limited.follow()
  if (!follower.ok) throw new Error('nobody can follow')
  t.equal(follower.value.isEnded, false)
  t.match(await workspace.edit({ path: 'docs/a.md' }, REAL, append('x')), { ok: true })

  const running = await heldEdit(limited, 'docs/a.md', REAL, append('y'))
  const closing = workspace.close()
  t.equal(follower.value.isEnded, true)
  t.match(await limited.ready(), { reason: 'draining' })
  t.match(await look(limited, { path: 'docs/a.md' }), { failure: { reason: 'draining' } })
  t.equal(await Promise.race([closing.then(() => 'closed'), Promise.resolve('open')]), 'open')
  running.goOn()
  t.match(await running.done, { ok: true })
  await closing
  t.equal(readFileSync(join(folders.root, 'docs/a.md'), 'utf8'), 'a\nxy')
})

t.test('keeps views no longer than somebody has them', async t => {
  const { workspace } = await fresh(t)
  const refs = Array.from({ length: 50 }, (_, i) => new WeakRef(workspace.limitedTo([`a${i}`])))
  for (let i = 0; i < 20 && refs.some(ref => ref.deref() !== undefined); i++) {
    await sleep(10)
    collectGarbage()
  }
  t.ok(refs.filter(ref => ref.deref() === undefined).length > 40)
  // What is left of them goes with the next one.
  t.match(await look(workspace.limitedTo(['b']), { path: 'a' }), { failure: { reason: 'token' } })
})

t.test('leaves no descriptor open', { skip: !onLinux }, async t => {
  const { workspace, root } = await fresh(t)
  plant(root, TREE)
  const limited = workspace.limitedTo(ALLOWED)
  await look(limited, { path: 'docs/a.md' })
  const before = descriptors()
  for (let i = 0; i < 250; i++) {
    for (const path of ['docs/a.md', 'src/app.ts', 'docs/to-none', 'docs']) await look(limited, { path })
  }
  t.ok(descriptors() <= before, 'what other files had open may be closed meanwhile')
})

// The laws. What a pattern covers, said once more and in another way.

/** A pattern as a regular expression for the names of a path with a / after each. */
function naive(patterns: readonly string[]): { covers(path: string): boolean; leads(path: string): boolean } {
  const one = (part: string): string => `${part.split('*').map(escaped).join('[^/]*')}/`
  const whole = patterns.map(pattern => {
    const parts = pattern.split('/')
    return parts.map((part, i) => (part !== '**' ? one(part) : i === parts.length - 1 ? '[^/]+/' : '([^/]+/)*'))
  })
  const covers = (path: string): boolean => whole.some(parts => new RegExp(`^${parts.join('')}`).test(`${path}/`))
  return {
    covers,
    // Whether some path of the few names that there are, or of one that is in a pattern, is covered below it.
    leads: path => covers(path) || BELOW.some(below => covers(path === '' ? below : `${path}/${below}`))
  }
}
const escaped = (text: string): string => text.replace(/[.[\]\\^$|?+(){}]/g, '\\$&')

const NAMES = ['a', 'b', 'c.md', 'd.ts'] as const
const PATTERNS = [
  ...['a', 'a/**', 'a/*', '**/c.md', 'b/*/c.md', '*', '**', 'a/b', '*.ts', 'b/**/d.ts', 'b/c.md', 'a/**/b/*', '**/b'],
  ...['b/b/**', '*.md', 'a/*.*', 'none']
]
const pathsOf = (depth: number): string[] =>
  depth === 1 ? [...NAMES] : pathsOf(depth - 1).flatMap(path => [path, ...NAMES.map(name => `${path}/${name}`)])
const BELOW = [...new Set(pathsOf(3)), 'none']
const ALL = [...new Set(pathsOf(3))]

const randomPath = (random: Random): string =>
  Array.from({ length: 1 + random.int(3) }, () => random.pick(NAMES)).join('/')

const linkTo = (from: string, to: string): string => `→ ${'../'.repeat(from.split('/').length - 1)}${to}`

/** What may be where a link of somebody else leads. */
function randomLink(random: Random, from: string, to = randomPath(random)): string {
  if (random.chance(10)) return random.pick(['→ /etc/passwd', `→ ${'../'.repeat(from.split('/').length)}outside`])
  return random.chance(20) ? `→ ROOT/${to}` : linkTo(from, to)
}

/** Adds something, unless what is there is in the way. */
function add(tree: Tree, path: string, what: string | null): void {
  const names = path.split('/')
  const above = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'))
  if (above.some(folder => typeof tree[folder] === 'string') || path in tree) return
  if (typeof what === 'string' && Object.keys(tree).some(other => other.startsWith(`${path}/`))) return
  for (const folder of above) tree[folder] ??= null
  tree[path] = what
}

function randomTree(random: Random): Tree {
  const tree: Tree = {}
  for (let i = 0; i < 14; i++) {
    const path = randomPath(random)
    add(tree, path, random.chance(40) ? randomLink(random, path) : random.chance(75) ? `text ${i}\n` : null)
  }
  return tree
}

const randomPatterns = (random: Random): string[] =>
  Array.from({ length: 1 + random.int(2) }, () => random.pick(PATTERNS))

function realIn(root: string, path: string): string | null {
  try {
    return relative(root, realpathSync(join(root, path)))
  } catch {
    return null
  }
}

t.test('a file is used if, and only if, its real path is covered', async t => {
  for (let round = 0; round < often(40, 8, 3); round++) {
    const random = new Random(SEED * 1000 + round)
    const folders = makeFolders()
    const workspace = await open(folders, { protect: [], readProtect: [] })
    try {
      const tree = randomTree(random)
      plant(folders.root, tree)
      for (let i = 0; i < 3; i++) {
        const patterns = randomPatterns(random)
        const { covers } = naive(patterns)
        const limited = workspace.limitedTo(patterns)
        const refusal = (path: string) => ({ ok: false, failure: refusedBy(patterns), path })
        const why = `seed ${SEED}, round ${round}: ${JSON.stringify({ tree, patterns })}`
        for (const path of ALL) {
          const real = realIn(folders.root, path)
          const isFile = real !== null && !real.startsWith('..') && statSync(join(folders.root, real)).isFile()
          const looked = await look(limited, { path })
          const edited = await limited.edit({ path }, DRY, append('x'))
          if (!isFile) t.notOk((looked.ok && looked.value.type === 'file') || edited.ok, `${path} is no file; ${why}`)
          else if (covers(real)) {
            t.match([looked, edited], Array(2).fill({ ok: true, value: { path } }), `${path}; ${why}`)
          } else t.strictSame([looked, edited], Array(2).fill(refusal(path)), `${path}; ${why}`)
        }
      }
    } finally {
      await workspace.close()
      removeFolders(folders)
    }
    if (!t.passing()) return
  }
})

/**
 * A tree, of whose places that are neither covered nor lead to what is only `chance` decides: files, folders, and links
 * that lead to no place but such. Elsewhere it is the same for the same `base`.
 */
function treeOf(base: Random, chance: Random, patterns: readonly string[]): Tree {
  const { covers, leads } = naive(patterns)
  const tree: Tree = {}
  const isClosed = (path: string): boolean => !leads(path)
  for (let i = 0; i < 10; i++) {
    const path = randomPath(base)
    const link = randomLink(base, path)
    const text = `text ${base.int(100)}\n`
    const kind = base.int(10)
    if (isClosed(path)) continue
    // A file that isn't covered is not to be known either, a folder that leads to what is may be.
    if (covers(path)) add(tree, path, kind < 4 ? link : kind < 8 ? text : null)
    else add(tree, path, null)
  }
  const closed = ALL.filter(isClosed)
  for (let i = 0; i < 12 && closed.length > 0; i++) {
    const path = chance.pick(closed)
    const names = path.split('/')
    const above = names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'))
    // A folder that may be known is there in both, or in none.
    if (above.some(folder => !isClosed(folder) && tree[folder] !== null)) continue
    const kind = chance.int(10)
    add(
      tree,
      path,
      kind < 4 ? randomLink(chance, path, chance.pick(closed)) : kind < 8 ? `secret ${chance.int(100)}\n` : null
    )
  }
  return tree
}

t.test('two trees that differ only where nothing is allowed are answered alike', { skip: ONLY_CI }, async t => {
  let differing = 0
  for (let round = 0; round < often(40, 8); round++) {
    const seed = SEED * 1000 + round
    const patterns = randomPatterns(new Random(seed))
    const trees = [1, 2].map(which => treeOf(new Random(seed), new Random(seed * 2 + which), patterns))
    if (JSON.stringify(trees[0]) !== JSON.stringify(trees[1])) differing++
    const both: string[] = []
    for (const tree of trees) {
      const folders = makeFolders()
      const workspace = await open(folders, { protect: [], readProtect: [], history: 'full' })
      try {
        plant(folders.root, tree)
        const limited = workspace.limitedTo(patterns)
        const answers: Record<string, unknown> = { root: await look(limited, { path: '.' }) }
        for (const path of [...ALL, 'd.ts/none', 'none']) answers[path] = await answersTo(limited, path)
        both.push(JSON.stringify(answers, (name, value: unknown) => (UNLIKE.includes(name) ? 0 : value), 1))
      } finally {
        await workspace.close()
        removeFolders(folders)
      }
    }
    t.equal(both[0], both[1], `seed ${SEED}, round ${round}: ${JSON.stringify({ patterns, trees })}`)
    if (!t.passing()) return
  }
  t.ok(differing > 2)
})

/** What no two answers have in common: ids, times and names of temp files. */
const UNLIKE = ['edit_id', 'at', 'temp', 'oldest_kept_at']
