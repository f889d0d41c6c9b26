// Requests in the names that models were trained on: they work, and the answer says what was taken.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, check, startServer } from '../test-server.ts'

const TEXT = 'one\ntwo\ntwo\n'
const files = { 'a.txt': TEXT }

t.test('takes the five vocabularies of today', async t => {
  const hash = '3ba3c2ea2f7ac2d4'
  const cases: [route: string, body: object, result: string, warnings: string[]][] = [
    [
      '/edit',
      { file_path: 'a.txt', old_string: 'two', new_string: '2', replace_all: true },
      'one\n2\n2\n',
      ['file_path was read as path.', 'old_string was read as old_text.', 'new_string was read as new_text.']
    ],
    [
      '/edit-lines',
      { filename: 'a.txt', start_line: 1, end_line: 1, new_content: '1', preview: false },
      '1\ntwo\ntwo\n',
      ['filename was read as path.', 'new_content was read as new_text.', 'preview was read as dry_run.']
    ],
    [
      '/edit-lines',
      { filename: 'a.txt', start_line: 1, end_line: 1, new_content: '1', preview: true },
      TEXT,
      ['filename was read as path.', 'new_content was read as new_text.', 'preview was read as dry_run.']
    ],
    [
      '/edit',
      {
        path: 'a.txt',
        edits: [
          { old_text: 'one', new_text: '1' },
          { old_text: 'two', new_text: '2', occurrences: 2 }
        ],
        dry_run: false
      },
      '1\n2\n2\n',
      []
    ],
    [
      '/edit',
      { file_path: 'a.txt', old_string: 'two', new_string: '2', expected_replacements: 2 },
      'one\n2\n2\n',
      [
        'file_path was read as path.',
        'old_string was read as old_text.',
        'new_string was read as new_text.',
        'expected_replacements was read as occurrences.'
      ]
    ],
    [
      '/edit',
      {
        path: 'a.txt',
        edits: [
          { old_string: 'one', new_string: '1' },
          { old_string: 'two', new_string: '2', expected_replacements: 2 }
        ]
      },
      '1\n2\n2\n',
      [
        'old_string was read as old_text.',
        'new_string was read as new_text.',
        'expected_replacements was read as occurrences.'
      ]
    ],
    [
      '/edit',
      { filePath: 'a.txt', oldText: 'two', newText: '2', occurrence: '2', expectedHash: hash },
      'one\ntwo\n2\n',
      [
        'filePath was read as path.',
        'oldText was read as old_text.',
        'newText was read as new_text.',
        'expectedHash was read as expected_hash.',
        'occurrence "2" was read as the number 2.'
      ]
    ]
  ]
  for (const [route, body, result, warnings] of cases) {
    const server = await startServer(t, { files })
    if ('expectedHash' in body) {
      body.expectedHash = (await server.call('POST', '/inspect', { body: { path: 'a.txt' } })).body.file_hash
    }
    const { body: answer } = await check(t, server, route, body, 200, { path: 'a.txt' })
    t.strictSame([...(answer.warnings as string[])].sort(), [...warnings].sort())
    t.equal(bytesOf(server, 'a.txt'), result, JSON.stringify(body))
  }
})

