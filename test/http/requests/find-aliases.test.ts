// Arguments of other search tools, sent to find: what they are taken for, and which could mean several things.
import t from 'tap'
import { makeOperations } from '../../../src/operations.ts'
import { translate } from '../../../src/http/requests/field-aliases.ts'

const { find } = makeOperations({ audit: null, keyed: () => {} } as never, { max_edits: 1, max_file_size: 1 })

const TAKEN: [sent: object, ours: object, warnings?: string[]][] = [
  // Claude Code's Grep.
  [
    { pattern: 'a.b', glob: '*.ts', output_mode: 'content', '-i': true, '-n': true, '-C': 2, head_limit: 5 },
    { regex: 'a.b', include: '*.ts', show: 'lines', ignore_case: true, context_lines: 2, max_lines: 5 }
  ],
  [
    { pattern: 'a|b', output_mode: 'count', '-n': false },
    { regex: 'a|b', show: 'counts' }
  ],
  [
    { pattern: 'a', '-A': 1, '-B': 3, path: 'src' },
    { regex: 'a', context_lines: 3, path: 'src' }
  ],
  // deepagents' grep.
  [
    { pattern: 'foo', output_mode: 'files_with_matches', limit: 3 },
    { text: 'foo', show: 'files', max_files: 3 }
  ],
  // VS Code's.
  [
    { query: 'a+', isRegexp: true, includePattern: 'src/**', maxResults: 9 },
    { regex: 'a+', include: 'src/**', max_lines: 9 },
    [
      'isRegexp was read as regex.',
      'includePattern was read as include.',
      'query "a+" was read as regex "a+".',
      'maxResults 9 was read as max_lines 9.'
    ]
  ],
  [{ query: 'a+', isRegexp: false }, { text: 'a+' }],
  // Our own inspect_file.
  [
    { search: 'a(', folder: 'src' },
    { text: 'a(', path: 'src' }
  ],
  [{ search: 'a', regex: true }, { regex: 'a' }],
  [{ text: 'a', regex: true }, { regex: 'a' }],
  [{ text: 'a', regex: false }, { text: 'a' }, ['regex false was left out: text is taken literally.']],
  [
    { text: 'a', case_sensitive: true },
    { text: 'a', ignore_case: false }
  ],
  [
    { text: 'a', caseSensitive: false },
    { text: 'a', ignore_case: true }
  ],
  [
    { symbol_name: 'f', limit: 2, command: 'find' },
    { symbol: 'f', max_lines: 2 }
  ],
  [
    { include: '*', limit: 2, show: 'all' },
    { include: '*', max_files: 2, show: 'all' }
  ]
]

const REFUSED: [sent: object, pointer: string, message: RegExp][] = [
  [{ pattern: '*.ts' }, '/pattern', /^may mean three things; send it as text/],
  [{ query: 'a.b' }, '/query', /^may mean three things/],
  [{ pattern: 7 }, '/pattern', /^may mean three things/],
  [{ pattern: 'a', text: 'b' }, '/pattern', /^says what to find, and text is given too/],
  [{ pattern: 'a', query: 'b' }, '/pattern', /^says what to find, and so does query/],
  [{ dir: 'a', path: 'b' }, '/dir', /^means path, and path is given too/],
  [{ text: 'a', limit: 1, max_results: 2 }, '/max_results', /^means max_lines, and so does limit?/]
]

t.test('takes the arguments of other search tools', t => {
  for (const [sent, ours, warnings] of TAKEN) {
    const { body, failure, warnings: said } = translate(sent, find)
    t.equal(failure, null, JSON.stringify(sent))
    t.strictSame(body, ours, JSON.stringify(sent))
    if (warnings !== undefined) t.strictSame(said, warnings)
  }
  t.end()
})

t.test('asks what is meant where a name could mean several things', t => {
  for (const [sent, pointer, message] of REFUSED) {
    t.match(
      translate(sent, find).failure,
      { code: 'INVALID_REQUEST', errors: [{ pointer, message }] },
      JSON.stringify(sent)
    )
  }
  t.end()
})
