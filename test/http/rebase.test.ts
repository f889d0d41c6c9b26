// Edits of files that have changed since they were read, made where their lines are now.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { bytesOf, check as request, startServer, type TestServer } from './test-server.ts'

const NUMBERS = 'one\ntwo\nthree\nfour\nfive\nsix\n'

interface Sent {
  route: string
  /** HASH stands for the hash of the file as it was read. */
  body: object
  status?: number
  /** What the JSON answer has. */
  has?: object
  headers?: Record<string, string>
}

/** `since`: what is done after the file was read; `gives`: what the file holds at the end. */
interface Case {
  text?: string | Buffer
  since?: (t: Test, server: TestServer) => Promise<void> | void
  sent: Sent[]
  gives?: string | Buffer
  settings?: { requireHash?: boolean }
  path?: string
  /** Who reads; the tests send as nobody. */
  reads?: Record<string, string> | null
}

function check(
  name: string,
  { text = NUMBERS, since = bob, sent, gives, settings = {}, path = 'a.txt', reads = {} }: Case
) {
  t.test(name, async t => {
    const server = await startServer(t, { files: { [path]: text }, settings })
    const read = reads === null ? undefined : await server.call('POST', '/inspect', { body: { path }, headers: reads })
    await since(t, server)
    for (const { route, body, status = 200, has = {}, headers } of sent) {
      const own = JSON.stringify(body).replaceAll('HASH', String(read?.body.file_hash))
      await request(t, server, route, JSON.parse(own), status, has as Record<string, unknown>, {
        ...JSON_ONLY,
        ...headers
      })
    }
    if (gives === undefined) return
    t.strictSame(readFileSync(join(server.root, path)), Buffer.from(gives))
  })
}

const JSON_ONLY = { accept: 'application/json' }
const edit = async (t: Test, server: TestServer, old_text: string, new_text: string, agent: string): Promise<void> => {
  await request(t, server, '/edit', { path: 'a.txt', old_text, new_text, agent }, 200, {})
}
/** Puts two lines in before the first. */
const bob = (t: Test, server: TestServer): Promise<void> => edit(t, server, 'one\n', 'zero\nhalf\none\n', 'bob')
const others = (change: (text: string) => string) => (_: Test, server: TestServer) => {
  writeFileSync(join(server.root, 'a.txt'), change(bytesOf(server, 'a.txt')))
}
const stale = { expected_hash: 'HASH', path: 'a.txt' }
const REBASE = { ...stale, on_stale: 'rebase' }
const BOB = { others: [{ agent: 'bob', start_line: 1, end_line: 2 }] }

