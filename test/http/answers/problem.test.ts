// What problems and successes have and say: the schema, fixes, statuses, headers and the sentences of successes. What is
// said of every failure is in all-failures.txt.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { ProblemCode } from '../../../schemas/problem.ts'
import { MAX_EDIT_IDS } from '../../../schemas/undo.ts'
import type { Fix, NoMatch } from '../../../src/engine/failure.ts'
import type { CauseType } from '../../../src/engine/suggest/differences/classify.ts'
import type { Failure } from '../../../src/http/request-failure.ts'
import { whyMissed } from '../../../src/http/answers/no-match-cause.ts'
import { toBody } from '../../../src/http/answers/outcome.ts'
import type { MergeConflict } from '../../../src/engine/suggest/merge.ts'
import { exampleOf, toProblem, type Context } from '../../../src/http/answers/problem.ts'
import { PROBLEMS } from '../../../src/http/answers/problems/table.ts'
import { cut, linesListed, quote, quoteApart } from '../../../src/http/answers/phrases.ts'
import { BY_ROUTE } from '../../../src/http/answers/call-names.ts'
import { whyNotMerged } from '../../../src/http/answers/suggested-fixes.ts'
import type { NewTextWarning } from '../../../src/engine/edit/new-text-warnings.ts'
import type { ChangeOutcome, InspectOutcome } from '../../../src/operations/operation.ts'
import { validator } from '../test-server.ts'
import { EXAMPLES } from './all-failures.ts'

const document = parse(readFileSync(new URL('../../../openapi.yaml', import.meta.url), 'utf8'))
const faultsOf = validator(document)
const CODES = Object.keys(PROBLEMS) as ProblemCode[]
const CONTEXT: Context = { instance: '/edit', request_id: 'r-1', path: 'src/app.ts' }

/** The failure becomes a valid problem with these members. */
function check(t: Test, failure: Failure, expected: Record<string, unknown>, context: Partial<Context> = {}) {
  const { body, headers } = toProblem(failure, { ...CONTEXT, ...context })
  t.strictSame(faultsOf('Problem', body), [])
  t.match(body, expected)
  return headers
}