t.test('takes every name of the table', async t => {
  const server = await startServer(t, { files })
  const edit = { path: 'a.txt', old_text: 'one', new_text: '1', dry_run: true }
  const lines = { path: 'a.txt', start_line: 1, end_line: 1, new_text: '', dry_run: true }
  const create = { path: 'b.txt', content: 'x', dry_run: true }
  const names: [route: string, base: Record<string, unknown>, field: string, value: unknown, names: string[]][] = [
    ['/edit', edit, 'path', 'a.txt', ['file_path', 'filename', 'filePath', 'relative_path', 'file']],
    ['/edit', edit, 'old_text', 'one', ['old_string', 'old_str', 'oldText', 'oldString', 'search', 'find']],
    [
      '/edit',
      edit,
      'new_text',
      'x',
      ['new_string', 'new_str', 'newText', 'newString', 'replace', 'new_content', 'newContent', 'content', 'text']
    ],
    ['/edit', edit, 'replace_all', true, ['replaceAll', 'allow_multiple']],
    ['/edit', edit, 'occurrences', 1, ['expected_replacements', 'expected_count', 'expectedReplacements']],
    ['/edit', edit, 'expected_hash', '', ['expectedHash', 'file_hash']],
    ['/edit', edit, 'dry_run', true, ['preview', 'dryRun']],
    ['/edit-lines', lines, 'start_line', 1, ['startLine']],
    ['/edit-lines', lines, 'end_line', 1, ['endLine']],
    ['/edit-lines', lines, 'new_text', '', ['content', 'replace']],
    ['/create', create, 'content', 'x', ['file_text', 'text']],
    ['/create', create, 'path', 'b.txt', ['filename']]
  ]
  const {
    body: { file_hash }
  } = await server.call('POST', '/inspect', { body: { path: 'a.txt' } })
  for (const [route, { ...base }, field, value, aliases] of names) {
    Reflect.deleteProperty(base, field)
    for (const name of aliases) {
      await check(t, server, route, { ...base, [name]: field === 'expected_hash' ? file_hash : value }, 200, {
        dry_run: true,
        warnings: [`${name} was read as ${field}.`]
      })
      await check(t, server, route, { ...base, [name]: value, [field]: value }, 400, {
        code: 'INVALID_REQUEST',
        errors: [
          {
            pointer: `/${name}`,
            message: `means ${field}, and ${field} is given too; send only one of them, preferably ${field}`
          }
        ]
      })
    }
  }
  await check(t, server, '/inspect', { file_path: 'a.txt', startLine: 2, endLine: 2 }, 200, {
    content: 'two\n',
    warnings: ['file_path was read as path.', 'startLine was read as start_line.', 'endLine was read as end_line.']
  })
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})

t.test('takes the other ways to ask for lines', async t => {
  const server = await startServer(t, { files })
  const reads = (request: object, content: string, warning: string) =>
    check(t, server, '/inspect', { path: 'a.txt', ...request }, 200, { content, warnings: [warning] })
  await reads({ view_range: [2, 3] }, 'two\ntwo\n', 'view_range [2,3] was read as start_line 2 and end_line 3.')
  await reads(
    { view_range: [2, -1] },
    'two\ntwo\n',
    'view_range [2,-1] was read as start_line 2 to the end of the file.'
  )
  await reads({ end_line: -1 }, TEXT, 'end_line -1 was read as the end of the file.')
  await reads({ offset: 2 }, 'two\ntwo\n', 'offset 2 was read as start_line 2.')
  await reads({ offset: 0, limit: 1 }, 'one\n', 'offset 0 and limit 1 were read as start_line 1 and end_line 1.')
  await reads({ offset: 2, limit: 1 }, 'two\n', 'offset 2 and limit 1 were read as start_line 2 and end_line 2.')
  await reads({ limit: 2, view_range: null }, 'one\ntwo\n', 'limit 2 was read as start_line 1 and end_line 2.')
  await check(t, server, '/inspect', { path: 'a.txt', find: 'two' }, 200, {
    total_matches: 2,
    warnings: ['find was read as search.']
  })
  const invalid = (request: object, pointer: string, message: string | RegExp) =>
    check(t, server, '/inspect', { path: 'a.txt', ...request }, 400, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer, message }]
    })
  const two = 'must be two line numbers, such as [1, 40]; [1, -1] is the whole file'
  await invalid({ view_range: [1] }, '/view_range', two)
  await invalid({ view_range: '1-2' }, '/view_range', two)
  await invalid({ view_range: [0, 2] }, '/view_range/0', 'must be at least 1')
  await invalid({ view_range: [1, 'x'] }, '/view_range/1', 'must be a whole number, not a string')
  await invalid({ view_range: ['1', '2'] }, '/view_range', 'must be a whole number, not a string')
  await invalid({ view_range: [1, 2], path: '.' }, '/view_range', /^can only be used with files/)
  await invalid({ offset: -1 }, '/offset', 'must be a whole number from 0')
  await invalid({ limit: 0 }, '/limit', 'must be a whole number from 1')
  await invalid({ offset: '3' }, '/offset', 'must be a whole number from 0')
  await invalid({ limit: 2, facts: true }, '/limit', /^can't be combined with facts: true/)
  await invalid({ limit: 2, search: 'two' }, '/limit', /^is an unknown field/)
  await invalid(
    { view_range: [1, 2], startLine: 1 },
    '/view_range',
    'means start_line and end_line, and start_line is given too; send only start_line and end_line'
  )
  await invalid(
    { offset: 1, start_line: 1, end_line: 2 },
    '/offset',
    'means start_line and end_line, and start_line and end_line are given too; send only start_line and end_line'
  )
  await check(t, server, '/edit-lines', { path: 'a.txt', view_range: [1, 1], new_text: '' }, 400, {
    errors: [{ pointer: '/view_range', message: /^is an unknown field/ }]
  })
})

