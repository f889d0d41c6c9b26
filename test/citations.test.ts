// Everything that documents and comments cite exists: files, folders, links, scripts, settings, routes and commands;
// and the documents name every operation.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { settingRows } from '../src/config/config.ts'
import { makeOperations, operationsIn, type Operations } from '../src/operations.ts'
import type { Workspace } from '../src/workspace/api.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'routes', 'schemas', 'page', 'docs', 'examples', 'test', 'bench', '.ci']
const MADE = /(^|\/)(node_modules|dist|\.tap)(\/|$)/

const under = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
const paths = new Set([...readdirSync(ROOT), ...FOLDERS.flatMap(under)].filter(path => !MADE.test(path)))
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** A document without code, answers and the files of its examples. */
const proseOf = (text: string) => text.replace(/^```.*\n[^]*?^```$|<!--[^]*?-->/gm, '')

/** The comments of a source file, as lines. */
const commentsOf = (path: string, text: string) => {
  const isScript = /(\.(sh|py)|\.ci\/\w+|Dockerfile)$/.test(path)
  const comment = isScript ? /(?:^|\s)#.*/ : /(?:^|\s)(?:\/\/|\/\*| \*\s).*/
  return text
    .split('\n')
    .map(line => comment.exec(line)?.[0] ?? '')
    .join('\n')
}

/** Not names of our files: files in examples, a placeholder, what a command writes, a route, other projects' files. */
const FOREIGN = new Set([
  'app.js',
  'x.ts',
  'editd.ts',
  'openapi.tools.json',
  'web-tree-sitter.js',
  'backend/open_webui/utils/tools.py',
  'langchain_community/agent_toolkits/openapi/spec.py'
])

const isThere = (path: string, from: string) =>
  paths.has(path) || paths.has(join(from, path)) || [...paths].some(other => other.endsWith(`/${path}`))

/** The files that a text names and that don't exist; `from`: the folder of the file that names them. */
function missingFiles(text: string, from: string): string[] {
  const file = /(?<![\w$.:/-])(?:\.\/)?[\w-][\w./-]*\.(?:ts|js|mjs|md|wat|json|yaml|sh|py|css)\b(?![/(])/g
  return [...text.matchAll(file)]
    .map(([name]) => name)
    .filter(name => {
      // A built file is named after its source.
      const source = name.replace(/^(?:path\/to\/editd\/)?dist\/(.*)\.js$/, '$1.ts')
      return !FOREIGN.has(name) && !FOREIGN.has(basename(name)) && !isThere(source, from)
    })
}

const folder = new RegExp(`(?<![\\w$./-])(?:${FOLDERS.join('|').replace('.', '\\.')})(?:/[\\w-]+)*/(?![\\w.*{])`, 'g')
const missingFolders = (text: string): string[] =>
  [...text.matchAll(folder)].map(([name]) => name).filter(name => !paths.has(name.slice(0, -1)))

const missingLinks = (text: string, from: string): string[] =>
  [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z]+:/.test(target) && !paths.has(join(from, target)))

const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
const missingScripts = (text: string): string[] =>
  [...text.matchAll(/\bnpm run (?:-s |--silent )?([a-z][\w:-]*\w)/g)]
    .map(([, name = '']) => name)
    .filter(name => !Object.hasOwn(scripts, name))

/** Flags that documents name and that are not settings: of other programs, of `npm run` and of `.ci`. */
const OTHER_FLAGS = new Set(
  [
    '--attempts --cap-drop --clients --counts --cuts --dev --die-with-parent --disable-coverage --errors --flood --help',
    '--histories --import',
    '--bind --clearenv --format --fsize --increments --kills --memory --new-session --off --patience',
    '--pids-limit --prefix --proc --starts',
    '--quick --requests --rm --ro-bind --rounds --security-opt --setenv --share-net --signal --silence --symlink --tmpfs',
    '--max-time --only --records --unix-socket --unshare-all --user'
  ].flatMap(line => line.split(' '))
)
const settings = settingRows()
const flags = new Set(settings.map(({ flag }) => /^--[a-z-]+/.exec(flag)?.[0] ?? ''))
/** Besides the settings: what examples and one test read. */
const variables = new Set([...settings.map(({ environment }) => environment), 'EDITD_URL', 'EDITD_ATTEMPTS'])
const missingSettings = (text: string): string[] => [
  ...[...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)]
    .map(([flag]) => flag)
    .filter(flag => !flags.has(flag) && !OTHER_FLAGS.has(flag)),
  ...[...text.matchAll(/\bEDITD_[A-Z][A-Z0-9_]*/g)].map(([name]) => name).filter(name => !variables.has(name))
]

const published = Object.keys((parse(textOf('openapi.yaml')) as { paths: object }).paths)
const routes = new Set([...published, '/', '/docs', '/mcp', '/openapi.json', '/openapi.yaml', '/openapi.tools.json'])
/** Routes by their methods, or in code spans: there only words, as other paths have folders in them. */
const missingRoutes = (text: string): string[] =>
  [...text.matchAll(/\b(?:GET|POST|PUT|DELETE|PATCH) (\/[\w{}./-]*)|`(\/[a-z][a-z.-]*)`/g)]
    .map(([, route = '', span = route]) => span.replace(/\.$/, ''))
    .filter(route => !routes.has(route) && !FOLDERS_OF_SYSTEMS.has(route))
