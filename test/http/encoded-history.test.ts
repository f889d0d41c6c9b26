// What the history shows of files that aren't UTF-8: as text, in whichever encoding it was before a change and after it.
// Does not know how they are changed.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import t, { type Test } from 'tap'
import { bytesOf, check, startServer, type TestServer } from './test-server.ts'

const encoded = (text: string, encoding: string): Buffer =>
  encoding.startsWith('utf-16') ? iconv.encode(`\ufeff${text}`, encoding) : iconv.encode(text, encoding)

/** A word in each encoding. */
const WORDS = {
  'windows-1252': 'Größe',
  'windows-1251': 'Привет',
  shift_jis: '日本語の表示',
  'utf-16le': 'a≠ü',
  'utf-16be': 'a≠ü'
}
const NAMES = Object.keys(WORDS) as (keyof typeof WORDS)[]

/** Lines that all hold the word, but for those in `now`. */
const linesOf = (word: string, count: number, now: Record<number, string> = {}): string =>
  Array.from({ length: count }, (_, i) => `${now[i + 1] ?? `${word} ${i + 1}`}\n`).join('')

const filesOf = (text: (word: string) => string) =>
  Object.fromEntries(NAMES.map(name => [`${name}.txt`, encoded(text(WORDS[name]), name)]))

/** The last edit of a file, with its diff. */
async function lastDiff(t: Test, server: TestServer, path: string, expected: Record<string, unknown> = {}) {
  const { body } = await check(t, server, '/history', { path, limit: 1, show_diff: true }, 200, { edits: [expected] })
  return (body.edits as { edit_id: string; diff?: string; diff_unavailable?: string }[])[0]!
}

const changedLines = (diff: string | undefined): string[] =>
  (diff ?? '').split('\n').filter(line => /^[-+](?![-+]{2} )/.test(line))

t.test('shows several changes of one edit as the edit did, and those of its undo', async t => {
  const server = await startServer(t, { files: filesOf(word => linesOf(word, 30)) })
  for (const name of NAMES) {
    const path = `${name}.txt`
    const word = WORDS[name]
    const edits = [2, 4, 25].map(n => ({ old_text: `${word} ${n}\n`, new_text: `${n}: ${word}\n${word}\n` }))
    const made = await check(t, server, '/edit', { path, edits, show_diff: true }, 200, {})
    const { edit_id, diff } = await lastDiff(t, server, path, {
      changes: [2, 4, 25].map((start_line, i) => ({ start_line, new_start_line: start_line + i }))
    })
    t.equal(diff, made.body.diff, name)
    t.match(diff, ` ${word} 3\n`)
    const undone = await check(t, server, '/undo', { edit_id, show_diff: true }, 200, {})
    const [{ diff: back }] = undone.body.results as [{ diff: string }]
    t.equal((await lastDiff(t, server, path)).diff, back, `${name}: undone`)
  }
})

t.test('shows a file that becomes UTF-8, and what an undo makes of it', async t => {
  const server = await startServer(t, { files: filesOf(word => linesOf(word, 2)) })
  for (const name of NAMES) {
    const path = `${name}.txt`
    const word = WORDS[name]
    const { file_hash: expected_hash } = (await check(t, server, '/inspect', { path }, 200, {})).body
    const create = { path, content: linesOf(word, 2, { 2: `✓ ${word}` }), overwrite: true, expected_hash }
    await check(t, server, '/create', create, 200, {})
    const { edit_id, diff } = await lastDiff(t, server, path)
    const first = name.startsWith('utf-16') ? [`\ufeff${word} 1`, `${word} 1`] : []
    const [was, is] = [
      [...first.slice(0, 1), `${word} 2`],
      [...first.slice(1), `✓ ${word}`]
    ]
    const shown = (gone: string[], come: string[]) => [...gone.map(line => `-${line}`), ...come.map(line => `+${line}`)]
    t.strictSame(changedLines(diff), shown(was, is), name)
    await check(t, server, '/undo', { edit_id }, 200, {})
    t.strictSame(changedLines((await lastDiff(t, server, path)).diff), shown(is, was), `${name}: undone`)
  }
})

t.test('shows what is deleted, moved, brought back, and done by several operations', async t => {
  const files = filesOf(word => linesOf(word, 3))
  const server = await startServer(t, { files, settings: { allowDelete: true } })
  for (const name of NAMES) {
    const path = `${name}.txt`
    const word = WORDS[name]
    const lines = linesOf(word, 3).trimEnd().split('\n')
    const all = (sign: string) =>
      lines.map((line, i) => `${sign}${i === 0 && name.startsWith('utf-16') ? '\ufeff' : ''}${line}`)
    const patch = async (input: string) =>
      check(t, server, '/adapters/codex-apply-patch', { input: `*** Begin Patch\n${input}\n*** End Patch` }, 200, {})
    await patch(`*** Delete File: ${path}`)
    const deleted = await lastDiff(t, server, path)
    t.strictSame(changedLines(deleted.diff), all('-'), name)
    const pending = await check(t, server, '/pending', { path }, 200, {})
    const [hunk] = pending.body.hunks as [{ lines: { text: string }[] }]
    t.strictSame(
      hunk.lines.map(({ text }) => `-${text}`),
      all('-'),
      `${name}: pending`
    )
    t.notMatch(hunk.lines, [{ lossy: true }])
    await check(t, server, '/undo', { edit_id: deleted.edit_id }, 200, {})
    t.strictSame(readFileSync(join(server.root, path)), files[path], `${name}: bytes`)
    t.strictSame(changedLines((await lastDiff(t, server, path)).diff), all('+'), `${name}: back`)
    await patch(`*** Update File: ${path}\n*** Move to: new-${path}\n@@\n-${word} 2\n+${word}`)
    const moved = [...all('+')]
    moved[1] = `+${word}`
    t.strictSame(changedLines((await lastDiff(t, server, path)).diff), all('-'), `${name}: moved from`)
    t.strictSame(changedLines((await lastDiff(t, server, `new-${path}`)).diff), moved, `${name}: moved to`)
    const operations = [`${word}\n`, `${word} 3\n`].map(old_text => ({
      operation: 'edit',
      path: `new-${path}`,
      old_text: `\n${old_text}`,
      new_text: '\nx\n'
    }))
    await check(t, server, '/batch', { operations }, 200, {})
    t.strictSame(
      changedLines((await lastDiff(t, server, `new-${path}`)).diff),
      [`-${word}`, `-${word} 3`, '+x', '+x'],
      `${name}: batch`
    )
  }
})

