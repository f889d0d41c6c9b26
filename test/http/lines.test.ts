// /edit-lines over HTTP: what it does, where it says the lines are now, and what is wrong with lines that don't fit.
import t from 'tap'
import { bytesOf, check, startServer } from './test-server.ts'

const LINES = 'one\ntwo\nthree\nfour\nfive\n'
const files = { 'a.txt': LINES, 'bare.txt': 'one\ntwo', 'crlf.txt': 'one\r\ntwo\r\n', 'empty.txt': '' }

t.test('changes lines, and says where they are now', async t => {
  const cases: [path: string, edit: object, result: string, message: string, changes: object[]][] = [
    [
      'a.txt',
      { start_line: 2, end_line: 3, new_text: 'x\ny\nz\n' },
      'one\nx\ny\nz\nfour\nfive\n',
      'Replaced lines 2 to 3 of a.txt; they are now lines 2 to 4. a.txt now has 6 lines.',
      [
        {
          operation: 'replace',
          start_line: 2,
          end_line: 3,
          new_start_line: 2,
          new_end_line: 4,
          lines_removed: 2,
          lines_added: 3,
          net_change: 1
        }
      ]
    ],
    [
      'a.txt',
      { start_line: 2, end_line: 2, new_text: 'x' },
      'one\nx\nthree\nfour\nfive\n',
      'Replaced line 2 of a.txt; it is now line 2. a.txt now has 5 lines.',
      [{ operation: 'replace' }]
    ],
    [
      'a.txt',
      { start_line: 4, end_line: 5, new_text: '' },
      'one\ntwo\nthree\n',
      'Deleted lines 4 to 5 of a.txt. a.txt now has 3 lines.',
      [{ operation: 'delete', new_start_line: 4, new_end_line: 3, net_change: -2 }]
    ],
    [
      'a.txt',
      { start_line: 2, end_line: 1, new_text: 'x\ny' },
      'one\nx\ny\ntwo\nthree\nfour\nfive\n',
      'Inserted lines 2 to 3 into a.txt, before what was line 2. a.txt now has 7 lines.',
      [{ operation: 'insert', start_line: 2, end_line: 1, new_start_line: 2, new_end_line: 3 }]
    ],
    [
      'a.txt',
      { start_line: 4, end_line: -1, new_text: '' },
      'one\ntwo\nthree\n',
      'Deleted lines 4 to 5 of a.txt. a.txt now has 3 lines.',
      [{ operation: 'delete', start_line: 4, end_line: 5 }]
    ],
    [
      'a.txt',
      { start_line: -1, end_line: -1, new_text: '5', expected_text: 'five' },
      'one\ntwo\nthree\nfour\n5\n',
      'Replaced line 5 of a.txt; it is now line 5. a.txt now has 5 lines.',
      [{ operation: 'replace', start_line: 5, end_line: 5 }]
    ],
    [
      'a.txt',
      { start_line: 6, end_line: 5, new_text: 'six\n' },
      `${LINES}six\n`,
      'Appended line 6 to a.txt. a.txt now has 6 lines.',
      [{ operation: 'append', new_start_line: 6, new_end_line: 6 }]
    ],
    [
      'bare.txt',
      { start_line: 3, end_line: 2, new_text: 'three' },
      'one\ntwo\nthree',
      'Appended line 3 to bare.txt. bare.txt now has 3 lines.',
      [{ operation: 'append' }]
    ],
    [
      'bare.txt',
      { start_line: 2, end_line: 2, new_text: '' },
      'one',
      'Deleted line 2 of bare.txt. bare.txt now has 1 line.',
      [{ operation: 'delete' }]
    ],
    [
      'crlf.txt',
      { start_line: 1, end_line: 1, new_text: 'x\ny' },
      'x\r\ny\r\ntwo\r\n',
      'Replaced line 1 of crlf.txt; it is now lines 1 to 2. crlf.txt now has 3 lines.',
      [{}]
    ],
    [
      'crlf.txt',
      { start_line: 1, end_line: 1, new_text: 'x\n', line_endings: 'exact' },
      'x\ntwo\r\n',
      'Replaced line 1 of crlf.txt; it is now line 1. crlf.txt now has 2 lines.',
      [{}]
    ],
    [
      'empty.txt',
      { start_line: 1, end_line: 0, new_text: 'x\n' },
      'x\n',
      'Appended line 1 to empty.txt. empty.txt now has 1 line.',
      [{ operation: 'append' }]
    ],
    [
      'a.txt',
      { start_line: 3, end_line: 3, new_text: 'x', expected_text: 'three' },
      'one\ntwo\nx\nfour\nfive\n',
      'Replaced line 3 of a.txt; it is now line 3. a.txt now has 5 lines.',
      [{}]
    ],
    [
      'a.txt',
      {
        edits: [
          { start_line: 4, end_line: 4, new_text: '' },
          { start_line: 1, end_line: 1, new_text: 'x\ny' },
          { start_line: 3, end_line: 2, new_text: 'new' },
          { start_line: 6, end_line: 5, new_text: 'end' }
        ]
      },
      'x\ny\ntwo\nnew\nthree\nfive\nend\n',
      [
        'Made 4 changes in a.txt: deleted line 4; replaced line 1 (now lines 1 to 2);',
        'inserted line 4; appended line 7. a.txt now has 7 lines.'
      ].join(' '),
      [
        { edit_index: 0, operation: 'delete' },
        { edit_index: 1, new_start_line: 1 },
        { edit_index: 2, new_start_line: 4 },
        { edit_index: 3 }
      ]
    ]
  ]
  for (const [path, edit, result, message, changes] of cases) {
    const server = await startServer(t, { files })
    const {
      body: { message: would, new_hash }
    } = await check(t, server, '/edit-lines', { path, ...edit, dry_run: true }, 200, { changed: true, dry_run: true })
    t.match(would, /^Would .*; nothing was written\.$/)
    t.notMatch(would, /\bnow has\b|\. .* now\./)
    t.equal(bytesOf(server, path), files[path as keyof typeof files])
    await check(t, server, '/edit-lines', { path, ...edit, show_diff: true }, 200, {
      message,
      changes,
      file_hash: new_hash,
      diff: /^--- a\//,
      total_replacements: undefined,
      edits_applied: undefined,
      warnings: []
    })
    t.equal(bytesOf(server, path), result, message)
  }
})

