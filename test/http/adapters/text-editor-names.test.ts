// What a model that uses Anthropic's text editor or memory tool reads of its failures: its own commands and fields.
import t from 'tap'
import { BY_TOOL, type CallSyntax } from '../../../src/http/answers/call-names.ts'
import { toProblem } from '../../../src/http/answers/problem.ts'
import { toBody } from '../../../src/http/answers/outcome.ts'
import { BY_TEXT_EDITOR, textEditorNames, TO_THE_END } from '../../../src/http/adapters/text-editor-names.ts'
import type { FixedText } from '../../../src/engine/failure.ts'
import type { Failure } from '../../../src/http/request-failure.ts'
import { FAILURES, type Described } from '../answers/all-failures.ts'

/** The memory tool, whose files are in `memories/` of the workspace. */
const BY_MEMORY = textEditorNames({
  pathShown: path => (path === '.' ? '/memories' : path.startsWith('memories/') ? `/${path}` : undefined)
})

const FIELDS: Record<string, string[]> = {
  view: ['path', 'view_range?'],
  str_replace: ['path', 'old_str', 'new_str'],
  insert: ['path', 'insert_line', 'insert_text'],
  create: ['path', 'file_text']
}

const OUR_NAMES = [
  ...['old_text', 'new_text', 'expected_text', 'expected_hash', 'file_hash', 'occurrences?\\b(?= |:|")', 'replace_all'],
  ...['start_line', 'end_line', 'edit_lines', 'edit_section', 'inspect_file', 'edit_file', 'create_file'],
  ...['edit_history', 'undo_edit', 'redo_edit', 'overwrite', 'create_parents', 'line_endings']
]
const OUR_ROUTES = ['edit', 'edit-lines', 'edit-section', 'inspect', 'create', 'history', 'undo', 'redo']
const OURS = new RegExp(
  `\\b(${OUR_NAMES.join('|')})\\b|(?<![\\w.-])/(${OUR_ROUTES.join('|')})(?![\\w/-])|syntax "warn"`
)

/** Codes of failures that no command of the tool can have: of routes, tokens, many files, lists of edits, sections, the history. */
const NOT_ITS = new Set([
  'INVALID_REQUEST',
  'MIXED_MODES',
  'TOO_MANY_EDITS',
  'TOO_MANY_OPERATIONS',
  'OVERLAPPING_EDITS',
  'EXPECTED_TEXT_MISMATCH',
  'OCCURRENCE_OUT_OF_RANGE',
  'TARGET_NOT_FOUND',
  'AMBIGUOUS_TARGET',
  'UNSUPPORTED_TARGET',
  'UNDO_CONFLICT',
  'NOTHING_TO_UNDO',
  'ROUTE_NOT_FOUND',
  'CURSOR_GONE',
  'NOTHING_TO_REPLACE',
  'SEARCH_INCOMPLETE'
])

/** Whether one edit at one place can fail so. */
function isIts({ failure, context }: Described): boolean {
  if (NOT_ITS.has(failure.code) || context?.part !== undefined) return false
  const inner = failure.code === 'STALE_FILE' && failure.now?.fits === false ? failure.now.failure : failure
  if (NOT_ITS.has(inner.code) || ('total_edits' in inner && inner.total_edits !== 1)) return false
  if (
    'none_of' in inner ||
    'in_files' in inner ||
    ('pointer' in inner && inner.code === 'INVALID_UNICODE') ||
    'key' in inner
  ) {
    return false
  }
  if (inner.code === 'WRONG_COUNT') return inner.expected_occurrences === 1 && inner.actual_occurrences > 1
  return !(inner.code === 'LINE_OUT_OF_RANGE' && inner.start_column !== undefined)
}

const madeFor = ({ code }: Failure, path: string) => {
  if (code === 'LINE_OUT_OF_RANGE') {
    return { name: BY_TOOL.edit_lines, arguments: { path, start_line: 1, end_line: 0, new_text: 'x\n' } }
  }
  if (code === 'ALREADY_EXISTS') return { name: BY_TOOL.create, arguments: { path, content: 'x\n' } }
  return { name: BY_TOOL.edit, arguments: { path, old_text: 'foo', new_text: 'bar' } }
}

const answerTo = ({ failure, context }: Described, naming: CallSyntax, path = 'src/app.ts') =>
  toProblem(failure, { instance: '/', request_id: 'r', path, made: madeFor(failure, path), ...context, naming })

