// What documents and comments cite exists: files, folders, links and scripts; and documents name every operation.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeOperations, type Operations } from '../src/operations.ts'
import type { Operation } from '../src/operations/operation.ts'
import type { Workspace } from '../src/workspace/workspace.ts'

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

t.test('finds what is cited and does not exist', async t => {
  const files = (text: string) => missingFiles(text, 'src/http')
  t.strictSame(files('see faster.md, docs/no.md, src/http/x/y.ts'), ['faster.md', 'docs/no.md', 'src/http/x/y.ts'])
  t.strictSame(files('app.ts, `docs/tools.md`, ./call.ts, http/call.ts, dist/src/server.js'), [])
  t.strictSame(files('$URL/a.json, /b.json, https://c.example/d.md'), [])
  t.strictSame(files('./none.ts, dist/src/serve.js'), ['./none.ts', 'dist/src/serve.js'])
  t.strictSame(missingFolders('src/engine/, src/motor/, test/none/in/'), ['src/motor/', 'test/none/in/'])
  const links = '[a](tools.md) [b](none.md#x) [c](https://x.example/y.md) [d](../README.md#start)'
  t.strictSame(missingLinks(links, 'docs'), ['none.md'])
  t.strictSame(missingScripts('npm run lint, npm run linted, npm run -s build'), ['linted'])
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
    t.strictSame(missing, [], path)
  }
  const everything = citing.map(({ prose }) => prose).join('\n')
  for (const name of FOREIGN) t.ok(everything.includes(name), `${name} is still named`)
})

t.test('names every operation, and as many conversations as there are', async t => {
  const operations: Operations = makeOperations({} as Workspace, { max_edits: 1, max_file_size: 1 })
  const [tools, readme] = [textOf('docs/tools.md'), textOf('README.md')]
  for (const { id, route } of Object.values<Operation>({ ...operations })) {
    t.match(tools, `\n| \`${id}\` | \`${route}\` | `, 'docs/tools.md')
    t.match(readme, `\n| \`POST ${route}\` | `, 'README.md')
  }
  t.ok(readme.split('\n').length <= 201, 'README.md has at most 200 lines')
  const page = textOf('docs/conversations.md')
  const [, title = ''] = /^# (.*)/.exec(page) ?? []
  t.match(readme, `[${title}](docs/conversations.md)`)
  const counted = ['One', 'Two', 'Three', 'Four', 'Five', 'Six'].indexOf(title.split(' ')[0] ?? '') + 1
  t.equal(proseOf(page).match(/^## /gm)?.length, counted)
})
