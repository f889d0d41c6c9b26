// Edits that have been made before: refused where they would be made again, recognised where old_text is gone.
import t from 'tap'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import type { TextFailure } from '../../../src/engine/failure.ts'
import { planTextEdits, type TextOptions } from '../../../src/engine/plan/replace-text.ts'
import { Random, SEED } from '../../random.ts'
import { often } from '../../often.ts'

type Edit = [old_text: string, new_text: string, more?: Partial<TextEdit>]

const plan = (file: string, edits: Edit[], options: Partial<TextOptions> = {}) =>
  planTextEdits(
    Buffer.from(file),
    edits.map(([old_text, new_text, more]) => ({ old_text, new_text, ...more })),
    { line_endings: 'adapt', max_result_size: 1 << 24, ...options }
  )

/** Expects the last edit to be refused: its new_text stands at these lines. */
const refused = (name: string, file: string, edits: Edit[], lines: [number, number]): void => {
  const planned = plan(file, edits)
  t.match(planned, { ok: false, failure: { code: 'ALREADY_APPLIED', lines, edit_index: edits.length - 1 } }, name)
}

/** Expects the edits to be made. */
const made = (name: string, file: string, edits: Edit[], result: string, options?: Partial<TextOptions>): void => {
  const planned = plan(file, edits, options)
  t.equal(planned.ok && Buffer.concat(planned.value.pieces).toString(), result, name)
}

const IMPORT: Edit = ['import os', 'import os\nimport json']
refused('refuses to put a line in a second time', 'import os\nimport json\n', [IMPORT], [1, 2])
refused('refuses it with other line breaks', 'x\r\nimport os\r\nimport json\r\n', [IMPORT], [2, 3])
refused('refuses a line before', 'a\nb\n', [['b', 'a\nb']], [1, 2])
refused('refuses a longer word', 'const a = 10\n', [['const a = 1', 'const a = 10']], [1, 1])
refused('refuses it at the end of the file', 'f(a, b)', [['f(a', 'f(a, b']], [1, 1])
refused('refuses the second of two edits', 'x\nimport os\nimport json\n', [['x', 'y'], IMPORT], [2, 3])
refused('refuses it after an edit before it moved it', 'x\nimport os\nimport json\n', [['x', 'y\ny'], IMPORT], [2, 3])
refused('refuses it where one match is asked for', 'ab', [['a', 'ab', { occurrences: 1 }]], [1, 1])

made(
  'makes it where only the line that it adds is there',
  'import os\n\nimport json\n',
  [IMPORT],
  'import os\nimport json\n\nimport json\n'
)
made('makes it where exact breaks differ', 'a\r\nb', [['a', 'a\nb']], 'a\nb\r\nb', { line_endings: 'exact' })
made('makes it where it adds but a break', 'a\nb', [['a', 'a\n']], 'a\n\nb')
made('makes it with occurrence', 'ab', [['a', 'ab', { occurrence: 1 }]], 'abb')
made('makes it with replace_all', 'ab', [['a', 'ab', { replace_all: true }]], 'abb')
made('makes it where the state of the file is known', 'ab', [['a', 'ab']], 'abb', { allow_repeat: true })
made('makes it where there are several matches', 'ab a', [['a', 'ab', { occurrences: 2 }]], 'abb ab')
made('makes what changes nothing', 'ab', [['ab', 'ab']], 'ab')
made('makes what deletes a part', 'ab', [['ab', 'a']], 'a')
made(
  'makes it twice in one request',
  'a',
  [
    ['a', 'ab'],
    ['a', 'ab']
  ],
  'abb'
)
made(
  'makes it where an earlier edit wrote what is around',
  'ax',
  [
    ['x', 'b'],
    ['a', 'ab']
  ],
  'abb'
)
made(
  'makes it where an earlier edit wrote the middle of it',
  'a1c',
  [
    ['1', 'b'],
    ['a', 'abc']
  ],
  'abcbc'
)

t.test('never refuses an edit whose new_text is not around its match', async t => {
  const random = new Random(SEED)
  for (let round = 0; round < often(20_000, 1000); round++) {
    const word = () => Array.from({ length: 1 + random.int(3) }, () => 'ab\n'[random.int(3)]).join('')
    const [file, old_text] = [word() + word() + word() + word(), word()]
    const new_text = random.int(2) === 0 ? word() + old_text + word() : word()
    const planned = plan(file, [[old_text, new_text]])
    if (planned.ok || planned.failure.code !== 'ALREADY_APPLIED') continue
    const at = file.indexOf(old_text)
    const around = Array.from(file).some(
      (_, i) => file.startsWith(new_text, i) && i <= at && i + new_text.length >= at + old_text.length
    )
    if (!around || new_text.length <= old_text.length) t.fail(JSON.stringify({ file, old_text, new_text }))
  }
  t.pass()
})