t.test('reads a section as its heading', async t => {
  const server = await startServer(t, { files: { 'a.md': '# One\n\nold\n' } })
  const edit = { path: 'a.md', section: 'One', action: 'replace', new_text: 'new\n' }
  await check(t, server, '/edit-section', edit, 200, { changed: true, warnings: ['section was read as heading.'] })
})

t.test('leaves out a command that names the same operation, and names the one that another means', async t => {
  const server = await startServer(t, { files })
  const edit = { path: 'a.txt', old_str: 'one', new_str: '1', dry_run: true }
  const lines = { path: 'a.txt', start_line: 1, end_line: 1, new_text: '', dry_run: true }
  for (const [route, body, field, value] of [
    ['/edit', edit, 'command', 'str_replace'],
    ['/edit', edit, 'operation', 'edit'],
    ['/edit', edit, 'action', 'replace'],
    ['/tools/edit_file', edit, 'command', 'edit_file'],
    ['/edit-lines', lines, 'command', 'insert'],
    ['/edit-lines', lines, 'action', 'replace'],
    ['/inspect', { path: 'a.txt' }, 'command', 'view'],
    ['/create', { path: 'b.txt', file_text: 'x', dry_run: true }, 'command', 'create'],
    ['/preview', { ...edit, operation: 'edit' }, 'command', 'str_replace']
  ] as const) {
    const { body: answer } = await check(t, server, route, { ...body, [field]: value }, 200, {})
    t.ok(
      (answer.warnings as string[]).includes(`${field} "${value}" was left out: it names this operation.`),
      `${route} ${value}`
    )
  }
  const refuses = (route: string, body: object, pointer: string, message: string | RegExp) =>
    check(t, server, route, { path: 'a.txt', ...body }, 400, {
      code: 'INVALID_REQUEST',
      path: 'a.txt',
      errors: [{ pointer, message }]
    })
  const asks = (call: string) => `names another operation; call ${call} for that, without this field`
  await refuses('/edit', { command: 'view' }, '/command', asks('/inspect'))
  await refuses('/edit', { command: 'create', file_text: 'x' }, '/command', asks('/create'))
  await refuses('/tools/edit_file', { command: 'insert', new_str: 'x' }, '/command', asks('edit_lines'))
  await refuses('/tools/inspect_file', { command: 'str_replace' }, '/command', asks('edit_file'))
  await refuses('/preview', { ...lines, operation: 'edit_lines', command: 'view' }, '/command', asks('/inspect'))
  await refuses('/edit', { command: 'undo_edit', old_text: 'a', new_text: 'b' }, '/command', /^is an unknown field/)
  await refuses('/edit', { command: 1, old_text: 'a', new_text: 'b' }, '/command', /^is an unknown field/)
  await refuses(
    '/edit-section',
    { command: 'replace', action: 'delete', symbol: 'x' },
    '/command',
    /^is an unknown field/
  )
})

