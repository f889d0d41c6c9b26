// What a batch or a patch answers where several of its operations fail, over HTTP, on real files.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MAX_OTHER_FAILURES, type OtherFailure } from '../../schemas/problem.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { bytesOf, check, startServer, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo words\nthree\n'
const FILES = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map(name => [`${name}.txt`, TEXT]))
const NO_FILE_WRITTEN = / Nothing was changed in any file\./

type Operation = { operation: string; path: string } & Record<string, unknown>

const edit = (path: string, old_text: string, new_text = 'x'): Operation => ({
  operation: 'edit',
  path,
  old_text,
  new_text
})
const make = (path: string): Operation => ({ operation: 'create', path, content: 'new\n', create_parents: false })

/** What a detail may name, and so must be there. */
const NAMED = ['file_preview', 'targets', 'outline', 'suggested_fixes', 'similar_content', 'match_lines'] as const

/** The batch fails, and with these others; no file is changed. */
async function fails(t: Test, server: TestServer, operations: Operation[], others: Partial<OtherFailure>[] = []) {
  const name = JSON.stringify(operations)
  const { body } = await server.call('POST', '/batch', { body: { operations } })
  t.match(body, { detail: NO_FILE_WRITTEN }, name)
  const told = (body.other_failures ?? []) as OtherFailure[]
  t.match(told, others, name)
  t.equal(told.length, others.length, name)
  for (const one of told) for (const member of NAMED) if (one.detail.includes(member)) t.ok(member in one, one.detail)
  for (const [path, text] of Object.entries(FILES)) t.equal(bytesOf(server, path), text, name)
  return body as Record<string, unknown> & { detail: string }
}

/** How each of these would be refused by itself, by what may be done to a file with TEXT. */
const KINDS: ((path: string) => Operation)[] = [
  path => edit(path, 'two words', 'four'),
  path => edit(path, 'two  words', 'four'),
  path => edit(path, 'nothing like it'),
  path => edit(path, 'o'),
  path => edit(`${path}x`, 'one'),
  path => edit(path, 'gone', 'one'),
  path => ({ ...edit(path, 'one'), expected_hash: '0123456789abcdef' }),
  path => ({ operation: 'edit_lines', path, start_line: 2, end_line: 2, expected_text: 'two', new_text: 'x' }),
  path => ({ operation: 'edit_lines', path, start_line: 9, end_line: 9, new_text: 'x' }),
  path => ({ operation: 'edit_section', path, action: 'append', heading: 'One', new_text: 'x' }),
  path => ({ operation: 'edit_section', path: `${path}.md`, action: 'append', heading: 'Zed', new_text: 'x' }),
  path => ({ operation: 'edit_section', path: `${path}.md`, action: 'append', heading: 'A', new_text: 'x' }),
  path => ({ operation: 'edit_lines', path, start_line: 2, end_line: 2, expected_hash: 'f'.repeat(16), new_text: 'x' }),
  path => make(path),
  // What can't be changed at all, and what asks for nothing that could be tried.
  path => edit(`${path}.bin`, 'one'),
  path => ({ operation: 'edit', path }),
  path => ({ ...edit(path, 'one'), replace_all: true, occurrence: 1 }),
  path => ({ operation: 'edit_section', path, action: 'append', new_text: 'x' })
]

t.test('tells of each operation that fails what it would be told alone', async t => {
  const documents = Object.fromEntries(Object.keys(FILES).map(path => [`${path}.md`, '# A\n\n# A\n\n# B\n']))
  const binary = Object.fromEntries(Object.keys(FILES).map(path => [`${path}.bin`, 'one\0']))
  const server = await startServer(t, { files: { ...FILES, ...documents, ...binary } })
  const random = new Random(SEED)
  for (let round = 0; round < often(200, 40, 12); round++) {
    const paths = Object.keys(FILES).filter(() => random.chance(60))
    const operations = paths.slice(0, MAX_OTHER_FAILURES + 1).map(path => random.pick(KINDS)(path))
    const alone = []
    const untried: string[] = []
    let isCreationMissing = false
    for (const [operation_index, operation] of operations.entries()) {
      const { body } = await server.call('POST', '/batch', { body: { operations: [operation], dry_run: true } })
      if (body.code === undefined) continue
      if (body.code === 'FILE_NOT_FOUND' && isCreationMissing) {
        // The other one might have been meant to make this file.
        untried.push(`operations[${operation_index}]`)
        continue
      }
      isCreationMissing ||= operation.operation === 'create'
      const { path, code, suggested_fixes, file_hash, file_preview, targets, outline } = body
      const detail = String(body.detail)
        .replaceAll('operations[0]', `operations[${operation_index}]`)
        .replaceAll(/\/operations\/0\b/g, `/operations/${operation_index}`)
      const known = { operation_index, path, code, suggested_fixes, file_preview, targets, outline, file_hash }
      alone.push({
        detail,
        known: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined))
      })
    }
    const [first, ...others] = alone
    if (first === undefined) continue
    const expected = others.map(({ detail, known }) => ({ ...known, detail: detail.replace(NO_FILE_WRITTEN, '') }))
    const body = await fails(t, server, operations, expected as Partial<OtherFailure>[])
    t.strictSame(body.other_failures ?? [], expected, `seed ${SEED}, round ${round}`)
    t.match(body, first.known)
    t.ok(body.detail.startsWith(first.detail), body.detail)
    const named = others.map(({ known }) => `operations[${String(known.operation_index)}]`)
    const more = body.detail.slice(first.detail.length)
    t.equal(/ fails? too: other_failures says why/.test(more), named.length > 0, body.detail)
    t.equal(/ (was|were) not tried\.$/.test(more), untried.length > 0, body.detail)
    for (const name of [...named, ...untried]) t.ok(more.includes(name), body.detail)
  }
})

