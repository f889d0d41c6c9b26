// What the answer to a failed edit says beyond the search: a file that has changed, edits in turn, too few matches, moved lines;
// and what a success warns of.
import t from 'tap'
import { check, startServer } from '../test-server.ts'

const TEN = Array.from(
  { length: 10 },
  (_, i) =>
    `line ${i + 1} of ${['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa'][i]}\n`
).join('')
const OTHER = '0123456789abcdef'
const files = {
  'ten.txt': TEN,
  'tabs.ts': 'function run () {\n\tconst limit = compute(1)\n\treturn limit\n}\n',
  'crlf.txt': TEN.replaceAll('\n', '\r\n'),
  'empty.txt': ''
}

t.test('says what an edit comes to in a file that has changed', async t => {
  const server = await startServer(t, { files })
  const stale = (route: string, body: object, expected: Record<string, unknown>, headers = {}, status = 409) =>
    check(t, server, route, { path: 'ten.txt', ...body }, status, { code: 'STALE_FILE', ...expected }, headers)
  const {
    body: { file_hash }
  } = await server.call('POST', '/inspect', { body: { path: 'ten.txt' } })
  await stale(
    '/edit',
    { old_text: 'of delta', new_text: 'x', expected_hash: OTHER },
    {
      detail: [
        `ten.txt has changed: its hash is ${file_hash}, not ${OTHER}. Nothing was written.`,
        `Your edit would still apply at line 4; file_preview shows what is there now.`,
        'It states the text that it replaces, so send it again without expected_hash.'
      ].join(' '),
      expected_hash: OTHER,
      file_preview: { preview_start_line: 1, preview_end_line: 7, highlights: [{ start_line: 4, end_line: 4 }] },
      suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"ten.txt","start_line":1,"end_line":7}' }]
    }
  )
  await stale(
    '/edit',
    { old_text: 'of delta', new_text: 'x' },
    { detail: /Your edit would still apply at line 4/ },
    { 'if-match': `"${OTHER}"` },
    412
  )
  await stale(
    '/edit',
    { old_text: 'line 4  of  delta', new_text: 'x', expected_hash: OTHER },
    {
      detail:
        / Your edit would fail on the current file too: .* line 4 was meant.* Send the corrected edit with expected_hash "\w{16}"\.$/,
      similar_content: [{ line_number: 4, content: 'line 4 of delta' }],
      suggested_fixes: [{ type: 'USE_EXACT_TEXT', edit: { old_text: 'line 4 of delta' } }, { type: 'READ_FILE' }],
      file_preview: { highlights: [{ start_line: 4, end_line: 4 }] }
    }
  )
  await stale(
    '/edit',
    { old_text: 'line', new_text: 'x', expected_hash: OTHER },
    { detail: /appears 10 times/, actual_occurrences: 10, match_lines: { length: 10 } }
  )
  await stale(
    '/edit',
    { old_text: 'line', new_text: 'x', replace_all: true, expected_hash: OTHER },
    { detail: /at line 1, at line 2, .* and at line 10; file_preview/ }
  )
  await stale(
    '/edit',
    { old_text: 'l', new_text: 'x', replace_all: true, expected_hash: OTHER },
    { detail: /at line 1, at line 2, .* and at \d+ more places; file_preview/ }
  )
  await stale(
    '/edit-lines',
    { start_line: 3, end_line: 4, new_text: 'x', expected_hash: OTHER },
    {
      detail: [
        `ten.txt has changed: its hash is ${file_hash}, not ${OTHER}. Nothing was written.`,
        'Line numbers may have moved: your edit would apply at lines 3 to 4 now; file_preview shows what is there.',
        `If these are the lines you mean, send it with expected_hash "${file_hash}"; if not, correct the numbers first.`
      ].join(' '),
      file_preview: { content: /gamma/, highlights: [{ start_line: 3, end_line: 4 }] }
    }
  )
  await stale(
    '/edit-lines',
    { start_line: 3, end_line: 2, new_text: 'x', expected_hash: OTHER },
    { detail: /would apply before line 3 now;/ }
  )
  await stale(
    '/edit-lines',
    { start_line: 3, end_line: 3, expected_text: 'line 5 of epsilon', new_text: 'x', expected_hash: OTHER },
    {
      detail:
        /Your edit would fail on the current file too: expected_text does not match line 3 of ten\.txt, .* expected_text is now at line 5/,
      suggested_fixes: [{ edit: { start_line: 5, end_line: 5, expected_text: 'line 5 of epsilon', new_text: 'x' } }, {}]
    }
  )
  await stale(
    '/edit-lines',
    { start_line: 30, end_line: 30, new_text: 'x', expected_hash: OTHER },
    { detail: /Your edit would fail on the current file too: ten\.txt has no line 30/, total_lines: 10 }
  )
  await stale(
    '/edit-lines',
    { start_line: 3, end_line: 3, expected_text: 'line 3 of gamma', new_text: 'x', expected_hash: OTHER },
    { detail: /Your edit would still apply at line 3;/ }
  )
  await stale(
    '/edit-lines',
    {
      edits: [
        { start_line: 3, end_line: 3, expected_text: 'line 3 of gamma', new_text: 'x' },
        { start_line: 5, end_line: 5, new_text: 'x' }
      ],
      expected_hash: OTHER
    },
    { detail: /Line numbers may have moved: your edit would apply at line 3 and at line 5 now;/ }
  )
  const replaced = [
    `ten.txt has changed: its hash is ${file_hash}, not ${OTHER}. Nothing was written.`,
    'Read the file again, check that you still want to replace all of it, and send it with expected_hash',
    `"${file_hash}".`
  ].join(' ')
  await stale(
    '/create',
    { content: 'x', overwrite: true, expected_hash: OTHER },
    { detail: replaced, suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"ten.txt"}' }] }
  )
  await stale(
    '/preview',
    { operation: 'edit', old_text: 'of delta', new_text: 'x', expected_hash: OTHER },
    { detail: /Your edit would still apply at line 4/ }
  )
  await check(t, server, '/create', { path: 'empty.txt', content: '', overwrite: true, expected_hash: OTHER }, 409, {
    detail: /check that you still want to replace all of it/,
    suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"empty.txt"}' }]
  })
})