t.test('makes a valid, published problem of every code', async t => {
  const published = new Set<string>()
  const { responses, examples } = document.components as {
    responses: Record<string, { content: Record<string, { examples: Record<string, { $ref: string }> }> }>
    examples: Record<string, { value: Record<string, unknown> }>
  }
  for (const [name, { content }] of Object.entries(responses)) {
    const shown = Object.entries(content['application/problem+json']?.examples ?? {})
    // The responses for models have no examples of their own.
    if (shown.length === 0) continue
    const statuses = new Set<unknown>()
    for (const [code, { $ref }] of shown) {
      const value = examples[$ref.split('/').at(-1) ?? '']?.value ?? {}
      t.strictSame(faultsOf('Problem', value), [], code)
      t.equal(value.code, code)
      statuses.add(value.status)
      published.add(code)
    }
    t.equal(statuses.size, 1, `the examples of ${name} have one status`)
  }
  for (const code of CODES) {
    const problem = exampleOf(code, { instance: '/edit' })
    t.strictSame(faultsOf('Problem', problem), [], code)
    t.match(problem, {
      code,
      status: PROBLEMS[code].kind[0],
      type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
      instance: '/edit',
      request_id: String
    })
    t.match(problem.detail, /^\S.{20,}[.?]$/s, code)
    t.notMatch(problem.detail, /undefined|\[object|NaN/)
    t.ok(published.has(code), `${code} has an example in openapi.yaml`)
  }
  t.equal(published.size, CODES.length)
})

const noMatch = (more: Partial<NoMatch> = {}): NoMatch => ({ ...EXAMPLES.NO_MATCH, ...more })

t.test('publishes of each code what its problems have, and nothing else', async t => {
  const { body } = toProblem(EXAMPLES.NO_MATCH, CONTEXT)
  t.strictSame(faultsOf('Problem', body), [])
  const { suggested_fixes, ...without } = body
  t.match(faultsOf('NoMatchProblem', without), [/suggested_fixes/], 'NO_MATCH always has fixes')
  t.match(faultsOf('NoMatchProblem', { ...body, targets: [] }), [/unevaluated/], 'and never targets')
  t.match(faultsOf('Problem', { ...toProblem({ code: 'READ_ONLY' }, CONTEXT).body, limit: 1 }), [/./])
  t.not(faultsOf('Problem', { ...body, code: 'WRONG_COUNT' }).length, 0, 'the code decides')
})

t.test('echoes no more of a request than a person reads', async t => {
  check(t, noMatch({ search_text: 'x'.repeat(2000) }), {
    detail: /"x{80}…"/
  })
  const errors = Array.from({ length: 30 }, (_, i) => ({ pointer: `/${i}`, message: 'is wrong' }))
  check(t, { code: 'INVALID_REQUEST', errors }, { errors: { length: 20 } })
  const { body } = toProblem({ code: 'READ_ONLY' }, { ...CONTEXT, path: 'x'.repeat(2000) })
  t.match(body.path, /^x{250}…\[1500 characters left out\]…x{250}$/)
})

t.test('names no more edits than one request may', async t => {
  const edit_ids = Array.from({ length: MAX_EDIT_IDS + 1 }, (_, i) => `E${i}`)
  const first = edit_ids.slice(0, MAX_EDIT_IDS)
  check(t, { code: 'HISTORY_GONE', reason: 'no_texts', edit_ids }, { edit_ids: first })
  check(t, { code: 'NOTHING_TO_UNDO', verb: 'undo', reason: 'done_already', edit_ids }, { edit_ids: first })
  const at = { path: 'src/app.ts', start_line: 1, end_line: 1, current_text: 'b\n', would_restore: 'a\n' }
  const conflict = { ...at, edit_id: 'E0', change_index: 0, by: 'later', kind: 'overlap' as const }
  const types = (ids: string[]) => {
    const together = [...ids, 'later'].map(edit_id => ({ edit_id }))
    const failure = { code: 'UNDO_CONFLICT', verb: 'undo', edit_ids: ids, conflicts: [conflict], together } as const
    check(t, failure, { code: 'UNDO_CONFLICT' })
    return toProblem(failure, CONTEXT).body.suggested_fixes?.map(({ type }) => type)
  }
  t.strictSame(types(first.slice(1)), ['UNDO_LATER_TOO'])
  t.strictSame(types(first), [], 'with the later edit they would be too many')
})

t.test('says what the file and old_text differ in', async t => {
  const differ = (type: CauseType, expected: string, found: string, says: string) =>
    t.equal(whyMissed({ type, expected, found }), says)
  differ('trailing_space', 'x', 'x ', 'the file has white space at the end of a line that old_text leaves out')
  differ('trailing_space', 'x ', 'x', "old_text has white space at the end of a line that the file doesn't have")
  const asInFile = 'write line breaks as real line breaks, and quotes and backslashes as the file has them'
  differ('over_escaped', '\\n', '\n', `old_text has escapes (backslashes) that the file does not have; ${asInFile}`)
  differ('over_escaped', '\n', '\\n', `the file has escapes (backslashes) that old_text leaves out; ${asInFile}`)
  differ('punctuation', '', ';', 'the file has ";" where old_text has nothing')
  differ('punctuation', ';', '', 'the file has nothing where old_text has ";"')
  differ('comment', '// x', '', 'old_text has the comment "// x", which is not in the file')
  differ('comment', '', '// x', 'old_text leaves out the comment "// x"')
  differ('comment', '// ', '', 'old_text comments out code that the file has')
  differ('comment', '', '//', 'the file comments out code that old_text has')
  const changed = 'the file has changed, or was remembered wrongly'
  differ('stale', 'a', '', `${changed}: old_text has "a", which is not in the file`)
  differ('stale', '', 'b', `${changed}: old_text leaves out "b"`)
  differ('stale', 'a', 'b', `${changed}: it has "b" where old_text has "a"`)
})

t.test('names what cannot be seen where it quotes a text', async t => {
  const quoted = (search_text: string) =>
    /: "(.*?)"\. /.exec(toProblem(noMatch({ search_text }), CONTEXT).body.detail)?.[1]
  t.equal(quoted('a\u200bb\ufeffc'), 'a[U+200B zero width space]b[U+FEFF byte-order mark]c')
  t.equal(quoted('\u2764\ufe0f'), '\u2764[U+FE0F variation selector-16]')
  t.equal(quoted('1\u00a0%\u202f\u2003'), '1[U+00A0 no-break space]%[U+202F narrow no-break space][U+2003 em space]')
  t.equal(quoted('\u{e0101}\u0085'), '[U+E0101][U+0085]', 'those without a name by their number')
  t.equal(quoted('a b\t\u00e9\u4e2d\ud83d\ude00'), 'a b\\t\u00e9\u4e2d\ud83d\ude00', 'what can be seen is as it is')
})

t.test('says that there are more lines than it lists, and how many only where it knows', async t => {
  const lines = Array.from({ length: 12 }, (_, i) => i + 1)
  t.match(linesListed(lines), / 9, 10 and 2 more$/)
  t.match(linesListed(lines, false), / 9, 10 and more$/)
  t.equal(linesListed([3, 3, 4], false), 'lines 3, 4 and more')
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
    suggestion: /only the match at line 4, send its surrounding lines too: this edit is ready to send\.$/
  })
  const same_words = (changed: string, found: string) => ({ reason: 'same_words' as const, changed, found })
  t.match(fix({ type: 'ADD_CONTEXT', edit: { old_text: 'a' }, conflict: same_words('', 'b') }), {
    suggestion:
      /match shown, send its .* too, and write new_text yourself: your change is where the file has put in "b"\.$/
  })
  t.match(fix({ type: 'ALREADY_APPLIED', lines: [4, 4] }), { suggestion: /already in the file \(line 4\)/ })
  t.match(fix({ type: 'ALREADY_APPLIED' }), { suggestion: /already in the file: if/ })
  t.match(fix({ type: 'ESCAPE_SPECIAL', edit }), { suggestion: /as in the file\.$/ })
  t.match(fix({ type: 'CHECK_WHITESPACE', edit, lines: [1, 2] }), { suggestion: /differ from lines 1 to 2/ })
  t.match(fix({ type: 'USE_EXACT_TEXT' }), { suggestion: 'Use the exact text of the file as old_text.' })
  t.match(fix({ type: 'USE_EXACT_TEXT', lines: [4, 5], edit }), {
    suggestion: 'Use the exact text of lines 4 to 5 as old_text: this edit is ready to send.',
    edit
  })
  const left = (conflict: MergeConflict, why: string): void => {
    t.match(fix({ type: 'USE_EXACT_TEXT', lines: [4, 4], edit: { old_text: 'a' }, conflict }), {
      suggestion: `Use the exact text of line 4 as old_text, and write new_text yourself: ${why}.`
    })
  }
  left(same_words('a', 'b'), 'your change is at "a", where the file has "b"')
  left(same_words('a', ''), 'your change is at "a", which the file does not have')
  left({ reason: 'unknown_word', word: 'a' }, 'your new_text has "a", which is no longer there')
  left({ reason: 'spacing' }, 'your change and the file differ in white space at the same place')
  left(
    { reason: 'added' },
    'your new_text does not have the line numbers, fence or markers of old_text as a whole, or contradicts them'
  )
  left({ reason: 'too_long' }, 'the texts are too long to merge')
  t.match(fix({ type: 'READ_FILE', lines: [2, 9] }), {
    suggestion: /^Read lines 2 to 9/,
    example: 'POST /inspect {"path":"src/app.ts","start_line":2,"end_line":9}'
  })
  t.match(fix({ type: 'FIX_PATH' }), { suggestion: 'Read the file as it is now, then decide.' })
})

