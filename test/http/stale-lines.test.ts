// Edits of lines whose file has changed since they were read: what is answered by what the history knows, and what the
// offered call does.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bytesOf, check as request, startServer, type TestServer } from './test-server.ts'

const NUMBERS = 'one\ntwo\nthree\nfour\nfive\nsix\n'
const files = { 'a.txt': NUMBERS }

/** What is answered if the edit isn't to be carried over. */
const REFUSE = { on_stale: 'refuse' }

const hashIn = async (server: TestServer): Promise<string> => {
  const { body } = await server.call('POST', '/inspect', { body: { path: 'a.txt' } })
  return body.file_hash as string
}

/** Three lines above those of the cases, two of them put in. */
async function changeAbove(t: Test, server: TestServer): Promise<void> {
  const edit = { path: 'a.txt', old_text: 'one\n', new_text: 'zero\nuno\none and a half\n' }
  await request(t, server, '/edit', edit, 200, {})
}

interface Case {
  args: object
  /** What the answer's text says, with # for a hash, up to the lines that it shows. */
  says: string[]
  /** What the file is when the offered call was sent; without it, none is offered. */
  gives?: string
  change?: (t: Test, server: TestServer) => Promise<void>
  tool?: string
}

function check(name: string, { args, says, gives, change = changeAbove, tool = 'edit_lines' }: Case): void {
  t.test(name, async t => {
    const server = await startServer(t, { files })
    const expected_hash = await hashIn(server)
    await change(t, server)
    const before = bytesOf(server, 'a.txt')
    const send = (body: unknown) => server.call('POST', `/tools/${tool}`, { body, headers: { accept: 'text/plain' } })
    const own = 'operations' in args ? args : { path: 'a.txt', expected_hash, ...REFUSE, ...args }
    const { status, text } = await send(JSON.parse(JSON.stringify(own).replaceAll('HASH', expected_hash)))
    t.equal(status, 409)
    const lines = text.split('\n')
    const shown = lines.slice(0, says.length)
    t.strictSame(
      shown.map(line => line.replace(/\b[0-9a-f]{16}\b/g, '#').replaceAll(',"on_stale":"refuse"', '')),
      says
    )
    t.equal(bytesOf(server, 'a.txt'), before, 'nothing was written')
    const call = shown.find(line => line.startsWith('{'))
    t.equal(call === undefined, gives === undefined, text)
    if (call === undefined) return
    t.equal((await send(call)).status, 200)
    t.equal(bytesOf(server, 'a.txt'), gives)
  })
}