t.test('says which of several edits failed, and whether an earlier one is why', async t => {
  const server = await startServer(t, { files })
  const fails = (edits: object[], expected: Record<string, unknown>) =>
    check(t, server, '/edit', { path: 'ten.txt', edits }, 422, expected)
  const good = { old_text: 'of alpha', new_text: 'of omega' }
  await fails([good, { old_text: 'nowhere to be found', new_text: '' }], {
    edit_index: 1,
    detail: /^Edit 2 of 2 failed: .* Nothing was written: none of the 2 edits was made; edit 1 matches\.$/
  })
  await fails([good, { old_text: 'of beta', new_text: '' }, { old_text: 'of', new_text: '' }], {
    edit_index: 2,
    detail: /^Edit 3 of 3 failed: .*; edits 1 to 2 match\.$/
  })
  await fails([{ old_text: 'of', new_text: '' }, good], {
    edit_index: 0,
    detail: /none of the 2 edits was made; edit 2 was not tried\.$/
  })
  await fails([good, { old_text: 'line 1 of alpha', new_text: 'x' }], {
    detail:
      /edit 1 of this request changes it first\. Write old_text to match .* \(suggested_fixes\[0\]\.edit has it\), or merge/,
    suggested_fixes: [{ edit: { old_text: 'line 1 of omega' } }, {}]
  })
  await fails(
    [
      { old_text: 'of alpha', new_text: 'of beta' },
      { old_text: 'of beta', new_text: 'x' }
    ],
    {
      code: 'WRONG_COUNT',
      detail: /appears 2 times .* The original file has that many; edit 1 of this request changes it first\./,
      suggested_fixes: [{ type: 'ADD_CONTEXT', edit: { old_text: 'line 2 of beta' } }, {}, {}]
    }
  )
})