t.test('has members for programs beside the sentence', async t => {
  const position = { edit_index: 1, total_edits: 3 }
  check(t, noMatch({ ...position, applied_lines: [7, 7], suggestions_truncated: true }), {
    ...position,
    already_applied: true,
    suggestions_truncated: true
  })
  const truncated = { suggestions_truncated: true } as const
  check(t, { ...EXAMPLES.WRONG_COUNT, ...position, ...truncated }, { ...position, ...truncated, actual_occurrences: 2 })
  check(t, EXAMPLES.LINE_OUT_OF_RANGE, { total_lines: 90, edit_index: undefined, total_edits: undefined })
  check(t, { ...EXAMPLES.LINE_OUT_OF_RANGE, ...position }, { ...position, total_lines: 90 })
  const broken = { actual_text: 'a\ufffd', lossy: true, suggestions_truncated: true } as const
  check(t, { ...EXAMPLES.EXPECTED_TEXT_MISMATCH, ...broken }, broken)
  check(
    t,
    { code: 'FILE_NOT_FOUND', did_you_mean: ['a.ts', 'b.ts'] },
    {
      did_you_mean: ['a.ts', 'b.ts'],
      suggested_fixes: [{ type: 'FIX_PATH', example: 'POST /inspect {"path":"a.ts"}' }]
    }
  )
  check(
    t,
    { code: 'PATH_NOT_ALLOWED', reason: 'outside', did_you_mean: ['a.ts'] },
    { did_you_mean: ['a.ts'], suggested_fixes: [{ type: 'FIX_PATH', example: 'POST /inspect {"path":"a.ts"}' }] }
  )
  check(t, { code: 'FILE_NOT_FOUND' }, { did_you_mean: undefined, suggested_fixes: undefined })
  check(t, { code: 'FILE_NOT_FOUND', missing: 'parent', did_you_mean: ['srv/x.ts'] }, { did_you_mean: ['srv/x.ts'] })
  const minimal = { instance: '/edit', request_id: 'r-1' }
  const members = ['code', 'detail', 'instance', 'request_id', 'retry', 'status', 'title', 'type']
  t.strictSame(Object.keys(toProblem({ code: 'INTERNAL_ERROR' }, minimal).body).sort(), members)
  t.match(toProblem({ code: 'FILE_NOT_FOUND' }, { ...minimal, resolved_path: 'b' }).body, {
    detail: /^the file was not found/,
    resolved_path: 'b'
  })
})

