// What a model is given: the text of each answer, which answers are text, and what holds of all of them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BY_TOOL } from '../../../src/http/answers/call-names.ts'
import { toProblem, type Context } from '../../../src/http/answers/problem.ts'
import type { Failure } from '../../../src/http/request-failure.ts'
import { startServer } from '../test-server.ts'
import { EXAMPLES, FAILURES } from './all-failures.ts'

const APP = `const port  = 9090
const host = process.env.HOST

if (host) {
  listen(port, host)
} else {
  listen(port)
}
`
const WIDE = `${'x'.repeat(3000)} needle ${'y'.repeat(900)}\n`
const USERS = 'def load_users(path):\n    with open(path) as f:\n        return json.load(f)'
const ORDERS = 'def load_orders(db, since):\n    rows = db.query(since)\n    keep(rows, since)\n    return rows'
const LONG = Array.from({ length: 60 }, (_, i) => `line ${i + 1} of the ${'abcdefghij'[i % 10]} part\n`).join('')
const FILES: Record<string, string | Buffer> = {
  'load.py': `${USERS}\n\n\n${ORDERS}\n`,
  'app.js': APP,
  'guide.md': '# Guide\n\n## Setup\n\ntext\n\n```sh\nls\n```\n\n## Setup\n\nmore\n',
  'cart.js': 'class Cart {\n  add (item) {\n    this.items.push(item)\n  }\n}\n',
  'broken.js': 'function a () {}\nfunction (\n',
  'long.txt': LONG,
  'empty.txt': '',
  'crlf.txt': '\ufeffone\r\n\ttwo',
  'tabs.py':
    'def read(path):\n\twith open(path) as f:\n\t\treturn f.read()\n\n' +
    'def first(path):\n\twith open(path) as f:\n\t\treturn 1\n',
  'icons.json': ['alpha', 'bravo', 'carol', 'delta', 'early', 'frank']
    .map(name => `  "${name}/append-icon": {\n    "type": "string",\n    "x": 1\n  },\n`)
    .join(''),
  'data.bin': Buffer.from([0, 1, 2]),
  'latin.txt': Buffer.from('caf\x81\n', 'latin1'),
  'wide.txt': WIDE
}
const files = { ...FILES, folder: { 'a.txt': 'a', sub: {} } }
const STALE = '0123456789abcdef'

/** An edit of app.js for a line that is elsewhere now, and what is said of it beside another one. */
const MOVED = { start_line: 2, end_line: 2, new_text: 'x', expected_text: 'if (host) {' }
const IT_MOVED =
  'No edit was made, because edit 1 of 2 failed: expected_text does not match line 2 of app.js; it is now at line 4. ' +
  '[EXPECTED_TEXT_MISMATCH]'

/** The first seven lines of app.js, as a text shows them. */
const FIRST_OF_APP = [
  '1\tconst port  = 9090',
  '2\tconst host = process.env.HOST',
  '3\t',
  '4\tif (host) {',
  '5\t  listen(port, host)',
  '6\t} else {',
  '7\t  listen(port)'
]

/** The lines of long.txt around these, as a text shows them, each with its first word. */
const shownOfLong = (lines: readonly number[], word: (line: number) => string): string[] =>
  lines.flatMap((line, i) => {
    const around = [line - 1, line, line + 1].filter(number => number >= 1 && number <= 60)
    const each = around.map(number => `${number}\t${word(number)} ${number} of the ${'jabcdefghi'[number % 10]} part`)
    return i === 0 ? each : ['…', ...each]
  })