t.test('says what it would do', async t => {
  const server = await startServer(t, { files })
  const says = (edit: object, message: string) =>
    check(t, server, '/edit-lines', { path: 'a.txt', ...edit, dry_run: true }, 200, { message })
  await says(
    { start_line: 2, end_line: 3, new_text: 'x' },
    'Would replace lines 2 to 3 of a.txt; they would be line 2. a.txt would then have 4 lines; nothing was written.'
  )
  await says(
    { start_line: 2, end_line: 3, new_text: '' },
    'Would delete lines 2 to 3 of a.txt. a.txt would then have 3 lines; nothing was written.'
  )
  await says(
    { start_line: 2, end_line: 1, new_text: 'x' },
    'Would insert line 2 into a.txt, before what was line 2. a.txt would then have 6 lines; nothing was written.'
  )
  await says(
    {
      edits: [
        { start_line: 1, end_line: 1, new_text: '' },
        { start_line: 2, end_line: 3, new_text: 'x' }
      ]
    },
    [
      'Would make 2 changes in a.txt: delete line 1; replace lines 2 to 3 (then line 1).',
      'a.txt would then have 3 lines; nothing was written.'
    ].join(' ')
  )
  await says(
    { start_line: 2, end_line: 2, new_text: 'two' },
    'The file already has exactly this content; nothing was written.'
  )
  await says(
    { start_line: 2, end_line: 1, new_text: '' },
    'The file already has exactly this content; nothing was written.'
  )
  const many = await startServer(t, { files: { 'm.txt': 'x\n'.repeat(50) } })
  const edits = Array.from({ length: 30 }, (_, i) => ({ start_line: i + 1, end_line: i + 1, new_text: 'y' }))
  await check(t, many, '/edit-lines', { path: 'm.txt', edits, dry_run: true }, 200, {
    message: /^Would make 30 changes in m\.txt: .*; and 25 more\. /
  })
  await check(t, many, '/edit-lines', { path: 'm.txt', edits }, 200, {
    changes_truncated: true,
    message: /^Made more than 20 changes in m\.txt: .*; and more\. /
  })
})

