// Every failure in each form that has a sentence of its own, with these sentences: data for the tests of answers.
import type {
  ClearFix,
  DiffFix,
  FilePreview,
  Fix,
  LaterEdit,
  HunkAmbiguous,
  HunkNotFound,
  HunkPosition,
  NoMatch,
  SimilarContent,
  UnsupportedTarget
} from '../../../src/engine/failure.ts'
import type { LineRange } from '../../../src/engine/edit/request.ts'
import { EXAMPLES } from '../../../src/http/answers/examples.ts'
import type { PatchFaultReason } from '../../../src/engine/patch/fault.ts'
import type { Context } from '../../../src/http/answers/problem.ts'
import type { Failure } from '../../../src/http/failure.ts'

export interface Described {
  failure: Failure
  context?: Partial<Context>
  /** What is said, to a caller of routes, of the failure of a request for `src/app.ts`. */
  detail: string[]
}

const hashed = { file_hash: '60303ae22b998861' }
const alone = { edit_index: 0, total_edits: 1 }
/** The third of four edits. */
const AT_2 = { edit_index: 2, total_edits: 4 }

const {
  NO_MATCH,
  WRONG_COUNT,
  OCCURRENCE_OUT_OF_RANGE,
  EXPECTED_TEXT_MISMATCH,
  STALE_FILE,
  TARGET_NOT_FOUND,
  AMBIGUOUS_TARGET,
  UNSUPPORTED_TARGET,
  SYNTAX_ERROR
} = EXAMPLES

type Refused = Extract<Failure, { code: 'UNDO_CONFLICT' }>
type Nothing = Extract<Failure, { code: 'NOTHING_TO_UNDO' }>

/** One conflict of edit E1, with E2 where it is known what stands in the way. */
const conflict = (more: Partial<Refused['conflicts'][number]>, known = true): Refused => ({
  code: 'UNDO_CONFLICT',
  verb: 'undo',
  edit_ids: ['E1'],
  ...(known && more.kind !== 'removed' && { together: [{ edit_id: 'E1' }, { edit_id: 'E2' }] }),
  conflicts: [
    {
      path: 'src/app.ts',
      edit_id: 'E1',
      change_index: 0,
      ...(known && { by: 'E2' }),
      kind: 'overlap',
      start_line: 12,
      end_line: 12,
      current_text: 'b\n',
      would_restore: 'a\n',
      ...more
    }
  ]
})
// Each reason has members of its own.
const nothing = (because: { reason: Nothing['reason']; [member: string]: unknown }): Nothing =>
  ({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: ['E1'], ...because }) as unknown as Nothing

const empty: FilePreview = {
  total_lines: 0,
  preview_start_line: 0,
  preview_end_line: 0,
  content: '',
  highlights: []
}
const missed = (more: Partial<NoMatch>): NoMatch => ({ ...NO_MATCH, ...alone, ...more })
const similar: SimilarContent = {
  line_number: 4,
  end_line: 5,
  content: 'foo( 1 )',
  similarity_score: 0.95,
  confidence: 'high',
  differences: []
}
const oneLine: SimilarContent = { ...similar, end_line: 4 }
/** A corrected diff for a line. */
const diffFor = (line: number, corrected = [0]): DiffFix => ({
  type: 'USE_EXACT_TEXT',
  diff: '@@\n-a\n+b\n',
  lines: [line, line],
  corrected
})
/** A hunk that has no place. */
const unplaced = (edit_index: number, diff_line: number): HunkPosition => ({ edit_index, total_edits: 4, diff_line })
const hunk = (what: HunkNotFound['what'], more: Partial<HunkNotFound> = {}): HunkNotFound => ({
  code: 'NO_MATCH',
  ...alone,
  diff_line: 1,
  what,
  search_text: 'foo(1)',
  similar_content: [],
  diffs: [],
  file_preview: NO_MATCH.file_preview,
  ...more
})
/** A hunk that has two. */
const hunkTwice = (what: HunkAmbiguous['what'], more: Partial<HunkAmbiguous> = {}): HunkAmbiguous => ({
  code: 'WRONG_COUNT',
  ...alone,
  diff_line: 1,
  what,
  search_text: 'foo(1)',
  expected_occurrences: 1,
  actual_occurrences: 2,
  match_lines: [4, 9],
  match_locations: WRONG_COUNT.match_locations,
  diffs: [diffFor(4), diffFor(9)],
  ...more
})
/** What is said of a line `foo` of a diff, and of one that isn't there. */
const PATCH_FAULTS: Record<PatchFaultReason, string> = {
  no_marker: 'has no marker; put a space in front of a kept line, "-" of a removed one, "+" of an added one',
  not_added: 'has no "+" in front; in the diff of a new file every line has one, also an empty line',
  no_space_after_marker: 'has no space after @@; write "@@" alone, or "@@ " and a whole line of the file',
  empty_hunk: 'belongs to a hunk without lines; below @@ there must be lines with " ", "-" or "+" in front',
  no_change: 'begins a diff that changes nothing; at least one line must have "-" or "+" in front',
  after_end_of_file: 'stands after *** End of File; begin another hunk with @@, or leave it out',
  git_header: 'is a header of git, which this format does not have; leave it out, and begin with @@',
  newline_note: 'is a note of git, which this format does not have; leave it out: the final line break stays as it is',
  envelope_line: 'does not belong in the diff of one file; leave it out, and send one diff for each file',
  fence: 'is a Markdown fence; leave the fences out',
  too_many_lines: 'is one too many: at most 100000 lines are read; send several patches',
  no_begin: 'is not "*** Begin Patch", with which a patch begins',
  no_end: 'is missing: a patch ends with "*** End Patch"; send it whole if it was cut off',
  after_end: 'stands after the end of the patch; leave it out',
  no_files: 'ends a patch without files; each begins with "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  no_file_line: 'stands where a file is to be named: "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  unknown_line:
    'is none that there is; write "*** Add File: ", "*** Update File: ", "*** Delete File: " or "*** End Patch"',
  misplaced_move: 'stands elsewhere than right below "*** Update File: "',
  no_path: 'has no path after the colon',
  same_path: 'names the path that the file has already; leave it out, or name another one',
  no_update: 'has neither a diff nor "*** Move to: " below it; send the lines that change, or leave it out',
  lines_of_deleted: 'stands below "*** Delete File: ", which has no lines; leave it out'
}
const patchFaults = Object.entries(PATCH_FAULTS).map(([reason, said], index): Described => {
  const text = reason === 'no_end' ? '' : 'foo'
  const fault = { reason: reason as PatchFaultReason, line: index + 1, text }
  const named = `line ${index + 1}${text === '' ? '' : ' ("foo")'}`
  return {
    failure: { code: 'INVALID_REQUEST', faults: [{ pointer: '/diff', reason: 'unreadable_patch', fault }] },
    detail: [`The request is not valid: /diff can't be read: ${named} ${said}.`]
  }
})
const read: Fix = { type: 'READ_FILE', lines: [4, 5] }
const complete = (line: number): Fix => ({
  type: 'USE_EXACT_TEXT',
  lines: [line, line],
  edit: { old_text: 'foo( 1 )', new_text: 'bar' }
})
const later = (edit_index: number): LaterEdit => ({
  failure: missed({ edit_index, total_edits: 4, cause: { type: 'spacing', expected: '"baz(1"', found: '"baz( 1"' } }),
  fix: {
    type: 'USE_EXACT_TEXT',
    lines: [edit_index + 7, edit_index + 7],
    edit: { old_text: 'baz( 1 )', new_text: 'qux' }
  }
})
const withoutNewText: ClearFix = {
  type: 'USE_EXACT_TEXT',
  lines: [4, 5],
  edit: { old_text: 'foo( 1 )' },
  conflict: { reason: 'same_words', changed: 'foo', found: 'bar' }
}

/** Later edits that can't be sent as they are corrected, and what is said of them besides the first of four edits. */
const LEFT_TO_CALLER: [later: LaterEdit[], said: string[]][] = [
  [
    [later(1), { failure: missed(AT_2), fix: withoutNewText }],
    [
      'Edits 2 and 3 fail too; send what suggested_fixes[0].later_edits has in their place,',
      'edit 3 with a new_text of your own: your change is at "foo", where the file has "bar".'
    ]
  ],
  [
    [{ failure: missed(AT_2), fix: withoutNewText }],
    [
      'Edit 3 fails too; send what suggested_fixes[0].later_edits has in its place,',
      'with a new_text of your own: your change is at "foo", where the file has "bar".'
    ]
  ],
  [
    [later(1), { failure: { ...WRONG_COUNT, ...AT_2 } }],
    [
      'Edit 2 fails too; send what suggested_fixes[0].later_edits has in its place.',
      'Edit 3 fails too: its old_text appears 2 times, at lines 12 and 40, but must match one place. Correct it as well.'
    ]
  ],
  [
    [{ failure: { ...WRONG_COUNT, ...AT_2, expected_occurrences: 3, undone_by_edit: 0 } }],
    [
      'Edit 3 fails too: its old_text appears 2 times, at lines 12 and 40, but 3 places were expected, since edit 1 of',
      'this request changes it first. Correct it as well.'
    ]
  ],
  [
    [{ failure: { ...OCCURRENCE_OUT_OF_RANGE, ...AT_2 } }],
    ['Edit 3 fails too: its occurrence is 3, but its old_text appears 2 times, at lines 12 and 40. Correct it as well.']
  ],
  [
    [{ failure: { ...EXAMPLES.ALREADY_APPLIED, ...AT_2, lines: [3, 4] } }],
    ['Edit 3 fails too: its new_text is there already, around its old_text (lines 3 to 4). Correct it as well.']
  ],
  [
    [{ failure: { code: 'RESULT_TOO_LARGE', ...AT_2, what: 'bytes', limit: 100, actual: 130 } }],
    ['Edit 3 fails too: the file would have 130 bytes then; the limit is 100. Correct it as well.']
  ],
  [
    [{ failure: { code: 'RESULT_TOO_LARGE', ...AT_2, what: 'replacements', limit: 10, actual: 11 } }],
    ['Edit 3 fails too: 11 places would be replaced then; the limit is 10. Correct it as well.']
  ],
  [
    [{ failure: missed({ ...AT_2, undone_by_edit: 1 }) }],
    ['Edit 3 fails too: edit 2 of this request changes it first. Correct it as well.']
  ],
  [
    [{ failure: missed({ ...AT_2, similar_content: [], cause: { type: 'never_there' }, missing_tokens: ['alpha'] }) }],
    ['Edit 3 fails too: nothing in the file is similar enough, and it does not contain "alpha". Correct it as well.']
  ],
  [
    [{ failure: missed({ ...AT_2, similar_content: [], applied_lines: [7, 7] }) }],
    ['Edit 3 fails too: its new_text is there already (line 7). Correct it as well.']
  ],
  [
    [{ failure: missed({ ...AT_2, similar_content: [{ ...oneLine, confidence: 'low' }] }) }],
    [
      'Edit 3 fails too; perhaps line 4 was meant: the spacing differs (the file has "const  foo", old_text "const',
      'foo"). Correct it as well.'
    ]
  ],
  [
    [{ failure: missed({ ...AT_2, similar_content: [oneLine], applied_lines: [7, 7] }) }],
    [
      'Edit 3 fails too; most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const',
      'foo"); its new_text is there already (line 7). Correct it as well.'
    ]
  ],
  [
    [{ failure: missed({ ...AT_2, similar_content: [oneLine, similar], cause: { type: 'near_duplicate' } }) }],
    ['Edit 3 fails too: several places are equally likely: line 4 or lines 4 to 5. Correct it as well.']
  ]
]
const leftToCaller = LEFT_TO_CALLER.map(([later, said]): Described => ({
  failure: missed({
    edit_index: 0,
    total_edits: 4,
    similar_content: [oneLine],
    fixes: [{ ...complete(4), later }]
  }),
  detail: [
    'Edit 1 of 4 failed: old_text was not found in src/app.ts: "const foo = 1;".',
    'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
    'The file has "foo( 1 )" there. If so, send suggested_fixes[0].edit.',
    ...said,
    'Nothing was written: none of the 4 edits was made.'
  ]
}))