t.test('shows what resembles the text where matches are missing', async t => {
  const server = await startServer(t, {
    files: {
      a: 'const limit = compute(1)\nfoo()\nconst  limit  = compute(1)\n',
      b: 'const limit = compute(1)\nconst limit = compute(1)\nconst  limit  = compute(1)\n'
    }
  })
  const edit = { old_text: 'const limit = compute(1)', new_text: 'x' }
  await check(t, server, '/edit', { path: 'a', ...edit, occurrences: 2 }, 422, {
    code: 'WRONG_COUNT',
    detail:
      / Line 3 is nearly the same: "const {2}limit {2}= compute\(1\)"; .* Set occurrences to 1, or leave it out, to replace/,
    similar_content: [{ line_number: 3 }]
  })
  await check(t, server, '/edit', { path: 'b', ...edit, occurrences: 3 }, 422, {
    code: 'WRONG_COUNT',
    detail: /Line 3 is nearly the same: .* Set occurrences to 2 to replace all of them, or check whether/
  })
})

t.test('says where the lines are that were expected', async t => {
  const server = await startServer(t, { files })
  const fails = (body: object, expected: Record<string, unknown>) =>
    check(t, server, '/edit-lines', { new_text: '  x\n', ...body }, 422, {
      code: 'EXPECTED_TEXT_MISMATCH',
      ...expected
    })
  await fails(
    {
      path: 'tabs.ts',
      start_line: 2,
      end_line: 3,
      expected_text: '  const limit = compute(1)\n  return limit',
      new_text: '  return compute(2)'
    },
    {
      detail:
        /They are nearly the same: the file indents with 1 tab, but expected_text indents with 2 spaces\. If you mean these lines, send/,
      similar_content: [{ line_number: 2, end_line: 3, confidence: 'high' }],
      suggested_fixes: [
        {
          type: 'USE_EXACT_TEXT',
          edit: {
            start_line: 2,
            end_line: 3,
            expected_text: '\tconst limit = compute(1)\n\treturn limit',
            new_text: '\treturn compute(2)'
          }
        },
        { type: 'READ_FILE' }
      ]
    }
  )
  await fails(
    { path: 'tabs.ts', start_line: 1, end_line: 1, expected_text: '\tconst limits = compute(1)' },
    {
      detail:
        / at line 2: the file has "limit", expected_text "limits"\. If you mean line 2, send \S+ with a new_text of your own: /,
      suggested_fixes: [
        {
          suggestion:
            /^If you mean line 2, send .* and write new_text yourself: your change is at .*, where the file has /,
          edit: { start_line: 2, end_line: 2, expected_text: '\tconst limit = compute(1)', new_text: undefined }
        },
        {}
      ]
    }
  )
  await fails(
    { path: 'ten.txt', start_line: 2, end_line: 1, expected_text: 'line 5 of epsilon' },
    {
      detail: /expected_text is now at line 5\. If you mean line 5, copy its text as expected_text\./,
      suggested_fixes: [{ type: 'READ_FILE' }]
    }
  )
  await fails({ path: 'ten.txt', start_line: 2, end_line: 2, expected_text: 'line 7 of' }, { similar_content: Array })
  const { body } = await fails(
    { path: 'crlf.txt', start_line: 2, end_line: 3, expected_text: 'line 5 of epsilon\nline 6 of zeta', new_text: 'x' },
    {
      suggested_fixes: [
        { edit: { start_line: 5, end_line: 6, expected_text: 'line 5 of epsilon\r\nline 6 of zeta', new_text: 'x' } },
        {}
      ]
    }
  )
  const [{ edit }] = body.suggested_fixes as [{ edit: object }]
  await check(t, server, '/edit-lines', { path: 'crlf.txt', ...edit }, 200, { changed: true, total_lines_after: 9 })
})