t.test('refuses lines that are not there, and says which there are', async t => {
  const server = await startServer(t, { files })
  const refuses = (edit: object, detail: string | RegExp, more: object = {}) =>
    check(t, server, '/edit-lines', { path: 'a.txt', new_text: 'x', ...edit }, 422, {
      code: 'LINE_OUT_OF_RANGE',
      total_lines: 5,
      file_hash: String,
      detail,
      ...more
    })
  await refuses(
    { start_line: 9, end_line: 9 },
    'a.txt has no line 9: it has 5 lines. To append, send start_line 6 and end_line 5. Nothing was written.'
  )
  await refuses({ start_line: 5, end_line: 6 }, /^a\.txt has no line 6: it has 5 lines\./)
  await refuses(
    { start_line: 0, end_line: 0 },
    /^start_line is 0, but lines are counted from 1: .* To insert at the top, send start_line 1 and end_line 0\./
  )
  await refuses({ start_line: -3, end_line: 1 }, /^start_line is -3/)
  await refuses({ start_line: -1, end_line: -2 }, /^end_line -2 comes before start_line 5\./)
  await refuses({ start_line: 6, end_line: -1 }, /^a\.txt has no line 6: it has 5 lines\. To append, send start_line 6/)
  await refuses({ start_line: -1, end_line: 2 }, /^end_line 2 comes before start_line 5\./)
  await refuses(
    { start_line: 4, end_line: 2 },
    [
      'end_line 2 comes before start_line 4. To insert before line 4, send end_line 3;',
      'to replace lines, send the last of them as end_line. a.txt has 5 lines.',
      'Nothing was written.'
    ].join(' ')
  )
  await refuses(
    {
      start_line: undefined,
      new_text: undefined,
      edits: [
        { start_line: 1, end_line: 1, new_text: '' },
        { start_line: 7, end_line: 6, new_text: '' }
      ]
    },
    /^Edit 2 of 2 failed: a\.txt has no line 7.*none of the 2 edits was made\.$/,
    { edit_index: 1, total_edits: 2 }
  )
  t.equal(bytesOf(server, 'a.txt'), LINES)
})

t.test('takes -1 for the last line of each edit, also in a batch and a preview', async t => {
  const server = await startServer(t, { files })
  const edits = [
    { start_line: 1, end_line: 1, new_text: '1' },
    { start_line: 4, end_line: -1, new_text: 'end' }
  ]
  const lines = [
    { start_line: 1, end_line: 1 },
    { start_line: 4, end_line: 5 }
  ]
  const edit = { operation: 'edit_lines', path: 'a.txt', edits }
  await check(t, server, '/preview', edit, 200, { changes: lines })
  await check(t, server, '/batch', { operations: [edit] }, 200, { results: [{ changes: lines }] })
  t.equal(bytesOf(server, 'a.txt'), '1\ntwo\nthree\nend\n')
  const ask = (tool: string, body: object) =>
    server.call('POST', `/tools/${tool}`, { body: { path: 'crlf.txt', ...body }, headers: { accept: 'text/plain' } })
  await ask('inspect_file', {})
  const removed = await ask('edit_lines', { start_line: 2, end_line: -1, new_text: '' })
  t.match(removed.text, /What was removed:\n2\ttwo/)
})

t.test('refuses edits that overlap, and text that is not there', async t => {
  const server = await startServer(t, { files })
  const two = (first: object, second: object, detail: string | RegExp) =>
    check(
      t,
      server,
      '/edit-lines',
      {
        path: 'a.txt',
        edits: [
          { new_text: 'x', ...first },
          { new_text: 'y', ...second }
        ]
      },
      422,
      { code: 'OVERLAPPING_EDITS', edit_index: 1, other_edit_index: 0, total_edits: 2, detail }
    )
  await two(
    { start_line: 1, end_line: 3 },
    { start_line: 3, end_line: 4 },
    [
      'Edit 2 of 2 failed: it changes lines 3 to 4 of a.txt and edit 1 changes lines 1 to 3, so they overlap.',
      'All line numbers refer to the file before the request.',
      'Merge the two edits, or correct their lines.',
      'Nothing was written: none of the 2 edits was made.'
    ].join(' ')
  )
  await two(
    { start_line: 3, end_line: 2 },
    { start_line: 2, end_line: 4 },
    /it changes lines 2 to 4 of a\.txt and edit 1 inserts before line 3/
  )
  await check(
    t,
    server,
    '/edit-lines',
    {
      path: 'a.txt',
      edits: [
        { start_line: 2, end_line: 1, new_text: 'x' },
        { start_line: 2, end_line: 2, new_text: 'y' }
      ],
      dry_run: true
    },
    200,
    {}
  )
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 2, end_line: 2, new_text: 'x', expected_text: 'four\n' },
    422,
    {
      code: 'EXPECTED_TEXT_MISMATCH',
      retry: 'after_read',
      detail: [
        'expected_text does not match line 2 of a.txt, which has "two\\n".',
        'expected_text is now at line 4. If you mean line 4, send suggested_fixes[0].edit.',
        'Nothing was written.'
      ].join(' '),
      actual_text: 'two\n',
      suggested_fixes: [
        { type: 'USE_EXACT_TEXT', edit: { start_line: 4, end_line: 4, expected_text: 'four', new_text: 'x' } },
        { type: 'READ_FILE', example: 'POST /inspect {"path":"a.txt","start_line":4,"end_line":4}' }
      ],
      file_preview: { total_lines: 5 }
    }
  )
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 2, end_line: 3, new_text: 'x', expected_text: 'nothing like it' },
    422,
    {
      code: 'EXPECTED_TEXT_MISMATCH',
      detail:
        /^expected_text does not match lines 2 to 3 of a\.txt, .* No other lines clearly match it\. Read the file/,
      suggested_fixes: [{ type: 'READ_FILE' }]
    }
  )
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 2, end_line: 1, new_text: 'x', expected_text: 'two' },
    422,
    { code: 'EXPECTED_TEXT_MISMATCH', detail: /^expected_text must be empty, because the edit inserts before line 2/ }
  )
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'empty.txt', start_line: 1, end_line: 0, new_text: 'x', expected_text: 'y' },
    422,
    {
      code: 'EXPECTED_TEXT_MISMATCH',
      suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"empty.txt"}' }],
      file_preview: { highlights: [] }
    }
  )
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', start_line: 2, end_line: 3, new_text: 'x', expected_text: '  two\nthree ' },
    422,
    {
      code: 'EXPECTED_TEXT_MISMATCH',
      detail: new RegExp(
        'They are nearly the same: the file indents 1 line by 2 fewer spaces than expected_text ' +
          '\\(and white space at the end of lines\\)\\. If you mean these lines, send'
      ),
      suggested_fixes: [
        { edit: { start_line: 2, end_line: 3, expected_text: 'two\nthree', new_text: 'x' } },
        { type: 'READ_FILE' }
      ],
      actual_text: 'two\nthree\n'
    }
  )
  t.equal(bytesOf(server, 'a.txt'), LINES)
})