t.test('has the status of a precondition only if a header set it', async t => {
  const hashed = { file_hash: '60303ae22b998861' }
  const stale: Failure = { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '9f86d081884c7d65' }
  check(t, stale, { status: 409, retry: 'after_read', ...hashed, suggested_fixes: [{ type: 'READ_FILE' }] }, hashed)
  check(t, stale, { status: 412 }, { by_header: true })
  check(t, { code: 'STALE_FILE', reason: 'changed_meanwhile' }, { status: 409 }, { by_header: true })
  check(t, { code: 'ALREADY_EXISTS', reason: 'exists' }, { status: 409 }, hashed)
  check(t, { code: 'ALREADY_EXISTS', reason: 'exists', if_none_match: true }, { status: 412 }, hashed)
})

t.test('sends the headers that belong to a failure', async t => {
  const headersOf = (failure: Failure, context: Partial<Context> = {}) => check(t, failure, {}, context)
  const file_hash = '60303ae22b998861'.repeat(4)
  t.strictSame(headersOf({ code: 'READ_ONLY' }), {})
  t.strictSame(headersOf({ code: 'UNAUTHORIZED', reason: 'missing' }), { 'www-authenticate': 'Bearer' })
  const challenge = 'Bearer error="invalid_token"'
  t.strictSame(headersOf({ code: 'UNAUTHORIZED', reason: 'wrong' }), { 'www-authenticate': challenge })
  t.strictSame(headersOf({ code: 'UNAUTHORIZED', reason: 'jwt', fault: 'key' }), { 'www-authenticate': challenge })
  t.strictSame(headersOf({ code: 'FORBIDDEN_SCOPE', lacks: 'workspace' }), {})
  t.strictSame(headersOf(EXAMPLES.FORBIDDEN_SCOPE), {
    'www-authenticate': 'Bearer error="insufficient_scope", scope="edit"'
  })
  t.strictSame(headersOf(EXAMPLES.METHOD_NOT_ALLOWED), { allow: 'POST' })
  t.strictSame(headersOf(EXAMPLES.NO_MATCH, { file_hash }), { etag: `"${file_hash}"` })
  for (const [retry_after, header] of [
    [0, '1'],
    [1.2, '2'],
    [5, '5']
  ] as const) {
    t.strictSame(headersOf({ code: 'FILE_LOCKED', reason: 'timeout', retry_after }), { 'retry-after': header })
  }
  t.strictSame(headersOf(EXAMPLES.RATE_LIMITED), { 'retry-after': '2' })
  t.strictSame(headersOf({ code: 'NOT_READY', reason: 'no_descriptors', retry_after: 1 }), {
    'retry-after': '1',
    connection: 'close'
  })
  // The change may have been made: to be sent again at once, as programs do with Retry-After, is no advice.
  for (const reason of ['store_unknown', 'store_unsafe'] as const) {
    const failure = { code: 'NOT_READY', reason, retry_after: 5 } as const
    t.strictSame(headersOf(failure), {})
    t.equal(toProblem(failure, CONTEXT).body.retry, 'after_read')
  }
})