check('makes each kind of edit where its lines are now', {
  sent: [
    {
      route: '/edit',
      body: { ...REBASE, old_text: 'two', new_text: 'TWO' },
      has: {
        rebased: BOB,
        message:
          'Successfully replaced 1 occurrence in a.txt (line 4). ' +
          'The file had changed since your expected_hash (bob at lines 1 to 2), but not these lines.'
      }
    },
    { route: '/edit-lines', body: { ...REBASE, start_line: 4, end_line: 4, new_text: 'FOUR' } },
    {
      route: '/preview',
      body: { ...REBASE, operation: 'edit', old_text: 'six', new_text: 'SIX' },
      has: {
        rebased: { others: [{ start_line: 6 }, { start_line: 4 }, { agent: 'bob' }] },
        message: /has changed since/
      }
    },
    {
      route: '/batch',
      body: {
        operations: [
          { ...REBASE, operation: 'edit_lines', start_line: 6, end_line: 6, new_text: '6\n7' },
          { ...REBASE, operation: 'edit_lines', start_line: 8, end_line: 7, new_text: '8' },
          { ...REBASE, operation: 'edit', old_text: '7\n8', new_text: 'seven' }
        ]
      },
      has: { results: [{ rebased: { others: [{}, {}, {}] } }, { rebased: { others: [] } }, {}] }
    }
  ],
  gives: 'zero\nhalf\none\nTWO\nthree\nFOUR\nfive\n6\nseven\n'
})
check('refuses an edit of lines that others have changed, and says who', {
  since: (t, server) => edit(t, server, 'two', 'TWO', 'bob'),
  sent: [
    {
      route: '/edit-lines',
      body: { ...REBASE, start_line: 2, end_line: 2, new_text: '2' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /\(changed by bob at line 2\).*changed too/ }
    },
    {
      route: '/edit',
      body: { ...REBASE, old_text: 'one\ntwo', new_text: '1\n2' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /\(changed by bob at line 2\).*would fail on the current file too/ }
    }
  ],
  gives: NUMBERS.replace('two', 'TWO')
})
check('refuses by default on routes, and says that an exact text needs no hash', {
  sent: [
    {
      route: '/edit',
      body: { ...stale, old_text: 'two', new_text: '2' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /states the text that it replaces, so send it again without expected_hash\.$/ }
    },
    {
      route: '/edit-lines',
      body: { ...stale, start_line: 5, end_line: 5, expected_text: 'three', new_text: '3' },
      status: 409,
      has: { detail: /without expected_hash/ }
    }
  ]
})
check('asks for the new hash where every edit must have one', {
  settings: { requireHash: true },
  since: others(text => `zero\n${text}`),
  sent: [
    {
      route: '/edit',
      body: { ...stale, old_text: 'two', new_text: '2' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /send it with expected_hash "/ }
    }
  ]
})
check('knows versions that were only read', {
  since: others(text => `zero\n${text}`),
  sent: [
    {
      route: '/tools/edit_lines',
      body: { ...stale, start_line: 2, end_line: 2, new_text: 'TWO' },
      has: {
        rebased: { others: [{ outside: true, start_line: 1, end_line: 1 }] },
        message: /another program at line 1/
      }
    }
  ],
  gives: `zero\n${NUMBERS.replace('two', 'TWO')}`
})
check('says what it does not know of a version that nobody has read', {
  reads: null,
  sent: [
    {
      route: '/tools/edit_file',
      body: { path: 'a.txt', expected_hash: '0123456789abcdef', old_text: 'two', new_text: '2' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /without expected_hash/ }
    },
    {
      route: '/tools/edit_lines',
      body: { path: 'a.txt', expected_hash: '0123456789abcdef', start_line: 1, end_line: 1, new_text: '1' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /Line numbers may have moved/ }
    }
  ]
})
check('works in files in another encoding', {
  text: Buffer.from('caf\xe9\nna\xefve\nol\xe9\n', 'latin1'),
  since: (_, server) => {
    writeFileSync(join(server.root, 'a.txt'), Buffer.from('\xfcber\ncaf\xe9\nna\xefve\nol\xe9\n', 'latin1'))
  },
  sent: [{ route: '/edit', body: { ...REBASE, old_text: 'naïve', new_text: 'Ärger' }, has: { rebased: {} } }],
  gives: Buffer.from('\xfcber\ncaf\xe9\n\xc4rger\nol\xe9\n', 'latin1')
})
check('edits a section that nobody has changed', {
  path: 'a.txt.md',
  text: '# A\n\none\n\n# B\n\ntwo\n',
  since: async (t, server) => {
    await request(
      t,
      server,
      '/edit',
      { path: 'a.txt.md', old_text: 'one', new_text: 'one\nmore', agent: 'bob' },
      200,
      {}
    )
  },
  sent: [
    {
      route: '/tools/edit_section',
      body: { ...stale, path: 'a.txt.md', action: 'replace', heading: 'A', new_text: 'uno\n' },
      status: 409,
      has: { code: 'STALE_FILE', detail: /changed by bob at line 4.*changed too/ }
    },
    {
      route: '/tools/edit_section',
      body: { ...stale, path: 'a.txt.md', action: 'replace', heading: 'B', new_text: 'TWO\n' },
      has: { rebased: { others: [{ agent: 'bob' }] } }
    }
  ],
  gives: '# A\n\none\nmore\n\n# B\n\nTWO\n'
})
check('names three changes of many, lists ten, and counts the rest', {
  since: async (t, server) => {
    for (let i = 0; i < 13; i++) await edit(t, server, i === 0 ? 'one' : `one ${i}`, `one ${i + 1}`, 'bob')
  },
  sent: [
    {
      route: '/edit',
      body: { ...REBASE, old_text: 'six', new_text: '6' },
      has: {
        rebased: { others: { length: 10 }, more_others: 3 },
        message: /\(bob at line 1; bob; bob; 10 more\)/
      }
    }
  ]
})
check('plans large files in a thread', {
  text: `${'x'.repeat(300_000)}\n${NUMBERS}`,
  since: others(text => `zero\n${text}`),
  sent: [
    { route: '/edit', body: { ...REBASE, old_text: 'two', new_text: 'TWO' }, has: { rebased: {} } },
    { route: '/edit', body: { ...REBASE, old_text: 'three', new_text: '3' }, has: { rebased: {} } },
    { route: '/edit', body: { ...REBASE, old_text: 'two', new_text: 'zwei' }, status: 409, has: { code: 'STALE_FILE' } }
  ],
  gives: `zero\n${'x'.repeat(300_000)}\none\nTWO\n3\nfour\nfive\nsix\n`
})

check('replays the changes of large files in a thread', {
  text: `${'x'.repeat(300_000)}\n${NUMBERS}`,
  sent: [
    {
      route: '/edit',
      body: { ...REBASE, old_text: 'two', new_text: 'TWO' },
      has: { rebased: { others: [{ agent: 'bob' }] } }
    },
    { route: '/edit', body: { ...REBASE, old_text: 'two', new_text: 'zwei' }, status: 409, has: { code: 'STALE_FILE' } }
  ],
  gives: `${'x'.repeat(300_000)}\nzero\nhalf\none\nTWO\nthree\nfour\nfive\nsix\n`
})

const BLIND = { path: 'a.txt', start_line: 2, end_line: 2, new_text: 'TWO' }
const NEEDED = {
  code: 'PRECONDITION_REQUIRED',
  detail: /^The edit has neither expected_hash nor expected_text, and you/
}
check('asks a caller who has not read the file for the version of lines that it names by number alone', {
  reads: null,
  since: () => {},
  sent: [
    {
      route: '/tools/edit_lines',
      body: BLIND,
      status: 428,
      has: { ...NEEDED, file_preview: { highlights: [{ start_line: 2 }] } }
    },
    { route: '/edit-lines', body: { ...BLIND, on_stale: 'rebase' }, status: 428, has: NEEDED },
    {
      route: '/tools/edit_lines',
      body: { ...BLIND, start_line: 9, end_line: 9 },
      status: 422,
      has: { code: 'LINE_OUT_OF_RANGE' }
    },
    { route: '/tools/edit_lines', body: { ...BLIND, dry_run: true }, has: { dry_run: true } },
    { route: '/tools/edit_lines', body: { ...BLIND, start_line: 1, end_line: 0 } },
    { route: '/tools/edit_lines', body: { ...BLIND, expected_text: 'one' } },
    { route: '/edit-lines', body: BLIND }
  ]
})
check('takes what the same client has read, or made, for known', {
  since: () => {},
  sent: [
    { route: '/tools/edit_lines', body: BLIND },
    { route: '/tools/edit_lines', body: { ...BLIND, agent: 'ann' } },
    { route: '/create', body: { path: 'b.txt', content: 'a\nb\n', agent: 'ann' } },
    { route: '/tools/edit_lines', body: { ...BLIND, path: 'b.txt', agent: 'ann' } },
    { route: '/tools/edit_lines', body: { ...BLIND, path: 'b.txt', agent: 'bob' }, status: 428, has: NEEDED }
  ]
})
check('does not take what another agent has read for known', {
  reads: { 'editd-agent': 'ann' },
  since: () => {},
  sent: [
    { route: '/tools/edit_lines', body: BLIND, status: 428, has: NEEDED, headers: { 'editd-agent': 'bob' } },
    { route: '/tools/edit_lines', body: BLIND, headers: { 'editd-agent': 'ann' } }
  ]
})
check('does not take a version that has been replaced for known', {
  sent: [{ route: '/tools/edit_lines', body: BLIND, status: 428, has: NEEDED }]
})

t.test('shows a model the lines, and the call to send', async t => {
  const server = await startServer(t, { files: { 'a.txt': NUMBERS } })
  const send = (tool: string, body: unknown) =>
    server.call('POST', `/tools/${tool}`, { body, headers: { accept: 'text/plain' } })
  const { text } = await send('edit_lines', BLIND)
  const [what, when, call, ...shown] = text.split('\n')
  t.match(
    what,
    /^The edit has neither expected_hash nor expected_text.*nothing was written\. \[PRECONDITION_REQUIRED\]$/
  )
  t.equal(when, 'If these are the lines you mean, send:')
  t.strictSame(shown.slice(0, 2), ['1\tone', '2\ttwo'])
  t.equal((await send('edit_lines', JSON.parse(call!))).status, 200)
  const unknown = { path: 'a.txt', expected_hash: '0123456789abcdef', old_text: 'six', new_text: '6' }
  t.match(
    (await send('edit_file', unknown)).text,
    `\nIt states the text that it replaces, so send it again without expected_hash.\n`
  )
})

t.test('edits a file that another program saves all the time', { skip: ONLY_CI }, async t => {
  const server = await startServer(t, { files: { 'a.txt': `0\n${NUMBERS}` } })
  // It replaces the first line, as an editor that saves the whole file does, and never what it didn't read.
  const saves =
    "const fs = require('fs'); let n = 0; const save = () => { const text = fs.readFileSync('a.txt', 'utf8'); " +
    "fs.writeFileSync('next', text.replace(/^.*/, String(++n))); if (fs.readFileSync('a.txt', 'utf8') === text) " +
    "fs.renameSync('next', 'a.txt') }; setInterval(save, 200); console.log('begun')"
  const program = spawn(process.execPath, ['-e', saves], { cwd: server.root, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => program.kill())
  await once(program.stdout, 'data')
  for (let i = 0; i < 50; i++) {
    const { body } = await server.call('POST', '/inspect', { body: { path: 'a.txt' } })
    // By now the file has been saved again.
    await new Promise(resolve => setTimeout(resolve, 210))
    const edit = { path: 'a.txt', expected_hash: body.file_hash, start_line: 7, end_line: 7, new_text: `six ${i}` }
    const { status, text } = await server.call('POST', '/tools/edit_lines', { body: edit })
    t.equal(status, 200, text)
    t.match(bytesOf(server, 'a.txt'), new RegExp(`^\\d+\none\ntwo\nthree\nfour\nfive\nsix ${i}\n$`))
  }
})