const SINCE = 'a.txt has changed since its hash was #; nothing was written'
const NOW = 'zero\nuno\none and a half\n'
check('offers an edit of lines that have moved with their new numbers', {
  args: { start_line: 3, end_line: 4, new_text: '3\n4' },
  says: [
    `${SINCE}: the place of your edit is unchanged, but is at lines 5 to 6 now. [STALE_FILE]`,
    'If you still mean it, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":5,"end_line":6,"new_text":"3\\n4"}',
    '2\tuno'
  ],
  gives: `${NOW}two\n3\n4\nfive\nsix\n`
})
check('offers to put lines in where they were meant to go', {
  args: { start_line: 4, end_line: 3, new_text: '3.5' },
  says: [
    `${SINCE}: the place of your edit is unchanged, but is before line 6 now. [STALE_FILE]`,
    'If you still mean it, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":6,"end_line":5,"new_text":"3.5"}'
  ],
  gives: `${NOW}two\nthree\n3.5\nfour\nfive\nsix\n`
})
check('offers to append to a file that has more lines now', {
  args: { start_line: 7, end_line: 6, new_text: 'seven' },
  says: [
    `${SINCE}: the place of your edit is unchanged, but is before line 9 now. [STALE_FILE]`,
    'If you still mean it, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":9,"end_line":8,"new_text":"seven"}'
  ],
  gives: `${NOW}two\nthree\nfour\nfive\nsix\nseven\n`
})
check('offers several edits with the new numbers of each', {
  args: {
    edits: [
      { start_line: 6, end_line: 6, new_text: '6' },
      { start_line: 2, end_line: 2, expected_text: 'two', new_text: '2' }
    ]
  },
  says: [
    `${SINCE}: the places of your edits are unchanged, but have other line numbers now. [STALE_FILE]`,
    'If you still mean them, send:',
    '{"path":"a.txt","expected_hash":"#","edits":[{"start_line":8,"end_line":8,"new_text":"6"},' +
      '{"start_line":4,"end_line":4,"expected_text":"two","new_text":"2"}]}'
  ],
  gives: `${NOW}2\nthree\nfour\nfive\n6\n`
})
const long = 'x'.repeat(1500)
check('names only the new numbers of a long edit', {
  args: { start_line: 3, end_line: 3, new_text: long },
  says: [
    `${SINCE}: the place of your edit is unchanged, but is at line 5 now. [STALE_FILE]`,
    'If you still mean it, send the same call with "expected_hash": "#", "start_line": 5, "end_line": 5.'
  ]
})
check('names only the new numbers of long edits', {
  args: {
    edits: [
      { start_line: 3, end_line: 3, new_text: long },
      { start_line: 5, end_line: 4, new_text: 'x' }
    ]
  },
  says: [
    `${SINCE}: the places of your edits are unchanged, but have other line numbers now. [STALE_FILE]`,
    'If you still mean them, send the same call with "expected_hash": "#", and its edits at ' +
      '[{"start_line":5,"end_line":5},{"start_line":7,"end_line":6}].'
  ]
})
check('offers the same lines with the new hash where only others have changed', {
  args: { start_line: 2, end_line: 2, new_text: '2' },
  change: async (t, server) => {
    await request(t, server, '/edit', { path: 'a.txt', old_text: 'six', new_text: 'sechs' }, 200, {})
  },
  says: [
    `${SINCE}, but your edit still fits at line 2. [STALE_FILE]`,
    'If that is what you mean, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":2,"end_line":2,"new_text":"2"}'
  ],
  gives: 'one\n2\nthree\nfour\nfive\nsechs\n'
})
check('offers no call for lines that were changed', {
  args: { start_line: 1, end_line: 2, new_text: 'x' },
  says: [
    'a.txt has changed since its hash was #, also at the place of your edit; nothing was written. [STALE_FILE]',
    'Correct your edit by what is at lines 1 to 4 now, and send it with this file_hash.',
    '1\tzero'
  ]
})
check('names all places of several edits that were changed', {
  args: {
    edits: [
      { start_line: 1, end_line: 1, new_text: 'x' },
      { start_line: 3, end_line: 3, new_text: 'y' },
      { start_line: 6, end_line: 6, new_text: 'z' }
    ]
  },
  change: async (t, server) => {
    await changeAbove(t, server)
    await request(t, server, '/edit', { path: 'a.txt', old_text: 'six', new_text: 'sechs' }, 200, {})
  },
  says: [
    'a.txt has changed since its hash was #, also at the place of your edit; nothing was written. [STALE_FILE]',
    'Correct your edit by what is at lines 1 to 3 and at line 8 now, and send it with this file_hash.'
  ]
})
check('goes by what lines hold that are said to be others than they were', {
  args: { start_line: 3, end_line: 3, expected_text: 'five', new_text: '5' },
  says: [
    'a.txt has changed since its hash was #, and the edit does not fit it: expected_text does not match line 3 of ' +
      'a.txt; it is now at line 7. [STALE_FILE]',
    'If you mean line 7, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":7,"end_line":7,"expected_text":"five","new_text":"5"}'
  ],
  gives: `${NOW}two\nthree\nfour\n5\nsix\n`
})
check('goes by what lines are expected to hold where they were changed', {
  args: { start_line: 1, end_line: 1, expected_text: 'one', new_text: '1' },
  says: [
    'a.txt has changed since its hash was #, and the edit does not fit it: expected_text does not match line 1 of ' +
      'a.txt; it is now at line 3. [STALE_FILE]'
  ]
})
check('follows lines through what another program has changed', {
  args: { start_line: 3, end_line: 3, new_text: '3' },
  change: async (t, server) => {
    await changeAbove(t, server)
    writeFileSync(join(server.root, 'a.txt'), `minus\n${bytesOf(server, 'a.txt')}`)
  },
  says: [
    `${SINCE}: the place of your edit is unchanged, but is at line 6 now. [STALE_FILE]`,
    'If you still mean it, send:',
    '{"path":"a.txt","expected_hash":"#","start_line":6,"end_line":6,"new_text":"3"}'
  ],
  gives: `minus\n${NOW}two\n3\nfour\nfive\nsix\n`
})
check('offers the whole batch in which the lines of one edit have moved', {
  tool: 'batch_edit',
  args: {
    operations: [
      {
        operation: 'edit_lines',
        path: 'a.txt',
        expected_hash: 'HASH',
        ...REFUSE,
        start_line: 3,
        end_line: 3,
        new_text: '3'
      }
    ]
  },
  says: [
    'operations[0] (edit_lines of a.txt): a.txt has changed since its hash was #; nothing was written: the place of your edit is ' +
      'unchanged, but is at line 5 now. [STALE_FILE]',
    'Nothing was changed in any file.',
    'If you still mean it, send:',
    '{"operations":[{"operation":"edit_lines","path":"a.txt","expected_hash":"#","start_line":5,"end_line":5,' +
      '"new_text":"3"}]}'
  ],
  gives: `${NOW}two\n3\nfour\nfive\nsix\n`
})

