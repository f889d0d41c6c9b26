// What problems and successes say: every code once against the schema, then the sentences.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { PROBLEM_CODES } from '../../../schemas/problem.ts'
import type { FilePreview, Fix, NoMatch, SimilarContent, WrongCount } from '../../../src/engine/failure.ts'
import { EXAMPLES, exampleOf } from '../../../src/http/answers/examples.ts'
import type { Failure } from '../../../src/http/failure.ts'
import { toBody } from '../../../src/http/answers/outcome.ts'
import { KINDS, toProblem, type Context } from '../../../src/http/answers/problem.ts'
import { cut, linesListed, quote } from '../../../src/http/answers/phrases.ts'
import type { ChangeOutcome, InspectOutcome } from '../../../src/operations/operation.ts'
import { validator } from '../test-server.ts'

const document = parse(readFileSync(new URL('../../../openapi.yaml', import.meta.url), 'utf8'))
const faultsOf = validator(document)
const CONTEXT: Context = { instance: '/edit', request_id: 'r-1', path: 'src/app.ts' }

/** The failure becomes a valid problem with these members. */
function check(t: Test, failure: Failure, expected: Record<string, unknown>, context: Partial<Context> = {}) {
  const { body, headers } = toProblem(failure, { ...CONTEXT, ...context })
  t.strictSame(faultsOf('Problem', body), [])
  t.match(body, expected)
  return headers
}