/** Calls, each on the files as they are above, and their answers, with # for a hash, @ for an id. */
const ANSWERS: [tool: string, args: Record<string, unknown>, lines: string[]][] = [
  [
    'inspect_file',
    { path: 'app.js', start_line: 1, end_line: 3 },
    [
      'app.js: 8 lines, 109 bytes, ascii, indented with 2 spaces, javascript. Shown: lines 1 to 3. file_hash: #',
      '1\tconst port  = 9090',
      '2\tconst host = process.env.HOST',
      '3\t'
    ]
  ],
  [
    'inspect_file',
    { path: 'app.js', start_line: 4, end_line: 4, numbered: false },
    [
      'app.js: 8 lines, 109 bytes, ascii, indented with 2 spaces, javascript. Shown: line 4. file_hash: #',
      'if (host) {'
    ]
  ],
  [
    'inspect_file',
    { path: 'app.js', start_line: 1, end_line: 2, numbered: true },
    [
      'app.js: 8 lines, 109 bytes, ascii, indented with 2 spaces, javascript. Shown: lines 1 to 2. file_hash: #',
      '1\tconst port  = 9090',
      '2\tconst host = process.env.HOST'
    ]
  ],
  [
    'inspect_file',
    { path: 'crlf.txt', start_line: 1 },
    [
      'crlf.txt: 2 lines, 12 bytes, utf-8, CRLF, byte-order mark, no line break at the end, indented with tabs, text. file_hash: #',
      '1\tone',
      '2\t\ttwo'
    ]
  ],
  [
    'inspect_file',
    { path: 'empty.txt', start_line: 1, structure: true },
    [
      'empty.txt is a text file, so its structure is not supported. [UNSUPPORTED_TARGET] Supported languages are ' +
        'bash, c, cpp, csharp, css, go, java, javascript, jsx, markdown, php, python, ruby, rust, shell, tsx and ' +
        'typescript. Leave structure out to read the file, or send search to find text in it.',
      'file_hash: #'
    ]
  ],
  [
    'inspect_file',
    { path: 'data.bin' },
    ["data.bin is a binary file (binary, 3 bytes): it has no lines and can't be edited. file_hash: #"]
  ],
  [
    'inspect_file',
    { path: 'latin.txt', start_line: 1 },
    ['latin.txt: 1 line, 5 bytes, unknown-8bit, text. Bytes that are not UTF-8 are shown as �. file_hash: #', '1\tcaf�']
  ],
  [
    'inspect_file',
    { path: 'guide.md', structure: true },
    [
      'guide.md: 13 lines, 54 bytes, ascii, markdown. file_hash: #',
      '1-13\t# Guide',
      '3-10\t## Setup',
      '7-9\tcode block sh',
      '11-13\t## Setup'
    ]
  ],
  [
    'inspect_file',
    { path: 'broken.js', structure: true },
    [
      'broken.js: 2 lines, 28 bytes, ascii, javascript. file_hash: #',
      '1-1\tfunction a',
      'There are syntax errors (line 2).'
    ]
  ],
  [
    'inspect_file',
    { path: 'app.js', search: 'listen' },
    [
      'app.js: 8 lines, 109 bytes, ascii, indented with 2 spaces, javascript. file_hash: #',
      '"listen" was found 2 times:',
      '5\t  listen(port, host)',
      '7\t  listen(port)'
    ]
  ],
  [
    'inspect_file',
    { path: 'app.js', search: 'nowhere' },
    ['app.js: 8 lines, 109 bytes, ascii, indented with 2 spaces, javascript. file_hash: #', '"nowhere" was not found.']
  ],
  ['inspect_file', { path: 'folder' }, ['folder is a directory with 2 entries.', 'a.txt\t1 byte', 'sub/']],
  [
    'edit_file',
    { path: 'app.js', old_text: 'if (host) {', new_text: 'if (host !== undefined) {' },
    [
      'Successfully replaced 1 occurrence in app.js (line 4). file_hash: # edit_id: @',
      '3\t',
      '4\tif (host !== undefined) {',
      '5\t  listen(port, host)'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'if (host) {', new_text: 'if (host) {' },
    ['The file already has exactly this content; nothing was written. file_hash: #']
  ],
  [
    'edit_file',
    { path: 'long.txt', old_string: 'line 30 of', new_text: '1\n2\n3\n4\n5\n6\n7\n8\nline 30 of', show_diff: false },
    [
      'Successfully replaced 1 occurrence in long.txt (line 30). file_hash: # edit_id: @',
      '29\tline 29 of the i part',
      '30\t1',
      '31\t2',
      '32\t3',
      '…',
      '35\t6',
      '36\t7',
      '37\t8',
      '38\tline 30 of the j part',
      'Warning: old_string was read as old_text.'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: '\n\nif', new_text: '\nif', show_diff: true, max_diff_lines: 3 },
    [
      'Successfully replaced 1 occurrence in app.js (line 3). file_hash: # edit_id: @',
      '--- a/app.js',
      '+++ b/app.js',
      '… 7 more lines of this diff left out: raise max_diff_lines to see them',
      'The diff is cut here.'
    ]
  ],
  [
    'edit_file',
    {
      path: 'long.txt',
      old_text: LONG,
      new_text: LONG.replaceAll(/line (\d*[02468]) /g, 'row $1 '),
      show_diff: false
    },
    [
      'Successfully replaced 1 occurrence in long.txt, from line 2 on. file_hash: # edit_id: @',
      ...shownOfLong([2, 16, 32, 46, 60], line => (line % 2 === 0 ? 'row' : 'line')),
      '25 more places not shown.'
    ]
  ],
  [
    'edit_file',
    { path: 'long.txt', old_text: 'line', new_text: 'row', replace_all: true },
    [
      'Successfully replaced 60 occurrences in long.txt, the first at line 1. file_hash: # edit_id: @',
      ...shownOfLong([1, 16, 31, 45, 60], () => 'row'),
      '47 more places not shown.'
    ]
  ],
  [
    'edit_file',
    { path: 'long.txt', old_text: 'of the a', new_text: 'of an a', occurrence: 'first' },
    [
      'Successfully replaced 1 occurrence in long.txt (line 1). file_hash: # edit_id: @',
      '1\tline 1 of an a part',
      '2\tline 2 of the b part',
      'old_text also appears at lines 11, 21, 31, 41 and 51, which were left unchanged.'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'append', code_block: { index: 1 }, new_text: 'pwd' },
    [
      'Inserted line 9 into guide.md, before what was line 9. guide.md now has 14 lines. Target: the "sh" code block. file_hash: # edit_id: @',
      '8\tls',
      '9\tpwd',
      '10\t```'
    ]
  ],
  ['create_file', { path: 'new.txt', content: 'x\n' }, ['Created new.txt (1 line, 2 bytes). file_hash: # edit_id: @']],
  [
    'create_file',
    { path: 'app.js', content: 'x\n' },
    [
      'app.js already exists. [ALREADY_EXISTS] Nothing was written. To change part of it, use edit_file. To ' +
        'replace all of it, read it first, then send the same request with "overwrite": true, "expected_hash": "#".'
    ]
  ],
  [
    'preview_edit',
    { operation: 'edit', path: 'app.js', old_text: '9090', new_text: '8080' },
    [
      'Would replace 1 occurrence in app.js (line 1); nothing was written. file_hash: #',
      '--- a/app.js',
      '+++ b/app.js',
      '@@ -1,4 +1,4 @@',
      '-const port  = 9090',
      '+const port  = 8080',
      ' const host = process.env.HOST',
      ' ',
      ' if (host) {'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'const port = 9090', new_text: 'const port = 8080' },
    [
      'old_text was not found in app.js; most likely line 1 was meant: the spacing differs (the file has "port  ' +
        '=", old_text "port ="). [NO_MATCH]',
      'If so, send:',
      '{"path":"app.js","old_text":"const port  = 9090","new_text":"const port  = 8080"}',
      'file_hash: #'
    ]
  ],
  [
    'preview_edit',
    { operation: 'edit', path: 'app.js', old_text: 'const port = 9090', new_text: 'const port = 8080' },
    [
      'old_text was not found in app.js; most likely line 1 was meant: the spacing differs (the file has "port  ' +
        '=", old_text "port ="). [NO_MATCH]',
      'If so, send:',
      '{"operation":"edit","path":"app.js","old_text":"const port  = 9090","new_text":"const port  = 8080"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'const hostname = process.env.HOST', new_text: 'const address = process.env.HOST' },
    [
      'old_text was not found in app.js; most likely line 2 was meant: the file has the name "host", old_text "hostname". [NO_MATCH]',
      'If so, send this with a new_text of your own (your change is at "hostname", where the file has "host"):',
      '{"path":"app.js","old_text":"const host = process.env.HOST"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: '9090', new_text: '1' },
        { old_text: 'const  host = process.env.HOST', new_text: 'const host = env.HOST' }
      ]
    },
    [
      'No edit was made, because edit 2 of 2 failed: old_text was not found in app.js; most likely line 2 was ' +
        'meant: the spacing differs (the file has "const host", old_text "const  host"). [NO_MATCH]',
      'If so, send:',
      '{"path":"app.js","edits":[{"old_text":"9090","new_text":"1"},{"old_text":"const host = process.env.HOST",' +
        '"new_text":"const host = env.HOST"}]}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: '9090', new_text: '1' },
        { old_text: 'const port  = 9090', new_text: 'x' }
      ]
    },
    [
      'No edit was made, because edit 2 of 2 failed: old_text was not found in app.js: edit 1 of this request changes it first. [NO_MATCH]',
      'To edit what that edit leaves, send this with a new_text of your own (your change is at "const port  = ' +
        '9090", where the file has "const port  = 1"):',
      '{"path":"app.js","edits":[{"old_text":"9090","new_text":"1"},{"old_text":"const port  = 1"}]}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'const port = 9090', new_text: 'const port = 1' },
        { old_text: 'const  host = process.env.HOST', new_text: 'const  host = env.HOST' },
        { old_text: 'if (host) {\n    listen(port, host)\n', new_text: 'if (host) {\n    listen(port)\n' }
      ]
    },
    [
      'No edit was made, because edit 1 of 3 failed: old_text was not found in app.js; most likely line 1 was ' +
        'meant: the spacing differs (the file has "port  =", old_text "port ="). [NO_MATCH]',
      'Edit 2 fails too; most likely line 2 was meant: the spacing differs (the file has "const host", old_text "const  host").',
      'Edit 3 fails too; most likely lines 4 to 5 were meant: the file indents 1 line by 2 fewer spaces than old_text.',
      'If so, send:',
      '{"path":"app.js","edits":[{"old_text":"const port  = 9090","new_text":"const port  = 1"},' +
        '{"old_text":"const host = process.env.HOST","new_text":"const host = env.HOST"},' +
        '{"old_text":"if (host) {\\n  listen(port, host)\\n","new_text":"if (host) {\\n  listen(port)\\n"}]}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'tabs.py',
      edits: [
        { old_text: 'def read(path):\n  with', new_text: 'def read(path):\n  # Closed.\n  with' },
        { old_text: 'def first(', new_text: 'def first_of(' },
        { old_text: '  with open(path) as f:\n    return 1', new_text: '  with open(path) as f:\n    return 2' },
        { old_text: 'def first(path):\n', new_text: 'def first(path, size):\n' }
      ]
    },
    [
      'No edit was made, because edit 1 of 4 failed: old_text was not found in tabs.py; most likely lines 1 to 2 were meant: ' +
        'the file indents with 1 tab, but old_text indents with 2 spaces. [NO_MATCH]',
      'Edit 3 fails too, for the same reason; most likely lines 6 to 7 were meant.',
      'Edit 4 fails too: edit 2 of this request changes it first.',
      'If so, send:',
      '{"path":"tabs.py","edits":[{"old_text":"def read(path):\\n\\twith","new_text":"def read(path):\\n\\t# Closed.\\n\\twith"},' +
        '{"old_text":"def first(","new_text":"def first_of("},' +
        '{"old_text":"\\twith open(path) as f:\\n\\t\\treturn 1","new_text":"\\twith open(path) as f:\\n\\t\\treturn 2"},' +
        '{"old_text":"def first_of(path):\\n","new_text":"def first_of(path, size):\\n"}]}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'const port = 9090', new_text: 'const port = 1' },
        { old_text: 'const host = process.env.NAME', new_text: 'const host = process.env.URL' }
      ]
    },
    [
      'No edit was made, because edit 1 of 2 failed: old_text was not found in app.js; most likely line 1 was ' +
        'meant: the spacing differs (the file has "port  =", old_text "port ="). [NO_MATCH]',
      'Edit 2 fails too; most likely line 2 was meant: the file has the name "HOST", old_text "NAME".',
      'If so, send this with a new_text of your own for edit 2 (your change is at "NAME", where the file has "HOST"):',
      '{"path":"app.js","edits":[{"old_text":"const port  = 9090","new_text":"const port  = 1"},' +
        '{"old_text":"const host = process.env.HOST"}]}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'const port = 9090', new_text: 'const port = 1' },
        { old_text: 'const  host = process.env.HOST', new_text: 'const  host = env.HOST' },
        { old_text: 'listen(', new_text: 'open(' }
      ]
    },
    [
      'No edit was made, because edit 1 of 3 failed: old_text was not found in app.js; most likely line 1 was ' +
        'meant: the spacing differs (the file has "port  =", old_text "port ="). [NO_MATCH]',
      'Edit 2 fails too; most likely line 2 was meant: the spacing differs (the file has "const host", old_text "const  host").',
      'Edit 3 fails too: its old_text appears 2 times, at lines 5 and 7, but must match one place.',
      'If so, send this with edit 3 corrected too:',
      '{"path":"app.js","edits":[{"old_text":"const port  = 9090","new_text":"const port  = 1"},' +
        '{"old_text":"const host = process.env.HOST","new_text":"const host = env.HOST"},' +
        '{"old_text":"listen(","new_text":"open("}]}',
      'file_hash: #'
    ]
  ],
  // Of a call that is too long to be written out, the edits that are corrected.
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'const port = 9090', new_text: 'const port = 1' },
        { old_text: 'listen(', new_text: `open( /* ${'x'.repeat(6000)} */` }
      ]
    },
    [
      'No edit was made, because edit 1 of 2 failed: old_text was not found in app.js; most likely line 1 was ' +
        'meant: the spacing differs (the file has "port  =", old_text "port ="). [NO_MATCH]',
      'Edit 2 fails too: its old_text appears 2 times, at lines 5 and 7, but must match one place.',
      'If so, send the same edits with this as edit 1, with edit 2 corrected too:',
      '{"old_text":"const port  = 9090","new_text":"const port  = 1"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'const port = 9090', new_text: 'const port = 1' },
        { old_text: '} else {', new_text: `} else { // ${'x'.repeat(6000)}` },
        { old_text: 'const  host = process.env.HOST', new_text: 'const  host = env.HOST' }
      ]
    },
    [
      'No edit was made, because edit 1 of 3 failed: old_text was not found in app.js; most likely line 1 was ' +
        'meant: the spacing differs (the file has "port  =", old_text "port ="). [NO_MATCH]',
      'Edit 3 fails too; most likely line 2 was meant: the spacing differs (the file has "const host", old_text "const  host").',
      'If so, send the same edits with these as edits 1 and 3:',
      '[{"old_text":"const port  = 9090","new_text":"const port  = 1"},' +
        '{"old_text":"const host = process.env.HOST","new_text":"const host = env.HOST"}]',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'empty.txt', old_text: 'a', new_text: 'b' },
    [
      'old_text was not found in empty.txt: the file is empty. [NO_MATCH]',
      'To put the text into it, send:',
      '{"name":"edit_lines","arguments":{"path":"empty.txt","start_line":1,"end_line":0,"new_text":"b"}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'empty.txt', edits: [{ old_text: 'a', new_text: 'b' }] },
    [
      'old_text was not found in empty.txt: the file is empty. [NO_MATCH]',
      'To put the text into it, send:',
      '{"name":"edit_lines","arguments":{"path":"empty.txt","start_line":1,"end_line":0,"new_text":"b"}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'async function fetchInvoices(customerId)', new_text: 'x' },
    [
      'old_text was not found in app.js: nothing in its 8 lines is similar enough, and it does not contain "async", ' +
        '"function" or "fetchInvoices". [NO_MATCH]',
      ...FIRST_OF_APP,
      '8\t}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'long.txt', old_text: 'async function fetchInvoices(customerId)', new_text: 'x' },
    [
      'old_text was not found in long.txt: nothing in its 60 lines is similar enough, and it does not contain "async", ' +
        '"function" or "fetchInvoices". [NO_MATCH]',
      'Check the path, or read the file:',
      '{"name":"inspect_file","arguments":{"path":"long.txt"}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'const port = 8080 // the one\nconst other = 1', new_text: 'const port  = 9090' },
    [
      'old_text was not found in app.js, but new_text is there already (line 1): if this edit was made before, leave it out. [NO_MATCH]',
      '1\tconst port  = 9090',
      '2\tconst host = process.env.HOST',
      '3\t',
      '4\tif (host) {',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'tabs.py', old_text: '    with open(path) as f:\n', new_text: '    with open(path, "rb") as f:\n' },
    [
      'old_text was not found in tabs.py; several places are equally likely: line 2 or line 6. [NO_MATCH]',
      'For line 2, below "def read(path):", send:',
      '{"path":"tabs.py","old_text":"def read(path):\\n\\twith open(path) as f:\\n","new_text":"def ' +
        'read(path):\\n\\twith open(path, \\"rb\\") as f:\\n"}',
      'For line 6, below "def first(path):", send:',
      '{"path":"tabs.py","old_text":"def first(path):\\n\\twith open(path) as f:\\n","new_text":"def ' +
        'first(path):\\n\\twith open(path, \\"rb\\") as f:\\n"}',
      'If you are not sure which, read around them first:',
      '{"name":"inspect_file","arguments":{"path":"tabs.py","start_line":1,"end_line":7}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'load.py', old_text: USERS.replace('users', 'orders'), new_text: 'def load_orders(path):\n    return 1' },
    [
      'old_text was not found in load.py; the file defines "load_orders" differently, and what resembles old_text has ' +
        'another name: lines 6 to 9 or lines 1 to 3. [NO_MATCH]',
      'For lines 6 to 9, send this with a new_text of your own:',
      JSON.stringify({ path: 'load.py', old_text: ORDERS }),
      'For lines 1 to 3, send:',
      JSON.stringify({ path: 'load.py', old_text: USERS, new_text: 'def load_users(path):\n    return 1' }),
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'icons.json',
      old_text: '  "append-icon": {\n    "type": "string",\n    (digest ||= Handler::SHA256.new) << part',
      new_text: 'x'
    },
    [
      'old_text was not found in icons.json; several places are equally likely: lines 5 to 6 or lines 9 to 10. [NO_MATCH]',
      'For lines 5 to 6 or lines 9 to 10, read around there and make old_text longer, until it fits only one place:',
      '{"name":"inspect_file","arguments":{"path":"icons.json","start_line":1,"end_line":15}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      old_text: 'if (address) {\n  listen(portal, address)\n  log()\n} else {\n  listen(portal)',
      new_text: 'x'
    },
    [
      'old_text was not found in app.js; perhaps lines 4 to 7 were meant: the file has changed, or was ' +
        'remembered wrongly: it has "host" where old_text has "address" (and 3 more lines). [NO_MATCH]',
      'If so, send this with a new_text of your own:',
      '{"path":"app.js","old_text":"if (host) {\\n  listen(port, host)\\n} else {\\n  listen(port)"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'listen(port', new_text: 'server.listen(port' },
    [
      'old_text appears 2 times in app.js, at lines 5 and 7, but must match one place. [WRONG_COUNT]',
      'For line 5, send:',
      '{"path":"app.js","old_text":"  listen(port, host)","new_text":"  server.listen(port, host)"}',
      'For line 7, send:',
      '{"path":"app.js","old_text":"  listen(port)","new_text":"  server.listen(port)"}',
      'To replace all 2, send "occurrences": 2.',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'long.txt', old_text: 'of the a', new_text: 'of an a' },
    [
      'old_text appears 6 times in long.txt, at lines 1, 11, 21, 31, 41 and 51, but must match one place. [WRONG_COUNT]',
      'For line 1, send:',
      '{"path":"long.txt","old_text":"line 1 of the a part","new_text":"line 1 of an a part"}',
      'For line 11, send:',
      '{"path":"long.txt","old_text":"line 11 of the a part","new_text":"line 11 of an a part"}',
      'For line 21, send:',
      '{"path":"long.txt","old_text":"line 21 of the a part","new_text":"line 21 of an a part"}',
      'For one of the others, send "occurrence": a number from 1 to 6. To replace all 6, send "occurrences": 6.',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'listen(port', new_text: 'server.listen(port', occurrences: 3 },
    [
      'old_text appears 2 times in app.js, at lines 5 and 7, but 3 places were expected. [WRONG_COUNT]',
      'To replace only these, send:',
      '{"path":"app.js","old_text":"listen(port","new_text":"server.listen(port","occurrences":2}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: '  listen(port, host)', new_text: 'x', occurrences: 2 },
    [
      'old_text appears 1 time in app.js, at line 5, but 2 places were expected. [WRONG_COUNT]',
      'To replace only these, send:',
      '{"path":"app.js","old_text":"  listen(port, host)","new_text":"x","occurrences":1}',
      'Nearly the same, and not replaced by this:',
      '7\t  listen(port)',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'listen(port', new_text: 'server.listen(port', occurrence: 5 },
    [
      'occurrence is 5, but old_text appears 2 times in app.js, at lines 5 and 7. [OCCURRENCE_OUT_OF_RANGE]',
      'For line 5, send:',
      '{"path":"app.js","old_text":"  listen(port, host)","new_text":"  server.listen(port, host)"}',
      'For line 7, send:',
      '{"path":"app.js","old_text":"  listen(port)","new_text":"  server.listen(port)"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    {
      path: 'app.js',
      edits: [
        { old_text: 'HOST', new_text: 'host' },
        { old_text: 'if (host', new_text: 'x' },
        { old_text: 'host', new_text: 'x' }
      ]
    },
    [
      'No edit was made, because edit 3 of 3 failed: old_text appears 3 times in app.js, at lines 2 and 5, but ' +
        'must match one place. [WRONG_COUNT]',
      'For line 2 (place 1 of 2), send:',
      '{"path":"app.js","edits":[{"old_text":"HOST","new_text":"host"},{"old_text":"if (host","new_text":"x"},' +
        '{"old_text":"const host = process.env.host","new_text":"const x = process.env.host"}]}',
      'For line 2 (place 2 of 2), send:',
      '{"path":"app.js","edits":[{"old_text":"HOST","new_text":"host"},{"old_text":"if (host","new_text":"x"},' +
        '{"old_text":"const host = process.env.host","new_text":"const host = process.env.x"}]}',
      'For line 5, send:',
      '{"path":"app.js","edits":[{"old_text":"HOST","new_text":"host"},{"old_text":"if (host","new_text":"x"},' +
        '{"old_text":"  listen(port, host)","new_text":"  listen(port, x)"}]}',
      'To replace all 3, send "occurrences": 3.',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 2, end_line: 2, new_text: 'x', expected_text: 'if (host) {' },
    [
      'expected_text does not match line 2 of app.js; it is now at line 4. [EXPECTED_TEXT_MISMATCH]',
      'If you mean line 4, send:',
      '{"path":"app.js","start_line":4,"end_line":4,"expected_text":"if (host) {","new_text":"x"}',
      '2\tconst host = process.env.HOST',
      'file_hash: #'
    ]
  ],
  // The lines of an edit that says nothing of them may have moved too.
  [
    'edit_lines',
    {
      path: 'app.js',
      edits: [MOVED, { start_line: 6, end_line: 6, new_text: 'y' }]
    },
    [
      IT_MOVED,
      'The lines of the other edits may have moved too: check their numbers first:',
      '{"name":"inspect_file","arguments":{"path":"app.js"}}',
      '2\tconst host = process.env.HOST',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    {
      path: 'app.js',
      edits: [MOVED, { start_line: 6, end_line: 6, new_text: 'y', expected_text: '} else {' }]
    },
    [
      IT_MOVED,
      'If you mean line 4, send:',
      '{"path":"app.js","edits":[{"start_line":4,"end_line":4,"expected_text":"if (host) {","new_text":"x"},' +
        '{"start_line":6,"end_line":6,"new_text":"y","expected_text":"} else {"}]}',
      '2\tconst host = process.env.HOST',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 2, end_line: 2, new_text: 'x', expected_text: 'const  host = process.env.HOST' },
    [
      'expected_text does not match line 2 of app.js: the spacing differs (the file has "const host", ' +
        'expected_text "const  host"). [EXPECTED_TEXT_MISMATCH]',
      'If you mean line 2, send:',
      '{"path":"app.js","start_line":2,"end_line":2,"expected_text":"const host = process.env.HOST","new_text":"x"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 2, end_line: 2, new_text: 'x', expected_text: 'qqq zzz' },
    [
      'expected_text does not match line 2 of app.js. [EXPECTED_TEXT_MISMATCH]',
      '1\tconst port  = 9090',
      '2\tconst host = process.env.HOST',
      '3\t',
      '4\tif (host) {',
      '5\t  listen(port, host)',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 2, end_line: 1, new_text: 'x', expected_text: 'qqq zzz' },
    ['expected_text must be empty where lines are inserted. [EXPECTED_TEXT_MISMATCH]', 'file_hash: #']
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 22, end_line: 22, new_text: 'x' },
    [
      'app.js has no line 22: it has 8 lines. [LINE_OUT_OF_RANGE] To append, send start_line 9 and end_line 8. Nothing was written.',
      'file_hash: #'
    ]
  ],
  // Lines that were named by their numbers alone are shown as they were: they may be others than were meant.
  [
    'edit_lines',
    { path: 'app.js', start_line: 5, end_line: 5, new_text: '' },
    [
      'Deleted line 5 of app.js. app.js now has 7 lines. file_hash: # edit_id: @',
      '4\tif (host) {',
      '5\t} else {',
      'What was removed:',
      '5\t  listen(port, host)'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 5, end_line: 5, new_text: '', dry_run: true },
    [
      'Would delete line 5 of app.js. app.js would then have 7 lines; nothing was written. file_hash: #',
      '4\tif (host) {',
      '5\t} else {',
      'What would be removed:',
      '5\t  listen(port, host)'
    ]
  ],
  // Of replaced lines those that are others now.
  [
    'edit_lines',
    {
      path: 'app.js',
      syntax: 'ignore',
      edits: [
        { start_line: 1, end_line: 2, new_text: 'const port = 1\nconst host = process.env.HOST' },
        { start_line: 4, end_line: 3, new_text: '// there' },
        { start_line: 7, end_line: 8, new_text: '', expected_text: '  listen(port)\n}\n' }
      ]
    },
    [
      'Made 3 changes in app.js: replaced line 1 (now line 1); inserted line 4; deleted lines 7 to 8. ' +
        'app.js now has 7 lines. file_hash: # edit_id: @',
      '1\tconst port = 1',
      '2\tconst host = process.env.HOST',
      '3\t',
      '4\t// there',
      '5\tif (host) {',
      '…',
      '7\t} else {',
      'What was removed:',
      '1\tconst port  = 9090',
      '…',
      '7\t  listen(port)',
      '8\t}'
    ]
  ],
  [
    'edit_lines',
    { path: 'long.txt', start_line: 11, end_line: 50, new_text: '' },
    [
      'Deleted lines 11 to 50 of long.txt. long.txt now has 20 lines. file_hash: # edit_id: @',
      '10\tline 10 of the j part',
      '11\tline 51 of the a part',
      'What was removed (6 of 40 lines):',
      '11\tline 11 of the a part',
      '12\tline 12 of the b part',
      '13\tline 13 of the c part',
      '…',
      '48\tline 48 of the h part',
      '49\tline 49 of the i part',
      '50\tline 50 of the j part'
    ]
  ],
  // Of many places some are shown, spread over the file.
  [
    'edit_file',
    { path: 'long.txt', old_text: 'a part', new_text: 'A part', occurrences: 6 },
    [
      'Successfully replaced 6 occurrences in long.txt (lines 1, 11, 21, 31, 41 and 51). file_hash: # edit_id: @',
      ...[1, 11, 31, 41, 51].flatMap(line => [
        ...(line === 1 ? [] : ['…', `${line - 1}\tline ${line - 1} of the j part`]),
        `${line}\tline ${line} of the A part`,
        `${line + 1}\tline ${line + 1} of the b part`
      ]),
      '1 more place not shown.'
    ]
  ],
  [
    'edit_lines',
    {
      path: 'long.txt',
      edits: [2, 12, 22, 32, 42, 52].map(line => ({ start_line: line, end_line: line, new_text: 'x' }))
    },
    [
      `Made 6 changes in long.txt: ${[2, 12, 22, 32, 42].map(line => `replaced line ${line} (now line ${line})`).join('; ')}; ` +
        'and 1 more. long.txt now has 60 lines. file_hash: # edit_id: @',
      ...[2, 12, 32, 42, 52].flatMap(line => [
        ...(line === 2 ? [] : ['…']),
        `${line - 1}\tline ${line - 1} of the a part`,
        `${line}\tx`,
        `${line + 1}\tline ${line + 1} of the c part`
      ]),
      '1 more place not shown.',
      'What was removed (5 of 6 lines):',
      ...[2, 12, 32, 42, 52].flatMap(line => [...(line === 2 ? [] : ['…']), `${line}\tline ${line} of the b part`])
    ]
  ],
  // What was deleted by its name is shown too.
  [
    'edit_section',
    { path: 'cart.js', action: 'delete', symbol: 'Cart.add' },
    [
      'Deleted lines 2 to 4 of cart.js. cart.js now has 2 lines. Target: the method "Cart.add". file_hash: # edit_id: @',
      '1\tclass Cart {',
      '2\t}',
      'What was removed:',
      '2\t  add (item) {',
      '3\t    this.items.push(item)',
      '4\t  }'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 5, end_line: 5, new_text: '', expected_text: '  listen(port, host)' },
    ['Deleted line 5 of app.js. app.js now has 7 lines. file_hash: # edit_id: @', '4\tif (host) {', '5\t} else {']
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 5, end_line: 4, new_text: '  // there' },
    [
      'Inserted line 5 into app.js, before what was line 5. app.js now has 9 lines. file_hash: # edit_id: @',
      '4\tif (host) {',
      '5\t  // there',
      '6\t  listen(port, host)'
    ]
  ],
  [
    'preview_edit',
    { operation: 'edit_lines', path: 'crlf.txt', start_line: 1, end_line: 1, new_text: '1', show_diff: false },
    [
      'Would replace line 1 of crlf.txt; it would be line 1. crlf.txt would then have 2 lines; nothing was written. ' +
        'file_hash: #',
      '1\t1',
      '2\t\ttwo',
      'What would be removed:',
      '1\tone'
    ]
  ],
  [
    'batch_edit',
    { operations: [{ operation: 'edit_lines', path: 'tabs.py', start_line: 2, end_line: 3, new_text: '\tpass' }] },
    [
      '1 operation changed 1 file. batch_id: @',
      'Replaced lines 2 to 3 of tabs.py; they are now line 2. tabs.py now has 6 lines. file_hash: #',
      '1\tdef read(path):',
      '2\t\tpass',
      '3\t',
      'What was removed:',
      '2\t\twith open(path) as f:',
      '3\t\t\treturn f.read()'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'replace', heading: 'Setup', new_text: 'x' },
    [
      'The heading "Setup" matches 2 places in guide.md. [AMBIGUOUS_TARGET]',
      'Send at_line with a line of the one you mean, of these:',
      '3-10\t## Setup',
      '11-13\t## Setup',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'replace', heading: 'Setup', at_line: 2, new_text: 'x' },
    [
      'The heading "Setup" was not found at line 2 in guide.md; did you mean the section "Setup" at lines 3 to 10? [TARGET_NOT_FOUND]',
      'If so, send:',
      '{"path":"guide.md","action":"replace","heading":"Setup","at_line":3,"new_text":"x"}',
      '3-10\t## Setup',
      '11-13\t## Setup',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'delete', heading: 'Setup', at_line: 20 },
    [
      'The heading "Setup" was not found at line 20 in guide.md. [TARGET_NOT_FOUND]',
      'Send at_line with a line of the one you mean, of these:',
      '11-13\t## Setup',
      '3-10\t## Setup',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'delete', heading: 'Guide', at_line: 20 },
    [
      'The heading "Guide" was not found at line 20 in guide.md. [TARGET_NOT_FOUND]',
      'Send at_line with a line of the one you mean, of these:',
      '1-13\t# Guide',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'append', heading: 'Guide', at_line: 20, new_text: 'x' },
    [
      'The heading "Guide" was not found at line 20 in guide.md; did you mean the section "Guide" at lines 1 to 13? [TARGET_NOT_FOUND]',
      'If so, send:',
      '{"path":"guide.md","action":"append","heading":"Guide","at_line":1,"new_text":"x"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'replace', heading: 'Guid', new_text: 'x' },
    [
      'The heading "Guid" was not found in guide.md; did you mean "Guide"? [TARGET_NOT_FOUND]',
      'If so, send:',
      '{"path":"guide.md","action":"replace","heading":"Guide","new_text":"x"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'guide.md', action: 'replace', heading: 'Appendix and more', new_text: 'x' },
    [
      'The heading "Appendix and more" was not found in guide.md. [TARGET_NOT_FOUND]',
      'It has:',
      '1-13\t# Guide',
      '3-10\t## Setup',
      '7-9\tcode block sh',
      '11-13\t## Setup',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'cart.js', action: 'delete', symbol: 'Cart.Add' },
    [
      'The symbol "Cart.Add" was not found in cart.js; did you mean "Cart.add"? [TARGET_NOT_FOUND]',
      'It has:',
      '1-5\tclass Cart',
      '2-4\tmethod Cart.add',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'cart.js', action: 'append', symbol: 'Cart.Add', new_text: 'x' },
    [
      'The symbol "Cart.Add" was not found in cart.js; did you mean "Cart.add"? [TARGET_NOT_FOUND]',
      'If so, send:',
      '{"path":"cart.js","action":"append","symbol":"Cart.add","new_text":"x"}',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'cart.js', action: 'delete', symbol: 'Cart.ad' },
    [
      'The symbol "Cart.ad" was not found in cart.js; a name like it is "Cart.add". [TARGET_NOT_FOUND]',
      'It has:',
      '1-5\tclass Cart',
      '2-4\tmethod Cart.add',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'cart.js', action: 'delete', symbol: 'Cart.empty' },
    [
      'The symbol "Cart.empty" was not found in cart.js. [TARGET_NOT_FOUND]',
      'It has:',
      '1-5\tclass Cart',
      '2-4\tmethod Cart.add',
      'file_hash: #'
    ]
  ],
  [
    'edit_section',
    { path: 'long.txt', action: 'replace', symbol: 'Cart', new_text: 'x' },
    [
      'long.txt is a text file, so its structure is not supported. [UNSUPPORTED_TARGET] Supported languages are ' +
        'bash, c, cpp, csharp, css, go, java, javascript, jsx, markdown, php, python, ruby, rust, shell, tsx and ' +
        'typescript. Use edit_file. Nothing was written.',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'if (host) {', new_text: 'if (true) {', expected_hash: '0123456789abcdef' },
    [
      'app.js has changed since its hash was #; nothing was written, but your edit still fits at line 4. [STALE_FILE]',
      'It states the text that it replaces, so send it again without expected_hash.',
      ...FIRST_OF_APP,
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 4, end_line: 4, new_text: 'if (true) {', expected_hash: '0123456789abcdef' },
    [
      'app.js has changed since its hash was #; nothing was written, and line numbers may have moved: your edit would ' +
        'apply at line 4 now. [STALE_FILE]',
      'If these are the lines you mean, send it with this file_hash; if not, correct the numbers first.',
      ...FIRST_OF_APP,
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 4, end_line: 3, new_text: 'x', expected_hash: '0123456789abcdef' },
    [
      'app.js has changed since its hash was #; nothing was written, and line numbers may have moved: your edit would ' +
        'apply before line 4 now. [STALE_FILE]',
      'If these are the lines you mean, send it with this file_hash; if not, correct the numbers first.',
      ...FIRST_OF_APP,
      'file_hash: #'
    ]
  ],
  [
    'create_file',
    { path: 'app.js', content: 'x', overwrite: true, expected_hash: '0123456789abcdef' },
    [
      'app.js has changed since its hash was #; nothing was written. [STALE_FILE]',
      'Read it before you replace all of it:',
      '{"name":"inspect_file","arguments":{"path":"app.js"}}',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_text: 'if  (host) {', new_text: 'if  (true) {', expected_hash: '0123456789abcdef' },
    [
      'app.js has changed since its hash was #, and the edit does not fit it: old_text was not found in app.js; ' +
        'most likely line 4 was meant: the spacing differs (the file has "if (", old_text "if  ("). [STALE_FILE]',
      'If so, send:',
      '{"path":"app.js","expected_hash":"#","old_text":"if (host) {","new_text":"if (true) {"}'
    ]
  ],
  [
    'edit_lines',
    { path: 'app.js', start_line: 99, end_line: 99, new_text: 'x', expected_hash: '0123456789abcdef' },
    [
      'app.js has changed: its hash is #, not #. [STALE_FILE] Your edit would fail on the current file too: ' +
        'app.js has no line 99: it has 8 lines. To append, send start_line 9 and end_line 8. Nothing was written. ' +
        'Send the corrected edit with expected_hash "#".'
    ]
  ],
  [
    'edit_file',
    { path: 'app.ts', old_text: 'a', new_text: 'b' },
    [
      'app.ts was not found; did you mean app.js? [FILE_NOT_FOUND]',
      'If so, send:',
      '{"path":"app.js","old_text":"a","new_text":"b"}'
    ]
  ],
  [
    'edit_file',
    { path: 'latin.txt', old_text: '\ufffd', new_text: 'é' },
    [
      'old_text was not found in latin.txt: the file has bytes there that are not UTF-8 (shown as U+FFFD), which ' +
        'old_text cannot match; choose an old_text without them. [NO_MATCH]',
      '1\tcaf\ufffd',
      'file_hash: #'
    ]
  ],
  [
    'edit_lines',
    { path: 'latin.txt', start_line: 1, end_line: 1, expected_text: '\ufffd', new_text: 'coffee' },
    [
      'expected_text does not match line 1 of latin.txt: there are bytes that are not UTF-8 (shown as U+FFFD), which ' +
        'expected_text cannot match; leave it out. [EXPECTED_TEXT_MISMATCH]',
      'file_hash: #'
    ]
  ],
  [
    'edit_file',
    { path: 'qqqqqq', old_text: 'a', new_text: 'b' },
    [
      'qqqqqq was not found. [FILE_NOT_FOUND]',
      'This lists what is there:',
      '{"name":"inspect_file","arguments":{"path":"."}}'
    ]
  ],
  [
    'create_file',
    { path: 'gone/x', content: '', create_parents: false },
    [
      'The directory for gone/x was not found. [FILE_NOT_FOUND] Nothing was written. Set create_parents to true, ' +
        'or leave it out, to create it too; or correct the path.'
    ]
  ],
  [
    'edit_file',
    { path: '/workspace/app.js', old_text: 'if (host)', new_text: 'b' },
    [
      '/workspace/app.js is outside the workspace; did you mean app.js? [PATH_NOT_ALLOWED]',
      'If so, send:',
      '{"path":"app.js","old_text":"if (host)","new_text":"b"}'
    ]
  ],
  [
    'edit_file',
    { path: '../app.ts', old_text: 'a', new_text: 'b' },
    [
      '../app.ts is outside the workspace. [PATH_NOT_ALLOWED] Send a path relative to the workspace root, such ' +
        'as src/app.ts (. is the root); ../ and links may not lead out of it.'
    ]
  ],
  [
    'edit_file',
    { path: 'app.js', old_txt: 'a', new_text: 'b' },
    ['The request is not valid: /old_txt is an unknown field (did you mean old_text?). [INVALID_REQUEST]']
  ],
  [
    'edit_fil',
    {},
    [
      'There is no tool "edit_fil"; did you mean edit_file? [ROUTE_NOT_FOUND] The tools are edit_file, ' +
        'edit_lines, edit_section, create_file, inspect_file, find and undo_edit.'
    ]
  ]
]

t.test('answers a call with what a model needs next, and nothing else', async t => {
  const server = await startServer(t, { files })
  for (const [tool, args, lines] of ANSWERS) {
    for (const [name, content] of Object.entries(FILES)) writeFileSync(join(server.root, name), content)
    // A caller who has read the files needs no hash.
    for (const path of ['app.js', 'long.txt', 'tabs.py']) await server.call('POST', '/inspect', { body: { path } })
    const { text } = await server.call('POST', `/tools/${tool}`, { body: args, headers: { accept: '*/*' } })
    t.equal(
      text.replace(/[0-9a-f]{16}/g, '#').replace(/\b01[0-9A-Z]{24}\b/, '@'),
      lines.join('\n'),
      `${tool} ${JSON.stringify(args).slice(0, 200)}`
    )
  }
})

t.test('sends of a long block only the lines around the change', async t => {
  const server = await startServer(t, { files })
  const block = LONG.split('\n').slice(10, 40)
  const old_text = block.with(3, block[3]!.replace('of', ' of')).join('\n')
  const body = { path: 'long.txt', old_text, new_text: old_text.replace('line 30', 'the end') }
  const { text } = await server.call('POST', '/tools/edit_file', { body, headers: { accept: '*/*' } })
  t.match(text, /; most likely lines 11 to 40 were meant: /)
  const around = (line: string) => `line 29 of the i part\n${line} of the j part\nline 31 of the a part`
  const call = { path: 'long.txt', old_text: around('line 30'), new_text: around('the end') }
  t.ok(text.includes(`\nIf so, send:\n${JSON.stringify(call)}\n`), text)
})

t.test('counts matches and the lines that they are on', async t => {
  const server = await startServer(t, { files: { a: 'a a a\nb\na a\nc a\nd\na\n', many: 'x x\n'.repeat(300) } })
  const call = async (tool: string, body: object): Promise<string> =>
    (await server.call('POST', `/tools/${tool}`, { body, headers: { accept: '*/*' } })).text
  for (const [tool, body, said] of [
    ['inspect_file', { path: 'a', search: 'a' }, /\n"a" was found 7 times on 4 lines:\n1\t/],
    ['inspect_file', { path: 'a', search: 'b' }, /\n"b" was found 1 time:\n2\t/],
    ['inspect_file', { path: 'many', search: 'x' }, /found 600 times; the first 200, on 100 lines, are shown:\n/],
    ['find', { path: 'a', text: 'a' }, /^"a" was found 7 times on 4 lines in 1 file\.\n/],
    ['find', { path: 'a', text: 'a', max_lines: 4 }, /^"a" was found 7 times in 1 file\.\n/],
    ['find', { path: 'a', text: 'a', max_lines: 4 }, /\n4 of 7 matches in "a" are listed, on 2 lines; to get all/],
    [
      'edit_file',
      { path: 'many', old_text: 'x', new_text: 'y', occurrence: 3 },
      /also appears 599 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more, which were left/
    ]
  ] as const) {
    t.match(await call(tool, body), said)
  }
})

t.test('shows the lines of matches where it has no call for each', async t => {
  const two = 'function a() {\n  const wait = 30\n}\n\nfunction b() {\n  const wait = 30\n}\n'
  const others = Array.from({ length: 9 }, (_, i) => ({
    path: `f${i}`,
    old_text: `text ${i} `.repeat(9),
    new_text: 'x'
  }))
  const server = await startServer(t, {
    files: {
      ...Object.fromEntries(others.map(({ path, old_text }) => [path, old_text])),
      'two.js': two,
      same: 'one\nand the same line\n'.repeat(20)
    }
  })
  const call = async (route: string, body: object): Promise<string> => {
    const { text, body: answer } = await server.call('POST', route, { body, headers: { accept: '*/*' } })
    return String(answer.output ?? text)
  }
  const edit = { path: 'two.js', old_text: 'const wait = 30', new_text: 'const wait = 60' }
  const operations = [edit, ...others].map(each => ({ operation: 'edit', ...each }))
  t.match(
    await call('/tools/batch_edit', { operations }),
    /For line 2, send the same call with this in operations\[0\]:\n.*function a.*\nFor line 6, .*\n.*function b.*\nTo replace all 2/
  )
  const around = '1- function a() {\n2:   const wait = 30\n3- }\n4- \n5- function b() {\n6:   const wait = 30\n7- }'
  t.match(
    await call('/tools/edit_file', { ...edit, new_text: 'x'.repeat(700) }),
    `\nTo replace one of them, send "occurrence": a number from 1 to 2, counted from the top. To replace all 2, send "occurrences": 2.\n${around}\n`
  )
  t.match(
    await call('/tools/edit_file', { path: 'same', old_text: 'the same line', new_text: 'x' }),
    /\nTo replace one of them, send "occurrence": a number from 1 to 20\. .*\n1- one\n2: and the same line\n[^]*\n10 more places not shown\.\n/
  )
  t.match(
    await call('/adapters/anthropic-text-editor', {
      command: 'str_replace',
      path: 'same',
      old_str: 'the same line',
      new_str: 'x'
    }),
    /\nAdd surrounding lines to old_str until it matches one place\.\n1- one\n2: and the same line\n/
  )
})

t.test('makes the replacements of earlier edits in a later one that they change', async t => {
  const job =
    'def load(path, mode):\n    wait = 30\n    get(path, wait)\n\ndef save(path):\n    wait = 10\n    get(path, wait)\n'
  const server = await startServer(t, { files: { 'job.py': job } })
  const check = async (edits: object[], said: string, sent: object[] | undefined): Promise<void> => {
    const body = { path: 'job.py', edits }
    const { text } = await server.call('POST', '/tools/edit_file', { body, headers: { accept: '*/*' } })
    t.match(text, said)
    t.strictSame(/^\{.*$/m.exec(text)?.[0], sent && JSON.stringify({ path: 'job.py', edits: sent }), text)
  }
  const changed = 'edit 1 of this request changes it first. [NO_MATCH]\n'
  const rename = { old_text: 'wait', new_text: 'delay', replace_all: true }
  await check(
    [
      rename,
      { old_text: '    wait = 30\n', new_text: '    wait = 60\n' },
      { old_text: 'save(path):\n    wait = 10', new_text: 'save(path, mode):\n    wait = 10' }
    ],
    `${changed}Edit 3 fails too: edit 1 of this request changes it first.\nTo edit what that edit leaves, send:\n`,
    [
      rename,
      { old_text: '    delay = 30\n', new_text: '    delay = 60\n' },
      { old_text: 'save(path):\n    delay = 10', new_text: 'save(path, mode):\n    delay = 10' }
    ]
  )
  const number = { old_text: 'wait = 30', new_text: 'wait = 60' }
  // It has the earlier replacement in its new_text already.
  await check(
    [number, { old_text: 'mode):\n    wait = 30', new_text: 'mode, key):\n    wait = 60' }],
    `${changed}To edit what that edit leaves, send:\n`,
    [number, { old_text: 'mode):\n    wait = 60', new_text: 'mode, key):\n    wait = 60' }]
  )
  await check(
    [number, { old_text: 'wait = 30', new_text: 'wait = 90' }],
    `${changed}To edit what that edit leaves, send this with a new_text of your own (your change is at "30", where the file has "60"):\n`,
    [number, { old_text: 'wait = 60' }]
  )
  // The earlier replacement reaches beyond its text.
  const head = { old_text: 'mode):\n    wait = 30', new_text: '):\n    wait = 31' }
  await check(
    [head, { old_text: '    wait = 30\n    get(path, wait)', new_text: '    wait = 30\n    get(path, None)' }],
    `${changed}To edit what that edit leaves, send:\n`,
    [
      head,
      {
        old_text: '):\n    wait = 31\n    get(path, wait)',
        new_text: '):\n    wait = 31\n    get(path, None)'
      }
    ]
  )
  // Nothing is left of it.
  const gone = { old_text: '    wait = 30\n', new_text: '' }
  await check(
    [gone, { ...gone, new_text: '    wait = 90\n' }],
    `${changed}Write old_text to match the text after`,
    undefined
  )
  await check(
    [number, { ...number, new_text: 'wait = 60' }],
    `${changed}Write old_text to match the text after that edit, or merge the two edits.`,
    undefined
  )
  // The earlier edit puts its text in once more: the place of before is the one meant.
  const again = { old_text: 'wait = 10', new_text: 'wait = 30' }
  await check(
    [again, { ...number, new_text: 'wait = 31' }],
    'must match one place, since edit 1 of this request changes it first. [WRONG_COUNT]\nFor line 2, send:\n',
    [again, { old_text: 'def load(path, mode):\n    wait = 30', new_text: 'def load(path, mode):\n    wait = 31' }]
  )
})

t.test('offers edits with the line breaks of the file in both texts', async t => {
  const lines = [
    'function a() {',
    '  const wait = 30',
    '}',
    '',
    'function b() {',
    '  const wait = 30',
    '  stop(wait)',
    '}'
  ]
  const server = await startServer(t, { files: { 'a.js': `${lines.join('\r\n')}\r\n` } })
  for (const [old_text, new_text, sent] of [
    [
      'const wait = 30\n',
      'const wait = 60\n  go()\n',
      ['function a() {\r\n  const wait = 30\r\n', 'function a() {\r\n  const wait = 60\r\n  go()\r\n']
    ],
    [
      'const wait = 30\n  stop(Wait)',
      'const wait = 60\n  go()\n  stop(Wait)',
      ['const wait = 30\r\n  stop(wait)', 'const wait = 60\r\n  go()\r\n  stop(wait)']
    ]
  ] as const) {
    const body = { path: 'a.js', old_text, new_text }
    const { text } = await server.call('POST', '/tools/edit_file', { body, headers: { accept: '*/*' } })
    const [old, now] = sent
    const { old_text: offered, new_text: made } = JSON.parse(/^\{.*$/m.exec(text)![0]) as Record<string, string>
    t.ok(offered!.endsWith(old), text)
    t.ok(made!.endsWith(now), text)
  }
})

t.test('shows no lines that were removed where the hash of their file was sent', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\ntwo\n' } })
  const call = async (tool: string, fields: object): Promise<string> =>
    (await server.call('POST', `/tools/${tool}`, { body: { ...fields }, headers: { accept: '*/*' } })).text
  const deletes = { path: 'a.txt', start_line: 2, end_line: 2, new_text: '', dry_run: true }
  const seen = await call('edit_lines', deletes)
  t.match(seen, /\nWhat would be removed:\n2\ttwo$/)
  const expected_hash = /file_hash: (\w+)/.exec(seen)![1]
  t.match(await call('edit_lines', { ...deletes, expected_hash }), /^Would delete .*\n1\tone$/)
  const { dry_run, ...one } = { ...deletes, operation: 'edit_lines', expected_hash }
  t.notMatch(await call('batch_edit', { operations: [one], dry_run }), /removed/)
  t.notMatch(await call('edit_lines', { ...deletes, show_diff: true }), /removed/, 'the diff shows them')
})

t.test('writes the same call out again where it is short, and else says what to change in it', async t => {
  const server = await startServer(t, { files })
  const call = async (tool: string, body: Record<string, unknown>) =>
    (await server.call('POST', `/tools/${tool}`, { body, headers: { accept: 'text/plain' } })).text
  const { body } = await server.call('POST', '/inspect', { body: { path: 'app.js' } })
  const missed = { path: 'app.js', old_text: 'const port = 9090', new_text: 'const port = 1' }
  const withHash = await call('edit_file', { ...missed, expected_hash: body.file_hash })
  t.equal(withHash.split(String(body.file_hash)).length, 2, 'the hash is in the call, and not once more')
  const long = 'x'.repeat(2000)
  t.match(
    await call('edit_file', { path: 'app.js', old_text: 'if (host)', new_text: long, expected_hash: STALE }),
    /\nIt states the text that it replaces, so send it again without expected_hash\.\n1\tconst port/
  )
  const edits = [
    { old_text: 'HOST', new_text: 'y'.repeat(6000) },
    { old_text: 'const port = 9090', new_text: '' }
  ]
  t.match(
    await call('edit_file', { path: 'app.js', edits }),
    /\nIf so, send the same edits with this as edit 2:\n\{"old_text":"const port {2}= 9090","new_text":""\}\n/
  )
  const repeated = `${long}\n`.repeat(2)
  writeFileSync(join(server.root, 'twice.txt'), repeated)
  const number =
    /\nTo replace one of them, send "occurrence": a number from 1 to 2, counted from the top\. To replace all 2, /
  t.match(await call('edit_file', { path: 'twice.txt', old_text: `${long}\n`, new_text: 'z' }), number)
  writeFileSync(join(server.root, 'overlap.txt'), 'aaa\n')
  t.match(await call('edit_file', { path: 'overlap.txt', old_text: 'aa', new_text: 'b' }), /WRONG_COUNT/)
  const block = Array.from({ length: 60 }, (_, i) => `  const value${i} = compute(${i}, options.left)\n`)
  writeFileSync(join(server.root, 'block.js'), block.join(''))
  const remembered = block.map((line, i) => (i % 3 === 1 ? `  log(${i}, "gone", when, where)\n` : line)).join('')
  t.match(
    await call('edit_file', { path: 'block.js', old_text: remembered, new_text: 'x' }),
    new RegExp(
      '\\nIf so, read them and copy old_text from there:\\n' +
        '\\{"name":"inspect_file","arguments":\\{"path":"block\\.js","start_line":1,"end_line":60\\}\\}'
    )
  )
})

t.test('cuts long lines around the change, and continues what does not fit', async t => {
  const server = await startServer(t, { files })
  const call = async (tool: string, body: Record<string, unknown>) =>
    (await server.call('POST', `/tools/${tool}`, { body, headers: { accept: 'text/plain' } })).text
  t.match(await call('edit_file', { path: 'wide.txt', old_text: 'needle', new_text: 'pin' }), /\n1\t…x+ pin y+…$/)
  writeFileSync(join(server.root, 'wide.txt'), 'x'.repeat(3_000_000))
  t.match(
    await call('inspect_file', { path: 'wide.txt', start_line: 1 }),
    /\nTo continue, send:\n\{"path":"wide\.txt","start_line":1,"start_column":\d+\}$/
  )
  writeFileSync(join(server.root, 'many.txt'), 'x\n'.repeat(3_000_000))
  t.match(
    await call('inspect_file', { path: 'many.txt', start_line: 5 }),
    /Shown: lines 5 to \d+\. .*\nTo continue, send:\n\{"path":"many\.txt","start_line":\d+\}$/s
  )
  t.match(await call('inspect_file', { path: 'many.txt', search: 'x' }), /3000000 times; the first 200 are shown:/)
  const readOn = /\n200\tx\nSearch for a longer text; or, to read the lines after these, send:\n(\{.*\})$/
  for (const more of [{}, { facts: true }, { numbered: true, start_line: 1, end_line: 2 }]) {
    const [, next = ''] = readOn.exec(await call('inspect_file', { path: 'many.txt', search: 'x', ...more })) ?? []
    t.match(JSON.parse(next), { path: 'many.txt', start_line: 201 })
    t.match(await call('inspect_file', JSON.parse(next) as Record<string, unknown>), /\. Shown: lines 201 to /)
  }
  writeFileSync(join(server.root, 'wide.txt'), 'x'.repeat(300))
  t.match(
    await call('inspect_file', { path: 'wide.txt', search: 'x' }),
    /x\nTo find fewer, search for a longer text\.$/
  )
  writeFileSync(join(server.root, 'many.js'), Array.from({ length: 2500 }, (_, i) => `function f${i} () {}\n`).join(''))
  t.match(
    await call('inspect_file', { path: 'many.js', structure: true }),
    /\nThere are 2500 items\. To continue, send:\n\{"path":"many\.js","structure":true,"start_item":201\}$/
  )
  t.match(await call('inspect_file', { path: 'empty.txt' }), /^empty\.txt: 0 lines, 0 bytes, ascii, text\. file_hash/)
  writeFileSync(join(server.root, 'many.js'), '1\n'.repeat(10_000))
  t.match(
    await call('inspect_file', { path: 'many.js', structure: true, start_item: 2, max_items: 1, start_line: 1 }),
    /\nTo continue, send:\n\{"path":"many\.js","start_line":\d+\}$/
  )
  writeFileSync(join(server.root, 'none.js'), '1\n')
  t.match(
    await call('inspect_file', { path: 'none.js', structure: true }),
    /There are no headings, code blocks or symbols/
  )
  for (let i = 0; i < 501; i++) writeFileSync(join(server.root, 'folder', `${String(i).padStart(3, '0')}.txt`), '')
  t.match(
    await call('inspect_file', { path: 'folder' }),
    /^folder is a directory with 500 entries, and there are more; .*\n\{"path":"folder","after":"499\.txt"\}$/s
  )
})

t.test('answers with JSON only where it is preferred to text', async t => {
  const server = await startServer(t, { files })
  for (const [accept, isJson] of [
    ['application/json', true],
    ['application/problem+json', true],
    ['application/json, */*;q=0.5', true],
    ['application/json, */*', true],
    ['application/json, text/plain;q=0.9', true],
    ['application/json, text/plain, */*', false],
    ['application/json;q=0.5, text/*', false],
    ['application/json;q=0', false],
    ['text/plain', false],
    ['text/html', false],
    ['*/*', false],
    ['', false]
  ] as const) {
    for (const [path, type] of [
      ['app.js', 'application/json'],
      ['gone', 'application/problem+json']
    ]) {
      const reply = await server.call('POST', '/tools/inspect_file', { body: { path }, headers: { accept } })
      t.match(reply.headers.get('content-type'), isJson ? type : 'text/plain', `${accept} ${path}`)
      t.equal(reply.headers.get('vary'), 'accept')
    }
  }
  const early = { headers: { accept: '*/*', 'content-type': 'text/plain' }, body: 'x' }
  const refused = await server.call('POST', '/tools/edit_file', early)
  t.match({ status: refused.status, text: refused.text }, { status: 415, text: /\[UNSUPPORTED_MEDIA_TYPE\]/ })
  const programs = await server.call('POST', '/edit', { body: { path: 'gone' }, headers: { accept: 'text/plain' } })
  t.match(programs.body, { code: 'NO_EDITS' }, 'the routes for programs answer with JSON whatever is accepted')
})

const made = {
  name: 'edit_file',
  arguments: { path: 'src/app.ts', old_text: 'foo', new_text: 'bar', expected_hash: STALE }
}
const textOf = (failure: Failure, context: Partial<Context> = {}) =>
  toProblem(failure, {
    instance: '/tools/edit_file',
    request_id: 'r',
    naming: BY_TOOL,
    path: 'src/app.ts',
    made,
    ...context
  }).text()

t.test('has in the text of every failure its code, once, and nothing that only JSON has', async t => {
  for (const { failure, context } of FAILURES) {
    const text = textOf(failure, context)
    const code = `[${failure.code}]`
    t.equal(text.split(code).length, 2, text)
    t.ok(text.indexOf('\n') < 0 || text.indexOf(code) < text.indexOf('\n'), `in the first line: ${text}`)
    t.notMatch(text, /suggested_fixes|file_preview|similar_content|request_id(?! r)|undefined|\[object/, text)
    const hash = context?.file_hash
    if (hash !== undefined) t.equal(text.split(hash).length, 2, `the hash, once: ${text}`)
    for (const line of text.split('\n').filter(each => each.startsWith('{'))) {
      t.type(JSON.parse(line), 'object', line)
    }
  }
})

t.test('says what happened where no server can be brought to it', async t => {
  const whole = '{"name":"inspect_file","arguments":{"path":"src/app.ts"}}'
  t.equal(
    textOf({ code: 'STALE_FILE', reason: 'changed_meanwhile' }),
    `src/app.ts was changed by another program during the edit; nothing was written. [STALE_FILE]\n${whole}`
  )
  t.equal(
    textOf({ code: 'STALE_FILE', reason: 'overwritten' }),
    'another program wrote src/app.ts at the same moment; whether your edit is in it is not known. [STALE_FILE]\n' +
      whole
  )
  t.equal(
    textOf(EXAMPLES.STALE_FILE),
    `src/app.ts has changed since its hash was 9f86d081884c7d65; nothing was written. [STALE_FILE]\n` +
      `Read it again, then decide:\n${whole}`
  )
  t.equal(
    textOf(EXAMPLES.PRECONDITION_REQUIRED),
    'This server requires expected_hash with every edit: send the file_hash that this call answers. ' +
      `[PRECONDITION_REQUIRED]\n${whole}`
  )
  t.equal(
    textOf({ code: 'PROTECTED_PATH', pattern: '.git' }, { path: 'a. B/.git' }),
    'a. B/.git is protected (.git), because changing or reading it could compromise tools that trust it. ' +
      '[PROTECTED_PATH] Choose another file; only the operator can allow it, with --unprotect.',
    'a path may hold what looks like the end of a sentence'
  )
})