const REQUESTS: Described[] = [
  {
    failure: { code: 'INVALID_JSON', reason: 'empty' },
    detail: ['The request has no body. Send one JSON object with the fields of the operation.']
  },
  {
    failure: { code: 'INVALID_JSON', reason: 'syntax' },
    detail: [
      'The body is not valid JSON.',
      'Check that quotes, backslashes and line breaks inside strings are escaped (\\", \\\\, \\n) and that',
      'nothing is missing at the end.'
    ]
  },
  {
    failure: { code: 'INVALID_JSON', reason: 'syntax', where: 'at character 17' },
    detail: [
      'The body is not valid JSON (at character 17).',
      'Check that quotes, backslashes and line breaks inside strings are escaped (\\", \\\\, \\n) and that',
      'nothing is missing at the end.'
    ]
  },
  {
    failure: { code: 'INVALID_JSON', reason: 'duplicate_key', key: 'path', pointer: '' },
    detail: ['The field "path" is given twice in the same object. Send it once.']
  },
  {
    failure: { code: 'INVALID_JSON', reason: 'duplicate_key', key: 'new_text', pointer: '/edits/0' },
    detail: ['The field "new_text" is given twice in the same object (/edits/0). Send it once.']
  },
  {
    failure: { code: 'INVALID_JSON', reason: 'too_deep', limit: 32 },
    detail: ['The body is nested deeper than 32 levels.', 'No operation needs more than 5.']
  },
  { failure: { code: 'INVALID_UNICODE' }, detail: ['The body is not valid UTF-8. Send the JSON encoded as UTF-8.'] },
  {
    failure: { code: 'INVALID_UNICODE', pointer: '' },
    detail: [
      'The text at the top level contains half of a surrogate pair (such as \\ud83d alone), which cannot be',
      'encoded as UTF-8. Send whole characters.'
    ]
  },
  {
    failure: { code: 'INVALID_UNICODE', pointer: '/new_text' },
    detail: [
      'The text at /new_text contains half of a surrogate pair (such as \\ud83d alone), which cannot be',
      'encoded as UTF-8. Send whole characters.'
    ]
  },
  {
    failure: { code: 'INVALID_REQUEST', errors: [{ pointer: '', message: 'must be a JSON object' }] },
    detail: ['The request is not valid: must be a JSON object.']
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      errors: Array.from({ length: 30 }, (_, i) => ({ pointer: `/${i}`, message: 'is wrong' }))
    },
    detail: ['The request is not valid: /0 is wrong; /1 is wrong; /2 is wrong; and 27 more.']
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      faults: [
        { pointer: '/occurrence', reason: 'replace_all_too' },
        { pointer: '', reason: 'no_target' },
        { pointer: '/code_block', reason: 'empty_target' }
      ]
    },
    detail: [
      "The request is not valid: /occurrence can't be combined with replace_all: true; send one of them; the",
      'request has no target; send one of heading, code_block and symbol; /code_block is empty; send index,',
      'language or under_heading.'
    ]
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      faults: [
        { pointer: '/new_text', reason: 'text_to_delete' },
        { pointer: '/include_heading', reason: 'heading_not_replaced' },
        { pointer: '/include_comment', reason: 'comment_not_replaced' }
      ]
    },
    detail: [
      'The request is not valid: /new_text is not used with action delete; leave it out; /include_heading can only be',
      'used with action replace of a heading or code_block; leave it out; /include_comment can only be used with',
      'action replace or delete of a symbol; leave it out.'
    ]
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      faults: [
        { pointer: '/regex', reason: 'without_search' },
        { pointer: '/after', reason: 'for_directories' },
        { pointer: '/search', reason: 'for_files' }
      ]
    },
    detail: [
      'The request is not valid: /regex can only be used together with search, which is missing; /after can only be',
      'used with directories, but the path is a file; leave it out; /search can only be used with files, but the path',
      'is a directory; leave it out to list the directory.'
    ]
  },
  {
    failure: { code: 'INVALID_REQUEST', faults: [{ pointer: '/search', reason: 'slow_regex' }] },
    detail: ['The request is not valid: /search takes too long to compile; send a shorter expression.']
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      faults: [
        { pointer: '', reason: 'no_selector', selectors: ['edit_id', 'path'] },
        { pointer: '/change_indexes', reason: 'changes_of_undo' },
        { pointer: '/changes/0/change_indexes', reason: 'changes_not_kept' }
      ]
    },
    detail: [
      'The request is not valid: the request does not say which changes it means; send one of edit_id or path;',
      '/change_indexes names changes of an undo or redo; name those of the edits that it was of, or leave it out to',
      'mean all of them; /changes/0/change_indexes names changes of an edit of which only the lines were counted; leave it',
      'out to mean the whole edit.'
    ]
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      faults: [
        { pointer: '/new_text', reason: 'missing' },
        { pointer: '/symbol', reason: 'second_target', other: 'heading' },
        { pointer: '/search', reason: 'no_regex', syntax: 'missing closing )' }
      ]
    },
    detail: [
      'The request is not valid: /new_text is missing; /symbol is a second target beside heading; send only',
      'one of heading, code_block and symbol; /search is not a regular expression in RE2 syntax (missing',
      'closing )).'
    ]
  },
  {
    failure: { code: 'INVALID_REQUEST', faults: [{ pointer: '/new_text', reason: 'closes_fence', line: 7 }] },
    detail: [
      'The request is not valid: /new_text has a line that would close the fence of the code block at line 7;',
      'leave the fences out, or send include_heading: true with the whole block between longer fences.'
    ]
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      pointer: '/new_text',
      stray: { reason: 'lost', entry: { kind: 'heading', name: 'Use', start_line: 11, end_line: 13 } }
    },
    detail: [
      'The request is not valid: /new_text would remove the heading "Use" at line 11 from the outline, as an',
      'unclosed fence or HTML comment does; close it, or use /edit.'
    ]
  },
  {
    failure: {
      code: 'INVALID_REQUEST',
      pointer: '/new_text',
      stray: { reason: 'made', entry: { kind: 'code_block', start_line: 11, end_line: 13 } }
    },
    detail: [
      'The request is not valid: /new_text would turn other text into the code block at line 11 of the',
      'result; close what it opens, or use /edit.'
    ]
  },
  {
    failure: { code: 'MIXED_MODES', fields: ['old_text', 'new_text'] },
    detail: [
      'The request has edits as well as old_text and new_text at the top level.',
      'Put every edit into edits, or send one edit at the top level without edits.'
    ]
  },
  {
    failure: { code: 'NO_EDITS', fields: ['old_text', 'new_text'] },
    detail: ['The request has no edits. Send old_text and new_text, or edits with at least one such object.']
  },
  {
    failure: { code: 'NO_EDITS', none_of: 'operations' },
    detail: ['The request has no operations. Send at least one, such as an edit with path, old_text and new_text.']
  },
  {
    failure: { code: 'EMPTY_OLD_TEXT' },
    detail: [
      'old_text is empty, and empty text matches everywhere.',
      'To insert text, send nearby text from the file as old_text, and the same text with your insertion as',
      'new_text.'
    ]
  },
  {
    failure: { code: 'EMPTY_OLD_TEXT', edit_index: 1, total_edits: 3 },
    detail: [
      'Edit 2 of 3 failed: old_text is empty, and empty text matches everywhere.',
      'To insert text, send nearby text from the file as old_text, and the same text with your insertion as',
      'new_text.'
    ]
  },
  {
    failure: { code: 'TOO_MANY_EDITS', limit: 1000, actual: 1200 },
    detail: ['The request has 1200 edits; the limit is 1000.', 'Send them in several requests.']
  },
  {
    failure: { code: 'TOO_MANY_OPERATIONS', what: 'operations', limit: 1000, actual: 1200 },
    detail: ['The request has 1200 operations; the limit is 1000.', 'Send several requests.']
  },
  {
    failure: { code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: 100, actual: 120 },
    detail: ['The request names 120 paths; the limit is 100.', 'Send several requests.']
  },
  {
    failure: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'type', given: 'text/plain' },
    detail: ['The body has the type "text/plain".', 'Send JSON with the header Content-Type: application/json.']
  },
  {
    failure: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'type', given: '' },
    detail: [
      'The request does not say which type its body has.',
      'Send JSON with the header Content-Type: application/json.'
    ]
  },
  {
    failure: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'charset', given: 'utf-16' },
    detail: ['The body has the charset "utf-16".', 'Send it as UTF-8, with the header Content-Type: application/json.']
  },
  {
    failure: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'encoding', given: 'gzip' },
    detail: ['The body has the Content-Encoding "gzip". Send it uncompressed.']
  },
  {
    failure: { code: 'UNAUTHORIZED', reason: 'missing' },
    detail: [
      'The request has no token.',
      'Send the header Authorization: Bearer <token> with the token that was configured (--token,',
      'EDITD_TOKEN) or printed when the server started, or with one of the access file (--access).'
    ]
  },
  {
    failure: { code: 'UNAUTHORIZED', reason: 'malformed' },
    detail: [
      'The Authorization header is not of the form Bearer <token>.',
      'Send the header Authorization: Bearer <token> with the token that was configured (--token,',
      'EDITD_TOKEN) or printed when the server started, or with one of the access file (--access).'
    ]
  },
  {
    failure: { code: 'RATE_LIMITED', of: 'token', rate: { requests: 600, per: 'min' }, retry_after: 0.1 },
    detail: [
      'This token may send 600 requests a minute, and this is one too many. Nothing was written.',
      'Send the request again in 1 second. Several edits can go in one request.'
    ]
  },
  {
    failure: { code: 'RATE_LIMITED', of: 'address', rate: { requests: 1, per: 's' }, retry_after: 1.5 },
    detail: [
      'Without a token, an address may send 1 request a second, and this is one too many. Nothing was written.',
      'Send the request again in 2 seconds. Several edits can go in one request.'
    ]
  },
  {
    failure: { code: 'RATE_LIMITED', of: 'wrong_tokens', rate: { requests: 60, per: 'min' }, retry_after: 1 },
    detail: [
      'The token is wrong, and this address has sent more than 60 wrong ones in a minute.',
      'Do not send it again: use the token that was configured (--token, EDITD_TOKEN)',
      'or printed when the server started, or one from the access file (--access); a right one is accepted at once.'
    ]
  },
  {
    failure: { code: 'ROUTE_NOT_FOUND', workspace: 'other' },
    detail: [
      'This token is not for a workspace "other".',
      'Leave /w/other out of the URL: the token says which workspace it is for.'
    ]
  },
  {
    failure: { code: 'UNAUTHORIZED', reason: 'expired' },
    detail: [
      'The token has expired.',
      'Send the header Authorization: Bearer <token> with the token that was configured (--token,',
      'EDITD_TOKEN) or printed when the server started, or with one of the access file (--access).'
    ]
  },
  {
    failure: { code: 'UNAUTHORIZED', reason: 'wrong' },
    detail: [
      'The token is wrong.',
      'Send the header Authorization: Bearer <token> with the token that was configured (--token,',
      'EDITD_TOKEN) or printed when the server started, or with one of the access file (--access).'
    ]
  },
  {
    failure: { code: 'UNAUTHORIZED', reason: 'jwt', fault: 'audience' },
    detail: [
      'The token is not valid here: its audience (aud) is not this server.',
      'Get a new one for this server from an issuer of its access file (--access).'
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', lacks: 'scope' },
    detail: [
      'The scope claim of this token has none of read, edit and review. Get a token that has one of them. Nothing was written.'
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', lacks: 'workspace' },
    detail: [
      'This token names no workspace of this server. Its workspace claim, set by the issuer, must be the name of one.',
      'Nothing was written.'
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', needs: 'edit', has: 'read', for: 'operation' },
    detail: [
      'This request needs a token with the scope edit.',
      'This token has the scope read: it may look, preview and send dry runs. Nothing was written.',
      "Only the operator can allow more, in the server's access file or at the token's issuer."
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', needs: 'review', has: 'edit', for: 'operation' },
    detail: [
      'This request needs a token with the scope review.',
      'This token has the scope edit: it may change files, and take back its own edits. Nothing was written.',
      "Only the operator can allow more, in the server's access file or at the token's issuer."
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', needs: 'review', has: 'edit', for: 'others_edits' },
    detail: [
      'Not all of these edits were made with this token: to take back what others did, or to make again what others',
      'took back, needs the scope review.',
      'This token has the scope edit: it may change files, and take back its own edits. Nothing was written.',
      "Only the operator can allow more, in the server's access file or at the token's issuer."
    ]
  },
  {
    failure: { code: 'FORBIDDEN_SCOPE', needs: 'review', has: 'edit', for: 'delete' },
    detail: [
      "src/app.ts can't be deleted or moved: that needs a token with the scope review.",
      'This token has the scope edit: it may change files, and take back its own edits. Nothing was written.',
      "Only the operator can allow more, in the server's access file or at the token's issuer."
    ]
  },
  {
    failure: { code: 'FORBIDDEN_HOST', host: 'editd.example' },
    detail: [
      'The Host header names "editd.example", which is not allowed.',
      'Use localhost or an IP address, or ask the operator to allow the name with --allow-host',
      '(EDITD_ALLOW_HOST).'
    ]
  },
  {
    failure: { code: 'FORBIDDEN_ORIGIN', origin: 'https://page.example' },
    detail: [
      'Web pages from the origin "https://page.example" may not call this server.',
      'The operator can allow them with --allow-origin (EDITD_ALLOW_ORIGIN).'
    ]
  },
  {
    failure: { code: 'ROUTE_NOT_FOUND', method: 'POST', routes: ['POST /edit', 'POST /inspect'] },
    detail: ['There is no route POST /edit. The routes are POST /edit and POST /inspect.']
  },
  {
    failure: { code: 'METHOD_NOT_ALLOWED', method: 'DELETE', allow: ['GET', 'HEAD'] },
    detail: ['/edit does not accept DELETE. Use GET or HEAD.']
  },
  {
    failure: { code: 'REQUEST_TIMEOUT' },
    detail: [
      'The request took too long to arrive, so nothing was done and the connection is closed.',
      'Send the whole request again.'
    ]
  },
  {
    failure: { code: 'HEADERS_TOO_LARGE', limit: 16_384 },
    detail: ['The request headers are larger than 16384 bytes. Send fewer or shorter ones.']
  },
  {
    failure: { code: 'REQUEST_TOO_LARGE', limit: 32_000_000 },
    detail: [
      'The body is larger than 32000000 bytes.',
      'Send smaller edits, in several requests; the operator can raise the limit with --body-limit.'
    ]
  },
  {
    failure: { code: 'INTERNAL_ERROR' },
    detail: [
      'The server failed; its log has the reason under request_id r-1.',
      'Read the file again before you repeat the request.'
    ]
  }
]

/** The only failure of a request that names tools. */
export const NO_SUCH_TOOL: Described = {
  failure: { code: 'ROUTE_NOT_FOUND', tool: 'edit', nearest: 'edit_file', tools: ['edit_file', 'inspect_file'] },
  detail: ['There is no tool "edit"; did you mean edit_file?', 'The tools are edit_file and inspect_file.']
}

const FILES: Described[] = [
  {
    failure: { code: 'INVALID_PATH', reason: 'empty' },
    detail: ['path is empty. Send the path of a file relative to the workspace root, such as src/app.ts.']
  },
  {
    failure: { code: 'INVALID_PATH', reason: 'nul' },
    detail: [
      'path contains a NUL character.',
      'Send the path of a file relative to the workspace root, such as src/app.ts.'
    ]
  },
  {
    failure: { code: 'INVALID_PATH', reason: 'too_long' },
    detail: [
      'path is too long for a file system, or one of its names is.',
      'Send the path of a file relative to the workspace root, such as src/app.ts.'
    ]
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'outside' },
    detail: [
      'src/app.ts is outside the workspace.',
      'Send a path relative to the workspace root, such as src/app.ts (. is the root); ' +
        '../ and links may not lead out of it.'
    ]
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'outside', did_you_mean: ['app.ts', 'src'] },
    detail: [
      'src/app.ts is outside the workspace.',
      'Paths are relative to the workspace root. Did you mean app.ts or src?'
    ]
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'extension', allowed_extensions: ['.ts', '.md'] },
    detail: ['src/app.ts has an extension that is not allowed.', 'Allowed extensions are .ts and .md.']
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths: ['docs/**', '*.md'] },
    detail: [
      'This token may not use src/app.ts; it may use docs/** and *.md only.',
      'Choose a path there, or ask the operator.'
    ]
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    detail: [
      'This token may not use src/app.ts; it may use a, b, c, d, e and 2 more only.',
      'Choose a path there, or ask the operator.'
    ]
  },
  {
    failure: { code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths: [] },
    detail: ['This token may not use src/app.ts; it may use no path.', 'Only the operator can allow it.']
  },
  {
    failure: { code: 'PROTECTED_PATH', pattern: '.git' },
    detail: [
      'src/app.ts is protected (.git), because changing or reading it could compromise tools that trust it.',
      'Choose another file; only the operator can allow it, with --unprotect.'
    ]
  },
  {
    failure: { code: 'PROTECTED_PATH', pattern: null },
    detail: ["src/app.ts belongs to editd itself and can't be used. Choose another file."]
  },
  {
    failure: { code: 'PERMISSION_DENIED', reason: 'read_only_file' },
    detail: [
      'src/app.ts is read-only: its owner has no write permission. Nothing was written.',
      'Ask a person to make it writable if it should be edited.'
    ]
  },
  {
    failure: { code: 'PERMISSION_DENIED', reason: 'not_permitted' },
    detail: [
      'The server has no permission to open or change src/app.ts. Nothing was written.',
      "Ask a person to check the file's owner and mode."
    ]
  },
  {
    failure: { code: 'READ_ONLY' },
    detail: [
      'This server or workspace is read-only (--read-only, or read_only in the access file).',
      'Nothing can be edited or previewed.'
    ]
  },
  {
    failure: { code: 'DELETE_NOT_ALLOWED', reason: 'setting' },
    detail: [
      "src/app.ts can't be deleted or moved: this server doesn't allow that. Nothing was written.",
      'Only the operator can allow it, with --allow-delete.',
      'You can still change what is in the file, or empty it.'
    ]
  },
  {
    failure: { code: 'DELETE_NOT_ALLOWED', reason: 'history_off' },
    detail: [
      "src/app.ts can't be deleted or moved: this server keeps no history that could bring it back (--history off).",
      'Nothing was written. Only the operator can turn the history on.',
      'You can still change what is in the file, or empty it.'
    ]
  },
  {
    failure: { code: 'DELETE_NOT_ALLOWED', reason: 'texts_not_kept' },
    detail: [
      "src/app.ts can't be deleted or moved: the history doesn't keep what it holds, so nothing could bring it back",
      '(--history meta, or a file that often holds secrets). Nothing was written.',
      'Only the operator can change what is kept. You can still change what is in the file, or empty it.'
    ]
  },
  {
    failure: { code: 'DELETE_NOT_ALLOWED', reason: 'bucket' },
    detail: [
      "src/app.ts can't be deleted or moved: this workspace is a bucket, in which that could also delete",
      'what somebody else has just written. Nothing was written.',
      'Ask a person to delete it in the bucket if it should be gone.',
      'You can still change what is in the file, or empty it.'
    ]
  },
  {
    failure: { code: 'BATCH_NOT_SUPPORTED' },
    detail: [
      "This workspace is a bucket, in which several files can't be changed together, all or none. Nothing was written.",
      'Send one request for each file.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND' },
    detail: [
      'src/app.ts was not found. Check the path: it is relative to the workspace root, and case matters.',
      'POST /inspect {"path":"."} lists what is there.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', folder: 'src' },
    detail: [
      'src/app.ts was not found. Check the path: it is relative to the workspace root, and case matters.',
      'POST /inspect {"path":"src"} lists what is there.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', missing: 'link_target' },
    detail: [
      'src/app.ts is, or lies behind, a symbolic link to something that is not there. Nothing was written.',
      'Use another path.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', did_you_mean: ['a.ts', 'b.ts'] },
    detail: ['src/app.ts was not found. Did you mean a.ts or b.ts?']
  },
  {
    failure: {
      code: 'FILE_NOT_FOUND',
      did_you_mean: ['src/new.ts'],
      removals: [{ by: 'E1', operation: 'edit', moved_to: 'src/new.ts', back: { verb: 'undo', edit_id: 'E1' } }],
      now_at: 'src/new.ts'
    },
    detail: [`src/app.ts was not found: edit E1 moved it to src/new.ts. Use the path that it has now.`]
  },
  {
    failure: {
      code: 'FILE_NOT_FOUND',
      removals: [{ by: 'E1', operation: 'edit', back: { verb: 'undo', edit_id: 'E1' } }],
      undo: 'E1'
    },
    detail: [`src/app.ts was not found: edit E1 deleted it. To bring it back, call /undo with`, `{"edit_ids":["E1"]}.`]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', missing: 'parent', did_you_mean: ['srv/x.ts'] },
    detail: [
      'The directory for src/app.ts was not found. Nothing was written.',
      'Set create_parents to true, or leave it out, to create it too; or correct the path.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', missing: 'expected' },
    detail: [
      'src/app.ts was not found, although expected_hash says that it exists: it was removed, or the path is',
      'wrong. Nothing was written. To create it again, leave expected_hash out.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', missing: 'removed' },
    detail: [
      'An earlier operation of this request deletes or moves src/app.ts. Nothing was written.',
      'To change the file, send one update of it instead; to make another file in its place, send a second request.'
    ]
  },
  {
    failure: { code: 'FILE_NOT_FOUND', missing: 'made' },
    detail: [
      'src/app.ts is not there yet: an earlier operation of this request makes it. Nothing was written.',
      'Leave both operations out, or make the file where it should be.'
    ]
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'link' },
    detail: [
      'A symbolic link is part of the path src/app.ts, so that it is not clear what is to be deleted or moved.',
      'Nothing was written. Send the path that it leads to, which is resolved_path.'
    ]
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'directory' },
    detail: [
      'src/app.ts is a directory, not a file.',
      'Send the path of a file in it; POST /inspect {"path":"src/app.ts"} lists them.'
    ]
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'fifo' },
    detail: ['src/app.ts is a named pipe, not a file.', 'Only regular files can be used.']
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'socket' },
    detail: ['src/app.ts is a socket, not a file.', 'Only regular files can be used.']
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'device' },
    detail: ['src/app.ts is a device, not a file.', 'Only regular files can be used.']
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'not_a_directory' },
    detail: ['Part of the path src/app.ts is not a directory. Nothing was written. Correct the path.']
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'file_as_directory' },
    detail: ["src/app.ts is a file, but the path ends in /, . or .., as only a directory's can. Send src/app.ts."]
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'trailing_slash' },
    detail: [
      'The path that was sent ends in /, . or .., so it names a directory, src/app.ts. Nothing was written.',
      'End it with the name of the file to create.'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'exists' },
    detail: [
      "src/app.ts already exists but can't be read: it may be a broken link. Nothing was written.",
      'Choose another path.'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'made' },
    detail: [
      'An earlier operation of this request makes src/app.ts. Nothing was written.',
      'Put all of its content there, and leave this operation out.'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'exists' },
    context: hashed,
    detail: [
      'src/app.ts already exists. Nothing was written.',
      'To change part of it, use /edit.',
      'To replace all of it, read it first, then send the same request with "overwrite": true,',
      '"expected_hash": "60303ae22b998861".'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'exists', if_none_match: true },
    context: hashed,
    detail: [
      'src/app.ts already exists, and If-None-Match: * requires a new file. Nothing was written.',
      'To change part of it, use /edit.',
      'To replace all of it, read it first, then send the same request with "overwrite": true,',
      '"expected_hash": "60303ae22b998861" and without If-None-Match.'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'needs_overwrite' },
    context: hashed,
    detail: [
      'src/app.ts already exists, and overwrite is not true. Nothing was written.',
      'To change part of it, use /edit.',
      'To replace all of it, read it first, then send the same request with "overwrite": true,',
      '"expected_hash": "60303ae22b998861".'
    ]
  },
  {
    failure: { code: 'ALREADY_EXISTS', reason: 'needs_expected_hash' },
    context: hashed,
    detail: [
      'src/app.ts already exists, and overwrite: true also requires the expected_hash of the file to be',
      'replaced. Nothing was written.',
      'To change part of it, use /edit.',
      'To replace all of it, read it first, then send the same request with "overwrite": true,',
      '"expected_hash": "60303ae22b998861".'
    ]
  },
  {
    failure: { code: 'FILE_TOO_LARGE', limit: 100_000_000, actual: 250_000_000 },
    detail: [
      'src/app.ts has 250000000 bytes; the limit is 100000000.',
      'Only the operator can raise it, with --max-file-size.'
    ]
  },
  {
    failure: { code: 'FILE_TOO_LARGE', limit: 100_000_000, actual: 250_000_000, together: true },
    detail: [
      'The large files of this request have 250000000 bytes together; the limit is 100000000.',
      'Nothing was written.',
      'Change them in several requests.'
    ]
  },
  {
    failure: { code: 'BINARY_FILE', encoding: 'binary', file_size: 2210 },
    detail: ["src/app.ts can't be edited as text: it is binary (it contains a NUL byte). Nothing was written."]
  },
  {
    failure: { code: 'BINARY_FILE', encoding: 'utf-16le', file_size: 2210 },
    detail: [
      "src/app.ts can't be edited as text: it is UTF-16LE, and only UTF-8, ASCII and other 8-bit text can be",
      'edited. Nothing was written.'
    ]
  },
  {
    failure: { code: 'PRECONDITION_REQUIRED' },
    detail: [
      'This server requires expected_hash with every edit. Nothing was written.',
      'Call POST /inspect {"path":"src/app.ts"} and send its file_hash as expected_hash.'
    ]
  },
  {
    failure: { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1.2 },
    detail: [
      'src/app.ts is still being edited by another request. Nothing was written.',
      'Send the request again in 2 seconds.'
    ]
  },
  {
    failure: { code: 'FILE_LOCKED', reason: 'queue_full', retry_after: 1 },
    detail: ['src/app.ts has too many edits waiting. Nothing was written.', 'Send the request again in 1 second.']
  },
  {
    failure: { code: 'FILE_LOCKED', reason: 'client_gone', retry_after: 1 },
    detail: [
      'src/app.ts was being edited by another request, for which the client of this one did not wait.',
      'Nothing was written. Send the request again in 1 second.'
    ]
  },
  {
    failure: { code: 'FILE_LOCKED', reason: 'lost', retry_after: 0 },
    detail: [
      'src/app.ts could not be kept locked during the edit. Nothing was written.',
      'Send the request again in 1 second.'
    ]
  },
  {
    failure: { code: 'FILE_LOCKED', reason: 'in_place', retry_after: 2 },
    detail: [
      'src/app.ts is being written by another server, which has not finished and may have stopped.',
      'Nothing was written. Send the request again in 2 seconds.'
    ]
  },
  {
    failure: { code: 'NO_SPACE' },
    detail: [
      "There is no space left for the new content of src/app.ts, or in the server's state folder (disk, quota or file size limit).",
      'Nothing was written. Send the request again when there is space.'
    ]
  },
  {
    failure: { code: 'NOT_READY', reason: 'root_gone', retry_after: 5 },
    detail: ['The workspace directory is missing; nothing was done.', 'Send the request again in 5 seconds.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'root_unwritable', retry_after: 5 },
    detail: ["The workspace directory can't be written to; nothing was done.", 'Send the request again in 5 seconds.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'state_unwritable', retry_after: 5 },
    detail: [
      "The state folder of the server is missing or can't be written to; nothing was done.",
      'Send the request again in 5 seconds.'
    ]
  },
  {
    failure: { code: 'NOT_READY', reason: 'no_descriptors', retry_after: 1 },
    detail: ['The server has too many files open; nothing was done.', 'Send the request again in 1 second.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'draining', retry_after: 5 },
    detail: ['The server is stopping; nothing was done.', 'Send the request again in 5 seconds.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'searching', retry_after: 1 },
    detail: ['The server is busy with too many searches; nothing was done.', 'Send the request again in 1 second.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 },
    detail: ['The server is busy with too many large files; nothing was done.', 'Send the request again in 1 second.']
  },
  {
    failure: { code: 'NOT_READY', reason: 'issuer_unreachable', retry_after: 5 },
    detail: [
      "The keys of the token's issuer can't be fetched, so the token can't be checked; nothing was done.",
      'Send the request again in 5 seconds.'
    ]
  },
  {
    failure: { code: 'NOT_READY', reason: 'parsing', retry_after: 1 },
    detail: ['The server is busy parsing too many files; nothing was done.', 'Send the request again in 1 second.']
  }
]

const TEXTS: Described[] = [
  {
    failure: missed({ similar_content: [], fixes: [read] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Nothing in its 90 lines is similar enough.',
      'Read the file and copy old_text from content exactly, or check that this is the right file.',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [], fixes: [read], missing_tokens: ['alpha', 'beta', 'gamma', 'delta'] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Nothing in its 90 lines is similar enough, and it does not contain "alpha", "beta" or "gamma".',
      'Read the file and copy old_text from content exactly, or check that this is the right file.',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [], applied_lines: [7, 7] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'new_text is there already (line 7), so this edit seems to have been made.',
      'If so, leave it out; if not, read the file and copy old_text from it. Nothing was written.'
    ]
  },
  {
    failure: EXAMPLES.ALREADY_APPLIED,
    detail: [
      'new_text is there already, around old_text (lines 3 to 4 of src/app.ts), so this edit seems to have been made.',
      'If so, leave it out. To put it in once more, send occurrence 1 too, or the file_hash as expected_hash.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...EXAMPLES.ALREADY_APPLIED, lines: [3, 3], edit_index: 1, total_edits: 2 },
    detail: [
      'Edit 2 of 2 failed: new_text is there already, around old_text (line 3 of src/app.ts), so this edit seems to have',
      'been made. If so, leave it out. To put it in once more, send occurrence 1 too, or the file_hash as expected_hash.',
      'Nothing was written: none of the 2 edits was made; edit 1 matches.'
    ]
  },
  {
    failure: missed({ similar_content: [], file_preview: empty }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;". The file is empty.',
      'To put text into it, use /edit-lines with start_line 1 and end_line 0. Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [similar], fixes: [complete(4), read] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely lines 4 to 5 were meant: the spacing differs (the file has "const  foo", old_text "const',
      'foo"). The file has "foo( 1 )" there.',
      'If so, send suggested_fixes[0].edit. Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [oneLine], fixes: [read] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there.',
      'Read line 4 and copy old_text from there exactly. Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [{ ...oneLine, confidence: 'low' }], fixes: [read, withoutNewText] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Perhaps line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there.',
      'If so, send suggested_fixes[1].edit with a new_text of your own: your change is at "foo", where the file',
      'has "bar". Nothing was written.'
    ]
  },
  {
    failure: missed({
      similar_content: [oneLine],
      fixes: [withoutNewText, { type: 'USE_SECTION', lines: [4, 9], section: { symbol: 'Disk.sync' } }, read]
    }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there.',
      'If so, send suggested_fixes[0].edit with a new_text of your own: your change is at "foo", where the file has "bar".',
      '"Disk.sync" is lines 4 to 9 now; /edit-section replaces it whole (suggested_fixes[1].call).',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({
      similar_content: [similar],
      fixes: [complete(4)],
      applied_lines: [7, 7]
    }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely lines 4 to 5 were meant: the spacing differs (the file has "const  foo", old_text "const',
      'foo"). The file has "foo( 1 )" there.',
      'If so, send suggested_fixes[0].edit.',
      'new_text is also in the file, at line 7: if this edit was made already, leave it out.',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({
      similar_content: [oneLine, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [complete(4), complete(9), read],
      cause: { type: 'near_duplicate' }
    }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Several places are equally likely: line 4 or line 9.',
      'Send the edit for the place you mean (suggested_fixes[0] for line 4, suggested_fixes[1] for line 9).',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({
      similar_content: [similar, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [complete(9), read],
      cause: { type: 'near_duplicate', expected: 'area' }
    }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'The file defines "area" otherwise, and what is like old_text has another name: lines 4 to 5 or line 9.',
      'Send the edit for the place you mean (suggested_fixes[0] for line 9).',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({
      similar_content: [oneLine, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [read],
      cause: { type: 'near_duplicate' }
    }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Several places are equally likely: line 4 or line 9.',
      'Read the lines you mean and copy old_text from there exactly. Nothing was written.'
    ]
  },
  {
    failure: missed({ similar_content: [oneLine], fixes: [withoutNewText, withoutNewText] }),
    detail: [
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there.',
      'Send the edit for the place you mean (suggested_fixes[0] for lines 4 to 5, suggested_fixes[1] for lines 4',
      'to 5) with a new_text of your own: your change is at "foo", where the file has "bar".',
      'Nothing was written.'
    ]
  },
  {
    failure: missed({ edit_index: 1, total_edits: 3, undone_by_edit: 0, fixes: [complete(4)] }),
    detail: [
      'Edit 2 of 3 failed: old_text was not found in src/app.ts: "const foo = 1;".',
      'It is in the original file, but edit 1 of this request changes it first.',
      'Write old_text to match the text after that edit (suggested_fixes[0].edit has it), or merge the two',
      'edits. Nothing was written: none of the 3 edits was made; edit 1 matches.'
    ]
  },
  {
    failure: missed({
      edit_index: 1,
      total_edits: 4,
      undone_by_edit: 0,
      fixes: [{ ...complete(4), later: [later(2)] }]
    }),
    detail: [
      'Edit 2 of 4 failed: old_text was not found in src/app.ts: "const foo = 1;".',
      'It is in the original file, but edit 1 of this request changes it first.',
      'Write old_text to match the text after that edit (suggested_fixes[0].edit has it), or merge the two',
      'edits. Edit 3 fails too; send what suggested_fixes[0].later_edits has in its place.',
      'Nothing was written: none of the 4 edits was made; edit 1 matches.'
    ]
  },
  {
    failure: missed({
      edit_index: 0,
      total_edits: 4,
      similar_content: [oneLine],
      fixes: [{ ...complete(4), later: [later(1), later(3)] }]
    }),
    detail: [
      'Edit 1 of 4 failed: old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there. If so, send suggested_fixes[0].edit.',
      'Edits 2 and 4 fail too; send what suggested_fixes[0].later_edits has in their place.',
      'Nothing was written: none of the 4 edits was made.'
    ]
  },
  {
    failure: missed({
      edit_index: 0,
      total_edits: 4,
      similar_content: [oneLine],
      untried_from: 2,
      fixes: [{ ...complete(4), later: [later(1)] }]
    }),
    detail: [
      'Edit 1 of 4 failed: old_text was not found in src/app.ts: "const foo = 1;".',
      'Most likely line 4 was meant: the spacing differs (the file has "const  foo", old_text "const foo").',
      'The file has "foo( 1 )" there. If so, send suggested_fixes[0].edit.',
      'Edit 2 fails too; send what suggested_fixes[0].later_edits has in its place.',
      'Nothing was written: none of the 4 edits was made; edits 3 to 4 were not tried.'
    ]
  },
  ...leftToCaller,
  {
    failure: missed({ edit_index: 2, total_edits: 3, undone_by_edit: 0, fixes: [read] }),
    detail: [
      'Edit 3 of 3 failed: old_text was not found in src/app.ts: "const foo = 1;".',
      'It is in the original file, but edit 1 of this request changes it first.',
      'Write old_text to match the text after that edit, or merge the two edits.',
      'Nothing was written: none of the 3 edits was made; edits 1 to 2 match.'
    ]
  },
  {
    failure: WRONG_COUNT,
    detail: [
      'old_text appears 2 times in src/app.ts, at lines 12 and 40, but 1 was expected.',
      'Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), set',
      'occurrences to 2 to replace all of them, or set occurrence to the number of the one you mean.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, edit_index: 0, total_edits: 3, untried_from: 1 },
    detail: [
      'Edit 1 of 3 failed: old_text appears 2 times in src/app.ts, at lines 12 and 40, but 1 was expected.',
      'Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), set',
      'occurrences to 2 to replace all of them, or set occurrence to the number of the one you mean.',
      'Nothing was written: none of the 3 edits was made; edits 2 to 3 were not tried.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, edit_index: 1, total_edits: 2, undone_by_edit: 0 },
    detail: [
      'Edit 2 of 2 failed: old_text appears 2 times in src/app.ts, at lines 12 and 40, but 1 was expected.',
      'The original file has that many; edit 1 of this request changes it first.',
      'Write old_text to match the text after that edit (suggested_fixes has such edits), or merge the two',
      'edits. Nothing was written: none of the 2 edits was made; edit 1 matches.'
    ]
  },
  ...patchFaults,
  {
    failure: hunk('anchor', { search_text: 'def f():' }),
    detail: [
      'The anchor "def f():" of hunk 1 (line 1 of the diff) is not a line of src/app.ts, so the hunk can\'t be placed.',
      'Nothing in it is similar enough. Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written.'
    ]
  },
  {
    failure: hunk('anchor', {
      edit_index: 1,
      total_edits: 3,
      diff_line: 14,
      search_text: 'def f():',
      below: 7,
      similar_content: [oneLine],
      cause: { type: 'typo', expected: 'f', found: 'g' },
      diffs: [diffFor(5, [1])]
    }),
    detail: [
      'The anchor "def f():" of hunk 2 of 3 (line 14 of the diff) is not a line of src/app.ts below line 7, so the hunk',
      'can\'t be placed. Most likely line 4 was meant: the file has "g", the anchor "f". The file has "foo( 1 )" there.',
      'Send suggested_fixes[0].diff as it is: the whole diff, with hunk 2 corrected.',
      'Nothing was written: none of the 3 hunks was applied.'
    ]
  },
  {
    failure: hunk('lines', {
      similar_content: [oneLine],
      cause: { type: 'indentation', expected: '', found: '  ' },
      diffs: [diffFor(4, [0, 2])]
    }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Most likely line 4 was meant:',
      'the file indents with 2 spaces, but the diff has no indentation. The file has "foo( 1 )" there.',
      'Send suggested_fixes[0].diff as it is: the whole diff, with hunks 1 and 3 corrected. Nothing was written.'
    ]
  },
  {
    failure: hunk('lines', { total_edits: 2, also_unplaced: [unplaced(1, 9)] }),
    detail: [
      'The old lines of hunk 1 of 2 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Nothing in it is similar enough.',
      'Hunk 2 (line 9 of the diff) does not fit either.',
      'Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written: none of the 2 hunks was applied.'
    ]
  },
  {
    failure: hunkTwice('lines', { total_edits: 4, also_unplaced: [unplaced(1, 9), unplaced(3, 20)], diffs: [] }),
    detail: [
      'The old lines of hunk 1 of 4 (line 1 of the diff) appear 2 times in src/app.ts, at lines 4 and 9; they must fit one',
      'place: "foo(1)". Hunks 2 and 4 (lines 9 and 20 of the diff) do not fit either.',
      'Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written: none of the 4 hunks was applied.'
    ]
  },
  {
    failure: hunk('lines', { similar_content: [{ ...similar, confidence: 'low' }], suggestions_truncated: true }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Perhaps lines 4 to 5 were',
      'meant. The file has "foo( 1 )" there. Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written.'
    ]
  },
  {
    failure: hunk('lines', { similar_content: [oneLine], cause: { type: 'markdown_fence' }, too_long: true }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Most likely line 4 was meant:',
      'the diff has line numbers, a fence or markers on its lines that are not in the file. The file has "foo( 1 )" there.',
      'The corrected diff is too long to be shown. Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written.'
    ]
  },
  {
    failure: hunk('lines', {
      similar_content: [oneLine, { ...oneLine, line_number: 9, end_line: 9 }],
      cause: { type: 'near_duplicate' },
      diffs: [diffFor(4), diffFor(9)]
    }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Several places are equally',
      'likely: line 4 or line 9. Send the whole corrected diff for the place that you mean as it is:',
      'suggested_fixes[0].diff for line 4 or suggested_fixes[1].diff for line 9. Nothing was written.'
    ]
  },
  {
    failure: hunk('lines', { applied_lines: [4, 5] }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) were not found in src/app.ts: "foo(1)". Its new lines are there',
      'already (lines 4 to 5), so it seems to have been applied. If so, leave it out; if not, read the file and copy its',
      'lines. Nothing was written.'
    ]
  },
  {
    failure: hunk('lines', { file_preview: empty }),
    detail: [
      'src/app.ts is empty, so it does not have the old lines of hunk 1 (line 1 of the diff); send only lines with "+" in',
      'front. Nothing was written.'
    ]
  },
  {
    failure: hunk('place', { search_text: '', diffs: [diffFor(91), diffFor(1)] }),
    detail: [
      'Hunk 1 (line 1 of the diff) only adds lines, and neither an anchor (@@ and a line of the file) nor an old line',
      'says where they go. Send the whole corrected diff for the place that you mean as it is:',
      'suggested_fixes[0].diff for the end of the file or suggested_fixes[1].diff for line 1. Nothing was written.'
    ]
  },
  {
    failure: hunk('order', { edit_index: 1, total_edits: 2, diff_line: 5, diffs: [diffFor(3, [1])] }),
    detail: [
      'Hunk 2 of 2 (line 5 of the diff) stands above the hunk before it; hunks must be in the order of the file.',
      'Send suggested_fixes[0].diff as it is: the whole diff, with hunk 2 corrected.',
      'Nothing was written: none of the 2 hunks was applied.'
    ]
  },
  {
    failure: hunk('end', { diffs: [diffFor(4)] }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) are not the last lines of src/app.ts, as *** End of File says:',
      '"foo(1)". Send suggested_fixes[0].diff as it is: the whole diff, with hunk 1 corrected. Nothing was written.'
    ]
  },
  {
    failure: hunkTwice('lines'),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) appear 2 times in src/app.ts, at lines 4 and 9; they must fit one',
      'place: "foo(1)". Send the whole corrected diff for the place that you mean as it is:',
      'suggested_fixes[0].diff for line 4 or suggested_fixes[1].diff for line 9. Nothing was written.'
    ]
  },
  {
    failure: hunkTwice('lines', { below: 3, actual_occurrences: 62, more_matches: 60, diffs: [] }),
    detail: [
      'The old lines of hunk 1 (line 1 of the diff) appear 62 times in src/app.ts below line 3, at lines 4, 9 and more;',
      'they must fit one place: "foo(1)". Read the file, and copy the lines around the change from it exactly.',
      'Nothing was written.'
    ]
  },
  {
    failure: hunkTwice('anchor', { search_text: 'def f():' }),
    detail: [
      'The anchor "def f():" of hunk 1 (line 1 of the diff) appears 2 times in src/app.ts, at lines 4 and 9; it must fit',
      'one line. Send the whole corrected diff for the place that you mean as it is:',
      'suggested_fixes[0].diff for line 4 or suggested_fixes[1].diff for line 9. Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, overlapping: true },
    detail: [
      'old_text appears 2 times in src/app.ts, at lines 12 and 40, but 1 was expected.',
      'Some of the matches overlap.',
      'Add surrounding lines to old_text until it matches one place; suggested_fixes has such edits.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, overlapping: true, expected_occurrences: 3 },
    detail: [
      'old_text appears 2 times in src/app.ts, at lines 12 and 40, but 3 were expected.',
      'Its matches overlap, so it is not unique either.',
      'Add surrounding lines to old_text until it matches one place; suggested_fixes has such edits.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, expected_occurrences: 3 },
    detail: [
      'old_text appears 2 times in src/app.ts, at lines 12 and 40, but 3 were expected.',
      'Set occurrences to 2 to replace all of them, or check whether the other places read differently.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, expected_occurrences: 3, similar_content: [similar] },
    detail: [
      'old_text appears 2 times in src/app.ts, at lines 12 and 40, but 3 were expected.',
      'Lines 4 to 5 are nearly the same: "foo( 1 )"; to change that too, add an edit with this text.',
      'Set occurrences to 2 to replace all of them, or check whether the other places read differently.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, expected_occurrences: 3, actual_occurrences: 1, match_lines: [12] },
    detail: [
      'old_text appears 1 time in src/app.ts, at line 12, but 3 were expected.',
      'Set occurrences to 1, or leave it out, to replace it; or check whether the other places read',
      'differently. Nothing was written.'
    ]
  },
  {
    failure: {
      ...WRONG_COUNT,
      expected_occurrences: 3,
      actual_occurrences: 1,
      match_lines: [12],
      similar_content: [oneLine]
    },
    detail: [
      'old_text appears 1 time in src/app.ts, at line 12, but 3 were expected.',
      'Line 4 is nearly the same: "foo( 1 )"; to change that too, add an edit with this text.',
      'Set occurrences to 1, or leave it out, to replace the one that is exactly old_text.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...WRONG_COUNT, actual_occurrences: 14, match_lines: Array.from({ length: 14 }, (_, i) => i + 1) },
    detail: [
      'old_text appears 14 times in src/app.ts, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 4 more, but 1 was',
      'expected.',
      'Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), set',
      'occurrences to 14 to replace all of them, or set occurrence to the number of the one you mean.',
      'Nothing was written.'
    ]
  },
  {
    failure: OCCURRENCE_OUT_OF_RANGE,
    detail: [
      'occurrence is 3, but old_text appears 2 times in src/app.ts, at lines 12 and 40.',
      'Set occurrence to a number from 1 to 2, "first" or "last". Nothing was written.'
    ]
  },
  {
    failure: { ...OCCURRENCE_OUT_OF_RANGE, actual_occurrences: 1, match_lines: [12] },
    detail: [
      'occurrence is 3, but old_text appears 1 time in src/app.ts, at line 12.',
      'Set occurrence to 1, "first" or "last". Nothing was written.'
    ]
  },
  {
    failure: { code: 'RESULT_TOO_LARGE', ...alone, what: 'bytes', limit: 100, actual: 130 },
    detail: [
      'src/app.ts would have 130 bytes; the limit is 100.',
      'Send less text; only the operator can raise the limit, with --max-file-size. Nothing was written.'
    ]
  },
  {
    failure: { code: 'RESULT_TOO_LARGE', edit_index: 0, total_edits: 2, what: 'replacements', limit: 10, actual: 11 },
    detail: [
      'Edit 1 of 2 failed: 11 places would be replaced; the limit for one request is 10.',
      'Send an old_text that matches fewer places.',
      'Nothing was written: none of the 2 edits was made.'
    ]
  }
]

const outside = { code: 'LINE_OUT_OF_RANGE', total_lines: 9 } as const
const { found_at: _, ...notFound } = { ...EXPECTED_TEXT_MISMATCH, fixes: [] }
const differs = { type: 'tabs', expected: '  x', found: '\tx' } as const
const LINES: Described[] = [
  {
    failure: { ...outside, start_line: 12 },
    detail: ['src/app.ts has no line 12: it has 9 lines. Ask for lines from 1 to 9.']
  },
  {
    failure: { ...outside, total_lines: 1, start_line: 3 },
    detail: ['src/app.ts has no line 3: it has 1 line. Ask for line 1.']
  },
  {
    failure: { ...outside, start_line: 3, end_line: 2 },
    detail: ['end_line 2 comes before start_line 3. src/app.ts has 9 lines. Ask for lines from 1 to 9.']
  },
  {
    failure: { ...outside, start_line: 3, start_column: 9, total_columns: 4 },
    detail: [
      'Line 3 of src/app.ts has no column 9: it has 4 columns.',
      'Leave start_column out to read the line from its start.'
    ]
  },
  {
    failure: { ...outside, ...alone, start_line: 0, end_line: 0 },
    detail: [
      'start_line is 0, but lines are counted from 1: src/app.ts has 9 lines.',
      'To insert at the top, send start_line 1 and end_line 0. Nothing was written.'
    ]
  },
  {
    failure: { ...outside, ...alone, start_line: 4, end_line: 2 },
    detail: [
      'end_line 2 comes before start_line 4.',
      'To insert before line 4, send end_line 3; to replace lines, send the last of them as end_line.',
      'src/app.ts has 9 lines. Nothing was written.'
    ]
  },
  {
    failure: { ...outside, ...alone, start_line: 12, end_line: 12 },
    detail: [
      'src/app.ts has no line 12: it has 9 lines.',
      'To append, send start_line 10 and end_line 9. Nothing was written.'
    ]
  },
  {
    failure: { ...outside, edit_index: 1, total_edits: 2, start_line: 9, end_line: 10 },
    detail: [
      'Edit 2 of 2 failed: src/app.ts has no line 10: it has 9 lines.',
      'To append, send start_line 10 and end_line 9.',
      'Nothing was written: none of the 2 edits was made.'
    ]
  },
  {
    failure: EXAMPLES.OVERLAPPING_EDITS,
    detail: [
      'Edit 2 of 2 failed: it changes lines 44 to 46 of src/app.ts and edit 1 changes lines 40 to 45, so they',
      'overlap. All line numbers refer to the file before the request.',
      'Merge the two edits, or correct their lines.',
      'Nothing was written: none of the 2 edits was made.'
    ]
  },
  {
    failure: { ...EXAMPLES.OVERLAPPING_EDITS, other_lines: [45, 44] },
    detail: [
      'Edit 2 of 2 failed: it changes lines 44 to 46 of src/app.ts and edit 1 inserts before line 45, so they',
      'overlap. All line numbers refer to the file before the request.',
      'Merge the two edits, or correct their lines.',
      'Nothing was written: none of the 2 edits was made.'
    ]
  },
  {
    failure: EXPECTED_TEXT_MISMATCH,
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'expected_text is now at line 47.',
      'If you mean line 47, send suggested_fixes[0].edit. Nothing was written.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, fixes: [] },
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'expected_text is now at line 47.',
      'If you mean line 47, copy its text as expected_text. Nothing was written.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, fixes: [], found_at: [47, 48] },
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'expected_text is now at lines 47 to 48.',
      'If you mean lines 47 to 48, copy their text as expected_text. Nothing was written.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, start_line: 46, end_line: 45 },
    detail: [
      'expected_text must be empty, because the edit inserts before line 46 and replaces no lines.',
      'expected_text is now at line 47.',
      'If you mean line 47, send suggested_fixes[0].edit. Nothing was written.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, cause: differs },
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'Nearly the same text is now at line 47: the file indents with 1 tab, but expected_text indents with 2 spaces.',
      'If you mean line 47, send suggested_fixes[0].edit. Nothing was written.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, edit_index: 0, total_edits: 2, cause: differs },
    detail: [
      'Edit 1 of 2 failed: expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'Nearly the same text is now at line 47: the file indents with 1 tab, but expected_text indents with 2 spaces.',
      'If you mean line 47, send suggested_fixes[0].edit.',
      'The lines of the other edits may have moved too: check their numbers first.',
      'Nothing was written: none of the 2 edits was made.'
    ]
  },
  {
    failure: { ...EXPECTED_TEXT_MISMATCH, found_at: [45, 45], cause: differs },
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'They are nearly the same: the file indents with 1 tab, but expected_text indents with 2 spaces.',
      'If you mean these lines, send suggested_fixes[0].edit. Nothing was written.'
    ]
  },
  {
    failure: {
      ...EXPECTED_TEXT_MISMATCH,
      end_line: 46,
      cause: differs,
      fixes: [
        {
          type: 'USE_EXACT_TEXT',
          edit: { start_line: 47, end_line: 47 },
          conflict: { reason: 'same_words', changed: 'foo', found: 'bar' }
        }
      ]
    },
    detail: [
      'expected_text does not match lines 45 to 46 of src/app.ts, which have "const  foo = 1;\\n".',
      'Nearly the same text is now at line 47: the file indents with 1 tab, but expected_text indents with 2 spaces.',
      'If you mean line 47, send suggested_fixes[0].edit with a new_text of your own: your change is at "foo", where',
      'the file has "bar".',
      'Nothing was written.'
    ]
  },
  {
    failure: notFound,
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'No other lines clearly match it.',
      'Read the file again: the lines may have moved or changed. Nothing was written.'
    ]
  },
  {
    failure: { ...notFound, similar_content: [similar, { ...similar, line_number: 9, end_line: 9 }] },
    detail: [
      'expected_text does not match line 45 of src/app.ts, which has "const  foo = 1;\\n".',
      'No other lines clearly match it (most similar: lines 4 to 5 or line 9).',
      'Read the file again: the lines may have moved or changed. Nothing was written.'
    ]
  }
]

const constant = { kind: 'constant', name: 'LIMIT', start_line: 9, end_line: 9 } as const
const method = { kind: 'method', name: 'parse', parent: 'Parser', start_line: 12, end_line: 15 } as const
const section = { kind: 'heading', name: 'Setup', level: 2, start_line: 3, end_line: 9 } as const
const block = { kind: 'code_block', start_line: 11, end_line: 13 } as const
const shell = { kind: 'code_block', language: 'sh', start_line: 11, end_line: 13 } as const
const frontMatter = { kind: 'front_matter', start_line: 1, end_line: 3 } as const
const languages = ['markdown', 'typescript']
const nothingLike = { ...TARGET_NOT_FOUND, target: { heading: 'Setup' }, nearest: [] }
const noneSupported = { code: 'UNSUPPORTED_TARGET', languages } as const

/** All reasons for which a target isn't supported. */
const UNSUPPORTED: { failure: UnsupportedTarget; detail: string[] }[] = [
  {
    failure: UNSUPPORTED_TARGET,
    detail: [
      'src/app.ts is a typescript file, and only Markdown (.md) has headings and code blocks.',
      'Name a symbol, or use /edit. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'not_markdown', language: 'json' },
    detail: [
      'src/app.ts is a json file, and only Markdown (.md) has headings and code blocks. Use /edit.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'not_markdown' },
    detail: [
      'The language of src/app.ts is not known from its name, and only Markdown (.md) has headings and code',
      'blocks. Use /edit. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_grammar', language: 'markdown' },
    detail: [
      'src/app.ts is a markdown file, which has no symbols.',
      'Name a heading or a code_block. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_grammar', language: 'json' },
    detail: [
      'src/app.ts is a json file, so its structure is not supported.',
      'Supported languages are markdown and typescript. Use /edit. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_grammar' },
    detail: [
      'The language of src/app.ts is not known from its name, so its structure is not supported.',
      'Supported languages are markdown and typescript. Use /edit. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_grammar', language: 'yaml', to_read: true },
    detail: [
      'src/app.ts is a yaml file, so its structure is not supported. Supported languages are markdown and typescript.',
      'Leave structure out to read the file, or send search to find text in it.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'too_slow', limit: 2000, to_read: true },
    detail: [
      'The structure of src/app.ts could not be read within 2 seconds.',
      'Leave structure out to read the file, or send search to find text in it.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'too_large', limit: 8_388_608, actual: 9_437_184 },
    detail: [
      'src/app.ts has 9437184 bytes, and structure is only read from files of up to 8388608.',
      'Use /edit or /edit-lines. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'too_slow', limit: 2000 },
    detail: [
      'The structure of src/app.ts could not be read within 2 seconds. Use /edit or /edit-lines.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'parser_failed' },
    detail: [
      'The parser failed on src/app.ts, so its structure is not available. Use /edit or /edit-lines.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'not_alone', entry: constant },
    detail: [
      'The constant "LIMIT" shares line 9 of src/app.ts with other code.',
      'Use /edit with its exact text. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'cramped', entry: method },
    detail: [
      'The body of the method "Parser.parse" at lines 12 to 15 of src/app.ts shares its lines with other',
      "code, so text can't be added to it.",
      'Use /edit with its exact text. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_body', entry: constant },
    detail: [
      'The constant "LIMIT" at line 9 of src/app.ts has no body to add text to.',
      'Use action replace, insert_before or insert_after. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'no_body', entry: frontMatter },
    detail: [
      'The front matter at lines 1 to 3 of src/app.ts has no body to add text to.',
      'Use action replace, insert_before or insert_after. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'unclosed', entry: block },
    detail: [
      'The code block at lines 11 to 13 of src/app.ts is never closed: anything after it would become part of',
      'it. Use action append, or replace with include_heading: true. Nothing was written.'
    ]
  },
  {
    failure: { ...noneSupported, reason: 'unclosed', entry: shell },
    detail: [
      'The "sh" code block at lines 11 to 13 of src/app.ts is never closed: anything after it would become',
      'part of it. Use action append, or replace with include_heading: true. Nothing was written.'
    ]
  }
]

const SECTIONS: Described[] = [
  {
    failure: TARGET_NOT_FOUND,
    detail: [
      'The symbol "Parser.prase" was not found in src/app.ts. Did you mean "Parser.parse"?',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...TARGET_NOT_FOUND, nearest: ['Parser.parse', 'parseAll'], syntax_error_lines: [4] },
    detail: [
      'The symbol "Parser.prase" was not found in src/app.ts.',
      'Did you mean "Parser.parse" or "parseAll"? Nothing was written.',
      'The file has syntax errors (line 4), so parts of it may not have been recognized.'
    ]
  },
  {
    failure: nothingLike,
    detail: [
      'The heading "Setup" was not found in src/app.ts.',
      'Name one of the items in outline. Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, total: 300 },
    detail: [
      'The heading "Setup" was not found in src/app.ts.',
      'Name one of the items in outline (the first 2 of 300). Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, target: { code_block: {} }, outline: [], total: 0 },
    detail: [
      'The code block was not found in src/app.ts, which has no headings, code blocks or symbols.',
      'Use /edit. Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, target: { code_block: { index: 2, language: 'sh', under_heading: 'Setup' } } },
    detail: [
      'The "sh" code block 2 under the heading "Setup" was not found in src/app.ts.',
      'Name one of the items in outline. Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, at_line: 1, elsewhere: [section, method] },
    detail: [
      'The heading "Setup" was not found at line 1 in src/app.ts: it is at lines 3 to 9 or lines 12 to 15.',
      'Send at_line with a line of the one you mean. Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, at_line: 1, elsewhere: [section] },
    detail: [
      'The heading "Setup" was not found at line 1 in src/app.ts: it is at lines 3 to 9.',
      'Correct at_line, or leave it out. Nothing was written.'
    ]
  },
  {
    failure: { ...nothingLike, at_line: 2, elsewhere: [section, method, section, method, section, method] },
    detail: [
      'The heading "Setup" was not found at line 2 in src/app.ts: the nearest are at lines 3 to 9, lines 12 to 15,',
      'lines 3 to 9, lines 12 to 15 or lines 3 to 9.',
      'Send at_line with a line of the one you mean; targets lists them. Nothing was written.'
    ]
  },
  {
    failure: AMBIGUOUS_TARGET,
    detail: [
      'The symbol "Parser.parse" matches 2 places in src/app.ts, at lines 12 and 16.',
      'Send at_line with a line of the one you mean, or name it by its path. targets lists them.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...AMBIGUOUS_TARGET, at_line: 12, syntax_error_lines: [4, 7] },
    detail: [
      'The symbol "Parser.parse" matches 2 places in src/app.ts, at lines 12 and 16.',
      'Line 12 is in more than one of them: send the first line of the one you mean as at_line.',
      'targets lists them. Nothing was written.',
      'The file has syntax errors (lines 4 and 7), so parts of it may not have been recognized.'
    ]
  },
  ...UNSUPPORTED
]

const fits = { fits: true, places: [], total: 0, file_preview: NO_MATCH.file_preview } as const
const now = (places: [number, number][], total = places.length) =>
  ({ ...STALE_FILE, now: { ...fits, places, total } }) as const
const movedTo = (...moved: LineRange[]) => {
  const places = moved.map(({ start_line, end_line }): [number, number] => [start_line, end_line])
  return { ...STALE_FILE, now: { ...fits, places, total: places.length, moved } } as const
}
const STALE: Described[] = [
  {
    failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' },
    detail: [
      'src/app.ts was changed by another program while it was being edited. Nothing was written.',
      'Read the file again, then decide.'
    ]
  },
  {
    failure: STALE_FILE,
    detail: [
      'src/app.ts has changed: its hash is not 9f86d081884c7d65. Nothing was written.',
      'Read the file again, check that your edit still applies, and send it with its file_hash as',
      'expected_hash.'
    ]
  },
  {
    failure: STALE_FILE,
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'Read the file again, check that your edit still applies, and send it with expected_hash',
      '"60303ae22b998861".'
    ]
  },
  {
    failure: now([]),
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'Your edit would still apply; file_preview shows what is there now.',
      'If that is what you mean, send it with expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: now([[4, 4]]),
    detail: [
      'src/app.ts has changed: its hash is not 9f86d081884c7d65. Nothing was written.',
      'Your edit would still apply at line 4; file_preview shows what is there now.',
      'If that is what you mean, send it with its file_hash as expected_hash.'
    ]
  },
  {
    failure: now([[4, 4]]),
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'Your edit would still apply at line 4; file_preview shows what is there now.',
      'If that is what you mean, send it with expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: now(
      [
        [3, 5],
        [9, 8],
        [9, 8]
      ],
      14
    ),
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'Your edit would still apply at lines 3 to 5 and before line 9 and at 11 more places; file_preview',
      'shows what is there now. If that is what you mean, send it with expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: movedTo({ start_line: 7, end_line: 8 }),
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'The place of your edit is unchanged, but is at lines 7 to 8 now, as file_preview shows.',
      'If you still mean it, send the edit with start_line 7, end_line 8 and expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: movedTo({ start_line: 7, end_line: 6 }, { start_line: 9, end_line: 9 }),
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'The places of your edits are unchanged, but are before line 7 and at line 9 now; file_preview shows the first.',
      'If you still mean them, send the edits with the line numbers in suggested_fixes and expected_hash',
      '"60303ae22b998861".'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { ...fits, places: [[4, 4]], total: 1, unchecked: 'occurrence' } },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'Matches may have come and gone: your edit would apply at line 4 now; file_preview shows what is there.',
      'If that is the match you mean, send it with expected_hash "60303ae22b998861"; if not, correct its number first.'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { ...fits, places: [[4, 6]], total: 1, unchecked: 'changed_lines' } },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65. Nothing was written.',
      'The place of your edit was changed too: file_preview shows what is at lines 4 to 6 now.',
      'Correct your edit, and send it with expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { fits: false, failure: { ...outside, ...alone, start_line: 12 } } },
    detail: [
      'src/app.ts has changed: its hash is not 9f86d081884c7d65.',
      'Your edit would fail on the current file too: src/app.ts has no line 12: it has 9 lines.',
      'To append, send start_line 10 and end_line 9. Nothing was written.',
      'Send the corrected edit with its file_hash as expected_hash.'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { fits: false, failure: WRONG_COUNT } },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65.',
      'Your edit would fail on the current file too: old_text appears 2 times in src/app.ts, at lines 12 and 40,',
      'but 1 was expected.',
      'Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), set',
      'occurrences to 2 to replace all of them, or set occurrence to the number of the one you mean.',
      'Nothing was written. Send the corrected edit with expected_hash "60303ae22b998861".'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { fits: false, failure: EXAMPLES.ALREADY_APPLIED } },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65.',
      'new_text is there already, around old_text (lines 3 to 4 of src/app.ts), so this edit seems to have been made.',
      'If so, leave it out. To put it in once more, send occurrence 1 too, or the file_hash as expected_hash.',
      'Nothing was written.'
    ]
  },
  {
    failure: {
      ...STALE_FILE,
      now: { fits: false, failure: missed({ similar_content: [], applied_lines: [7, 7] }) }
    },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65.',
      'old_text was not found in src/app.ts: "const foo = 1;".',
      'new_text is there already (line 7), so this edit seems to have been made.',
      'If so, leave it out; if not, read the file and copy old_text from it. Nothing was written.'
    ]
  },
  {
    failure: { ...STALE_FILE, now: { fits: false, failure: TARGET_NOT_FOUND } },
    context: hashed,
    detail: [
      'src/app.ts has changed: its hash is 60303ae22b998861, not 9f86d081884c7d65.',
      'Your edit would fail on the current file too: The symbol "Parser.prase" was not found in src/app.ts.',
      'Did you mean "Parser.parse"? Nothing was written.',
      'Send the corrected edit with expected_hash "60303ae22b998861".'
    ]
  }
]

const SYNTAX: Described[] = [
  {
    failure: SYNTAX_ERROR,
    detail: [
      'This edit would leave src/app.ts with a syntax error that it does not have now,',
      'at line 12, column 17: "const total = 1 +" (identifier is missing). Nothing was written.',
      'Correct the text that you put in, or send syntax "warn" to write it anyway.'
    ]
  },
  {
    failure: { ...SYNTAX_ERROR, fault: { line: 3, column: 5, end_line: 9, text: 'if (a {' } },
    detail: [
      'This edit would leave src/app.ts with a syntax error that it does not have now,',
      'from line 3, column 5, to line 9: "if (a {". Nothing was written.',
      'Correct the text that you put in, or send syntax "warn" to write it anyway.'
    ]
  },
  {
    failure: { ...SYNTAX_ERROR, is_new: true, fault: { line: 4, column: 1, text: '', reason: '} is missing' } },
    detail: [
      'src/app.ts would have a syntax error at line 4, column 1 (} is missing). Nothing was written.',
      'Correct the text that you put in, or send syntax "warn" to write it anyway.'
    ]
  }
]

const HISTORY: Described[] = [
  {
    failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'another_request' },
    detail: [
      'Another request was carried out under this idempotency_key; nothing was done.',
      'To ask for something new, send it with a new key.',
      'To get the answer of that request again, send exactly its fields.'
    ]
  },
  {
    failure: { code: 'CURSOR_GONE' },
    detail: [
      'What was changed after this cursor is no longer kept in full.',
      'To go on, leave the cursor out (after, or the header Last-Event-ID); then ask /history what was changed before that.'
    ]
  },
  {
    failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'uncertain' },
    detail: [
      'The server was stopped while it carried out the first request with this idempotency_key, and the file has been',
      'changed since, so that nobody can tell whether that request was carried out; nothing was done now.',
      'Read the file, and send what is still missing with a new key.'
    ]
  },
  {
    failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'damaged' },
    detail: [
      'What was recorded of the first request with this idempotency_key is damaged, so that nobody can tell whether that',
      'request was carried out; nothing was done now. Read the file, and send what is still missing with a new key.'
    ]
  },
  {
    failure: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'forgotten' },
    detail: [
      'The first request with this idempotency_key was carried out, but its answer was removed (editd forget);',
      'nothing was done now. Read the file to see what is there.'
    ]
  },
  {
    failure: { code: 'REQUEST_IN_FLIGHT', retry_after: 1 },
    detail: [
      'A request with this idempotency_key is still being carried out; nothing more was done.',
      'Send the request again in 1 second. It is then answered with what came of the first.'
    ]
  },
  {
    failure: { code: 'HISTORY_GONE', reason: 'off', keyed: true },
    detail: [
      'This server keeps no history (--history off), so it could not tell whether this idempotency_key was used',
      'before; nothing was done.',
      'Leave the key out; with expected_hash, an edit that is sent again is refused instead of made twice.'
    ]
  },
  {
    failure: { code: 'HISTORY_GONE', reason: 'no_texts', edit_ids: ['E1', 'E2'] },
    detail: [
      'The texts of edits E1 and E2 are not kept, or not any more, so it is not known what to put back.',
      'Nothing was written. Change the file by an edit instead.'
    ]
  },
  {
    failure: { code: 'HISTORY_GONE', reason: 'inconsistent', edit_ids: ['E1'] },
    detail: [
      'What is recorded of edit E1 does not fit the file as it is, so it is not known what to put back.',
      'Nothing was written. Change the file by an edit instead.'
    ]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'no_texts',
      edit_ids: ['E2', 'E3'],
      asked: { to: 'undo', edit_ids: ['E1'] }
    },
    detail: [
      "Edit E1 can't be taken back: that needs the texts of edits E2 and E3, which are not kept, or not any more.",
      'Nothing was written. Only what was edited after E3 can be taken back.',
      'For what was before, change the file by an edit instead.'
    ]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'no_texts',
      edit_ids: [],
      asked: { to: 'state_after', edit_ids: ['E1'] },
      unrecorded: true
    },
    detail: [
      "The state after edit E1 can't be brought back: the file was changed since by another program, or by a server",
      'without a history, and it is not known how.',
      'Nothing was written. Only what was edited after that can be taken back.',
      'For what was before, change the file by an edit instead.'
    ]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'inconsistent',
      edit_ids: ['E2'],
      asked: { to: 'redo', edit_ids: ['E1'] }
    },
    detail: [
      "Edit E1 can't be made again: what is recorded of edit E2 does not fit the file as it is.",
      'Nothing was written. For what was before, change the file by an edit instead.'
    ]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'inconsistent',
      edit_ids: ['E2'],
      asked: { to: 'pending', edit_ids: [] }
    },
    detail: ["What is pending can't be shown line by line: what is recorded of edit E2 does not fit the file as it is."]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'inconsistent',
      edit_ids: ['E2'],
      asked: { to: 'blame', edit_ids: [] }
    },
    detail: ["Who wrote the lines can't be told: what is recorded of edit E2 does not fit the file as it is."]
  },
  {
    failure: {
      code: 'HISTORY_GONE',
      reason: 'no_texts',
      edit_ids: ['E2', 'E3'],
      asked: { to: 'blame', edit_ids: ['E1'] }
    },
    detail: [
      "Who wrote the lines, as they were after edit E1, can't be told:",
      'that needs the texts of edits E2 and E3, which are not kept, or not any more.'
    ]
  },
  {
    failure: conflict({}),
    detail: [
      "Edit E1 can't be taken back: the later edit E2 changed the same text (line 12 of src/app.ts).",
      'Nothing was written. If that is what you mean, take back edit E2 too, or send on_conflict "skip" to leave what',
      'is in conflict. suggested_fixes has the calls.'
    ]
  },
  {
    failure: { ...conflict({ kind: 'same_line', end_line: 14 }), verb: 'redo', more_conflicts: 2 },
    detail: [
      "Edit E1 can't be made again: the later edit E2 changed the same line (lines 12 to 14 of src/app.ts).",
      'There are 3 conflicts in all. Nothing was written.',
      'Edit the lines in question with /edit, as suggested_fixes has it.'
    ]
  },
  {
    failure: conflict({ kind: 'outside', end_line: 11 }),
    detail: [
      "Edit E1 can't be taken back: another program changed the same text since (E2, line 12 of src/app.ts).",
      'Nothing was written. If that is what you mean, take back edit E2 too, or send on_conflict "skip" to leave what',
      'is in conflict. suggested_fixes has the calls.'
    ]
  },
  {
    failure: conflict({ kind: 'outside' }, false),
    detail: [
      "Edit E1 can't be taken back: another program changed the same text since (line 12 of src/app.ts).",
      'Nothing was written. If that is what you mean, edit the lines in question, or send on_conflict "skip" to leave',
      'what is in conflict. suggested_fixes has the calls.'
    ]
  },
  {
    failure: conflict({ kind: 'removed', removal: { operation: 'undo', back: { verb: 'redo', edit_id: 'E2' } } }),
    detail: [
      "Edit E1 can't be taken back: src/app.ts is gone: undo E2 removed it. Nothing was written.",
      'To bring the file back first, call /redo with {"edit_id":"E2"}.'
    ]
  },
  {
    failure: conflict({ kind: 'removed', removal: { operation: 'edit', back: { verb: 'undo', edit_id: 'E2' } } }),
    detail: [
      "Edit E1 can't be taken back: src/app.ts is gone: edit E2 deleted it. Nothing was written.",
      'To bring the file back first, call /undo with {"edit_ids":["E2"]}.'
    ]
  },
  {
    failure: conflict({
      kind: 'removed',
      removal: { operation: 'redo', moved_to: 'b.ts', back: { verb: 'undo', edit_id: 'E0' } }
    }),
    detail: [
      "Edit E1 can't be taken back: src/app.ts is gone: redo E2 moved it to b.ts again. Nothing was written.",
      'To bring the file back first, call /undo with {"edit_ids":["E0"]}.'
    ]
  },
  {
    failure: conflict({ kind: 'removed' }, false),
    detail: [
      "Edit E1 can't be taken back: src/app.ts is gone. Nothing was written.",
      'If the file should be there, make it again with /create.'
    ]
  },
  {
    failure: nothing({ reason: 'unknown' }),
    detail: ['There is no edit E1. The history is empty. /history lists the edits. Nothing was written.']
  },
  {
    failure: { ...nothing({ reason: 'unknown', oldest_kept_at: 0 }), edit_ids: ['E1', 'E2'] },
    detail: [
      'There is no such edit E1 or E2. The history goes back to 1970-01-01T00:00:00.000Z. /history lists the edits.',
      'Nothing was written.'
    ]
  },
  {
    failure: nothing({ reason: 'done_already' }),
    detail: ['Edit E1 is undone already. To make it again, call /redo. Nothing was written.']
  },
  {
    failure: { ...nothing({ reason: 'done_already' }), verb: 'redo', edit_ids: ['E1', 'E2', 'E3', 'E4'] },
    detail: ['All 4 edits stand: there is nothing to make again. Nothing was written.']
  },
  {
    failure: nothing({ reason: 'half_of_move' }),
    detail: [
      'Edit E1 is half of a move, and the other half is not in the history that you see.',
      'A move is taken back whole, or not at all. Nothing was written.'
    ]
  },
  {
    failure: nothing({ reason: 'is_undo', undoes: ['E0', 'E9'] }),
    detail: ['E1 is an undo of edits E0 and E9. To make them again, call /redo with edit_id E1. Nothing was written.']
  },
  {
    failure: nothing({ reason: 'is_undo', undoes: ['E0', 'E9'], batch_id: 'B1' }),
    detail: [
      'Batch B1 is an undo of edits E0 and E9. To make them again, call /redo with batch_id B1. Nothing was written.'
    ]
  },
  {
    failure: nothing({ reason: 'none' }),
    detail: ['No matching edit is left to take back. /history lists the edits. Nothing was written.']
  },
  {
    failure: nothing({ reason: 'none', verb: 'review' }),
    detail: ['No matching edit is known. /history lists the edits. Nothing was written.']
  },
  {
    failure: nothing({ reason: 'none_of_caller', agent: 'ann' }),
    detail: [
      'No edit of yours ("ann") stands. Send the edit_id of the one that you mean; /history lists them.',
      'Nothing was written.'
    ]
  },
  {
    failure: { ...nothing({ reason: 'none_of_caller' }), verb: 'redo' },
    detail: [
      'No undo of yours (a caller who gave no name) is left to make again.',
      'Send the edit_id of the one that you mean; /history lists them. Nothing was written.'
    ]
  },
  { failure: nothing({ reason: 'same_state' }), detail: ['The file has that content already. Nothing was written.'] },
  {
    failure: nothing({ reason: 'all_in_conflict' }),
    detail: [
      'Later changes stand in the way of all that was to be taken back.',
      'Send the same without on_conflict to get the calls that go on. Nothing was written.'
    ]
  },
  {
    failure: { code: 'NOT_A_FILE', type: 'link_now', leads_to: 'b.txt' },
    detail: [
      'src/app.ts is now, or lies behind, a symbolic link to b.txt; the edit was made to the file that was there.',
      'Nothing was written. Put the file back in its place, or change it by an edit.'
    ]
  },
  {
    failure: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: ['E1'], reason: 'not_of_file' },
    detail: ['The file has no edit E1. /history with its path lists those that it has. Nothing was written.']
  },
  {
    failure: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: ['E1'], reason: 'file_removed' },
    detail: [
      'The file is not there: undo E1 took back its creation. To bring it back, call /redo with edit_id E1.',
      'Nothing was written.'
    ]
  },
  {
    failure: { code: 'HISTORY_GONE', reason: 'off' },
    detail: ['This server keeps no history (--history off), so no change can be listed or taken back.']
  }
]

export const FAILURES: Described[] = [
  ...REQUESTS,
  ...FILES,
  ...HISTORY,
  ...TEXTS,
  ...LINES,
  ...SECTIONS,
  ...SYNTAX,
  ...STALE
]