t.test('lists last edits as text, and no line that is too long to be kept', async t => {
  const files = filesOf(word => `${word} 1\n${`${word} `.repeat(2000)}\n`)
  for (const name of NAMES) {
    const path = `${name}.txt`
    const word = WORDS[name]
    const server = await startServer(t, { files: { [path]: files[path]! } })
    const as = (agent: string) => ({ 'user-agent': agent })
    await check(t, server, '/edit', { path, old_text: `${word} 1`, new_text: `${word} 2` }, 200, {}, as('a'))
    const long = await lastDiff(t, server, path)
    t.match(long.diff_unavailable ?? long.diff, /longer than|^--- /, name)
    const { body } = await check(t, server, '/undo', {}, 422, {}, as('b'))
    t.match(body.detail, '"1" became "2"', name)
    const edit = { path, old_text: `${word} 2`, new_text: `${word} ${word}` }
    await check(t, server, '/edit', edit, 200, {}, as('a'))
    const { detail } = (await check(t, server, '/undo', {}, 422, {}, as('b'))).body
    t.match(detail, `"2" became "${word}"`, name)
    const middle = {
      path,
      start_line: 2,
      end_line: 2,
      new_text: `${`${word} `.repeat(1000)}!${`${word} `.repeat(1000)}`
    }
    await check(t, server, '/tools/edit_lines', { ...middle, expected_text: `${word} `.repeat(2000) }, 200, {}, as('a'))
    t.match((await lastDiff(t, server, path)).diff_unavailable, /longer/, `${name}: too long`)
  }
})

t.test('shows what another program saved, where its encoding is certain', async t => {
  const server = await startServer(t, { files: { 'a.txt': encoded('a≠ü\nb\nc\n', 'utf-16le') } })
  const edit = async (old_text: string, new_text: string) =>
    check(t, server, '/edit', { path: 'a.txt', old_text, new_text }, 200, {})
  const outside = async () => {
    const { body } = await check(t, server, '/history', { path: 'a.txt', limit: 2, show_diff: true }, 200, {})
    const [, record] = body.edits as [unknown, { operation: string; diff: string; lines_added: number }]
    t.equal(record.operation, 'outside')
    return record
  }
  await edit('b', 'B')
  writeFileSync(join(server.root, 'a.txt'), encoded('a≠ü\nB\nĊ\nd', 'utf-16le'))
  await edit('B', 'BB')
  const { diff, lines_added } = await outside()
  t.strictSame(changedLines(diff), ['-c', '+Ċ', '+d'])
  t.match(diff, / \ufeffa≠ü\n B\n/)
  t.equal(lines_added, 2)
  writeFileSync(join(server.root, 'a.txt'), 'x\nBB\n')
  await edit('BB', 'b')
  t.strictSame(changedLines((await outside()).diff), ['-\ufeffa≠ü', '+x', '-Ċ', '-d'])
  t.equal(bytesOf(server, 'a.txt'), 'x\nb\n')
})

t.test('shows what is pending, in conflict, and by whom, also where the text is ASCII by now', async t => {
  const server = await startServer(t, { files: filesOf(word => linesOf(word, 2)) })
  for (const name of NAMES) {
    const path = `${name}.txt`
    const word = WORDS[name]
    const edit = async (old_text: string, new_text: string) =>
      String((await check(t, server, '/edit', { path, old_text, new_text }, 200, {})).body.edit_id)
    const first = await edit(`${word} 1`, `${word}!`)
    await edit(`${word}!`, `${word}?`)
    await check(t, server, '/undo', { edit_id: first }, 409, {
      conflicts: [{ current_text: `${word}?\n`, would_restore: `${word} 1\n`, lossy: undefined }]
    })
    await check(t, server, '/blame', { path }, 200, { lines: [{ text: `${word}?` }, { text: `${word} 2` }] })
    if (name.startsWith('utf-16')) continue
    await edit(`${word}?\n${word} 2\n`, 'one\ntwo\n')
    const { body } = await check(t, server, '/pending', { path }, 200, {})
    const [{ lines }] = body.hunks as [{ lines: { text: string; lossy?: true }[] }]
    t.strictSame(
      lines.map(({ text }) => text),
      [`${word} 1`, `${word} 2`, 'one', 'two'],
      name
    )
    t.notMatch(lines, [{ lossy: true }], name)
  }
})