t.test('tells of what cannot be read or is not complete beside what else fails', async t => {
  const server = await startServer(t, { files: { ...FILES, 'b.bin': 'one\0' } })
  const operations = [
    edit('a.txt', 'neither'),
    edit('b.bin', 'one'),
    edit('b.bin', 'two'),
    { operation: 'edit', path: 'c.txt' },
    edit('d.txt', 'one')
  ]
  const { detail } = await fails(t, server, operations, [
    { operation_index: 1, code: 'BINARY_FILE' },
    { operation_index: 3, code: 'NO_EDITS' }
  ])
  t.match(detail, / operations\[2\] \(edit of b\.bin\) was not tried\.$/)
  t.match(await textOf(server, [operations[3]!, edit('a.txt', 'neither')]), [
    /^operations\[0\] \(edit of c\.txt\): .*\[NO_EDITS\]/,
    /./,
    /^operations\[1\] .*\[NO_MATCH\]/
  ])
})

t.test('does not try what depends on an operation that failed', async t => {
  const server = await startServer(t, { files: FILES })
  symlinkSync('a.txt', join(server.root, 'link.txt'))
  const missed = edit('a.txt', 'nothing like it')
  await fails(t, server, [missed, edit('a.txt', 'neither')])
  await fails(t, server, [missed, edit('link.txt', 'neither')])
  await fails(t, server, [missed, edit('a.txt', 'neither'), edit('b.txt', 'neither')], [{ operation_index: 2 }])
  const inNew = { ...make('d/e.txt'), create_parents: true }
  // The folder would be there, had the first file been made.
  await fails(t, server, [{ ...inNew, content: '(', path: 'd/e.json', syntax: 'strict' }, make('d/f.txt')])
  await fails(
    t,
    server,
    [missed, make('d/f.txt'), make('d/g.txt'), make('b.txt'), edit('c.txt', 'neither')],
    [{ operation_index: 1 }, { operation_index: 3, code: 'ALREADY_EXISTS' }, { operation_index: 4, code: 'NO_MATCH' }]
  )
  // What an earlier operation makes of the text is known.
  await fails(
    t,
    server,
    [missed, edit('b.txt', 'one', '1'), edit('b.txt', 'one')],
    [{ operation_index: 2, detail: /It was tried on the text that operations\[1\] of this batch had made\.$/ as never }]
  )
})

t.test('does not try what depends on a path that was wrong', async t => {
  const server = await startServer(t, { files: FILES })
  const nameless = edit('a.txtt', 'one', '1')
  const { detail } = await fails(
    t,
    server,
    [nameless, edit('a.txt', '1'), edit('e.txt', 'neither')],
    [{ operation_index: 2 }]
  )
  t.match(detail, / operations\[1\] \(edit of a\.txt\) was not tried\.$/)
  // The file would be there, had it been made where it was meant.
  await fails(t, server, [make('D/e.txt'), edit('d/e.txt', 'new')])
  await fails(t, server, [make('a.txt'), edit('new.txt', 'new'), nameless, edit('b.txt', 'one')])
})

t.test('says what was not tried where nothing else fails', async t => {
  const server = await startServer(t, { files: FILES })
  const operations = [edit('a.txt', 'two  words'), edit('a.txt', 'zzz'), edit('b.txt', 'one')]
  t.match((await fails(t, server, operations)).detail, / operations\[1\] \(edit of a\.txt\) was not tried\.$/)
  t.match(await textOf(server, operations), [
    /^operations\[0\]/,
    /./,
    'If so, send:',
    /"operations"/,
    /^file_hash: /,
    /^operations\[1\]/
  ])
})

