// The built server on several hundred real files: every byte compared with an independent model, every diff with git.
// runs in .ci/run
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { often, ONLY_LONG } from './often.ts'
import { Random, SEED } from './random.ts'
import { start, type Running } from './running.ts'

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url))
const KINDS: Record<string, number> = {
  '.ts': 80,
  '.mts': 10,
  '.js': 100,
  '.mjs': 30,
  '.cjs': 20,
  '.json': 50,
  '.md': 60,
  '.css': 20,
  '.html': 10,
  '.yml': 20,
  '.map': 10,
  '.txt': 10
}

function folder(t: Test, name: string): string {
  const made = mkdtempSync(join(tmpdir(), `editd-${name}-`))
  t.teardown(() => rmSync(made, { recursive: true }))
  return made
}

/** Real files of each kind, chosen by the hash of their path; every eighth gets CRLF, some lose their final newline. */
function collect(workspace: string): string[] {
  const all: Record<string, string[]> = {}
  const walk = (at: string) => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (entry.isFile() && Object.hasOwn(KINDS, extname(entry.name))) (all[extname(entry.name)] ??= []).push(path)
    }
  }
  walk(MODULES)
  const rank = (path: string) => createHash('sha256').update(relative(MODULES, path)).digest('hex')
  const chosen: string[] = []
  for (const [kind, count] of Object.entries(KINDS)) {
    const sized = (all[kind] ?? []).filter(path => statSync(path).size > 20 && statSync(path).size < 2_000_000)
    const ranked = sized.map(path => [rank(path), path] as const).sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [, path] of ranked.slice(0, count)) chosen.push(path)
  }
  return chosen.map((source, index) => {
    const name = `files/${index}-${relative(MODULES, source).replaceAll('/', '_')}`
    mkdirSync(dirname(join(workspace, name)), { recursive: true })
    let text = readFileSync(source, 'latin1')
    if (index % 8 === 0 && !text.includes('\r')) text = text.replaceAll('\n', '\r\n')
    if (index % 11 === 0) text = text.replace(/[\r\n]+$/, '')
    writeFileSync(join(workspace, name), text, 'latin1')
    return name
  })
}

/**
 * The model: strings of one character a byte, breaks written as the file's; every file here has one kind, or is mixed
 * and gets no break.
 */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1')
function placesOf(file: string, text: string, overlapping: boolean): number[] {
  const places: number[] = []
  for (let at = file.indexOf(text); at !== -1; at = file.indexOf(text, at + (overlapping ? 1 : text.length))) {
    places.push(at)
  }
  return places
}

interface Edit {
  old_text: string
  new_text: string
  replace_all?: true
  occurrences?: number
}

function model(file: string, edits: Edit[], ending: string): { file: string } | { code: string; edit_index: number } {
  for (const [edit_index, { old_text, new_text, replace_all, occurrences }] of edits.entries()) {
    const [wanted, put] = [old_text, new_text].map(text => bytesOf(text).replace(/\r\n|\n/g, ending)) as [
      string,
      string
    ]
    const required = replace_all ? undefined : (occurrences ?? 1)
    const places = placesOf(file, wanted, required === 1)
    if (places.length === 0) return { code: 'NO_MATCH', edit_index }
    if (required !== undefined && places.length !== required) return { code: 'WRONG_COUNT', edit_index }
    file = file.split(wanted).join(put)
  }
  return { file }
}

const hash = (file: string) => createHash('sha256').update(file, 'latin1').digest('hex').slice(0, 16)

/** A text of the file, at most some lines long, that is valid UTF-8. */
function present(random: Random, file: Buffer): string {
  const from = random.int(file.length)
  const text = file
    .subarray(from, from + random.pick([3, 12, 40, 200]))
    .toString()
    .replace(/^[\ufffd\n]+|[\ufffd\r]+$/g, '')
  return text.includes('\ufffd') || text.includes('\0') ? '' : text
}

const ROUNDS = often(900, 180)