t.test('says that a change meets white space where nothing else differs', async t => {
  const spacing = 'your change and the file differ in white space at the same place'
  t.equal(whyNotMerged({ reason: 'same_words', changed: 'foo ', found: 'foo' }, BY_ROUTE), spacing)
  t.equal(whyNotMerged({ reason: 'spacing' }, BY_ROUTE), spacing)
})

t.test('cuts long texts in whole characters, and says so', async t => {
  t.equal(cut('short'), 'short')
  t.equal(cut(`ab😀${'c'.repeat(30)}😀ef`, 6), 'ab…[34 characters left out]…ef')
  t.ok(cut('😀'.repeat(999), 501).isWellFormed())
  t.ok(quote('a' + '😀'.repeat(99)).endsWith('…"'))
  // What says that a text was cut isn't cut itself.
  const cutBefore = cut(`${'a'.repeat(70)}${'b'.repeat(900)}`, 140)
  t.match(cutBefore, /^a{70}…\[830 characters left out\]…b{70}$/)
  t.equal(quote(cutBefore), `"${'a'.repeat(70)}…"`)
  t.equal(quote(cutBefore, 200), JSON.stringify(cutBefore))
  t.equal(quote(cutBefore, 40), `"${'a'.repeat(40)}…"`)
  // Whole lines.
  t.equal(quote('first\nsecond\nthird', 14), '"first\\nsecond…"')
  t.equal(quote('\n\nfirst line\nsecond', 10), '"\\n\\nfirst line…"')
  t.equal(quote(`${'a'.repeat(15)}\nb`, 10), `"${'a'.repeat(15)}…"`)
  t.equal(quote(`${'a'.repeat(16)}\nb`, 10), `"${'a'.repeat(10)}…"`)
  t.equal(quote('a'.repeat(15), 10), `"${'a'.repeat(15)}"`)
  const each = Array.from({ length: 99 }, (_, i) => `line ${i}`).join('\n')
  t.equal(cut(each, 40), 'line 0\nline 1\n…[751 characters left out]…\nline 97\nline 98')
  t.equal(
    cut(each.replaceAll('\n', '\r\n'), 40),
    'line 0\r\nline 1\r\n…[845 characters left out]…\r\nline 97\r\nline 98'
  )
  t.match(cut(`a\n${'b'.repeat(99)}`, 40), /^a\nb{18}…\[\d+ characters left out\]…b{20}$/)
  t.strictSame(quoteApart('one', 'two'), ['"one"', '"two"'])
  t.strictSame(quoteApart('same\none', 'same\ntwo'), ['"one"', '"two"'])
  t.strictSame(quoteApart('same', 'same\ntwo'), ['"same"', '"same\\ntwo"'])
  const [long, as] = ['x'.repeat(200), 'a'.repeat(20)]
  t.strictSame(quoteApart(`${long}${as}1`, `${long}${as}2 and more`), [`"…${as}1"`, `"…${as}2 and more"`])
  t.equal(linesListed([3, 3]), 'line 3')
  t.equal(linesListed([3], false), 'line 3 and more')
  t.equal(linesListed([3, 5], false), 'lines 3, 5 and more')
})