t.test('leaves what is quoted as it is', async t => {
  const server = await startServer(t, { files: FILES })
  const sent = 'say: Nothing was changed in any file. Nothing was written. ok'
  const quoted = (index: number) =>
    new RegExp(`^operations.${index}. \\(edit of ..txt\\): old_text was not found in ..txt: "${sent}"`)
  const others = [{ operation_index: 1, detail: quoted(1) as never }]
  const { detail } = await fails(t, server, [edit('a.txt', sent), edit('b.txt', sent)], others)
  t.match(detail, quoted(0))
})

t.test('tells of four more, and that no more were tried', async t => {
  const server = await startServer(t, { files: FILES })
  const misses = Object.keys(FILES).map(path => edit(path, 'nothing like it'))
  const untried = /operations\[5\] \(edit of f\.txt\) was not tried\.$/
  const others = Array.from({ length: MAX_OTHER_FAILURES }, (_, i) => ({ operation_index: i + 1 }))
  t.match((await fails(t, server, misses, others)).detail, untried)
  t.notMatch((await fails(t, server, misses.slice(0, 5), others)).detail, untried)
  const text = await textOf(server, misses)
  t.equal(text.at(-1), 'operations[5] (edit of f.txt) was not tried.')
  const many = [...misses, ...misses]
  t.match(
    (await fails(t, server, many, others)).detail,
    /operations\[9\] \(edit of d\.txt\) and 2 more were not tried\.$/
  )
})

/** The answer of the tool, by line. */
const textOf = async (server: TestServer, operations: Operation[], headers: Record<string, string> = {}) => {
  const accept = { accept: 'text/plain', ...headers }
  return (await server.call('POST', '/tools/batch_edit', { body: { operations }, headers: accept })).text.split('\n')
}

t.test('gives a model what to send for each, and no call that would fail again', async t => {
  const server = await startServer(t, { files: FILES })
  const operations = [
    edit('a.txt', 'two  words'),
    edit('b.tx', 'one'),
    edit('c.txt', 'one'),
    edit('d.txt', 'words two')
  ]
  const lines = await textOf(server, operations)
  t.match(lines.slice(0, 7), [
    /^operations\[0\] \(edit of a\.txt\): old_text was not found in a\.txt; most likely line 2 was meant: .* \[NO_MATCH\]$/,
    'Nothing was changed in any file.',
    'If so, send the same call with this in operations[0]:',
    JSON.stringify(edit('a.txt', 'two words')),
    /^file_hash: [0-9a-f]{16}$/,
    /^operations\[1\] \(edit of b\.tx\): b\.tx was not found; did you mean .*\[FILE_NOT_FOUND\]$/,
    /^If so, send the same call with "path": "\w\.txt" in operations\[1\]\.$/
  ])
  t.match(lines[7], /^operations\[3\] \(edit of d\.txt\): old_text was not found in d\.txt/)
  t.notMatch(lines.join('\n'), '"operations"')
  // What is sent is what was made of the answer.
  const corrected = [edit('a.txt', 'two words'), edit('b.txt', 'one'), edit('c.txt', 'one'), edit('d.txt', 'two words')]
  await check(t, server, '/batch', { operations: corrected }, 200, {})
})

t.test('says of each whether an edit of the caller was taken back there', async t => {
  const server = await startServer(t, { files: FILES })
  const ann = { 'editd-agent': 'ann' }
  const made = await check(t, server, '/edit', { path: 'b.txt', old_text: 'one', new_text: 'uno' }, 200, {}, ann)
  const by = { 'editd-agent': 'bob' }
  await check(t, server, '/undo', { edit_id: made.body.edit_id, note: 'keep it' }, 200, {}, by)
  const operations = [edit('a.txt', 'nothing like it'), edit('b.txt', 'uno')]
  await check(
    t,
    server,
    '/batch',
    { operations },
    422,
    {
      taken_back: undefined,
      other_failures: [{ operation_index: 1, taken_back: { agent: 'bob', note: 'keep it' }, detail: /bob.*keep it/ }]
    },
    ann
  )
  t.match((await textOf(server, operations, ann)).at(-1), /bob.*keep it/)
})

const patch = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') })
const output = async (server: TestServer, body: object) =>
  String((await server.call('POST', '/adapters/codex-apply-patch', { body })).body.output)

/** An update of a file in which one line is replaced. */
const update = (path: string, line: string, head: string[] = []) => [
  `*** Update File: ${path}`,
  ...head,
  '@@',
  `-${line}`,
  '+x'
]

