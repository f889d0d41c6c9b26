// /replace over HTTP: text replaced in all files that hold it, all or nothing, only if there are as many places as said.
import { linkSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MAX_REPLACED_FILES } from '../../schemas/replace.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const FILES = {
  'a.js': 'load(1)\nreload(load)\n',
  src: { 'b.js': 'x = load\r\ny = load\r\n', 'c.md': 'load\n', d: { 'e.js': 'no\n' } },
  '.gitignore': 'out\n',
  out: { 'f.js': 'load\n' }
}
const ASKED = { old_text: 'load', new_text: 'read', whole_word: true }
/** The files that ASKED finds, with their counts. */
const COUNTS = { 'a.js': 2, 'src/b.js': 2, 'src/c.md': 1 }

/** A request is answered with this status and these members. */
const replace = (t: Test, server: TestServer, body: object, status: number, expected: object, headers = {}) =>
  check(t, server, '/replace', body, status, expected as Record<string, unknown>, headers)

const results = ({ body }: Reply) => body.results as Record<string, unknown>[]
const counts = (reply: Reply) => Object.fromEntries(results(reply).map(({ path, occurrences }) => [path, occurrences]))

/** What a model gets. */
const brief = async (server: TestServer, body: object): Promise<string> =>
  (await server.call('POST', '/tools/replace_in_files', { body, headers: { accept: '*/*' } })).text