t.test('takes a name only where it can mean nothing else', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/inspect', { path: 'a.txt', search: 'two' }, 200, { total_matches: 2, warnings: undefined })
  await check(t, server, '/create', { path: 'b.txt', content: 'x' }, 200, { warnings: [] })
  const invalid = (route: string, body: object, pointer: string, message: string | RegExp) =>
    check(t, server, route, { path: 'a.txt', ...body }, 400, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer, message }]
    })
  await invalid('/create', { new_content: 'x', content: 'y' }, '/new_content', /^is an unknown field/)
  await invalid(
    '/edit-lines',
    { start_line: 1, end_line: 1, new_text: '', search: 'x' },
    '/search',
    /^is an unknown field/
  )
  await invalid(
    '/edit-lines',
    { start_line: 1, end_line: 1, new_text: '', replaceAll: true },
    '/replaceAll',
    /^is an unknown field/
  )
  await invalid('/inspect', { dryRun: true }, '/dryRun', /^is an unknown field/)
  await invalid(
    '/edit',
    { edits: [{ old_text: 'a', new_text: 'b', dryRun: true }] },
    '/edits/0/dryRun',
    /^is an unknown field/
  )
  await invalid('/edit', { old_text: 'a', newtext: 'b' }, '/newtext', 'is an unknown field (did you mean new_text?)')
  await check(t, server, '/edit', { file_path: 'a.txt', filename: 'a.txt', old_text: 'a', new_text: 'b' }, 400, {
    errors: [
      { pointer: '/filename', message: 'means path, and so does file_path; send only one of them, preferably path' }
    ]
  })
  await invalid(
    '/edit',
    { edits: [{ old_text: 'a', old_str: 'a', new_text: 'b' }] },
    '/edits/0/old_str',
    /^means old_text, and old_text is given too/
  )
})

t.test('takes null in another name as leaving it out', async t => {
  const server = await startServer(t, { files })
  await check(
    t,
    server,
    '/edit',
    {
      path: 'a.txt',
      old_text: 'one',
      old_string: null,
      new_string: '1',
      new_text: null,
      replaceAll: null,
      dry_run: true
    },
    200,
    { warnings: ['new_string was read as new_text.'] }
  )
  await check(t, server, '/edit', { file_path: null, old_text: 'one', new_text: '1' }, 400, {
    errors: [{ pointer: '/file_path', message: 'must be a string, not null' }]
  })
  await check(t, server, '/edit', { path: null, file_path: 'a.txt', old_text: 'one', new_text: '1' }, 400, {
    errors: [{ pointer: '/file_path', message: /^means path/ }]
  })
})