/** Expects new_text to be found at these lines; `surely`, so that no edit is offered; `undefined`: not found. */
const check = (name: string, file: string, edit: Edit, lines: [number, number] | undefined, surely = true): void => {
  const planned = plan(file, [edit])
  const failure = (planned.ok ? {} : planned.failure) as Extract<TextFailure, { code: 'NO_MATCH' }>
  t.equal(failure.code, 'NO_MATCH', name)
  t.strictSame(failure.applied_lines, lines, name)
  if (lines !== undefined) t.equal(failure.similar_content.length === 0, surely, name)
  if (lines !== undefined && surely) {
    t.strictSame(
      failure.fixes.map(({ type }) => type),
      ['ALREADY_APPLIED', 'READ_FILE'],
      name
    )
  }
}

const CONFIG = 'dev:\n  timeout: 45\nprod:\n  timeout: 60\n'
check('finds a line', CONFIG, ['timeout: 30', 'timeout: 45'], [2, 2])
check('finds lines', 'a:\n  b: 1\n  c: 2\n', ['a:\n  b: 0\n  c: 2', 'a:\n  b: 1\n  c: 2'], [1, 3])
check('finds an argument', 'f(first, second)\n', ['primary, second', 'first, second'], [1, 1])
check('finds what a comment follows', 'timeout: 45 // ms\n', ['timeout: 30', 'timeout: 45'], [1, 1])
check('finds what ends with a break', 'x\ntimeout: 45\n', ['timeout: 30\n', 'timeout: 45\n'], [2, 2])
check('finds a line that lost one', 'a = 1\nc = 3\n', ['a = 1\nb = 2\nc = 3', 'a = 1\nc = 3'], [1, 2])
check(
  'is not sure of what stands twice',
  `${CONFIG}test:\n  timeout: 45\n`,
  ['timeout: 61', 'timeout: 45'],
  [2, 2],
  false
)
check(
  'is sure where one of two is the region that is meant',
  'function alpha() {\n  return 1 + 2\n}\nfunction beta() {\n  return 1 + 2\n}\n'.replace('1 + 2', 'sum(one, two)'),
  ['function alpha() {\n  return sum(one, too)\n}', 'function alpha() {\n  return sum(one, two)\n}'],
  [1, 3]
)
check(
  'is not sure where old_text is there in another form',
  'run(  fast )\nrun(slow)\n',
  ['run( fast )', 'run(slow)'],
  [2, 2],
  false
)
check(
  'finds what a deletion left where nothing is like the rest',
  'a()\nsocket.close()\n',
  ['socket.close()\nwipe everything', 'socket.close()'],
  [2, 2]
)
const STOP =
  'function stop() {\n  clear(timer)\n  // TODO: remove once the old clients are gone (2026)\n  socket.close()\n}\n'
check(
  'takes nothing that a deletion leaves beside what it deletes',
  STOP,
  ['  // TODO: remove once the old clients are gone\n  socket.close()', '  socket.close()'],
  undefined
)
check(
  'takes no line above what is deleted',
  '.item {\n  color: #555;\n  margin: 7px;\n}\n',
  ['.item {\n\tcolor: #555;', '.item {'],
  undefined
)
check('takes no part of a word', 'no_timeout: 45\n', ['timeout: 30', 'timeout: 45'], undefined)
check('takes no beginning of a word', 'timeout: 450\n', ['timeout: 30', 'timeout: 45'], undefined)
check('takes no part of an expression', 'y = width + 1 * 2\n', ['height + 1', 'width + 1'], undefined)
const COMPUTE = 'const total = compute(a, b, c)\n'
check('takes no beginning of a call', COMPUTE, ['const total = computeAll(a)', 'const total = compute(a'], undefined)
check('takes no call without its bracket', 'total = compute(a)\n', ['total = sum(a', 'total = compute(a'], undefined)
check('takes no end of a call', COMPUTE, ['size, cx)', 'b, c)'], undefined)
check('takes no beginning of a list', 'const total = a + b, c = 1\n', ['total = x', 'const total = a + b'], undefined)
check('takes no first line of a call', 'total = compute(a,\n  b)\n', ['total = sum(a', 'total = compute(a'], undefined)
check('finds a line that opens a block', 'if (fast) {\n  go()\n}\n', ['if (slow) {', 'if (fast) {'], [1, 1])
check('finds a line with its comma', '{\n  timeout: 45,\n}\n', ['timeout: 30', 'timeout: 45'], [2, 2])
check('finds a statement in a line', 'a = fast(1); b = 2\n', ['a = slow(1)', 'a = fast(1)'], [1, 1])
check('finds a line that closes brackets', 'x(\n  compute(b)\n})\n', ['add(b)\n})', 'compute(b)\n})'], [2, 3])
check('takes no bracket', 'f() {\n}\n', ['g();', '}'], undefined)
check('takes no common word', 'true\n', ['maybe', 'true'], undefined)
check('takes no blank', 'a b', ['c', ' '], undefined)
check('takes no empty text', 'a b', ['c', ''], undefined)
check('takes no part of a very long line', `${'x'.repeat(300)} timeout: 45;`, ['timeout: 30', 'timeout: 45'], undefined)
check(
  'takes nothing after which a very long blank comes',
  `timeout: 45${' '.repeat(300)}x`,
  ['timeout: 30', 'timeout: 45'],
  undefined
)