t.test('warns of a placeholder and of line numbers that were put in', async t => {
  const server = await startServer(t, { files })
  const put = (route: string, body: object, warnings: RegExp[]) => check(t, server, route, body, 200, { warnings })
  await put(
    '/edit',
    { path: 'ten.txt', old_text: 'line 1 of alpha', new_text: 'first\n// ... existing code ...\nlast', dry_run: true },
    [
      /^new_text contains the placeholder "\/\/ \.\.\. existing .*" \(its line 2\), which would be .* before you send the edit\.$/
    ]
  )
  await put(
    '/edit',
    { path: 'ten.txt', old_text: 'line 1 of alpha', new_text: 'first\n// ... existing code ...\nlast' },
    [/which was written literally: .* they are gone; replace it with those lines, in full\.$/]
  )
  await put(
    '/edit',
    { path: 'ten.txt', old_text: '// ... existing code ...', new_text: '// ... existing code ...\n' },
    []
  )
  await put(
    '/edit',
    {
      path: 'ten.txt',
      edits: [
        { old_text: 'line 2 of beta', new_text: 'b' },
        { old_text: 'line 3 of gamma', new_text: '3\tc\n4\td' }
      ]
    },
    [/^new_text of edit 2 starts its lines with numbers, such as "3\\tc" \(its line 1\), which were .* removes them\.$/]
  )
  await put('/edit-lines', { path: 'tabs.ts', start_line: 2, end_line: 3, new_text: '\t...\n', dry_run: true }, [
    /^new_text contains the placeholder "\.\.\."/
  ])
  await put('/create', { path: 'new.txt', content: '1\tone\n2\ttwo\n', dry_run: true }, [
    /^content starts its lines with numbers, .* leave them out\.$/
  ])
  const many = await check(
    t,
    server,
    '/edit',
    {
      path: 'many.txt',
      edits: Array.from({ length: 30 }, (_, i) => ({ old_text: `<${i}>`, new_text: `<${i}>\n// ...\n` }))
    },
    404,
    {}
  )
  t.match(many.body, { code: 'FILE_NOT_FOUND' })
  await check(
    t,
    server,
    '/create',
    { path: 'many.txt', content: Array.from({ length: 30 }, (_, i) => `<${i}>\n`).join('') },
    200,
    {}
  )
  const { body } = await check(
    t,
    server,
    '/edit',
    {
      path: 'many.txt',
      edits: Array.from({ length: 30 }, (_, i) => ({ old_text: `<${i}>`, new_text: `<${i}>\n// ...\n` }))
    },
    200,
    {}
  )
  t.match(body.warnings, { length: 21, 20: 'Not listed: 10 more warnings about new_text.' })
  const same = await check(
    t,
    server,
    '/edit',
    { path: 'tabs.ts', old_text: 'return limit', new_text: 'return limit' },
    200,
    { changed: false }
  )
  t.strictSame(same.body.warnings, [])
})

t.test('claims no number of lines that it has not counted', async t => {
  const server = await startServer(t, { files: { 'many.txt': 'same line\n'.repeat(4990) } })
  const edit = { path: 'many.txt', old_text: 'same', new_text: 'x' }
  await check(t, server, '/edit', edit, 422, {
    detail: / appears 4990 times in .* 9, 10 and more, but 1 was expected\./
  })
  await check(t, server, '/edit', { ...edit, occurrence: 5000 }, 422, { detail: / 9, 10 and more\. Set occurrence/ })
  const { body } = await server.call('POST', '/inspect', { body: { path: 'many.txt', search: 'same' } })
  t.match(body.message, / 9, 10 and more\. Only the first/)
})

t.test('says of a short text that was copied from an answer that it stands for bytes that are not UTF-8', async t => {
  const server = await startServer(t, { files: { 'latin.txt': Buffer.from('na\x81ve\nport\n', 'latin1') } })
  await check(t, server, '/edit', { path: 'latin.txt', old_text: 'na\ufffdve', new_text: 'naive' }, 422, {
    code: 'NO_MATCH',
    detail:
      'old_text was not found in latin.txt: "na\ufffdve". The file has bytes there that are not UTF-8 (shown as U+FFFD), ' +
      'which old_text cannot match; choose an old_text without them. Nothing was written.',
    suggested_fixes: [{ type: 'READ_FILE' }]
  })
  const lines = { path: 'latin.txt', start_line: 1, end_line: 1, expected_text: 'na\ufffdve', new_text: 'naive' }
  await check(t, server, '/edit-lines', lines, 422, {
    code: 'EXPECTED_TEXT_MISMATCH',
    detail:
      'expected_text does not match line 1 of latin.txt, which has "na\ufffdve\\n". There are bytes that are not UTF-8 ' +
      '(shown as U+FFFD), which expected_text cannot match; leave it out. Nothing was written.'
  })
  const { expected_text: _, ...left } = lines
  await check(t, server, '/edit-lines', left, 200, { changed: true })
})