/** The calls that a text proposes. */
const callsIn = (text: string) =>
  text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)

/** The edits of its fixes. */
function fixesOf({ failure }: Described): FixedText[] {
  const inner = failure.code === 'STALE_FILE' && failure.now?.fits === false ? failure.now.failure : failure
  const fixes = 'fixes' in inner ? inner.fixes : []
  return fixes.flatMap(({ edit }) => (edit === undefined ? [] : [edit as FixedText]))
}

const lacksNewText = ({ new_text }: FixedText) => new_text === undefined

const ITS = FAILURES.filter(isIts)

t.test("speaks of every failure in the tool's names", async t => {
  t.ok(ITS.length > 100)
  for (const described of ITS) {
    const { body, text } = answerTo(described, BY_TEXT_EDITOR)
    t.notMatch(body.detail, OURS)
    t.notMatch(text(), OURS)
    t.notMatch(text(), /undefined|\[object|\n\n| $/, text())
    for (const { command, ...fields } of callsIn(text())) {
      const known = FIELDS[String(command)]!
      // Of some failures among these, a fix leaves new_text out.
      const own = command === 'str_replace' && (/of your own/.test(text()) || fixesOf(described).some(lacksNewText))
      for (const name of known) if (!name.endsWith('?') && !(own && name === 'new_str')) t.ok(name in fields, text())
      for (const name of Object.keys(fields)) t.ok(known.includes(name) || known.includes(`${name}?`), text())
    }
  }
})

t.test('proposes the edit of a fix, where a text that was not found has one', async t => {
  let count = 0
  for (const described of ITS) {
    const { failure } = described
    if (failure.code !== 'NO_MATCH' || failure.similar_content.length === 0) continue
    const edits = fixesOf(described)
    if (edits.length === 0) continue
    const proposed = callsIn(answerTo(described, BY_TEXT_EDITOR).text()).filter(({ command }) => command !== 'view')
    t.ok(proposed.length > 0, JSON.stringify(failure))
    // What defines the name of old_text is proposed too, however unlike it is.
    const { cause } = failure
    const isOfName = cause?.type === 'near_duplicate' && cause.expected !== undefined
    const shown = isOfName ? failure.similar_content : []
    for (const { old_str, new_str } of proposed) {
      t.ok(
        edits.some(({ old_text, new_text }) => old_text === old_str && new_text === new_str) ||
          (new_str === undefined && shown.some(({ content }) => content === old_str)),
        JSON.stringify({ old_str, new_str, failure })
      )
      count++
    }
  }
  t.ok(count > 5)
})

t.test('writes the calls that the tool has, and no others', async t => {
  const check = (name: string, args: object, command: object | undefined, naming: CallSyntax = BY_TEXT_EDITOR) =>
    t.equal(naming.write(name, args), command === undefined ? undefined : JSON.stringify(command), JSON.stringify(args))
  const path = 'a.txt'
  const edit = { path, old_text: 'a', new_text: 'b' }
  check('edit_file', edit, { command: 'str_replace', path, old_str: 'a', new_str: 'b' })
  check('edit_file', { ...edit, expected_hash: 'x' }, { command: 'str_replace', path, old_str: 'a', new_str: 'b' })
  check('edit_file', { ...edit, replace_all: false }, { command: 'str_replace', path, old_str: 'a', new_str: 'b' })
  for (const more of [{ occurrence: 1 }, { occurrences: 2 }, { replace_all: true }]) {
    check('edit_file', { ...edit, ...more }, undefined)
  }
  check('edit_file', { path, edits: [edit] }, undefined)
  const lines = { path, start_line: 3, end_line: 2, new_text: 'x\n' }
  const insert = { command: 'insert', path, insert_line: 2 }
  check('edit_lines', lines, { ...insert, insert_text: 'x\n' })
  check('edit_lines', { ...lines, expected_text: '' }, { ...insert, insert_text: 'x\n' })
  check('edit_lines', lines, { ...insert, new_str: 'x\n' }, textEditorNames({ inserted: 'new_str' }))
  check('edit_lines', { ...lines, end_line: 3 }, undefined)
  check('edit_section', { path, heading: 'A' }, undefined)
  check('undo_edit', { path }, undefined)
  check('create_file', { path, content: 'x' }, { command: 'create', path, file_text: 'x' })
  check('create_file', { path, content: 'x', overwrite: true }, undefined)
  check('inspect_file', { path }, { command: 'view', path })
  check('inspect_file', { path, start_line: 2 }, { command: 'view', path, view_range: [2, -1] })
  check('inspect_file', { path, end_line: 2 }, { command: 'view', path, view_range: [1, 2] })
  check('inspect_file', { path, start_line: 3, end_line: TO_THE_END }, { command: 'view', path, view_range: [3, -1] })
  check('inspect_file', { path, end_line: TO_THE_END }, { command: 'view', path })
  check('inspect_file', { path, structure: true }, undefined)
  check('inspect_file', { path }, undefined, BY_MEMORY)
  check('inspect_file', { path: 'memories/a.md' }, { command: 'view', path: '/memories/a.md' }, BY_MEMORY)
})

t.test('shows paths as the caller writes them, and none that it cannot name', async t => {
  const missing: Failure = { code: 'FILE_NOT_FOUND', did_you_mean: ['src/a.md', 'memories/b.md'] }
  const { body, text } = answerTo({ failure: missing }, BY_MEMORY, 'memories/a.md')
  t.match(body, {
    detail: '/memories/a.md was not found. Did you mean /memories/b.md?',
    path: '/memories/a.md',
    did_you_mean: ['/memories/b.md']
  })
  t.equal(
    text(),
    '/memories/a.md was not found; did you mean /memories/b.md? [FILE_NOT_FOUND]\nIf so, send:\n' +
      '{"command":"str_replace","path":"/memories/b.md","old_str":"foo","new_str":"bar"}'
  )
  const by = '01JZQ3T8Q2F0'
  const removal = { by, operation: 'edit', back: { verb: 'undo', edit_id: by } } as const
  const to = (now_at: string) =>
    answerTo(
      {
        failure: {
          code: 'FILE_NOT_FOUND',
          did_you_mean: [now_at],
          removals: [{ ...removal, moved_to: now_at }],
          now_at
        }
      },
      BY_MEMORY,
      'memories/a.md'
    )
  t.equal(
    to('memories/b.md').text(),
    `/memories/a.md was not found: edit ${by} moved it to /memories/b.md. [FILE_NOT_FOUND]\n` +
      'To use it there, send:\n' +
      '{"command":"str_replace","path":"/memories/b.md","old_str":"foo","new_str":"bar"}'
  )
  const outside = to('src/b.md')
  t.notMatch(JSON.stringify(outside.body) + outside.text(), /src|moved/)
  // The vendor's editor has no call that takes back an edit by its id.
  const deleted: Failure = { code: 'FILE_NOT_FOUND', removals: [removal], undo: by }
  t.equal(
    answerTo({ failure: deleted }, BY_MEMORY, 'memories/a.md').text(),
    `/memories/a.md was not found: edit ${by} deleted it. [FILE_NOT_FOUND]\n` +
      'This lists what is there:\n{"command":"view","path":"/memories"}'
  )
  const nothing = answerTo({ failure: { code: 'FILE_NOT_FOUND' } }, BY_MEMORY, 'memories/a.md').body
  t.equal(
    nothing.detail,
    '/memories/a.md was not found. Check the path: it is below /memories, and case matters. ' +
      '{"command":"view","path":"/memories"} lists what is there.'
  )
})

t.test('names its fields in warnings', async t => {
  const outcome = {
    path: 'memories/a.md',
    dry_run: false,
    changed: true,
    created: true,
    hash_before: '0',
    file_hash: '1',
    encoding: 'utf-8',
    changes: [],
    changed_lines: [],
    left_alone: [],
    newTextWarnings: [{ edit_index: 0, type: 'placeholder', line: 1, text: '...' }],
    warnings: [],
    total_lines_after: 1,
    file_size: 4
  } as unknown as Extract<Parameters<typeof toBody>[0], { operation: 'create' }>['outcome']
  for (const [operation, field] of [
    ['edit', 'new_str'],
    ['edit_lines', 'insert_text'],
    ['create', 'file_text']
  ] as const) {
    const body = toBody({ operation, outcome }, [], BY_MEMORY)
    t.match(body, { path: '/memories/a.md', warnings: [new RegExp(`^${field} contains the placeholder`)] })
  }
})