t.test('takes the modes and fields of /edit', async t => {
  const server = await startServer(t, { files, settings: { maxEdits: 2, maxFileSize: 100 } })
  const one = { start_line: 1, end_line: 1, new_text: 'x' }
  const refuses = (request: object, code: string, more: object = {}) =>
    check(t, server, '/edit-lines', { path: 'a.txt', ...request }, 400, { code, ...more })
  await refuses({ ...one, edits: [one] }, 'MIXED_MODES', {
    detail: /edits as well as start_line, end_line and new_text at the top level/
  })
  await refuses({}, 'NO_EDITS', {
    detail: 'The request has no edits. Send start_line, end_line and new_text, or edits with at least one such object.'
  })
  await refuses({ edits: [] }, 'NO_EDITS', { detail: /Send start_line, end_line and new_text/ })
  await refuses({ edits: [one, one, one] }, 'TOO_MANY_EDITS')
  await refuses({ start_line: 1, new_text: '' }, 'INVALID_REQUEST', {
    errors: [{ pointer: '/end_line', message: 'is missing' }]
  })
  await refuses({ edits: [{ start_line: 1, end_line: 1 }] }, 'INVALID_REQUEST', {
    errors: [{ pointer: '/edits/0/new_text', message: 'is missing' }]
  })
  await refuses({ ...one, start_line: 'first' }, 'INVALID_REQUEST', {
    errors: [{ pointer: '/start_line', message: 'must be a whole number, not a string' }]
  })
  await refuses({ ...one, line_end: 1 }, 'INVALID_REQUEST', {
    errors: [{ pointer: '/line_end', message: /^is an unknown field \((did you mean|known fields:) / }]
  })
  await refuses({ ...one, old_text: 'x' }, 'INVALID_REQUEST', {
    errors: [{ pointer: '/old_text', message: /^is an unknown field/ }]
  })
  await check(t, server, '/edit-lines', { path: 'a.txt', ...one, new_text: 'x'.repeat(200) }, 422, {
    code: 'RESULT_TOO_LARGE'
  })
  const {
    body: { file_hash }
  } = await server.call('POST', '/inspect', { body: { path: 'a.txt' } })
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', ...one },
    412,
    { code: 'STALE_FILE' },
    { 'if-match': '"0123456789abcdef"' }
  )
  await check(t, server, '/edit-lines', { path: 'a.txt', ...one, expected_hash: '0123456789abcdef' }, 409, {
    code: 'STALE_FILE'
  })
  await check(t, server, '/edit-lines', { path: 'b.txt', ...one }, 404, {
    code: 'FILE_NOT_FOUND',
    did_you_mean: ['a.txt']
  })
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'a.txt', edits: [{ ...one, expected_text: null }], start_line: null, context_lines: 0 },
    200,
    { changes: [{ context: { before_lines: [], after_lines: [] } }] },
    { 'if-match': `"${file_hash}"` }
  )
})