t.test('edits real files exactly as an independent model does', { skip: ONLY_LONG }, async t => {
  const workspace = folder(t, 'workspace')
  const mirror = folder(t, 'mirror')
  const names = collect(workspace)
  t.ok(names.length >= 300, `${names.length} files`)
  const server = await start(workspace, folder(t, 'state'), '--durability', 'fast')
  const seen: Record<string, number> = {}
  let compared = 0
  for (let round = 0; round < ROUNDS; round++) {
    const random = new Random(SEED * 900_001 + round)
    const path = names[random.int(names.length)]!
    const before = readFileSync(join(workspace, path))
    const file = before.toString('latin1')
    const kinds = new Set(file.match(/\r\n|\n|\r/g))
    const texts = Array.from({ length: random.pick([1, 1, 1, 2, 5]) }, () => present(random, before))
    if (texts.some(text => text === '' || (kinds.size > 1 && /[\r\n]/.test(text)))) continue
    const ending = [...kinds][0] ?? '\n'
    const edits = texts
      .map((old_text, i): Edit => ({
        old_text: random.chance(10)
          ? `${old_text} that is not there`
          : random.chance(50)
            ? old_text.replaceAll('\r\n', '\n')
            : old_text,
        new_text: random.chance(20)
          ? ''
          : `${random.pick(['x', 'é$&', '"\\n"', '😀'])}${i}${kinds.size < 2 && random.chance(30) ? '\nmore' : ''}`,
        ...(random.chance(40) && { replace_all: true as const }),
        ...(random.chance(10) && { occurrences: 2 })
      }))
      .map(edit =>
        edit.replace_all ? { old_text: edit.old_text, new_text: edit.new_text, replace_all: true as const } : edit
      )
    const dry_run = random.chance(20)
    const stale = random.chance(5)
    const expected = model(file, edits, ending)
    const request = {
      path,
      ...(edits.length === 1 && random.chance(50) ? edits[0] : { edits }),
      ...(dry_run && { dry_run }),
      ...(random.chance(50) && { expected_hash: stale ? '0123456789abcdef' : hash(file) }),
      show_diff: true,
      max_diff_lines: 100_000
    }
    const { status, body } = await server.post('/edit', request)
    const complain = (what: string) =>
      t.fail(`${what}: ${JSON.stringify({ seed: SEED, round, request, status, body }).slice(0, 3000)}`)
    const after = readFileSync(join(workspace, path), 'latin1')
    const outcome =
      request.expected_hash === '0123456789abcdef'
        ? 'STALE_FILE'
        : 'code' in expected
          ? expected.code
          : dry_run
            ? 'dry run'
            : 'edited'
    seen[outcome] = (seen[outcome] ?? 0) + 1
    if (outcome === 'STALE_FILE' || 'code' in expected) {
      if (body.code !== outcome || after !== file || body.file_hash !== hash(file)) complain('refused otherwise')
      else if (outcome !== 'STALE_FILE' && 'code' in expected && body.edit_index !== expected.edit_index) {
        complain('blamed another edit')
      }
      continue
    }
    if (status !== 200 || after !== (dry_run ? file : expected.file)) {
      complain('differs from the model')
      continue
    }
    if (
      body.new_hash !== (dry_run ? hash(expected.file) : undefined) ||
      body.file_hash !== hash(after) ||
      body.hash_before !== hash(file)
    ) {
      complain('hash')
    }
    if (typeof body.diff !== 'string') {
      if (typeof body.diff_unavailable !== 'string') complain('no diff')
      continue
    }
    if (body.diff === '') {
      if (body.changed !== false) complain('no diff')
      continue
    }
    mkdirSync(join(mirror, dirname(path)), { recursive: true })
    writeFileSync(join(mirror, path), before)
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
      cwd: mirror,
      input: body.diff,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: mirror }
    })
    if (readFileSync(join(mirror, path), 'latin1') !== expected.file) complain('the diff gives another file')
    compared++
  }
  const few = ROUNDS / 45
  t.ok(
    seen.edited! > 5 * few &&
      seen['dry run']! > few &&
      seen.NO_MATCH! > few &&
      seen.WRONG_COUNT! > few &&
      seen.STALE_FILE! > 0,
    JSON.stringify(seen)
  )
  t.ok(compared > 5 * few, `${compared} diffs applied by git`)
  t.equal(await server.stop(), 0)
  t.notMatch(server.log(), 'that is not there', 'no text of a request in the log')
  t.notOk(
    readdirSync(join(workspace, 'files')).some(name => name.endsWith('.tmp')),
    'no temp file'
  )
})