t.test('makes a valid, published problem of every code', async t => {
  t.strictSame(Object.keys(KINDS).sort(), [...PROBLEM_CODES].sort())
  const published = new Map<string, Record<string, unknown>>()
  for (const path of Object.values<
    Record<
      string,
      {
        responses: Record<
          string,
          { content: Record<string, { examples?: Record<string, { value: Record<string, unknown> }> }> }
        >
      }
    >
  >(document.paths)) {
    for (const { responses } of Object.values(path)) {
      for (const [status, { content }] of Object.entries(responses)) {
        for (const [code, { value }] of Object.entries(content['application/problem+json']?.examples ?? {})) {
          t.strictSame(faultsOf('Problem', value), [], code)
          t.equal(value.code, code)
          t.equal(String(value.status), status)
          published.set(code, value)
        }
      }
    }
  }
  for (const code of PROBLEM_CODES) {
    const problem = exampleOf(code, { instance: '/edit' })
    t.strictSame(faultsOf('Problem', problem), [], code)
    t.match(problem, {
      code,
      status: KINDS[code][0],
      type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
      instance: '/edit',
      request_id: String
    })
    t.match(problem.detail, /^\S.{20,}[.?]$/s, code)
    t.notMatch(problem.detail, /undefined|\[object|NaN/)
    t.ok(published.has(code), `${code} has an example in openapi.yaml`)
  }
  t.equal(published.size, PROBLEM_CODES.length)
})

const preview: FilePreview = {
  total_lines: 9,
  preview_start_line: 1,
  preview_end_line: 1,
  content: 'x',
  highlights: [{ line: 1 }]
}
const noMatch = (more: Partial<NoMatch> = {}): NoMatch => ({
  code: 'NO_MATCH',
  edit_index: 0,
  total_edits: 1,
  search_text: 'foo(1)',
  similar_content: [],
  fixes: [],
  file_preview: preview,
  cause: { type: 'spacing', expected: 'foo(1)', found: 'foo( 1 )' },
  ...more
})
const similar = (more: Partial<SimilarContent> = {}): SimilarContent => ({
  line_number: 4,
  end_line: 5,
  content: 'foo( 1 )',
  similarity_score: 0.95,
  confidence: 'high',
  differences: [
    { type: 'whitespace', expected: '(1)', found: '( 1 )' },
    { type: 'line_endings', expected: '', found: '' }
  ],
  ...more
})

t.test('says what was searched, what is there and what to send next', async t => {
  const next = {
    detail:
      'old_text was not found in src/app.ts: "foo(1)". Nothing in its 9 lines is similar. Read the file and copy old_text from content exactly, or check that this is the right file. Nothing was written.'
  }
  check(t, noMatch(), next)
  check(
    t,
    noMatch({
      fixes: [{ type: 'USE_EXACT_TEXT', lines: [4, 5], edit: { old_text: 'foo( 1 )', new_text: 'bar' } }],
      similar_content: [similar()]
    }),
    {
      detail:
        'old_text was not found in src/app.ts: "foo(1)". Most likely lines 4 to 5 were meant: the spacing differs (the file has "foo( 1 )", old_text "foo(1)"). The file has "foo( 1 )" there. If so, send suggested_fixes[0].edit. Nothing was written.',
      suggested_fixes: [
        {
          type: 'USE_EXACT_TEXT',
          suggestion: 'Use the exact text of lines 4 to 5 as old_text: send this edit.',
          edit: { old_text: 'foo( 1 )', new_text: 'bar' }
        }
      ]
    }
  )
  check(
    t,
    noMatch({
      fixes: [{ type: 'READ_FILE' }, { type: 'USE_EXACT_TEXT', edit: { old_text: 'foo(2)' } }],
      similar_content: [similar({ line_number: 4, end_line: 4, confidence: 'low', differences: [] })]
    }),
    {
      detail:
        'old_text was not found in src/app.ts: "foo(1)". Perhaps line 4 was meant: the spacing differs (the file has "foo( 1 )", old_text "foo(1)"). The file has "foo( 1 )" there. If so, first update new_text to match what is there, then send it with the old_text of suggested_fixes[1].edit. Nothing was written.',
      suggested_fixes: [
        { suggestion: 'Look at the file as it is now, then decide.', example: 'POST /inspect {"path":"src/app.ts"}' },
        { suggestion: /First update new_text to match/ }
      ]
    }
  )
  check(t, noMatch({ similar_content: [similar()] }), {
    detail: /Read lines 4 to 5 and copy old_text from there exactly\. Nothing was written\.$/
  })
  check(t, noMatch({ already_applied: true, applied_line: 7, suggestions_truncated: true }), {
    detail: /new_text is already there \(line 7\), so this edit seems to have been made already/,
    already_applied: true,
    suggestions_truncated: true
  })
  check(t, noMatch({ already_applied: true }), { detail: /new_text is already there, so/ })
  check(t, noMatch({ edit_index: 1, total_edits: 3, undone_by_edit: 0 }), {
    detail:
      /^Edit 2 of 3 failed: old_text was not found .* edit 1 of this request changes it first\..* Nothing was written: none of the 3 edits was made; edit 1 matches\.$/,
    edit_index: 1,
    total_edits: 3
  })
  check(t, noMatch({ search_text: 'x'.repeat(2000) }), {
    search_text: /^x{250}…\[1500 characters left out\]…x{250}$/,
    detail: /"x{80}…"/
  })
})

const places = (lines: number[]) =>
  lines.slice(0, 10).map(line_number => ({
    line_number,
    column_start: 1,
    column_end: 2,
    line_content: 'x',
    context_before: [],
    context_after: []
  }))
const wrongCount = (lines: number[], more: Partial<WrongCount> = {}): WrongCount => ({
  code: 'WRONG_COUNT',
  edit_index: 0,
  total_edits: 1,
  search_text: 'x',
  expected_occurrences: 1,
  actual_occurrences: lines.length,
  overlapping: false,
  match_locations: places(lines),
  match_lines: lines,
  fixes: [],
  ...more
})

t.test('counts in plain words', async t => {
  check(t, wrongCount([3, 10, 12]), {
    detail:
      'old_text appears 3 times in src/app.ts, at lines 3, 10 and 12, but 1 was expected. Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), set occurrences to 3 to replace all of them, or set occurrence to the number of the one you mean. Nothing was written.',
    expected_occurrences: 1,
    actual_occurrences: 3
  })
  check(t, wrongCount([3], { expected_occurrences: 2 }), {
    detail: /appears 1 time in src\/app\.ts, at line 3, but 2 were expected\. Set occurrences to 1, or leave it out/
  })
  check(t, wrongCount([3], { overlapping: true, expected_occurrences: 2 }), {
    detail:
      /appears 1 time in .* but 2 were expected\. Its matches overlap, so it is not unique either\. Add surrounding lines/
  })
  check(t, wrongCount([3, 3], { overlapping: true }), {
    detail: /appears 2 times in .* Some of the matches overlap\. Add surrounding lines/
  })
  check(t, wrongCount(Array.from({ length: 14 }, (_, i) => i + 1)), { detail: /at lines 1, 2, .* 10 and 4 more, but/ })
  check(t, { ...wrongCount([3, 10]), code: 'OCCURRENCE_OUT_OF_RANGE', occurrence: 5 } as Failure, {
    detail:
      /occurrence 5 was asked for, but old_text appears 2 times in src\/app\.ts, at lines 3 and 10\. Set occurrence to a number from 1 to 2/
  })
  check(t, { ...wrongCount([3]), code: 'OCCURRENCE_OUT_OF_RANGE', occurrence: 2 } as Failure, {
    detail: /Set occurrence to 1, "first" or "last"/
  })
  check(
    t,
    { code: 'RESULT_TOO_LARGE', what: 'replacements', edit_index: 0, total_edits: 2, limit: 10, actual: 11 },
    { detail: /^Edit 1 of 2 failed: 11 places would be replaced; the limit for one request is 10\./ }
  )
  check(
    t,
    { code: 'LINE_OUT_OF_RANGE', total_lines: 1, start_line: 3 },
    { detail: 'There is no line 3: src/app.ts has 1 line. Ask for lines from 1 to 1.' }
  )
  check(
    t,
    { code: 'LINE_OUT_OF_RANGE', total_lines: 9, start_line: 3, end_line: 2 },
    { detail: /^end_line 2 comes before start_line 3/ }
  )
  check(
    t,
    { code: 'LINE_OUT_OF_RANGE', total_lines: 9, start_line: 3, start_column: 9, total_columns: 4 },
    { detail: /no column 9 in line 3 of src\/app\.ts, which has 4 columns/ }
  )
})

t.test('gives each fix a sentence', async t => {
  const fix = (fix: Fix) => toProblem(noMatch({ fixes: [fix] }), CONTEXT).body.suggested_fixes?.[0]
  const edit = { old_text: 'a', new_text: 'b' }
  t.match(fix({ type: 'ADJUST_COUNT', edit: { ...edit, occurrences: 3 } }), {
    suggestion: /set occurrences to 3/,
    example: '"occurrences": 3'
  })
  t.match(fix({ type: 'ADJUST_COUNT' }), { suggestion: /the number of matches/ })
  t.match(fix({ type: 'CHOOSE_OCCURRENCE', edit: { ...edit, occurrence: 'last' } }), {
    example: '"occurrence": "last"'
  })
  t.match(fix({ type: 'CHOOSE_OCCURRENCE' }), { example: '"occurrence": 1' })
  t.match(fix({ type: 'ADD_CONTEXT', edit, lines: [4, 6] }), {
    suggestion:
      /only the match at line 4, send this edit: its old_text has the surrounding lines and matches one place\.$/
  })
  t.match(fix({ type: 'ADD_CONTEXT', edit: { old_text: 'a' } }), {
    suggestion: /only the match shown.*Add the same lines/
  })
  t.match(fix({ type: 'ALREADY_APPLIED', lines: [4, 4] }), { suggestion: /already in the file \(line 4\)/ })
  t.match(fix({ type: 'ALREADY_APPLIED' }), { suggestion: /already in the file: if/ })
  t.match(fix({ type: 'ESCAPE_SPECIAL', edit }), { suggestion: /as in the file\.$/ })
  t.match(fix({ type: 'CHECK_WHITESPACE', edit, lines: [1, 2] }), { suggestion: /differ from lines 1 to 2/ })
  t.match(fix({ type: 'USE_EXACT_TEXT' }), { suggestion: 'Use the exact text of the file as old_text.' })
  t.match(fix({ type: 'READ_FILE', lines: [2, 9] }), {
    suggestion: /^Read lines 2 to 9/,
    example: 'POST /inspect {"path":"src/app.ts","start_line":2,"end_line":9}'
  })
  t.match(fix({ type: 'FIX_PATH' }), { suggestion: /Look at the file/ })
})

t.test('says what is wrong with a file, and where to go on', async t => {
  check(
    t,
    { code: 'FILE_NOT_FOUND', did_you_mean: ['a.ts', 'b.ts'] },
    {
      detail: 'src/app.ts was not found. Did you mean a.ts or b.ts?',
      did_you_mean: ['a.ts', 'b.ts'],
      suggested_fixes: [{ type: 'FIX_PATH', example: 'POST /inspect {"path":"a.ts"}' }]
    }
  )
  check(t, { code: 'FILE_NOT_FOUND' }, { detail: /Check the path/, did_you_mean: undefined })
  check(
    t,
    { code: 'PATH_NOT_ALLOWED', reason: 'extension', allowed_extensions: ['.ts', '.md'] },
    { detail: /Allowed extensions are \.ts and \.md/ }
  )
  check(t, { code: 'PATH_NOT_ALLOWED', reason: 'extension' }, { detail: /has an extension/ })
  check(t, { code: 'PERMISSION_DENIED', reason: 'not_permitted' }, { detail: /has no permission to open or change/ })
  check(t, { code: 'INVALID_PATH', reason: 'too_long' }, { detail: /longer than a file system allows/ })
  for (const [type, words] of [
    ['directory', 'is a directory, not a file. Send the path of a file in it.'],
    ['fifo', 'is a named pipe'],
    ['socket', 'is a socket'],
    ['device', 'is a device']
  ] as const) {
    check(t, { code: 'NOT_A_FILE', type }, { detail: new RegExp(words) })
  }
  check(t, { code: 'BINARY_FILE', encoding: 'utf-16le', file_size: 4 }, { detail: /UTF-16LE, and only/ })
  const stale: Failure = { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '9f86d081884c7d65' }
  t.equal(
    check(
      t,
      stale,
      {
        status: 409,
        retry: 'after_read',
        detail: /its hash is 60303ae22b998861, not 9f86d081884c7d65/,
        file_hash: '60303ae22b998861',
        suggested_fixes: [{ type: 'READ_FILE' }]
      },
      { file_hash: '60303ae22b998861' }
    ).etag,
    '"60303ae22b998861"'
  )
  check(t, stale, { status: 412, detail: /has changed: its hash is not/ }, { by_header: true })
  check(
    t,
    { code: 'STALE_FILE', reason: 'changed_meanwhile' },
    { status: 409, detail: /changed by another program/ },
    { by_header: true }
  )
  for (const [reason, words] of [
    ['timeout', 'is still being edited'],
    ['queue_full', 'too many edits waiting'],
    ['lost', 'lost its lock']
  ] as const) {
    t.equal(
      check(
        t,
        { code: 'FILE_LOCKED', reason, retry_after: 1.2 },
        { status: 423, detail: new RegExp(`${words}.*Send it again in 2 seconds`), retry: 'after_delay' }
      )['retry-after'],
      '2'
    )
  }
  check(
    t,
    { code: 'NOT_READY', reason: 'no_descriptors', retry_after: 1 },
    { status: 503, detail: /too many files open.*in 1 second\./ }
  )
  check(t, { code: 'EMPTY_OLD_TEXT' }, { detail: /^old_text is empty/ })
  check(
    t,
    {
      code: 'INVALID_REQUEST',
      errors: Array.from({ length: 30 }, (_, i) => ({ pointer: `/${i}`, message: 'is wrong' }))
    },
    { detail: 'The request is not valid: /0 is wrong; /1 is wrong; /2 is wrong; and 27 more.', errors: { length: 20 } }
  )
  check(
    t,
    { code: 'FILE_NOT_FOUND', missing: 'parent', did_you_mean: ['srv/x.ts'] },
    { detail: /^The directory for src\/app\.ts was not found/, did_you_mean: ['srv/x.ts'] }
  )
  check(
    t,
    {
      code: 'EXPECTED_TEXT_MISMATCH',
      edit_index: 0,
      total_edits: 1,
      start_line: 2,
      end_line: 3,
      actual_text: 'a\ufffd',
      lossy: true,
      similar_content: [],
      fixes: [],
      suggestions_truncated: true,
      file_preview: preview
    },
    { lossy: true, suggestions_truncated: true, actual_text: 'a\ufffd' }
  )
  check(
    t,
    { code: 'ALREADY_EXISTS', reason: 'exists', if_none_match: true },
    { status: 412 },
    { file_hash: '60303ae22b998861' }
  )
  const { body } = toProblem({ code: 'INTERNAL_ERROR' }, { instance: '/edit', request_id: 'r-1' })
  t.strictSame(Object.keys(body).sort(), [
    'code',
    'detail',
    'instance',
    'request_id',
    'retry',
    'status',
    'title',
    'type'
  ])
  const nameless = toProblem({ code: 'READ_ONLY' }, { instance: '/edit', request_id: 'r-1' })
  t.strictSame(nameless.headers, {})
  t.match(toProblem({ code: 'FILE_NOT_FOUND' }, { instance: '/edit', request_id: 'r-1', resolved_path: 'b' }).body, {
    detail: /^the file was not found/,
    resolved_path: 'b'
  })
})

t.test('cuts long texts in whole characters, and says so', async t => {
  t.equal(cut('short'), 'short')
  t.equal(cut('ab😀cd😀ef', 6), 'ab…[6 characters left out]…ef')
  t.ok(cut('😀'.repeat(999), 501).isWellFormed())
  t.ok(quote('a' + '😀'.repeat(99)).endsWith('…"'))
  t.equal(linesListed([3, 3]), 'line 3')
})

const done = (more: Partial<ChangeOutcome> = {}): ChangeOutcome => ({
  path: 'a.ts',
  changed: true,
  dry_run: false,
  total_replacements: 2,
  edits_applied: [],
  changes: [12, 40].map(at => ({
    edit_index: 0,
    operation: 'replace',
    start_line: at,
    end_line: at,
    new_start_line: at,
    new_end_line: at,
    lines_removed: 1,
    lines_added: 1,
    net_change: 0
  })),
  total_lines_before: 90,
  total_lines_after: 90,
  file_size: 9,
  hash_before: '0'.repeat(16),
  file_hash: '1'.repeat(16),
  left_alone: [],
  newTextWarnings: [],
  warnings: [],
  ...more
})
const seen = (more: Partial<InspectOutcome> = {}): InspectOutcome => ({
  path: 'a.ts',
  type: 'file',
  file_size: 18,
  file_hash: '1'.repeat(16),
  encoding: 'ascii',
  modified_at: '',
  total_lines: 3,
  ...more
})

t.test('says what was done or found', async t => {
  const edited = (more: Partial<ChangeOutcome>, expected: object) =>
    t.match(toBody({ operation: 'edit', outcome: done(more) }), expected)
  edited({}, { message: 'Successfully replaced 2 occurrences in a.ts (lines 12 and 40).' })
  edited(
    { dry_run: true, resolved_path: 'b.ts' },
    { message: 'Would replace 2 occurrences in a.ts (lines 12 and 40); nothing was written.', resolved_path: 'b.ts' }
  )
  edited({ changed: false }, { message: 'The file already has exactly this content; nothing was written.' })
  edited(
    {
      total_replacements: 1,
      changes: done()
        .changes.slice(0, 1)
        .map(change => ({ ...change, operation: 'delete' }))
    },
    { message: 'Successfully deleted 1 occurrence from a.ts (line 12).' }
  )
  edited(
    { total_replacements: 50, changes_truncated: true },
    { message: 'Successfully replaced 50 occurrences in a.ts, the first at line 12.' }
  )
  edited(
    {
      edits_applied: [{ edit_index: 0, occurrences_found: 2, occurrences_replaced: 1, matched_with: 'exact' }],
      left_alone: [{ edit_index: 0, count: 1, lines: [40] }]
    },
    { note: 'old_text also appears at line 40, which was left unchanged.' }
  )
  edited(
    { left_alone: [{ edit_index: 1, count: 5, lines: [40, 41] }] },
    { note: 'The old_text of edit 2 also appears at lines 40 and 41 and 3 more, which were left unchanged.' }
  )
  edited(
    {
      diff_unavailable: 'not_utf8',
      warnings: ['set_id_dropped', 'links_left', 'unsynced_change', 'unsynced_creation']
    },
    {
      diff_unavailable: /^The changed lines, .* not UTF-8/,
      warnings: [
        /set-user-id and set-group-id bits are dropped/,
        /other hard links; they keep the old content/,
        /was changed, but .* bring the old content back/,
        /was created, but .* remove it again/
      ]
    }
  )
  edited(
    { joined_breaks: { count: 1, lines: [3] } },
    {
      warnings: [
        'The edit brought a carriage return (\\r) and a line feed (\\n) together at the end of line 3. Side by side they are one line break, so the file has 1 line fewer than the text that was replaced accounts for.'
      ]
    }
  )
  edited(
    { joined_breaks: { count: 5, lines: [3, 9] }, dry_run: true },
    {
      warnings: [
        /^The edit would bring .* at the end of lines 3 and 9 and 3 more\. Side by side they would be one line break, so the file would have 5 lines fewer/
      ]
    }
  )
  edited({ diff_unavailable: 'too_long' }, { diff_unavailable: /^The changed lines, .* longer than 16 MiB/ })
  const found = (more: Partial<InspectOutcome>, message: string) =>
    t.equal(
      toBody({ operation: 'inspect', outcome: seen(more), ...(more.matches && { searched: 'x' }) }).message,
      message
    )
  found({}, 'a.ts has 3 lines (18 bytes, ascii).')
  found({ content: 'x', start_line: 2, end_line: 3 }, 'a.ts has 3 lines (18 bytes, ascii); content is lines 2 to 3.')
  found(
    { content: 'x', start_line: 2, end_line: 2, truncated: true, next_line: 3 },
    'a.ts has 3 lines (18 bytes, ascii); content is line 2. It was cut at the limit: continue with start_line 3.'
  )
  found(
    { content: 'x', start_line: 2, end_line: 2, truncated: true, next_line: 2, next_column: 99 },
    'a.ts has 3 lines (18 bytes, ascii); content is line 2. It was cut at the limit: continue with start_line 2 and start_column 99.'
  )
  found(
    { matches: [], total_matches: 0, stopped_at_line: 7 },
    'a.ts has 3 lines (18 bytes, ascii). "x" was not found so far. The search took too long: lines from 7 on were not searched; make it simpler.'
  )
  found(
    {
      matches: [{ line_number: 2, column_start: 1, column_end: 2, line_content: 'x' }],
      total_matches: 1,
      stopped_at_line: 7
    },
    'a.ts has 3 lines (18 bytes, ascii). "x" was found 1 time, at line 2. The search took too long: lines from 7 on were not searched; make it simpler.'
  )
  found(
    { content: '', start_line: 1, end_line: 0, total_lines: 0, file_size: 0, resolved_path: 'b.ts' },
    'a.ts has 0 lines (0 bytes, ascii); it is empty.'
  )
})

t.test('keeps an example of every code', async t => {
  t.strictSame(Object.keys(EXAMPLES).sort(), [...PROBLEM_CODES].sort())
})