const done = (more: Partial<ChangeOutcome> = {}): ChangeOutcome => ({
  path: 'a.ts',
  changed: true,
  dry_run: false,
  total_replacements: 2,
  edits_applied: [],
  changes: [12, 40].map((at, change_index) => ({
    edit_index: 0,
    operation: 'replace',
    start_line: at,
    end_line: at,
    new_start_line: at,
    new_end_line: at,
    lines_removed: 1,
    lines_added: 1,
    net_change: 0,
    change_index
  })),
  total_lines_before: 90,
  total_lines_after: 90,
  file_size: 9,
  hash_before: '0'.repeat(16),
  file_hash: '1'.repeat(16),
  changed_lines: [],
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

const STOPPED = 'The search took too long, so lines from 7 on were not searched; simplify it.'

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
    { note: 'The old_text of edit 2 also appears 5 times, at lines 40, 41 and more, which were left unchanged.' }
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
        [
          'The edit brought a carriage return (\\r) and a line feed (\\n) together at the end of line 3.',
          'Together they are one line break, so the file has 1 line fewer than expected.'
        ].join(' ')
      ]
    }
  )
  edited(
    { joined_breaks: { count: 5, lines: [3, 9] }, dry_run: true },
    {
      warnings: [/^The edit would bring .* at the end of lines 3, 9 and more\. Together they would be .* 5 lines fewer/]
    }
  )
  edited(
    { encoded: { encoding: 'shift_jis', written: 'é' } },
    {
      warnings: [
        'The file is not UTF-8: it seems to be Shift_JIS, and so "é" was written in that encoding. ' +
          'Check it if the file is in another.'
      ]
    }
  )
  edited(
    { encoded: { encoding: 'euc-kr', written: '\u200b' }, dry_run: true },
    {
      warnings: [
        /^The file is not UTF-8: it seems to be EUC-KR, and so "\[U\+200B zero width space\]" would be written/
      ]
    }
  )
  edited(
    { encoded: { encoding: 'unknown-8bit', replaced: true }, dry_run: true },
    {
      warnings: [
        'The file is in an 8-bit encoding that is not known, and would be UTF-8: ' +
          'check that the programs that read it expect that.'
      ]
    }
  )
  const inText = (type: NewTextWarning['type'], dry_run: boolean, warning: RegExp) =>
    edited({ newTextWarnings: [{ edit_index: 0, type, line: 2, text: 'X' }], dry_run }, { warnings: [warning] })
  inText('diff', false, /^new_text contains the line of a diff "X" \(its line 2\), which was written .* removes it\.$/)
  inText('diff', true, /which would be written literally: no diff is applied\. Send only the lines that should be in/)
  inText('markers', false, /^new_text contains the marker "X" \(its line 2\), which was written .* removes it\.$/)
  inText(
    'markers',
    true,
    /which would be written literally: it is of another edit format, or of the call\. Leave it out\.$/
  )
  const mark = 'begins with a byte-order mark and new_text does not, so the mark'
  edited(
    { mark_dropped: true },
    { warnings: [`old_text ${mark} was removed. To put it back, send an edit that begins the file with \\ufeff.`] }
  )
  edited(
    { mark_dropped: true, dry_run: true },
    { warnings: [`old_text ${mark} would be removed. To keep it, begin new_text with \\ufeff.`] }
  )
  edited({ diff_unavailable: 'too_long' }, { diff_unavailable: /^The changed lines, .* longer than 1 MiB/ })
  const found = (more: Partial<InspectOutcome>, message: string) =>
    t.equal(
      toBody({
        operation: 'inspect',
        outcome: seen(more),
        ...(more.matches && { searched: { text: 'x', for_several_lines: false } })
      }).message,
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
    [
      'a.ts has 3 lines (18 bytes, ascii); content is line 2.',
      'It was cut at the limit: continue with start_line 2 and start_column 99.'
    ].join(' ')
  )
  found(
    { matches: [], total_matches: 0, stopped_at_line: 7 },
    `a.ts has 3 lines (18 bytes, ascii). "x" was not found so far. ${STOPPED}`
  )
  found(
    {
      matches: [{ line_number: 2, column_start: 1, column_end: 2, line_content: 'x' }],
      total_matches: 1,
      stopped_at_line: 7
    },
    `a.ts has 3 lines (18 bytes, ascii). "x" was found 1 time, at line 2. ${STOPPED}`
  )
  found(
    { content: '', start_line: 1, end_line: 0, total_lines: 0, file_size: 0, resolved_path: 'b.ts' },
    'a.ts has 0 lines (0 bytes, ascii); it is empty.'
  )
})
