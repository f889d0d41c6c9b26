// What a model is given of what find found: as rg prints it, within bounds, with what to send to go on.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../test-server.ts'

const APP = 'const port = 1\nconst host = 2\n\nlisten(port, host)\n// end\nport\n'
const files = {
  'app.js': APP,
  src: { 'parse.ts': 'export class P {\n  parse() {}\n}\n' },
  'x.log': 'port\n',
  '.gitignore': '*.log\n'
}

/** Calls, and their answers, with # for a hash. */
const ANSWERS: [tool: string, args: object, lines: string[]][] = [
  [
    'find',
    { text: 'port' },
    [
      '"port" was found 4 times in 2 files.',
      'app.js (#)',
      '1: const port = 1',
      '4: listen(port, host)',
      '6: port',
      'src/parse.ts (#)',
      '1: export class P {'
    ]
  ],
  [
    'find',
    { text: 'host', context_lines: 1 },
    [
      '"host" was found 2 times in 1 file.',
      'app.js (#)',
      '1- const port = 1',
      '2: const host = 2',
      '3- ',
      '4: listen(port, host)',
      '5- // end'
    ]
  ],
  [
    'find',
    { regex: '^(const host|port)', context_lines: 1 },
    [
      '"^(const host|port)" was found 2 times in 1 file.',
      'app.js (#)',
      '1- const port = 1',
      '2: const host = 2',
      '3- ',
      '--',
      '5- // end',
      '6: port'
    ]
  ],
  [
    'find',
    { text: 'port', max_lines: 1 },
    [
      '"port" was found 4 times in 2 files.',
      'app.js (#)',
      '1: const port = 1',
      '1 of 3 matches in "app.js" is listed; to get all, send path "app.js" and max_lines 3.',
      '1 more file is not shown. To continue, send:',
      '{"text":"port","max_lines":1,"after":"app.js"}'
    ]
  ],
  ['find', { text: 'port', show: 'counts' }, ['"port" was found 4 times in 2 files.', 'app.js: 3', 'src/parse.ts: 1']],
  ['find', { include: '*.ts' }, ['Found 1 file.', 'src/parse.ts']],
  [
    'find',
    { symbol: 'P.parse' },
    ['There is 1 definition of "P.parse" in 1 file.', 'src/parse.ts (#)', '2-2 method P.parse: parse() {}']
  ],
  [
    'find',
    { text: 'PORT' },
    [
      '"PORT" was not found. 3 files were searched; what .gitignore excludes was left out. With ignore_case: true: found 4 times in 2 files.',
      'Send:',
      '{"text":"PORT","ignore_case":true}'
    ]
  ],
  [
    'inspect_file',
    { path: 'src', search: 'parse()' },
    [
      '"parse()" was found 1 time in 1 file.',
      'src/parse.ts (#)',
      '2:   parse() {}',
      'Warning: src is a directory, so all files below it were searched, as by find, which has more fields.'
    ]
  ],
  [
    'inspect_file',
    { path: 'app.js', search: 'end', context_lines: 1 },
    [
      'app.js: 6 lines, 62 bytes, ascii, javascript. file_hash: #',
      '"end" was found 1 time:',
      '4- listen(port, host)',
      '5: // end',
      '6- port'
    ]
  ]
]

t.test('prints what was found as rg does', async t => {
  const server = await startServer(t, { files })
  for (const [tool, body, lines] of ANSWERS) {
    const { text } = await server.call('POST', `/tools/${tool}`, { body, headers: { accept: '*/*' } })
    t.strictSame(text.replace(/\b[0-9a-f]{16}\b/g, '#').split('\n'), lines, JSON.stringify(body))
  }
})

t.test('keeps within its bounds, unless more is asked for, and every call it proposes goes on', async t => {
  const server = await startServer(t, { files: {} })
  for (let i = 10; i < 40; i++) writeFileSync(join(server.root, `f${i}`), `${'word '.repeat(20)}\n`.repeat(20))
  writeFileSync(join(server.root, 'a\nb'), 'word\n')
  const seen: string[] = []
  let body: object = { regex: '^word' }
  for (let calls = 0; calls < 100; calls++) {
    const { text } = await server.call('POST', '/tools/find', { body, headers: { accept: '*/*' } })
    t.ok(text.length < 6000, `${text.length} characters`)
    seen.push(...[...text.matchAll(/^(\S+) \([0-9a-f]{16}\)$/gm)].map(([, path]) => path!))
    const next = /^.* To continue, send:\n(.*)$/m.exec(text)
    if (next === null) break
    body = JSON.parse(next[1]!) as object
  }
  t.strictSame(seen, [String.raw`"a\nb"`, ...Array.from({ length: 30 }, (_, i) => `f${i + 10}`)])
  const more = await server.call('POST', '/tools/find', {
    body: { regex: '^word', max_lines: 200 },
    headers: { accept: '*/*' }
  })
  t.ok(more.text.length > 15_000 && more.text.length < 45_000)
  const wide = { regex: '^word', path: 'f10', context_lines: 10 }
  writeFileSync(join(server.root, 'f10'), `${'word '.repeat(200)}\n`.repeat(40))
  t.match(
    (await server.call('POST', '/tools/find', { body: wide, headers: { accept: '*/*' } })).text,
    /matches in "f10"/
  )
})
