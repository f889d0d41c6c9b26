// One example of each cause for which old_text isn't found: data for the documents and for the test that runs them.
import type { CauseType } from '../src/engine/suggest/differences/classify.ts'

export interface Miss {
  cause: CauseType
  /** The cause, for people. */
  title: string
  /** Part of the answer. */
  says: string
  file: string
  /** Absent: UTF-8. */
  encoding?: 'latin1'
  old_text: string
  new_text: string
  line_endings?: 'exact'
  /** The agent's own replacement for the text that is there, if the fix leaves that to it. */
  wanted?: (content: string) => string
  /** The file in the end; null if no fix has an edit, because nothing in the file is like old_text. */
  result: string | null
}

const swap =
  (from: string | RegExp, to: string) =>
  (content: string): string =>
    content.replace(from, to)

/** A text of these lines, each with its line break. */
const text = (...lines: string[]): string => lines.map(line => `${line}\n`).join('')

const FUNCTION = text(
  'export function total(items) {',
  '\tlet sum = 0',
  '\tfor (const item of items) {',
  '\t\tsum += item.price * item.count',
  '\t}',
  '\treturn sum',
  '}'
)
const PYTHON = text(
  'class Cart:',
  '    def total(self, items):',
  '        result = 0',
  '        for item in items:',
  '            result += item.price',
  '        return result'
)
const PYTHON_TABS = text(
  'def read(path):',
  '\twith open(path) as f:',
  '\t\treturn f.read()',
  '',
  'def first(path):',
  '\twith open(path) as f:',
  '\t\treturn f.read()[0]'
)
const CONFIG = text(
  'const config = await loadSettingsFrom(path, environment)',
  'await server.listen({ port: config.port, host: "localhost" })'
)
const SETTINGS = CONFIG.replaceAll('config', 'settings')
const RETRIES = text(
  'const timeout = options.timeout ?? 5000',
  'const retries = Math.min(options.retries, 10)',
  'connect(host, { timeout, retries })'
)
const REMEMBERED = RETRIES.replace('Math.min(options.retries, 10)', 'options.retries || 3')
const VARIABLES = Array.from({ length: 60 }, (_, i) => `var v${i}=f${i}(${i * 7},"${i}");`).join('')
const MINIFIED = `!function(){${VARIABLES}var width=compute(left+right,"px");return width}()\n`