t.test('corrects all files of a patch in one', async t => {
  const server = await startServer(t, { files: FILES })
  const said = await output(server, patch(...update('a.txt', 'two  words'), ...update('b.txt', 'two\twords')))
  t.match(said.split('\n').slice(0, 5), [
    /^Update of a\.txt: The old lines of hunk 1 .*\[NO_MATCH\]$/,
    'Nothing was changed in any file.',
    /^Update of b\.txt: The old lines of hunk 1 .*\[NO_MATCH\]$/,
    'It is corrected below.',
    'Send this corrected diff as it is:'
  ])
  const input = said.slice(said.indexOf('*** Begin Patch'))
  t.equal(input, patch(...update('a.txt', 'two words'), ...update('b.txt', 'two words')).input.trimEnd())
  t.match(await output(server, { input }), /a\.txt/)
  t.equal(bytesOf(server, 'b.txt'), 'one\nx\nthree\n')
})

const INCOMPLETE = 'When the rest is corrected as well, send this:'

t.test('says of a patch that there is more to correct', async t => {
  const files = { ...FILES, 'twice.txt': 'x\nsame\ny\nsame\nz\n' }
  const server = await startServer(t, { files, settings: { allowDelete: true } })
  const missed = update('a.txt', 'two  words')
  const ends = async (said: string, ...lines: string[]) => {
    const text = await output(server, patch(...lines))
    t.ok(text.includes(`${said}\n*** Begin Patch`), text)
    t.ok(text.endsWith('*** End Patch'), text)
    t.equal(text.split('*** Begin Patch').length, 2, text)
    t.ok(text.slice(text.indexOf('*** Begin Patch')).includes('-two words'), text)
    return text
  }
  const whole = 'Send this corrected diff as it is:'
  await ends(whole, ...missed, ...update('b.txt', 'two\twords'), ...update('c.txt', 'one'))
  await ends(INCOMPLETE, ...missed, ...update('none.txt', 'one'))
  // The order of the files makes no difference.
  await ends(INCOMPLETE, ...update('none.txt', 'one'), ...missed, ...update('b.txt', 'two\twords'))
  await ends(INCOMPLETE, ...missed, ...update('b.txt', 'nothing like it'))
  await ends(INCOMPLETE, ...missed, '*** Add File: b.txt', '+new')
  const skipped = await ends(INCOMPLETE, ...missed, ...update('a.txt', 'one'))
  t.match(skipped, /\nUpdate of a\.txt was not tried\.\n/)
  const twice = await ends(INCOMPLETE, ...missed, ...update('twice.txt', 'same'))
  t.match(twice, /The corrected diff of this file, for line 2:\n@@\n x\n-same/)
  t.match(twice, /The corrected diff of this file, for line 4:/)
  const places = await output(server, patch(...update('twice.txt', 'same'), ...update('none.txt', 'one')))
  t.match(places, /For line 2, when the rest is corrected as well, send this:\n\*\*\* Begin Patch/)
  const moved = ['b', 'c', 'd'].flatMap(name => update(`${name}.txt`, 'nothing like it'))
  const last = await output(
    server,
    patch(...update('a.txt', 'nothing'), ...moved, ...update('e.txt', 'nothing', ['*** Move to: zz.txt']))
  )
  t.match(last, /^Update of e\.txt/m)
  t.notMatch(last, 'not tried')
})

t.test('keeps the diffs of two files apart, where they are the same', async t => {
  const block = Array.from({ length: 20 }, (_, i) => `line ${i} ${'abcdefghij '.repeat(11)}${i}`)
  const placed = (name: string) => [
    ...Array.from({ length: 6 }, (_, i) => `${name}${i}`),
    ...block,
    ...Array.from({ length: 6 }, (_, i) => `${name}z${i}`)
  ]
  const text = (...names: string[]) => `${names.flatMap(placed).join('\n')}\n`
  const files = { ...FILES, 'f.txt': text('alpha', 'beta'), 'g.txt': text('beta', 'alpha') }
  const server = await startServer(t, { files })
  const hunk = block.flatMap((line, i) => (i === 10 ? [`-${line}`, '+new'] : [` ${line}`]))
  const said = await output(
    server,
    patch(
      ...['*** Update File: f.txt', '@@', ...hunk, '*** Update File: g.txt', '@@', ...hunk],
      ...update('c.txt', 'two  words')
    )
  )
  const [before, after, ...more] = said.split('*** Begin Patch')
  t.strictSame(more, [])
  t.match(before, /^The corrected diff of this file, for lines 7 to 26:\n@@\n/m)
  t.match(before, /^It is corrected below\.$/m)
  t.match(after, /-two words/)
  t.ok(said.endsWith('*** End Patch'))
})