/** Every file below the root, by path. */
function tree(server: TestServer): Record<string, string> {
  const paths = readdirSync(server.root, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return Object.fromEntries(
    paths.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')])
  )
}

/** Nothing is written by what `work` sends. */
async function untouched(t: Test, server: TestServer, work: () => Promise<unknown>) {
  const before = tree(server)
  await work()
  t.strictSame(tree(server), before)
}

t.test('counts without occurrences, writes with the right number, and is one batch to take back', async t => {
  const server = await startServer(t, { files: FILES })
  const before = tree(server)
  await untouched(t, server, async () => {
    const counted = await replace(t, server, ASKED, 200, {
      message:
        'Would replace 5 occurrences in 3 files; nothing was written. ' +
        'To replace them, send the same request with occurrences 5.',
      dry_run: true,
      occurrences: 5,
      batch_id: undefined
    })
    t.strictSame(counts(counted), COUNTS)
    t.match(results(counted)[0], {
      matches: [
        { line_number: 1, column_start: 1, column_end: 5, line_content: 'load(1)' },
        { line_number: 2, column_start: 8, column_end: 12, line_content: 'reload(load)' }
      ],
      edit_id: undefined
    })
    await replace(t, server, { ...ASKED, occurrences: 5, dry_run: true, show_diff: true }, 200, {
      message: /, without dry_run\.$/,
      results: [{ diff: /^\+read\(1\)$/m }, { diff: /^\+x = read\r$/m }, { diff: /^\+read$/m }]
    })
    t.match(await brief(server, ASKED), /^Would .*occurrences 5\.\na\.js \([0-9a-f]{16}\): 2\n1: load\(1\)\n2: re/)
  })
  const done = await replace(t, server, { ...ASKED, occurrences: 5, agent: 'ann', reason: 'new name' }, 200, {
    message: 'Replaced 5 occurrences in 3 files.',
    dry_run: false,
    occurrences: 5,
    batch_id: /^[0-9A-Z]{26}$/
  })
  t.strictSame(counts(done), COUNTS)
  t.notOk(results(done).some(result => 'matches' in result))
  t.equal(bytesOf(server, 'a.js'), 'read(1)\nreload(read)\n')
  t.equal(bytesOf(server, 'src/b.js'), 'x = read\r\ny = read\r\n')
  t.equal(bytesOf(server, 'out/f.js'), 'load\n')
  const { body } = await server.call('POST', '/history', { body: { batch_id: done.body.batch_id } })
  t.match(body.edits, Array(3).fill({ operation: 'replace', agent: 'ann', reason: 'new name' }))
  await server.call('POST', '/undo', { body: { batch_id: done.body.batch_id } })
  t.strictSame(tree(server), before)
})

t.test('looks where path, include, exclude and ignored say, and in one file', async t => {
  const server = await startServer(t, { files: FILES })
  for (const [where, expected] of [
    [{ path: 'src' }, { 'src/b.js': 2, 'src/c.md': 1 }],
    [{ path: 'a.js' }, { 'a.js': 2 }],
    [{ include: '*.js' }, { 'a.js': 2, 'src/b.js': 2 }],
    [{ exclude: ['src/**', '*.md'] }, { 'a.js': 2 }],
    [{ ignored: true, include: ['out/**'] }, { 'out/f.js': 1 }]
  ] as const) {
    const reply = await replace(t, server, { ...ASKED, ...where }, 200, { dry_run: true })
    t.strictSame(counts(reply), expected)
  }
  await replace(t, server, { ...ASKED, include: '{a' }, 400, {
    code: 'INVALID_REQUEST',
    detail: /include is not a glob/
  })
  await replace(t, server, { ...ASKED, path: 'nowhere' }, 404, { code: 'FILE_NOT_FOUND', path: 'nowhere' })
})

t.test('says another number with its places, and the call to send', async t => {
  const server = await startServer(t, { files: FILES })
  await untouched(t, server, async () => {
    await replace(t, server, { ...ASKED, occurrences: 4, session: 's' }, 422, {
      code: 'WRONG_COUNT',
      detail: /^"load" is in 5 places in 3 files, but 4 were expected\. Nothing was written\..* occurrences 5;/,
      actual_occurrences: 5,
      expected_occurrences: 4,
      files: Object.entries(COUNTS).map(([path, occurrences]) => ({ path, occurrences })),
      match_locations: [{ path: 'a.js', line_number: 1 }, { line_number: 2 }, { path: 'src/b.js' }, {}, {}],
      suggested_fixes: [
        {
          type: 'ADJUST_COUNT',
          call: { name: '/replace', arguments: { ...ASKED, occurrences: 5, session: undefined } }
        }
      ]
    })
    t.match(
      await brief(server, { ...ASKED, occurrences: 1 }),
      /but 1 was expected\. \[WRONG_COUNT\]\nIf .* "occurrences": 5;.*\na\.js \(.{16}\): 2\n1: load/
    )
  })
})

t.test('says what would find something where nothing is found', async t => {
  const server = await startServer(t, { files: FILES })
  const check = (request: object, detail: RegExp) =>
    replace(t, server, request, 422, { code: 'NOTHING_TO_REPLACE', detail })
  await untouched(t, server, async () => {
    await check({ old_text: 'LOAD', new_text: '' }, /in none of the 5 files .* case it is in 6 places in 3 files/)
    await check({ old_text: 'relo', new_text: 'x', whole_word: true }, /Without whole_word it is in 1 place in 1 file/)
    await check({ ...ASKED, path: 'src/d' }, /Without path it is in 5 places/)
    await check(
      { old_text: 'nowhere', new_text: 'load' },
      /new_text is in 6 places in 3 files, so this seems to be made/
    )
    t.match(
      await brief(server, { old_text: 'nowhere', new_text: 'reload' }),
      /\[NOTHING_TO_REPLACE\]\nnew_text is in 1 place/
    )
    const short = await brief(server, { old_text: 'nowhere', new_text: 'no' })
    t.match(short, /\[NOTHING_TO_REPLACE\]$/, 'a text this short is somewhere by chance')
  })
})

t.test('does not repeat a replacement that keeps the text, and says so', async t => {
  const server = await startServer(t, { files: FILES })
  const request = { old_text: 'load', new_text: 'loaded', occurrences: 6 }
  await replace(t, server, request, 200, { occurrences: 6 })
  await untouched(t, server, async () => {
    const detail = /"load" is in 6 places, and each has new_text around it already/
    await replace(t, server, request, 422, { code: 'NOTHING_TO_REPLACE', detail, files: [{ path: 'a.js' }, {}, {}] })
    t.match(await brief(server, request), /\[NOTHING_TO_REPLACE\]\nTo make it once more.*\na\.js .*: 3\n1: loaded\(1\)/)
  })
  // Elsewhere it is new.
  writeFileSync(join(server.root, 'src/d/e.js'), 'load\n')
  await replace(t, server, { ...request, occurrences: undefined }, 200, { occurrences: 7 })
})

t.test('leaves a text that becomes itself, and refuses an empty one', async t => {
  const server = await startServer(t, { files: FILES })
  await untouched(t, server, async () => {
    const same = { old_text: 'load', new_text: 'load', occurrences: 6 }
    await replace(t, server, same, 200, { message: /already have exactly/, batch_id: undefined })
    await replace(t, server, { old_text: '', new_text: 'x' }, 400, { code: 'EMPTY_OLD_TEXT' })
    await replace(t, server, { ...ASKED, occurrences: 0 }, 400, { code: 'INVALID_REQUEST' })
  })
})

t.test('matches a line break of any kind, and inserts those of each file', async t => {
  const server = await startServer(t, { files: { a: 'x\ny\n', b: 'x\r\ny\r\n', c: 'x\n\r\ny' } })
  const request = { old_text: 'x\ny', new_text: '1\n2\n3', occurrences: 2 }
  await replace(t, server, request, 200, { results: [{ path: 'a' }, { path: 'b' }] })
  t.equal(bytesOf(server, 'a'), '1\n2\n3\n')
  t.equal(bytesOf(server, 'b'), '1\r\n2\r\n3\r\n')
})

t.test('writes files in other encodings in theirs', async t => {
  const server = await startServer(t, { files: {} })
  writeFileSync(join(server.root, 'w'), Buffer.from('Straße in Köln: load\n', 'latin1'))
  writeFileSync(join(server.root, 'u'), Buffer.from('\ufeffload é\n', 'utf16le'))
  await replace(t, server, { old_text: 'load', new_text: 'öffnen', occurrences: 2 }, 200, {})
  t.equal(readFileSync(join(server.root, 'w'), 'latin1'), 'Straße in Köln: öffnen\n')
  t.equal(readFileSync(join(server.root, 'u'), 'utf16le'), '\ufefföffnen é\n')
  await replace(t, server, { old_text: 'öffnen', new_text: 'schließen', occurrences: 2 }, 200, {})
  t.equal(readFileSync(join(server.root, 'w'), 'latin1'), 'Straße in Köln: schließen\n')
})

t.test('refuses the whole for a file that can not be edited, and says how to leave all such files out', async t => {
  const files = {
    ...FILES,
    'y.lock': 'load\n',
    lib: { 'a*.lock': 'load\n', 'b.bin': 'load\0\n' },
    'bad.json': '{"a": "load"}'
  }
  const server = await startServer(t, { files, settings: { protect: ['*.lock'] } })
  const request = { ...ASKED, exclude: 'out', syntax: 'refuse', new_text: 'read\t' }
  const exclude = ['out', 'lib/a\\*.lock', '/y.lock', '/bad.json', 'lib/b.bin']
  await untouched(t, server, async () => {
    const { body } = await replace(t, server, { ...request, occurrences: 8 }, 403, {
      code: 'PROTECTED_PATH',
      path: 'lib/a*.lock',
      detail:
        /Nothing was changed in any file\. Nor can y\.lock, bad\.json and lib\/b\.bin be changed\. To leave them out, /,
      suggested_fixes: [{ type: 'LEAVE_OUT_FILES', call: { name: '/replace', arguments: { exclude, occurrences: 5 } } }]
    })
    const [{ call }] = body.suggested_fixes as [{ call: { arguments: object } }]
    await replace(t, server, { ...call.arguments, dry_run: true }, 200, { occurrences: 5 })
    t.match(await brief(server, { ...request, occurrences: 8 }), /\[PROTECTED_PATH\][^]*and occurrences 5\.$/)
    // Before it's known how many places are left, they are to be seen.
    const toSee = /\[PROTECTED_PATH\][^]* and without occurrences, to see the places\.$/
    t.match(await brief(server, request), toSee)
    t.match(await brief(server, { ...request, exclude: [...exclude.slice(0, -1)], occurrences: 3 }), /\[BINARY_FILE\]/)
    // Nothing would be left.
    await replace(t, server, { ...ASKED, path: 'y.lock' }, 403, { code: 'PROTECTED_PATH', suggested_fixes: undefined })
    await replace(t, server, { ...ASKED, path: 'lib/b.bin' }, 415, { code: 'BINARY_FILE', suggested_fixes: undefined })
  })
})

t.test('names files over the size limit as not searched', async t => {
  const server = await startServer(t, {
    files: { ...FILES, big: 'load\n'.repeat(300) },
    settings: { maxFileSize: 1000 }
  })
  await replace(t, server, ASKED, 200, {
    message: /Not searched: 1 file over the size limit, or/,
    skipped: { too_large: 1 }
  })
})

t.test('changes at most 500 files', async t => {
  const names = Array.from({ length: MAX_REPLACED_FILES + 1 }, (_, i) => `f${i}`)
  const server = await startServer(t, { files: Object.fromEntries(names.map(name => [name, 'load\n'])) })
  await replace(t, server, ASKED, 400, {
    code: 'TOO_MANY_OPERATIONS',
    detail: /is in 501 files.*at most 500.*narrower/
  })
  await replace(t, server, { ...ASKED, exclude: 'f0', occurrences: 500 }, 200, { results: { length: 500 } })
  t.equal(bytesOf(server, 'f500'), 'read\n')
  t.equal(bytesOf(server, 'f0'), 'load\n')
  t.match(await brief(server, { old_text: 'read', new_text: 'x' }), /\n\d+ more files not shown\.$/)
})

t.test('shows places spread over a file, and counts the others', async t => {
  const lines = Array.from({ length: 7 }, (_, i) => `load ${i + 1}\n`)
  const server = await startServer(t, { files: { a: lines.join(''), b: 'load load load load\n' } })
  t.match(
    await brief(server, { old_text: 'load', new_text: 'x' }),
    /\): 7\n1: load 1\n4: load 4\n7: load 7\n4 more places not shown\.\nb \(\w+\): 4\n1: load load load load$/
  )
})

