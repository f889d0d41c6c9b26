// The language of a file, by its name and first line.

/** Language → extensions. */
const EXTENSIONS = {
  bash: ['bash'],
  batch: ['bat'],
  c: ['c', 'h'],
  clojure: ['clj'],
  cmake: ['cmake'],
  cpp: ['cc', 'cpp', 'cxx', 'hpp', 'hxx'],
  csharp: ['cs'],
  css: ['css'],
  csv: ['csv'],
  dart: ['dart'],
  diff: ['diff', 'patch'],
  elixir: ['ex', 'exs'],
  erlang: ['erl'],
  fsharp: ['fs'],
  go: ['go'],
  graphql: ['gql', 'graphql'],
  groovy: ['gradle', 'groovy'],
  handlebars: ['hbs'],
  haskell: ['hs'],
  html: ['htm', 'html'],
  ini: ['conf', 'ini'],
  java: ['java'],
  javascript: ['cjs', 'js', 'mjs'],
  json: ['avsc', 'canvas', 'geojson', 'har', 'ipynb', 'json', 'tfstate', 'webmanifest'],
  json5: ['json5'],
  jsonc: ['code-workspace', 'jsonc'],
  jsonl: ['jsonl'],
  jsx: ['jsx'],
  julia: ['jl'],
  kotlin: ['kt', 'kts'],
  latex: ['tex'],
  less: ['less'],
  lua: ['lua'],
  makefile: ['mk'],
  markdown: ['markdown', 'md'],
  mdx: ['mdx'],
  nim: ['nim'],
  'objective-c': ['m'],
  ocaml: ['ml'],
  perl: ['pl', 'pm'],
  php: ['php'],
  powershell: ['ps1'],
  properties: ['properties'],
  protobuf: ['proto'],
  python: ['py', 'pyi'],
  r: ['r'],
  restructuredtext: ['rst'],
  ruby: ['rb'],
  rust: ['rs'],
  sass: ['sass'],
  scala: ['scala'],
  scss: ['scss'],
  shell: ['sh', 'zsh'],
  sql: ['sql'],
  svelte: ['svelte'],
  swift: ['swift'],
  tcl: ['tcl'],
  terraform: ['tf'],
  text: ['txt'],
  toml: ['toml'],
  tsx: ['tsx'],
  typescript: ['cts', 'mts', 'ts'],
  vb: ['vb'],
  vue: ['vue'],
  xml: ['svg', 'xml'],
  yaml: ['yaml', 'yml'],
  zig: ['zig']
}

/** Language → whole names. */
const NAMES = {
  bash: ['.bashrc'],
  cmake: ['cmakelists.txt'],
  dockerfile: ['dockerfile', 'containerfile'],
  groovy: ['jenkinsfile'],
  ini: ['.gitconfig', '.editorconfig'],
  json: ['composer.lock', 'pipfile.lock'],
  json5: ['.babelrc'],
  makefile: ['makefile', 'gnumakefile'],
  toml: ['cargo.lock', 'pipfile', 'poetry.lock', 'uv.lock'],
  ruby: ['gemfile', 'rakefile', 'vagrantfile']
}

/** Interpreter of a `#!` line → language. */
const INTERPRETERS: [RegExp, string][] = [
  [/\b(ba|z|da|k)?sh\b/, 'shell'],
  [/\bpython[\d.]*\b/, 'python'],
  [/\b(node|deno|bun)\b/, 'javascript'],
  [/\bruby\b/, 'ruby'],
  [/\bperl\b/, 'perl'],
  [/\bphp\b/, 'php'],
  [/\blua\b/, 'lua'],
  [/\bRscript\b/, 'r'],
  [/\btclsh\b/, 'tcl']
]

const inverted = (table: Record<string, string[]>): Map<string, string> =>
  new Map(Object.entries(table).flatMap(([language, keys]) => keys.map(key => [key, language] as const)))

const BY_EXTENSION = inverted(EXTENSIONS)
const BY_NAME = inverted(NAMES)

/** The language of a file by its name (any `/`-separated path), else by a `#!` line; undefined if neither is known. */
export function languageOf(path: string, bytes: Buffer): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const dot = name.lastIndexOf('.')
  const named = BY_NAME.get(name) ?? (dot > 0 ? BY_EXTENSION.get(name.slice(dot + 1)) : undefined)
  if (named !== undefined) return named
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return undefined
  const interpreter = bytes
    .subarray(0, 200)
    .toString('latin1')
    .split(/[\r\n]/, 1)[0]!
  return INTERPRETERS.find(([pattern]) => pattern.test(interpreter))?.[1]
}