/** And the one route of the listener of the metrics. */
const FOLDERS_OF_SYSTEMS = new Set(['/memories', '/metrics', '/proc', '/state', '/workspace'])

const missingCommands = (text: string): string[] =>
  [...text.matchAll(/`editd ([a-z]\w*)/g)].map(([, name = '']) => name).filter(name => !COMMANDS.has(name))
/** `listening` begins the line that it prints. */
const COMMANDS = new Set(['mcp', 'forget', 'listening'])

t.test('finds what is cited and does not exist', async t => {
  const files = (text: string) => missingFiles(text, 'src/http')
  t.strictSame(files('see faster.md, docs/no.md, src/http/x/y.ts'), ['faster.md', 'docs/no.md', 'src/http/x/y.ts'])
  t.strictSame(files('app.ts, `docs/tools.md`, ./call.ts, http/call.ts, dist/server.js'), [])
  t.strictSame(files('$URL/a.json, /b.json, https://c.example/d.md'), [])
  t.strictSame(files('./none.ts, dist/serve.js'), ['./none.ts', 'dist/serve.js'])
  t.strictSame(missingFolders('src/engine/, src/motor/, test/none/in/'), ['src/motor/', 'test/none/in/'])
  const links = '[a](tools.md) [b](none.md#x) [c](https://x.example/y.md) [d](../README.md#start)'
  t.strictSame(missingLinks(links, 'docs'), ['none.md'])
  t.strictSame(missingScripts('npm run lint, npm run linted, npm run -s build'), ['linted'])
  t.strictSame(missingSettings('--port 0 --ports 0 EDITD_PORT=1 EDITD_PORTS=1'), ['--ports', 'EDITD_PORTS'])
  const cited = 'POST /edit, GET /nothing, `/edit-section`, `/edit-sections`, `/proc`, POST /tools/{name}.'
  t.strictSame(missingRoutes(cited), ['/nothing', '/edit-sections'])
  t.strictSame(missingCommands('`editd mcp path`, `editd serve`'), ['serve'])
  t.equal(proseOf('a\n```sh\nx.md\n```\nb <!-- y.md\nz -->c'), 'a\n\nb c')
  t.equal(commentsOf('a.ts', 'let a // see b.md\nconst url = "http://c.md"\n /** d.md'), ' // see b.md\n\n /** d.md')
  t.equal(commentsOf('a.sh', 'x # b.md'), ' # b.md')
})

t.test('cites only files, folders and scripts that exist', async t => {
  const documents = [...paths].filter(path => path.endsWith('.md'))
  const source = /\.(ts|mjs|sh|py)$|^page\/.*\.(js|css)$|^\.ci\/\w+$|^(Dockerfile|eslint\.config\.js)$/
  const sources = [...paths].filter(path => source.test(path) && statSync(join(ROOT, path)).isFile())
  t.ok(documents.length >= 9 && sources.length > 200)
  const citing = [
    ...documents.map(path => ({ path, all: textOf(path), prose: proseOf(textOf(path)) })),
    ...sources.map(path => ({ path, all: '', prose: commentsOf(path, textOf(path)) }))
    // This file's examples don't exist.
  ].filter(({ path }) => path !== 'test/citations.test.ts')
  for (const { path, all, prose } of citing) {
    const from = dirname(path)
    const files = [...missingLinks(all, from), ...missingFiles(prose, from), ...missingFolders(prose)]
    const missing = [...files, ...missingScripts(`${all}${prose}`)]
    // The change log also names what is gone; the benchmark runs other programs.
    if (path.endsWith('.md') && !/^(CHANGELOG\.md|bench\/.*)$/.test(path)) {
      missing.push(...missingSettings(all), ...missingRoutes(prose), ...missingCommands(prose))
    }
    t.strictSame(missing, [], path)
  }
  const everything = citing.map(({ prose }) => prose).join('\n')
  for (const name of FOREIGN) t.ok(everything.includes(name), `${name} is still named`)
})

t.test('names every operation, and as many conversations as there are', async t => {
  const operations: Operations = makeOperations({} as Workspace, { max_edits: 1, max_file_size: 1 })
  const [tools, readme] = [textOf('docs/tools.md'), textOf('README.md')]
  for (const { id, route, route_only } of operationsIn(operations)) {
    t.equal(tools.includes(`\n| \`${id}\` | \`${route}\` | `), route_only !== true, 'docs/tools.md')
    t.match(readme, `\n| \`POST ${route}\` | `, 'README.md')
  }
  t.ok(readme.split('\n').length <= 201, 'README.md has at most 200 lines')
  const page = textOf('docs/conversations.md')
  const [, title = ''] = /^# (.*)/.exec(page) ?? []
  t.match(readme, `[${title}](docs/conversations.md)`)
  const counted = ['One', 'Two', 'Three', 'Four', 'Five', 'Six'].indexOf(title.split(' ')[0] ?? '') + 1
  t.equal(proseOf(page).match(/^## /gm)?.length, counted)
})