t.test('changes each name of a file once', async t => {
  const server = await startServer(t, { files: { a: 'load load\n' } })
  linkSync(join(server.root, 'a'), join(server.root, 'b'))
  symlinkSync('a', join(server.root, 'c'))
  await replace(t, server, { ...ASKED, occurrences: 4 }, 200, { results: [{ path: 'a' }, { path: 'b' }] })
  t.equal(bytesOf(server, 'a'), 'read read\n')
  t.equal(bytesOf(server, 'b'), 'read read\n')
})

t.test('is done once under a key, and keeps no text of several files', async t => {
  const server = await startServer(t, { files: FILES })
  const request = { ...ASKED, occurrences: 5, show_diff: true, idempotency_key: 'k' }
  const { body } = await replace(t, server, request, 200, { results: [{ diff: /read/ }, {}, {}] })
  await untouched(t, server, async () => {
    const again = await replace(t, server, request, 200, {
      batch_id: body.batch_id,
      results: [{ diff: undefined }, {}, {}]
    })
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.strictSame(counts(again), COUNTS)
    await replace(t, server, { ...request, occurrences: 6 }, 422, { code: 'IDEMPOTENCY_KEY_REUSED' })
  })
})

t.test('takes the hashes that it found where the server asks for one', async t => {
  const server = await startServer(t, { files: FILES, settings: { requireHash: true } })
  await replace(t, server, { ...ASKED, occurrences: 5 }, 200, { occurrences: 5 })
})