/** The compiler checks that no cause is missing. */
const BY_CAUSE: Record<CauseType, Omit<Miss, 'cause'>> = {
  indentation: {
    title: 'indentation lost or different',
    says: 'the file indents every line by 8 more spaces than old_text',
    file: PYTHON,
    old_text: 'for item in items:\n    result += item.price',
    new_text: 'for item in items:\n    result += item.price * item.count',
    result: PYTHON.replace('item.price', 'item.price * item.count')
  },
  tabs: {
    title: 'tabs or spaces',
    says: 'the file indents with 1 tab, but old_text indents with 4 spaces',
    file: FUNCTION,
    old_text: '    let sum = 0\n    for (const item of items) {\n        sum += item.price * item.count',
    new_text: '    let sum = 1\n    for (const item of items) {\n        sum += item.price * item.count',
    result: FUNCTION.replace('sum = 0', 'sum = 1')
  },
  trailing_space: {
    title: 'white space at the end of lines',
    says: 'white space at the end of a line that old_text leaves out',
    file: 'name: editd  \nport: 7333\nhost: localhost\n',
    old_text: 'name: editd\nport: 7333',
    new_text: 'name: editd\nport: 8080',
    result: 'name: editd  \nport: 8080\nhost: localhost\n'
  },
  blank_lines: {
    title: 'blank lines',
    says: 'the blank lines differ',
    file: 'import os\nimport sys\n\n\ndef main():\n    run(sys.argv)\n',
    old_text: 'import sys\n\ndef main():\n    run(sys.argv)',
    new_text: 'import sys\n\ndef main():\n    start(sys.argv)',
    wanted: swap('run', 'start'),
    result: 'import os\nimport sys\n\n\ndef main():\n    start(sys.argv)\n'
  },
  spacing: {
    title: 'white space within a line',
    says: 'the spacing differs (the file has "const  limit", old_text "const limit")',
    file: 'const a = 1\nconst  limit  =  100\nconst b = 2\n',
    old_text: 'const limit = 100',
    new_text: 'const limit = 200',
    wanted: swap('100', '200'),
    result: 'const a = 1\nconst  limit  =  200\nconst b = 2\n'
  },
  line_endings: {
    title: 'line endings, with `line_endings` "exact"',
    says: 'the file ends lines with "\\r\\n", old_text with "\\n"',
    file: 'one\r\ntwo\r\nthree\r\n',
    old_text: 'one\ntwo',
    new_text: 'one\nzwei',
    line_endings: 'exact',
    wanted: swap('two', 'zwei'),
    result: 'one\r\nzwei\r\nthree\r\n'
  },
  final_newline: {
    title: 'a line break at the end',
    says: 'old_text ends with a line break that the file does not have there',
    file: 'name: editd\nport: 7333',
    old_text: 'name: editd\nport: 7333\n',
    new_text: 'name: editd\nport: 8080\n',
    result: 'name: editd\nport: 8080'
  },
  byte_order_mark: {
    title: 'a byte-order mark',
    says: 'old_text begins with a byte-order mark (U+FEFF)',
    file: 'intro: none\nname: editd\nport: 7333\n',
    old_text: '\ufeffname: editd',
    new_text: 'name: service',
    result: 'intro: none\nname: service\nport: 7333\n'
  },
  quotes: {
    title: 'quotes',
    says: 'the quotation marks differ (the file has',
    file: 'greet("hello there")\nleave("goodbye")\n',
    old_text: "greet('hello there')",
    new_text: "greet('hello you')",
    wanted: swap('there', 'you'),
    result: 'greet("hello you")\nleave("goodbye")\n'
  },
  dashes: {
    title: 'dashes and dots',
    says: 'dashes or symbols differ (the file has',
    file: 'Open from 9–17, Monday – Friday…\nClosed on Sunday.\n',
    old_text: 'Open from 9-17, Monday - Friday...',
    new_text: 'Open from 9-18, Monday - Friday...',
    wanted: swap('17', '18'),
    result: 'Open from 9–18, Monday – Friday…\nClosed on Sunday.\n'
  },
  nbsp: {
    title: 'no-break spaces',
    says: 'the spaces differ (the file has "100[U+00A0 no-break space]EUR", old_text "100 EUR")',
    file: 'The price is 100\u00a0EUR per year.\nTaxes are extra.\n',
    old_text: 'The price is 100 EUR per year.',
    new_text: 'The price is 120 EUR per year.',
    wanted: swap('100', '120'),
    result: 'The price is 120\u00a0EUR per year.\nTaxes are extra.\n'
  },
  invisible: {
    title: 'characters that cannot be seen',
    says: 'the file has "foo[U+200B zero width space]Bar" where old_text has "fooBar"',
    file: 'const a = 1\nconst foo\u200bBar = compute(a)\n',
    old_text: 'const fooBar = compute(a)',
    new_text: 'const fooBar = compute(b)',
    wanted: swap('(a)', '(b)'),
    result: 'const a = 1\nconst foo\u200bBar = compute(b)\n'
  },
  unicode_form: {
    title: 'NFC and NFD',
    says: 'composed differently',
    file: 'title: Cafe\u0301 au lait\nsize: large\n',
    old_text: 'title: Caf\u00e9 au lait',
    new_text: 'title: Caf\u00e9 noir',
    wanted: swap('au lait', 'noir'),
    result: 'title: Cafe\u0301 noir\nsize: large\n'
  },
  html_entities: {
    title: 'HTML entities',
    says: 'HTML entities',
    file: 'if (a < b && b > c) {\n  swap(a, b)\n}\n',
    old_text: 'if (a &lt; b &amp;&amp; b &gt; c) {',
    new_text: 'if (a &lt;= b &amp;&amp; b &gt; c) {',
    wanted: swap('<', '<='),
    result: 'if (a <= b && b > c) {\n  swap(a, b)\n}\n'
  },
  over_escaped: {
    title: 'escapes that the file does not have',
    says: 'old_text has escapes (backslashes) that the file does not have',
    file: 'print("one")\nprint("two")\nprint("three")\n',
    old_text: 'print(\\"one\\")\\nprint(\\"two\\")',
    new_text: 'print(\\"one\\")\\nprint(\\"2\\")',
    wanted: swap('two', '2'),
    result: 'print("one")\nprint("2")\nprint("three")\n'
  },
  line_numbers: {
    title: 'line numbers copied along',
    says: 'old_text has line numbers at the start of its lines',
    file: FUNCTION,
    old_text: '2\t\tlet sum = 0\n3\t\tfor (const item of items) {',
    new_text: '2\t\tlet sum = 1\n3\t\tfor (const item of items) {',
    wanted: swap('sum = 0', 'sum = 1'),
    result: FUNCTION.replace('sum = 0', 'sum = 1')
  },
  elided: {
    title: 'the middle left out',
    says: 'old_text leaves out the middle',
    file: FUNCTION,
    old_text: 'export function total(items) {\n\t// ... existing code ...\n\treturn sum\n}',
    new_text: 'export function total(items) {\n\t// ... existing code ...\n\treturn sum / 2\n}',
    wanted: swap('return sum', 'return sum / 2'),
    result: FUNCTION.replace('return sum', 'return sum / 2')
  },
  markdown_fence: {
    title: 'a Markdown fence around it',
    says: 'a Markdown fence',
    file: FUNCTION,
    old_text: '```js\n\tlet sum = 0\n\tfor (const item of items) {\n```',
    new_text: '```js\n\tlet sum = 1\n\tfor (const item of items) {\n```',
    wanted: swap('sum = 0', 'sum = 1'),
    result: FUNCTION.replace('sum = 0', 'sum = 1')
  },
  diff_hunk: {
    title: 'a diff hunk',
    says: 'old_text is a diff hunk',
    file: FUNCTION,
    old_text: '@@ -2,2 +2,2 @@\n-\tlet sum = 0\n+\tlet sum = 1\n \tfor (const item of items) {',
    new_text: '@@ -2,2 +2,2 @@\n-\tlet sum = 0\n+\tlet sum = 1\n \tfor (const item of items) {',
    result: FUNCTION.replace('sum = 0', 'sum = 1')
  },
  edit_markers: {
    title: 'the markers of another edit format',
    says: 'markers of another edit format',
    file: FUNCTION,
    old_text: '<<<<<<< SEARCH\n\tlet sum = 0\n\tfor (const item of items) {\n=======',
    new_text: '\tlet sum = 1\n\tfor (const item of items) {\n>>>>>>> REPLACE',
    result: FUNCTION.replace('sum = 0', 'sum = 1')
  },
  encoding: {
    title: 'a file whose encoding is not known',
    says: 'the file has bytes there that are not UTF-8 (shown as U+FFFD), which old_text cannot match',
    file: 'title = "Café au lait"\nport = \x81\n',
    encoding: 'latin1',
    old_text: 'title = "Café au lait"',
    new_text: 'title = "Tea"',
    result: null
  },
  case: {
    title: 'letter case',
    says: 'letter case differs',
    file: 'SELECT name, price FROM products WHERE price > 10;\n',
    old_text: 'select name, price from products where price > 10;',
    new_text: 'select name, price from products where price > 20;',
    wanted: swap('10', '20'),
    result: 'SELECT name, price FROM products WHERE price > 20;\n'
  },
  punctuation: {
    title: 'punctuation',
    says: 'the file has ";" where old_text has nothing',
    file: 'const list = [one, two, three];\nconst next = list.length;\n',
    old_text: 'const list = [one, two, three]\nconst next = list.length',
    new_text: 'const list = [one, two]\nconst next = list.length',
    wanted: swap(', three', ''),
    result: 'const list = [one, two];\nconst next = list.length;\n'
  },
  typo: {
    title: 'a typo',
    says: 'the file has "recieveMessages", old_text "receiveMessages"',
    file: 'function recieveMessages (queue) {\n  return queue.drain()\n}\n',
    old_text: 'function receiveMessages (queue) {\n  return queue.drain()',
    new_text: 'function receiveMessages (queue) {\n  return queue.take()',
    wanted: swap('drain', 'take'),
    result: 'function recieveMessages (queue) {\n  return queue.take()\n}\n'
  },
  word: {
    title: 'a different word or number',
    says: 'the file has "30", old_text "60"',
    file: 'retries: 3\ntimeout: 30 seconds\nhost: localhost\n',
    old_text: 'timeout: 60 seconds\nhost: localhost',
    new_text: 'timeout: 60 seconds\nhost: "::"',
    wanted: swap('localhost', '"::"'),
    result: 'retries: 3\ntimeout: 30 seconds\nhost: "::"\n'
  },
  renamed: {
    title: 'a different name',
    says: 'the file has the name "settings", old_text "config"',
    file: SETTINGS,
    old_text: CONFIG.trimEnd(),
    new_text: CONFIG.trimEnd().replace('localhost', '::'),
    wanted: swap('localhost', '::'),
    result: SETTINGS.replace('localhost', '::')
  },
  lines_dropped: {
    title: 'lines left out',
    says: 'old_text leaves out "app.use(helmet())"',
    file: 'const app = express()\napp.use(helmet())\napp.use(json())\napp.listen(8080)\n',
    old_text: 'const app = express()\napp.use(json())\napp.listen(8080)',
    new_text: 'const app = express()\napp.use(json())\napp.listen(9090)',
    wanted: swap('8080', '9090'),
    result: 'const app = express()\napp.use(helmet())\napp.use(json())\napp.listen(9090)\n'
  },
  lines_added: {
    title: 'lines that are not there',
    says: 'old_text has "app.use(helmet())", which is not in the file',
    file: 'const app = express()\napp.use(compression())\napp.use(json())\napp.listen(8080)\n',
    old_text: 'const app = express()\napp.use(compression())\napp.use(helmet())\napp.use(json())\napp.listen(8080)',
    new_text: 'const app = express()\napp.use(compression())\napp.use(helmet())\napp.use(json())\napp.listen(9090)',
    wanted: swap('8080', '9090'),
    result: 'const app = express()\napp.use(compression())\napp.use(json())\napp.listen(9090)\n'
  },
  comment: {
    title: 'a comment added or left out',
    says: 'old_text leaves out the comment "// Both are in pixels."',
    file: 'function area (width, height) {\n  // Both are in pixels.\n  return width * height\n}\n',
    old_text: 'function area (width, height) {\n  return width * height\n}',
    new_text: 'function area (width, height) {\n  return width * height / 2\n}',
    wanted: swap('* height', '* height / 2'),
    result: 'function area (width, height) {\n  // Both are in pixels.\n  return width * height / 2\n}\n'
  },
  stale: {
    title: 'the file has changed',
    says: 'the file has changed, or was remembered wrongly',
    file: RETRIES,
    old_text: REMEMBERED.trimEnd(),
    new_text: REMEMBERED.trimEnd().replace('5000', '9000'),
    wanted: swap('5000', '9000'),
    result: RETRIES.replace('5000', '9000')
  },
  joined_or_split: {
    title: 'lines joined or split',
    says: 'the line breaks are in different places',
    file: 'const point = {\n  x: 1,\n  y: 2,\n  z: 3\n}\ndraw(point)\n',
    old_text: 'const point = { x: 1, y: 2, z: 3 }',
    new_text: 'const point = { x: 1, y: 2, z: 4 }',
    wanted: swap('z: 3', 'z: 4'),
    result: 'const point = {\n  x: 1,\n  y: 2,\n  z: 4\n}\ndraw(point)\n'
  },
  long_line_part: {
    title: 'part of a very long line',
    says: 'in that part of a very long line, the file has "+right" where old_text has "-margin"',
    file: MINIFIED,
    old_text: 'var width=compute(left-margin,"px");return width',
    new_text: 'var width=compute(left-margin,"em");return width',
    wanted: swap('"px"', '"em"'),
    result: MINIFIED.replace('"px"', '"em"')
  },
  near_duplicate: {
    title: 'several equally likely places',
    says: 'several places are equally likely: line 2 or line 6',
    file: PYTHON_TABS,
    old_text: '    with open(path) as f:\n',
    new_text: '    with open(path, "rb") as f:\n',
    result: PYTHON_TABS.replace('open(path)', 'open(path, "rb")')
  },
  never_there: {
    title: 'text that was never there',
    says: 'nothing in its 6 lines is similar enough, and it does not contain "async", "function" or "fetchInvoices"',
    file: PYTHON,
    old_text: 'async function fetchInvoices(customerId) {',
    new_text: 'async function fetchInvoices(customer) {',
    result: null
  }
}
export const MISSES = Object.entries(BY_CAUSE).map(([cause, miss]): Miss => ({ cause: cause as CauseType, ...miss }))