t.test('loses none of fifty parallel edits of one file by two servers', { skip: ONLY_LONG }, async t => {
  const workspace = folder(t, 'workspace')
  const state = folder(t, 'state')
  writeFileSync(join(workspace, 'list.txt'), Array.from({ length: 50 }, (_, i) => `item ${i}: todo\n`).join(''))
  const servers: Running[] = await Promise.all([start(workspace, state), start(workspace, state)])
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      servers[i % 2]!.post('/edit', {
        path: 'list.txt',
        old_text: `item ${i}: todo`,
        new_text: `item ${i}: done by ${i % 2}`
      })
    )
  )
  t.strictSame(
    answers.map(({ status }) => status),
    Array(50).fill(200)
  )
  t.equal(
    readFileSync(join(workspace, 'list.txt'), 'utf8'),
    Array.from({ length: 50 }, (_, i) => `item ${i}: done by ${i % 2}\n`).join('')
  )
  t.strictSame(await Promise.all(servers.map(server => server.stop())), [0, 0])
})

t.test(
  'counts every acknowledged edit once where hashes are expected, by two servers',
  { skip: ONLY_LONG },
  async t => {
    const workspace = folder(t, 'workspace')
    const state = folder(t, 'state')
    writeFileSync(join(workspace, 'counter.txt'), 'count=0\n')
    const servers = await Promise.all([
      start(workspace, state, '--durability', 'fast'),
      start(workspace, state, '--durability', 'fast')
    ])
    let acknowledged = 0
    let refused = 0
    await Promise.all(
      Array.from({ length: 10 }, async (_, client) => {
        for (let i = 0; i < 12; i++) {
          const server = servers[(client + i) % 2]!
          const { body } = await server.post('/inspect', { path: 'counter.txt', start_line: 1 })
          const count = Number(String(body.content).match(/\d+/)![0])
          const { status, body: problem } = await server.post('/edit', {
            path: 'counter.txt',
            old_text: `count=${count}`,
            new_text: `count=${count + 1}`,
            expected_hash: body.file_hash
          })
          if (status === 200) acknowledged++
          else if (problem.code === 'STALE_FILE') refused++
          else t.fail(JSON.stringify(problem))
        }
      })
    )
    t.equal(readFileSync(join(workspace, 'counter.txt'), 'utf8'), `count=${acknowledged}\n`)
    t.ok(acknowledged > 0 && acknowledged + refused === 120, `${acknowledged} acknowledged, ${refused} stale`)
    await Promise.all(servers.map(server => server.stop()))
  }
)

t.test('edits a file of 100 MB', { skip: ONLY_LONG }, async t => {
  const workspace = folder(t, 'workspace')
  const line = 'the quick brown fox jumps over the lazy dog, and again\n'
  const text = line.repeat(Math.floor(100_000_000 / line.length))
  writeFileSync(join(workspace, 'large.txt'), text)
  const server = await start(workspace, folder(t, 'state'))
  const lines = text.length / line.length
  const found = await server.post('/edit', { path: 'large.txt', old_text: 'fox', new_text: 'cat' })
  t.match(found, { status: 422, body: { code: 'WRONG_COUNT', actual_occurrences: lines } })
  const made = await server.post('/edit', {
    path: 'large.txt',
    old_text: 'fox',
    new_text: 'cat',
    occurrence: 'last',
    show_diff: true
  })
  t.match(made, { status: 200, body: { changes: [{ start_line: lines }], total_lines_after: lines } })
  const expected = text.slice(0, -line.length) + line.replace('fox', 'cat')
  t.ok(readFileSync(join(workspace, 'large.txt')).equals(Buffer.from(expected)))
  const missed = await server.post('/edit', { path: 'large.txt', old_text: 'nowhere in it', new_text: '' })
  t.match(missed, { status: 422, body: { code: 'NO_MATCH', suggestions_truncated: true } })
  cpSync(join(workspace, 'large.txt'), join(workspace, 'larger.txt'))
  writeFileSync(join(workspace, 'larger.txt'), 'one more line\n'.repeat(10), { flag: 'a' })
  const refused = await server.post('/edit', { path: 'larger.txt', old_text: 'fox', new_text: 'cat' })
  t.match(refused, { status: 413, body: { code: 'FILE_TOO_LARGE', limit: 100_000_000 } })
  await server.stop()
})

