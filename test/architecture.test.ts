// Compares the imports with the arrows of ARCHITECTURE.md, and checks what must not be where.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const top = fileURLToPath(new URL('..', import.meta.url))
const files = ['src', 'routes', 'schemas']
  .flatMap(folder =>
    readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
  )
  .filter(name => name.endsWith('.ts'))
const sources = files.map(path => {
  const text = readFileSync(join(top, path), 'utf8')
  const specifiers = [
    ...text.matchAll(/(?:^(?:import|export) (?:[^'\n]* from )?|^\} from |\bimport\()'([^']+)'/gm)
  ].map(match => match[1] ?? '')
  const imports = specifiers.map(specifier =>
    specifier.startsWith('.') ? relative(top, join(top, dirname(path), specifier)) : specifier
  )
  return { path, text, lines: text.split('\n'), imports }
})

/** The lines that an expression matches, as `number: text`; what `of` takes out of a line isn't looked at. */
const linesWith = (expression: RegExp, lines: string[], of = (line: string) => line) =>
  lines.flatMap((line, i) => (expression.test(of(line)) ? [`${i + 1}: ${line}`] : []))

/** The part of the tree that a file is in. */
const partOf = (path: string) =>
  /^src\/(engine|audit|log|object-store|bucket|folder|change|recording|workspace|http|operations|workers|config|metrics)\//.exec(
    path
  )?.[1] ??
  /^(routes|schemas)\//.exec(path)?.[1] ??
  /^src\/([a-z-]+)\.ts$/.exec(path)?.[1] ??
  path

// As ARCHITECTURE.md draws them. `print-openapi` is a second, smaller server.
const ARROWS: Record<string, string[]> = {
  server: [
    'app',
    'stdio',
    'credentials',
    'open-spaces',
    'spaces',
    'listen',
    'metrics',
    'audit',
    'config',
    'bucket',
    'folder',
    'logger',
    'error-code'
  ],
  credentials: ['spaces', 'config'],
  'open-spaces': ['spaces', 'bucket', 'folder', 'object-store', 'workers', 'workspace', 'audit', 'config'],
  listen: ['config', 'error-code'],
  'print-openapi': ['app', 'spaces', 'config', 'workspace'],
  app: ['routes', 'admission', 'views', 'spaces', 'http', 'workers', 'config'],
  admission: ['views', 'spaces', 'http'],
  views: ['spaces', 'http', 'operations', 'workers', 'workspace', 'config'],
  spaces: ['http', 'workspace', 'audit', 'config'],
  metrics: ['http', 'workspace'],
  stdio: ['http', 'operations', 'workers', 'workspace', 'config'],
  routes: ['schemas', 'http', 'operations', 'workspace'],
  http: ['schemas', 'operations', 'workspace', 'engine', 'audit', 'config', 'logger'],
  operations: ['schemas', 'workers', 'workspace', 'engine', 'audit'],
  workers: ['engine'],
  config: ['schemas', 'object-store', 'workspace'],
  bucket: ['object-store', 'change', 'recording', 'workspace', 'log', 'audit', 'error-code'],
  folder: ['change', 'recording', 'workspace', 'log', 'engine', 'audit'],
  change: ['recording', 'workspace', 'log', 'engine', 'audit'],
  recording: ['workspace', 'log', 'engine', 'audit'],
  workspace: ['log', 'engine', 'audit', 'error-code'],
  audit: ['error-code'],
  log: ['engine', 'error-code'],
  'object-store': ['error-code'],
  'error-code': [],
  engine: [],
  schemas: [],
  logger: [],
  result: []
}

/**
 * What each folder below a part, and each file beside these folders, may import inside that part. Files of folder
 * and http that are beside their folders put these together; of them a folder may import only those that are named
 * here.
 */
const ROOMS: Record<string, string[]> = {
  'engine/text': [],
  'engine/match': ['text'],
  'engine/patch': ['text', 'match'],
  'engine/suggest': ['text', 'failure'],
  'engine/edit': ['text', 'suggest'],
  'engine/outline': ['text', 'edit', 'failure'],
  'engine/inspect': ['text', 'match', 'failure'],
  'engine/syntax': ['outline', 'inspect'],
  'engine/report': ['text', 'edit', 'failure'],
  'engine/undo': ['text', 'edit', 'failure'],
  'engine/explain': ['text', 'match', 'edit', 'patch', 'suggest', 'failure'],
  'engine/plan': ['text', 'match', 'edit', 'outline', 'patch', 'suggest', 'explain', 'failure'],
  'engine/failure': ['edit', 'undo', 'outline', 'suggest'],
  'engine/pending': ['undo', 'failure'],
  'engine/blame': ['text', 'undo', 'failure'],
  'engine/decoded': ['text', 'edit', 'undo', 'failure'],
  'engine/undo-redo': ['edit', 'undo', 'plan', 'report', 'failure', 'task'],
  'engine/task': ['text', 'edit', 'patch', 'undo', 'plan', 'report', 'explain', 'failure'],
  'folder/root': ['sync', 'snapshot', 'close-later'],
  'folder/find': ['root', 'snapshot'],
  'folder/locks': ['root', 'snapshot'],
  'folder/commit': ['root', 'locks', 'own-ids', 'sync', 'snapshot', 'scan', 'state'],
  'http/access': ['requests', 'request-failure'],
  'http/answers': ['request-failure'],
  'http/requests': ['answers', 'request-failure'],
  'http/tools': ['answers', 'requests', 'request-failure', 'call'],
  'http/adapters': ['answers', 'requests', 'request-failure', 'call']
}
const roomOf = (path: string) => {
  const [, part, name, below] = /^src\/(engine|folder|http)\/([a-z-]+)(\/|\.ts$)/.exec(path) ?? []
  return part !== undefined && name !== undefined ? { part, name, isFolder: below === '/' } : undefined
}

t.test('imports follow the arrows', async t => {
  t.ok(sources.length > 40)
  for (const { path, imports, text } of sources) {
    const part = partOf(path)
    const allowed = ARROWS[part]
    t.ok(allowed, `${path} has its place in the tree`)
    for (const target of imports.filter(name => /^(src|routes|schemas)\//.test(name))) {
      const other = partOf(target)
      if (other === part || (other === 'result' && part !== 'schemas')) continue
      t.ok(allowed?.includes(other), `${path} → ${target}`)
      if (other === 'config' && part === 'http') {
        t.match(text, /import type [^\n]*config\.ts'/, `${path} takes only types of config`)
      }
    }
    if (part === 'schemas') {
      t.strictSame(
        imports.filter(name => !name.startsWith('schemas/') && name !== 'typebox'),
        [],
        path
      )
    }
    if (part === 'engine') {
      t.strictSame(
        imports.filter(name => name.startsWith('node:') && !['node:buffer', 'node:util'].includes(name)),
        [],
        `${path} does no I/O`
      )
    }
    if (part === 'log' && !path.startsWith('src/log/files/') && path !== 'src/log/folder-log.ts') {
      t.strictSame(
        imports.filter(name => /^(node:fs|src\/log\/files)\b/.test(name)),
        [],
        `${path} knows no files`
      )
    }
    if (['workspace', 'folder', 'recording', 'change'].includes(part)) {
      t.notMatch(
        text,
        /readFileSync\([^\n]*utf-?8/,
        `${path} reads no text in the way on which a failing close ends the process: readText does it`
      )
    }
    if (['workspace', 'folder', 'recording', 'change', 'bucket'].includes(part)) {
      t.strictSame(
        imports.filter(name => /^(fastify|node:https?$)/.test(name)),
        [],
        `${path} knows no HTTP`
      )
    }
    if (part !== 'app' && part !== 'routes') {
      t.strictSame(
        imports.filter(name => name.startsWith('routes/')),
        [],
        path
      )
    }
  }
})

t.test('draws in ARCHITECTURE.md the arrows that are checked, each of which an import needs', async t => {
  const document = readFileSync(join(top, 'ARCHITECTURE.md'), 'utf8')
  const drawn = [...document.matchAll(/^([a-z-]+) +→ ([a-z, -]+)$/gm)].map(([, part = '', others = '']) => [
    part,
    others.split(', ')
  ])
  t.strictSame(
    Object.fromEntries(drawn),
    Object.fromEntries(Object.entries(ARROWS).filter(([, others]) => others.length > 0))
  )
  for (const [part, others] of Object.entries(ARROWS)) {
    const ofPart = sources.filter(({ path }) => partOf(path) === part).flatMap(({ imports }) => imports.map(partOf))
    for (const other of others) t.ok(ofPart.includes(other), `${part} → ${other}`)
  }
})

t.test('folders inside a part import those below them', async t => {
  for (const { path, imports } of sources) {
    const room = roomOf(path)
    if (room === undefined || (!room.isFolder && room.part !== 'engine')) continue
    const allowed = ROOMS[`${room.part}/${room.name}`]
    t.ok(allowed, `${path} is in a known folder`)
    for (const other of imports.map(roomOf)) {
      if (other?.part === room.part && other.name !== room.name) {
        t.ok(allowed?.includes(other.name), `${path} → ${other.name}`)
      }
    }
  }
})

t.test('no file imports itself by way of others', async t => {
  const imports = new Map(sources.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const visit = (path: string, above: string[]): void => {
    const start = above.indexOf(path)
    if (start >= 0) t.fail([...above.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const target of imports.get(path) ?? []) if (imports.has(target)) visit(target, [...above, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  t.equal(done.size, sources.length)
})

t.test('keeps status codes in the entries of problems', async t => {
  const code = /\b(?:status|statusCode|code)\(?\s*[:=(]\s*[1-5]\d\d\b|\bcode\(\d|writeHead|\[\s*[45]\d\d\s*,/
  const bare = (line: string) => line.replace(/\/\/.*|\/\*.*|^\s*\*.*|'[^']*'|`[^`]*`/g, '')
  t.strictSame(linesWith(code, ['', "  status: 404, // 'text'"], bare), ["2:   status: 404, // 'text'"])
  for (const { path, lines } of sources.filter(({ path }) => !/^src\/http\/answers\/problem(s\/|\.ts$)/.test(path))) {
    t.strictSame(linesWith(code, lines, bare), [], path)
  }
})

t.test('keeps routes small, and every file introduced', async t => {
  for (const { path, lines } of sources) {
    t.match(lines[0]?.startsWith('#!') ? lines[1] : lines[0], /^\/\/ \S/, `${path} says what it is`)
    if (path.startsWith('routes/')) t.ok(lines.length <= 41, `${path} has ${lines.length} lines`)
    t.notMatch(path, /utils|helpers|manager|service/)
  }
})

t.test('never looks away', async t => {
  for (const { path, text, lines } of sources) {
    t.notMatch(text, /@ts-|eslint-disable/, path)
    t.notOk(
      lines.some(line => /\bas any\b/.test(line.replace(/\/\/.*|^\s*(\/\*)?\*.*/, ''))),
      path
    )
  }
})

t.test('defines the bytes of a line break in one file', async t => {
  for (const { path, lines } of sources.filter(({ path }) => path.startsWith('src/engine/'))) {
    if (path === 'src/engine/text/lines.ts') continue
    t.strictSame(linesWith(/\b(?:LF|CR) = 1[03]\b|[=!]== 1[03]\b|[iI]ndexOf\(1[03]\b/, lines), [], path)
  }
})

t.test('exports no type name twice', async t => {
  const owners = new Map<string, string[]>()
  for (const { path, text } of sources) {
    const declared = [...text.matchAll(/^export (?:interface|type|(?:abstract )?class|enum) ([A-Z]\w*)/gm)]
    // A list exports what the file declares, unless it takes it from another file.
    const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}(?! from)/gm)]
    const listed = lists.flatMap(([, names = '']) => [...names.matchAll(/(?:^|,|type )\s*(?:\w+ as )?([A-Z]\w*)/g)])
    for (const [, name = ''] of [...declared, ...listed]) owners.set(name, [...(owners.get(name) ?? []), path])
  }
  t.ok(owners.size > 100)
  t.strictSame(
    [...owners].filter(([, paths]) => paths.length > 1),
    []
  )
})