t.test('searches again for files that change before they are locked', async t => {
  for (const { path, text, status, expected } of [
    { path: 'a.js', text: 'load(1)\nload\nno', status: 200, expected: { occurrences: 5 } },
    { path: 'a.js', text: 'no\n', status: 422, expected: { code: 'WRONG_COUNT', actual_occurrences: 3 } },
    { path: 'a.js', text: 'load\n', status: 422, expected: { code: 'WRONG_COUNT', actual_occurrences: 4 } },
    { path: 'a.js', text: null, status: 422, expected: { code: 'WRONG_COUNT', actual_occurrences: 3 } },
    // It is not known that it holds the text now.
    { path: 'src/d/e.js', text: 'load\n', status: 200, expected: { occurrences: 5 } }
  ]) {
    let isFirst = true
    const batch: Workspace['batch'] = async (...given) => {
      if (isFirst && text !== null) writeFileSync(join(server.root, path), text)
      if (isFirst && text === null) rmSync(join(server.root, path))
      isFirst = false
      return server.opened.batch(...given)
    }
    const server = await startServer(t, { files: FILES, replace: { batch } })
    await replace(t, server, { ...ASKED, occurrences: 5 }, status, expected)
  }
})

t.test('gives up on a file that changes each time', async t => {
  const write = (text: string) => writeFileSync(join(server.root, 'a.js'), text)
  const server = await startServer(t, {
    files: FILES,
    replace: {
      find(...given) {
        write(FILES['a.js'])
        return server.opened.find(...given)
      },
      batch(...given) {
        write('')
        return server.opened.batch(...given)
      }
    }
  })
  await replace(t, server, { ...ASKED, occurrences: 5 }, 409, { code: 'STALE_FILE', path: 'a.js' })
})

t.test('says that not all files were searched where finding was stopped', async t => {
  for (const truncated of ['time', 'size'] as const) {
    const find: Workspace['find'] = async ({ path }) => {
      const skipped = { binary: 0, too_large: 0, unreadable: 0 }
      return {
        ok: true,
        value: { path, files: [], total_files: 0, total_matches: 0, searched_files: 7, truncated, skipped }
      }
    }
    const server = await startServer(t, { files: FILES, replace: { find } })
    const expected = { code: 'SEARCH_INCOMPLETE', detail: /stopped after 7 files/, searched_files: 7 }
    await replace(t, server, ASKED, 422, expected)
  }
})