t.test('makes a thousand edits in one request', { skip: ONLY_LONG }, async t => {
  const workspace = folder(t, 'workspace')
  const lines = Array.from({ length: 20_000 }, (_, i) => `const value${i} = compute(${i})\n`)
  writeFileSync(join(workspace, 'many.js'), lines.join(''))
  const server = await start(workspace, folder(t, 'state'))
  const edits = Array.from({ length: 1000 }, (_, i) => ({
    old_text: `const value${i * 20} =`,
    new_text: `let renamed${i * 20} =`
  }))
  const made = await server.post('/edit', { path: 'many.js', edits })
  t.match(made, { status: 200, body: { total_replacements: 1000, changes: { length: 20 }, changes_truncated: true } })
  t.equal(
    readFileSync(join(workspace, 'many.js'), 'utf8'),
    lines.map((line, i) => (i % 20 === 0 ? line.replace(`const value${i}`, `let renamed${i}`) : line)).join('')
  )
  t.match(await server.post('/edit', { path: 'many.js', edits: [...edits, edits[0]] }), {
    status: 400,
    body: { code: 'TOO_MANY_EDITS', limit: 1000, actual: 1001 }
  })
  await server.stop()
})

/** The ways to replace one line of a file, `at` of its lines, each as a route and a body. */
const WAYS: Record<string, (path: string, lines: readonly string[], at: number, put: string) => [string, object]> = {
  edit: (path, lines, at, put) => ['/edit', { path, old_text: lines[at], new_text: put }],
  text_editor: (path, lines, at, put) => [
    '/adapters/anthropic-text-editor',
    { command: 'str_replace', path, old_str: lines[at], new_str: put }
  ],
  openai: (path, lines, at, put) => [
    '/adapters/openai-apply-patch',
    { type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path, diff: hunkOf(lines, at, put) } }
  ],
  codex: (path, lines, at, put) => [
    '/adapters/codex-apply-patch',
    { input: `*** Begin Patch\n*** Update File: ${path}\n${hunkOf(lines, at, put)}*** End Patch\n` }
  ]
}

/** The diff of one replaced line, with up to three lines around it. */
const hunkOf = (lines: readonly string[], at: number, put: string): string =>
  [
    '@@',
    ...lines.slice(Math.max(0, at - 3), at).map(line => ` ${line}`),
    `-${lines[at]}`,
    ...put.split('\n').map(line => `+${line}`),
    ...lines.slice(at + 1, at + 4).map(line => ` ${line}`),
    ''
  ].join('\n')

t.test('makes the same of an edit of a real file by whichever way it comes', { skip: ONLY_LONG }, async t => {
  const workspace = folder(t, 'workspace')
  const names = collect(workspace)
  const server = await start(workspace, folder(t, 'state'), '--durability', 'fast')
  let made = 0
  for (let round = 0; made < often(150, 30); round++) {
    const random = new Random(SEED * 900_007 + round)
    const source = readFileSync(join(workspace, names[random.int(names.length)]!))
    const text = source.toString()
    const lines = text.split(/\r\n|\n/)
    if (lines.at(-1) === '') lines.pop()
    const at = random.int(lines.length)
    const line = lines[at]!
    // Text that each way can name: valid, without lone \r, and there once.
    const isUsual = text.isWellFormed() && !text.includes('\ufffd') && !/\r(?!\n)|\0/.test(text)
    if (!isUsual || line.length < 8 || text.split(line).length !== 2) continue
    made++
    const put = random.pick(['changed', 'two\nlines', `${line} more`])
    const ended: Record<string, unknown> = {}
    for (const [way, callOf] of Object.entries(WAYS)) {
      const path = `same/${round}-${way}.txt`
      mkdirSync(join(workspace, 'same'), { recursive: true })
      writeFileSync(join(workspace, path), source)
      const [route, body] = callOf(path, lines, at, put)
      const { status, body: answer } = await server.post(route, body)
      if (status !== 200) t.fail(JSON.stringify({ seed: SEED, round, route, body, answer }).slice(0, 3000))
      const { body: past } = await server.post('/history', { path, show_diff: true })
      const [{ hash_before, hash_after, changes, state, diff } = {} as Record<string, unknown>] = past.edits as Record<
        string,
        unknown
      >[]
      const bytes = readFileSync(join(workspace, path), 'latin1')
      ended[way] = { bytes, hash_before, hash_after, changes, state, diff: String(diff).replaceAll(path, 'same') }
    }
    for (const way of Object.keys(WAYS)) t.strictSame(ended[way], ended.edit, `${way} of round ${round}`)
  }
  t.equal(await server.stop(), 0)
  const audited = server.log().match(/"operation":"[a-z_]+".*?"hash_before":"\w+","hash_after":"\w+"/g) ?? []
  t.equal(audited.length, made * Object.keys(WAYS).length, 'each has its line in the log')
})