t.test('reads lists and numbers that came as strings', async t => {
  const server = await startServer(t, { files })
  const edits = JSON.stringify([
    { old_string: 'one', new_text: '1' },
    { old_text: 'two', new_text: '2', occurrence: '2' }
  ])
  await check(t, server, '/edit', { path: 'a.txt', edits, dry_run: true }, 200, {
    total_replacements: 2,
    warnings: [
      'edits was a string, and was read as the JSON list in it.',
      'old_string was read as old_text.',
      'occurrence "2" was read as the number 2.'
    ]
  })
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', edits: '[{"startLine":1,"end_line":1,"new_text":""}]', dry_run: true },
    200,
    { warnings: [/^edits was a string/, 'startLine was read as start_line.'] }
  )
  const refuses = (body: object, more: object) =>
    check(t, server, '/edit', { path: 'a.txt', ...body }, 400, more as Record<string, unknown>)
  for (const text of ['', 'x', 'null', '5', '[{"a":1,"a":2}]']) {
    await refuses(
      { edits: text },
      {
        code: 'INVALID_REQUEST',
        errors: [{ pointer: '/edits', message: 'is a string that is not a JSON list; send a list of objects' }]
      }
    )
  }
  for (const none of ['[]', '"[]"']) await refuses({ edits: none }, { code: 'NO_EDITS' })
  await refuses({ edits: '{}' }, { errors: [{ pointer: '/edits/0/old_text' }, { pointer: '/edits/0/new_text' }] })
  await refuses({ edits: '[' }, { errors: [{ message: 'was cut off after 1 characters: send less at once' }] })
  await refuses(
    { edits: '[{"old_text":"a\\ud800","new_text":""}]' },
    { code: 'INVALID_UNICODE', errors: [{ pointer: '/edits/0/old_text' }] }
  )
  await refuses(
    { edits: '[{"old_text":"a\\u0000","new_text":""}]' },
    { code: 'INVALID_REQUEST', errors: [{ pointer: '/edits/0/old_text', message: /NUL/ }] }
  )
  await refuses(
    { edits: [1, null] },
    { errors: [{ pointer: '/edits/0', message: 'must be an object, not a whole number' }, { pointer: '/edits/1' }] }
  )
  await refuses({ old_text: 'a', new_text: '', occurrence: '0' }, { errors: [{ pointer: '/occurrence' }] })
  await refuses({ old_text: 'a', new_text: '', occurrence: 'second' }, { errors: [{ pointer: '/occurrence' }] })
  await refuses(
    { old_text: 'a', new_text: '', occurrences: 'two' },
    { errors: [{ pointer: '/occurrences', message: 'must be a whole number, not a string' }] }
  )
})

t.test('says what is wrong by the name that was sent', async t => {
  const server = await startServer(t, { files })
  const invalid = (body: object, errors: object[]) =>
    check(t, server, '/edit', body, 400, { code: 'INVALID_REQUEST', errors })
  await invalid({ file_path: 'a.txt', old_string: 1, new_string: 'x' }, [
    { pointer: '/old_string', message: 'must be a string, not a whole number' }
  ])
  await invalid({ path: 'a.txt', edits: [{ old_text: 'a', new_str: 2 }] }, [{ pointer: '/edits/0/new_str' }])
  await invalid({ path: 'a.txt', old_string: 'a', new_string: '', replaceAll: true, occurrence: 1 }, [
    { pointer: '/occurrence' }
  ])
  await check(
    t,
    server,
    '/edit',
    { path: 'a.txt', old_string: 'a', new_string: '', edits: [{ old_text: 'a', new_text: '' }] },
    400,
    { code: 'MIXED_MODES', detail: /edits as well as old_string and new_string at the top level/ }
  )
  await check(t, server, '/edit', { file_path: 'a.txt', old_string: 'nowhere', new_string: '' }, 422, {
    code: 'NO_MATCH',
    path: 'a.txt'
  })
  await check(t, server, '/edit', { file_path: 'b.txt', old_string: 'nowhere', new_string: '' }, 404, {
    code: 'FILE_NOT_FOUND',
    path: 'b.txt'
  })
})

t.test('goes by the operation in /preview', async t => {
  const server = await startServer(t, { files })
  symlinkSync('a.txt', join(server.root, 'link'))
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit', filename: 'link', search: 'one', content: '1', preview: true },
    200,
    {
      resolved_path: 'a.txt',
      warnings: [
        'filename was read as path.',
        'search was read as old_text.',
        'content was read as new_text.',
        'preview was read as dry_run.'
      ]
    }
  )
  await check(t, server, '/preview', { operation: 'create', filename: 'b.txt', file_text: '1' }, 200, {
    created: true,
    warnings: ['filename was read as path.', 'file_text was read as content.']
  })
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit_lines', path: 'a.txt', startLine: 1, endLine: 1, content: '1', dryRun: false },
    400,
    { errors: [{ pointer: '/dryRun', message: /^may only be true/ }] }
  )
  await check(
    t,
    server,
    '/preview',
    { operation: 'edit_lines', path: 'a.txt', search: 'x', startLine: 1, endLine: 1, new_text: '' },
    400,
    { errors: [{ pointer: '/search', message: /^is an unknown field/ }] }
  )
})