check('offers no call for a match that is meant by its number', {
  tool: 'edit_file',
  args: { old_text: 'e', new_text: 'E', occurrence: 2 },
  says: [
    `${SINCE}, and matches may have come and gone: your edit would apply at line 3 now. [STALE_FILE]`,
    'If that is the match you mean, send it with this file_hash; if not, correct its number first.',
    '1\tzero'
  ]
})

t.test('says in JSON which numbers the lines have now, and what is there', async t => {
  const server = await startServer(t, { files })
  const expected_hash = await hashIn(server)
  await changeAbove(t, server)
  const file_hash = await hashIn(server)
  const edit = (body: object, expected: Record<string, unknown>) =>
    request(t, server, '/edit-lines', { path: 'a.txt', expected_hash, ...body }, 409, {
      code: 'STALE_FILE',
      ...expected
    })
  await edit(
    { start_line: 3, end_line: 4, new_text: 'x' },
    {
      detail:
        `a.txt has changed: its hash is ${file_hash}, not ${expected_hash}. Nothing was written. The place of your edit ` +
        'is unchanged, but is at lines 5 to 6 now, as file_preview shows. If you still mean it, send the edit with ' +
        `start_line 5, end_line 6 and expected_hash "${file_hash}".`,
      suggested_fixes: [
        {
          type: 'ADJUST_LINES',
          suggestion: 'Your edit is at lines 5 to 6 now: send these numbers with your new_text.',
          edit: { start_line: 5, end_line: 6 }
        }
      ],
      file_preview: { highlights: [{ start_line: 5, end_line: 6 }] }
    }
  )
  await edit(
    {
      dry_run: true,
      edits: [
        { start_line: 3, end_line: 2, new_text: 'x' },
        { start_line: 5, end_line: 5, new_text: 'y' }
      ]
    },
    {
      suggested_fixes: [
        { suggestion: 'Edit 1 is before line 5 now: send these numbers with your new_text.' },
        { suggestion: 'Edit 2 is at line 7 now: send these numbers with your new_text.' }
      ]
    }
  )
  await edit(
    { start_line: 1, end_line: 1, new_text: 'x' },
    {
      detail:
        /The place of your edit was changed too: file_preview shows what is at lines 1 to 3 now\. Correct your edit/,
      suggested_fixes: [{ type: 'READ_FILE' }],
      file_preview: { highlights: [{ start_line: 1, end_line: 3 }] }
    }
  )
})

t.test('says what is at these numbers where no history tells of the lines', async t => {
  const changed = /Line numbers may have moved: your edit would apply at line 3 now/
  for (const settings of [{ history: 'off' }, { history: 'meta' }] as const) {
    const server = await startServer(t, { files, settings })
    const expected_hash = await hashIn(server)
    await changeAbove(t, server)
    const edit = { path: 'a.txt', expected_hash, start_line: 3, end_line: 3, new_text: 'x' }
    await request(t, server, '/edit-lines', edit, 409, { detail: changed })
    const other = { ...edit, expected_hash: '0123456789abcdef' }
    await request(t, server, '/edit-lines', other, 409, { detail: changed })
  }
})

t.test('offers an insert of a text editor its own way', async t => {
  const server = await startServer(t, { files })
  const expected_hash = await hashIn(server)
  await changeAbove(t, server)
  const insert = (body: unknown, headers = {}) =>
    server.call('POST', '/adapters/anthropic-text-editor', { body, headers })
  const command = { command: 'insert', path: 'a.txt', insert_line: 3, insert_text: `${'x'.repeat(1300)}\n` }
  const { body } = await insert(command, { 'if-match': `"${expected_hash}"` })
  const call = String(body.output)
    .split('\n')
    .find(line => line.startsWith('{'))
  t.strictSame(JSON.parse(call!), { ...command, insert_line: 5 })
  t.equal((await insert(call)).status, 200)
  t.equal(bytesOf(server, 'a.txt'), `${NOW}two\nthree\n${command.insert_text}four\nfive\nsix\n`)
})
