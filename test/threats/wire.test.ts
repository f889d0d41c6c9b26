// Hostile bytes, bodies, connections and requests. Rows 30 to 38, 51, 52 and 54 of docs/threats.md.
import { isUtf8 } from 'node:buffer'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { often, ONLY_CI } from '../often.ts'
import { Random, SEED, randomFile } from '../random.ts'
import {
  checkDocument,
  codeOf,
  makeFolders,
  raw,
  row,
  sender,
  startServer,
  tally,
  TOKEN,
  type TestServer
} from './harness.ts'

// Skipped rows read nothing of it.
const server: TestServer = ONLY_CI
  ? ({ ...makeFolders(t), url: 'http://localhost' } as TestServer)
  : await startServer(t, makeFolders(t), '--durability', 'fast', '--log-level', 'error')
const { root } = server
const send = sender(t, server.url, 4)
const put = (files: Record<string, string | Buffer>) => {
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(root, name), bytes)
}
const head = (more: string[], length: number | null, first = 'POST /edit HTTP/1.1') =>
  [
    first,
    'Host: localhost',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    ...(length === null ? [] : [`Content-Length: ${length}`]),
    ...more,
    '',
    ''
  ].join('\r\n')
/** Sends a body as it is; resolves with the status and code of the answer. */
const post = async (body: string | Buffer, more: string[] = []): Promise<string> =>
  outcome(
    await raw(
      server.url,
      Buffer.concat([Buffer.from(head(['Connection: close', ...more], Buffer.byteLength(body))), Buffer.from(body)])
    )
  )
const outcome = (received: string) =>
  `${/^HTTP\/1.1 (\d+)/.exec(received)?.[1] ?? 'closed'} ${/"code":"(\w+)"/.exec(received)?.[1] ?? ''}`.trim()

// Nothing more is sent on these connections. Row 34 checks what the server answers when they time out.
const slow: { received: Promise<string>; socket: Socket }[] = [
  'POST /edit HTTP/1.1\r\nHost: localhost\r\nX-Slow:',
  head([], 5000) + '{"path":'
].flatMap(bytes =>
  Array.from({ length: 5 }, () => {
    const { port } = new URL(server.url)
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(bytes)
    })
    socket
      .on('data', data => {
        text += String(data)
      })
      .on('error', () => {})
    t.teardown(() => {
      socket.destroy()
    })
    return {
      socket,
      received: new Promise<string>(resolve => {
        socket.on('close', () => resolve(text))
      })
    }
  })
)

row(
  30,
  'CRLF, byte-order mark, no final newline, bytes that aren’t UTF-8',
  { done: '6 fixtures and 150 random files, one token in each replaced' },
  async t => {
    t.comment(`SEED=${SEED}`)
    const random = new Random(SEED)
    const fixtures = [
      'a\r\nTOKEN\r\nb',
      '\ufeffTOKEN\n',
      'TOKEN',
      '\r\r\nTOKEN\r',
      'x\u2028TOKEN\f\n',
      '\t TOKEN \t'
    ].map(text => Buffer.from(text))
    const files = [
      ...fixtures,
      ...Array.from({ length: 150 }, () => {
        const { bytes } = randomFile(random)
        const at = random.int(bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, at), Buffer.from('TOKEN'), bytes.subarray(at)])
      })
    ].filter(bytes => !bytes.includes(0) && !(bytes[0] === 0xff && bytes[1] === 0xfe))
    for (const bytes of files) {
      put({ bytes })
      const at = bytes.indexOf('TOKEN')
      const { code } = await send('/edit', { path: 'bytes', old_text: 'TOKEN', new_text: '$& \\1 é' })
      const now = readFileSync(join(root, 'bytes'))
      const rest = bytes.subarray(at + 5)
      const put_in = now.subarray(at, now.length - rest.length)
      const isWhole = now.subarray(0, at).equals(bytes.subarray(0, at)) && now.subarray(at + put_in.length).equals(rest)
      // Other encodings have other bytes for é, or none: then nothing is written.
      const isRight = isUtf8(bytes)
        ? code === '200' && put_in.equals(Buffer.from('$& \\1 é'))
        : code === '200'
          ? put_in.toString('latin1').startsWith('$& \\1 ')
          : code === 'UNENCODABLE_TEXT' && put_in.equals(Buffer.from('TOKEN'))
      if (!isWhole || !isRight) t.fail(`${code}: ${bytes.toString('base64')} (SEED=${SEED})`)
    }
    return 'all other bytes identical'
  }
)

row(31, 'lone surrogate, invalid UTF-8 in the request', { done: '6 bodies' }, async t => {
  put({ u: 'one\n' })
  const bodies = [
    '{"path":"u","old_text":"one","new_text":"\\ud800"}',
    '{"path":"u","old_text":"\\udc00","new_text":""}',
    '{"path":"\\ud800","old_text":"one","new_text":""}',
    '{"path":"u","old_text":"one","new_text":"\\ud83d x"}',
    Buffer.concat([Buffer.from('{"path":"u","old_text":"one","new_text":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    Buffer.concat([Buffer.from('{"path":"u","old_text":"one","new_text":"'), Buffer.from([0xc3]), Buffer.from('"}')])
  ]
  const codes = []
  for (const body of bodies) codes.push(await post(body))
  for (const code of codes) t.equal(code, '400 INVALID_UNICODE')
  t.equal(server.text('u'), 'one\n')
  return `${tally(codes)}; no U+FFFD on disk`
})

row(
  32,
  '`__proto__`, nesting of 500,000, duplicate keys, 1e999, wrong types, 50 MB',
  { done: '12 bodies, one of 50 MB and one that never ends' },
  async t => {
    put({ j: 'one\n' })
    const edit = (more: string) => `{"path":"j","old_text":"one","new_text":"two",${more}}`
    const bodies = [
      edit('"__proto__":{"dry_run":true}'),
      edit('"constructor":{"prototype":{}}'),
      edit('"path":"k"'),
      edit('"occurrences":1e999'),
      edit('"occurrences":"one"'),
      edit('"dry_run":"perhaps"'),
      edit('"edits":[{}]'),
      `{"path":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      '{"a":'.repeat(500_000),
      '[]',
      'null',
      '"text"'
    ]
    const codes = []
    for (const body of bodies) codes.push(await post(body))
    for (const [i, code] of codes.entries()) {
      t.match(code, /^400 (INVALID_JSON|INVALID_REQUEST|MIXED_MODES|NO_EDITS)$/, String(bodies[i]).slice(0, 80))
    }
    const large = await sender(
      t,
      server.url,
      1
    )('/edit', { path: 'j', old_text: 'one', new_text: 'x'.repeat(50_000_000) })
    t.ok(large.code === 'REQUEST_TOO_LARGE' || large.status === 0, large.code)
    t.equal(
      outcome(await raw(server.url, head([], 50_000_000), 10_000)),
      '413 REQUEST_TOO_LARGE',
      'by its length, before it has come'
    )
    t.equal(server.text('j'), 'one\n')
    t.equal(Object.hasOwn(Object.prototype, 'dry_run'), false)
    return `${tally(codes.map(code => code.slice(0, 3)))}, 1 × \`413\`; nothing written`
  }
)

row(33, 'compressed bomb', { done: 'gzip, deflate, br; 100 MB of zeros as 100 KB' }, async t => {
  const bomb = gzipSync(Buffer.alloc(100_000_000))
  const codes = []
  for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip']) {
    codes.push(await post(bomb, [`Content-Encoding: ${encoding}`]))
  }
  for (const code of codes) t.equal(code, '415 UNSUPPORTED_MEDIA_TYPE')
  return tally(codes)
})

row(
  35,
  'request smuggling',
  {
    done: 'Content-Length with Transfer-Encoding, two lengths, bare LF, odd chunks: 8 requests, each with another behind it'
  },
  async t => {
    const hidden = head(['Connection: close'], null, 'GET /capabilities HTTP/1.1')
    const requests = [
      head(['Transfer-Encoding: chunked'], 5) + '0\r\n\r\n',
      head(['Content-Length: 6'], 5) + 'hello',
      head(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], null) + '0\r\n\r\n',
      head(['Transfer-Encoding: xchunked'], null) + '0\r\n\r\n',
      head([], 5).replaceAll('\r\n', '\n') + 'hello',
      head([' Transfer-Encoding: chunked'], null) + '0\r\n\r\n',
      head(['Content-Length : 5'], null) + 'hello',
      head(['Transfer-Encoding: chunked'], null) + '5\rx\nhello\r\n0\r\n\r\n'
    ]
    const codes = []
    for (const request of requests) {
      const received = await raw(server.url, request + hidden, 8000)
      codes.push(outcome(received))
      t.equal(received.match(/HTTP\/1\.1 \d/g)?.length, 1, `one answer: ${received.slice(0, 300)}`)
    }
    for (const code of codes) t.equal(code, '400 INVALID_REQUEST')
    return `${tally(codes)}, and the connection closed: the request behind it is never answered`
  }
)

row(
  36,
  'DNS rebinding, requests of a browser on another site',
  { done: '12 requests with foreign Host, Origin or type' },
  async t => {
    put({ b: 'one\n' })
    const body = JSON.stringify({ path: 'b', old_text: 'one', new_text: 'two' })
    const codes = []
    for (const [host, more] of [
      ['evil.example', []],
      ['127.0.0.1.evil.example', []],
      ['localhost.evil.example:7333', []],
      ['localhost', ['Origin: https://evil.example']],
      ['localhost', ['Origin: null']],
      ['localhost', ['Origin: http://localhost:1']],
      ['127.0.0.1', ['Origin: https://127.0.0.1.evil.example']],
      ['evil.example', ['Origin: http://evil.example']]
    ] as const) {
      const received = await raw(
        server.url,
        head(['Connection: close', ...more], body.length).replace('Host: localhost', `Host: ${host}`) + body
      )
      codes.push(outcome(received))
      t.match(received, /^HTTP\/1.1 403 /)
      t.notMatch(received, /access-control-allow/i)
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const received = await raw(
        server.url,
        head(['Connection: close'], body.length).replace('application/json', type) + body
      )
      codes.push(outcome(received))
      t.match(received, /^HTTP\/1.1 415 /)
    }
    const preflight = await raw(
      server.url,
      [
        'OPTIONS /edit HTTP/1.1',
        'Host: localhost',
        'Origin: https://evil.example',
        'Access-Control-Request-Method: POST',
        'Connection: close',
        '',
        ''
      ].join('\r\n')
    )
    codes.push(outcome(preflight))
    t.match(preflight, /^HTTP\/1.1 403 /)
    t.notMatch(preflight, /access-control-allow/i)
    t.equal(server.text('b'), 'one\n')
    return `${tally(codes)}; no CORS header`
  }
)

row(
  37,
  'guessing the token',
  { done: '9 wrong tokens on 3 routes; more than 60 a minute of an address are 429' },
  async t => {
    const codes = []
    for (const token of [
      '',
      'x',
      TOKEN.slice(0, -1),
      `${TOKEN}x`,
      TOKEN.toUpperCase(),
      ` ${TOKEN}`.repeat(2),
      'x'.repeat(8000),
      `${TOKEN}\u00e9`,
      TOKEN.replace(/.$/, 'x')
    ]) {
      for (const route of ['POST /edit', 'GET /capabilities', 'POST /mcp']) {
        const received = await raw(
          server.url,
          Buffer.from(
            [
              `${route} HTTP/1.1`,
              'Host: localhost',
              `Authorization: Bearer ${token}`,
              'Connection: close',
              'Content-Length: 0',
              '',
              ''
            ].join('\r\n'),
            'latin1'
          )
        )
        codes.push(outcome(received))
        t.match(received, /^HTTP\/1.1 401 [^]*www-authenticate: Bearer/i, token.slice(0, 20))
      }
    }
    return `${tally(codes)}; compared as digests, in constant time`
  }
)

/** Sends GET /healthz again and again until `work` is done; resolves with how often it was answered. */
async function healthWhile(work: Promise<unknown>): Promise<number> {
  const load = { on: true }
  const over = work.finally(() => {
    load.on = false
  })
  let answered = 0
  while (load.on) {
    const status = await new Promise<number>((resolve, reject) => {
      get(`${server.url}/healthz`, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      }).on('error', reject)
    })
    if (status === 200 && load.on) answered++
  }
  await over
  return answered
}

row(
  38,
  'one request that blocks all others',
  {
    done:
      'an edit of 90 MB, a 200-line miss in 20,000 lines, `(a+)+$` over 100 KB of `a`, a line of 10 MB; `/healthz` and ' +
      'edits of another file meanwhile'
  },
  async t => {
    put({
      huge: Buffer.concat([Buffer.alloc(90_000_000, 'some line of text\n'), Buffer.from('\nthe end\n')]),
      many: Buffer.from(
        Array.from({ length: 20_000 }, (_, i) => `  const value${i % 997} = compute(${i}, options)\n`).join('')
      ),
      as: `${'a'.repeat(100_000)}!\n`,
      line: Buffer.alloc(10_000_000, 'word( '),
      small: 'n0\n'
    })
    const miss = Array.from({ length: 200 }, (_, i) => `  const value${i} = compute(${i * 3}, option)\n`).join('')
    const heavy: [string, string, object][] = [
      ['200', '/edit', { path: 'huge', old_text: 'the end', new_text: 'it' }],
      ['NO_MATCH', '/edit', { path: 'many', old_text: miss, new_text: '' }],
      ['200', '/inspect', { path: 'as', search: '(a+)+$', regex: true }],
      ['NO_MATCH', '/edit', { path: 'line', old_text: 'word(word(word)', new_text: '' }],
      ['200', '/inspect', { path: 'line', start_line: 1 }]
    ]
    let n = 0
    for (const [expected, route, body] of heavy) {
      const running = send(route, body)
      const answered = healthWhile(running)
      const edited = await send('/edit', { path: 'small', old_text: `n${n}`, new_text: `n${++n}` })
      t.equal(edited.code, '200')
      t.equal((await running).code, expected, JSON.stringify(body).slice(0, 60))
      t.comment(`${await answered} health answers during ${JSON.stringify(body).slice(0, 60)}`)
    }
    return 'each answered; edits of another file and `/healthz` are answered meanwhile'
  }
)

/** This process's limit, and the server's: Node raises both to what the system allows. */
const DESCRIPTORS = Number(
  /Max open files +(\d+)/.exec(process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : '')?.[1] ?? 0
)
/** Few beside other tests: all descriptors of a machine may be as many as those of 10,000 connections, at both ends. */
const IDLE = DESCRIPTORS > 11_000 ? often(10_000, 1000) : 1000

/** In kB, of the server since its start. */
const mostMemory = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'latin1'))![1])

row(
  51,
  'bodies that are sent, all but their last byte, and not ended',
  {
    done: '40 connections with 31 MB of a body of 32 MB each; a small and a large edit meanwhile',
    skip: process.platform === 'linux' ? false : 'needs Linux'
  },
  async t => {
    put({ n: 'one\n' })
    const { port } = new URL(server.url)
    const part = Buffer.alloc(1_000_000, 'a')
    const sockets: Socket[] = []
    t.teardown(() => sockets.forEach(socket => socket.destroy()))
    const answers: string[] = []
    for (let i = 0; i < 40; i++) {
      const socket = connect(Number(port), '127.0.0.1')
      sockets.push(socket)
      let received = ''
      socket.on('data', data => {
        received += String(data)
        if (received.endsWith('}')) answers.push(outcome(received))
      })
      socket.on('error', () => {})
      socket.write(head([], 32_000_000) + '{"path":"n","old_text":"one","new_text":"')
      await new Promise(resolve => {
        for (let n = 0; n < 30; n++) socket.write(part)
        socket.write(part, resolve)
      })
    }
    const edit = (new_text: string) => send('/edit', { path: 'n', old_text: 'one', new_text, dry_run: true })
    t.equal((await edit('two')).code, '200')
    t.equal((await edit('x'.repeat(20_000_000))).code, '200')
    // One goes for each that comes, once there are four.
    while (answers.length < 36) await sleep(20)
    t.comment(tally(answers))
    for (const answer of new Set(answers)) t.equal(answer, '503 NOT_READY')
    t.comment(`${Math.round(mostMemory() / 1000)} MB at most`)
    t.ok(mostMemory() < 900_000)
    return (
      'those that have been coming for the longest time are `503 NOT_READY`, in favour of others; ' +
      'the server stays below 900 MB'
    )
  }
)

/** Small texts that take parsers much memory, each ending in `1;`. */
const BOMBS: Record<string, string> = {
  'm.cpp': `int x = ${'a<b,'.repeat(100_000)}1;\n`,
  'm.ts': `let a = ${'f<'.repeat(150_000)}1;\n`,
  'm.c': `int x = ${'(a)*('.repeat(100_000)}1;\n`,
  'm.js': `${'function a(){}\n'.repeat(500_000)}x = 1;\n`,
  'm.rb': `x = ${'a[b {'.repeat(80_000)}1;\n`,
  'm.yaml': `${'a: {b: ['.repeat(50_000)}1;\n`,
  'm.toml': `${'[[a.b]]\n'.repeat(50_000)}x = 1;\n`,
  'm.md': `${'> '.repeat(200_000)}1;\n`
}

row(
  52,
  'sources that take parsers much memory',
  {
    done:
      `${Object.keys(BOMBS).length} files (C++, TypeScript, C, JavaScript, Ruby, YAML, TOML, Markdown) edited and ` +
      'outlined at once; /healthz meanwhile',
    skip: process.platform === 'linux' ? false : 'needs Linux'
  },
  async t => {
    put(BOMBS)
    const answers = Promise.all(
      Object.keys(BOMBS).flatMap(path => [
        send('/edit', { path, old_text: '1;', new_text: '2;', syntax: 'warn' }),
        send('/inspect', { path, structure: true, start_line: 1, end_line: 1 })
      ])
    )
    t.equal((await fetch(`${server.url}/healthz`)).status, 200)
    for (const { code } of await answers) t.ok(['200', 'UNSUPPORTED_TARGET', 'NOT_READY'].includes(code), code)
    const outlined = await send('/inspect', { path: 'm.cpp', structure: true })
    t.match(JSON.parse(outlined.text), {
      code: 'UNSUPPORTED_TARGET',
      detail: /takes more than \d+ MiB of memory|within \d+ seconds/
    })
    for (const path of Object.keys(BOMBS)) t.match(server.text(path), /2;\n$/, path)
    t.comment(`${Math.round(mostMemory() / 1000)} MB at most`)
    t.ok(mostMemory() < 900_000)
    return 'each edit is made, the answer says what was not parsed; the server stays below 900 MB'
  }
)

row(
  34,
  'slow headers, slow body, idle connections',
  {
    done: '5 + 5 requests that never end; 10,000 idle connections (1,000 in `.ci/run` and where fewer descriptors are allowed), edits meanwhile'
  },
  async t => {
    const { port } = new URL(server.url)
    const idle: Socket[] = []
    t.teardown(() => {
      for (const socket of idle) socket.destroy()
    })
    // No more at once than can wait to be accepted.
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        while (idle.length < IDLE) {
          const socket = connect(Number(port), '127.0.0.1')
          idle.push(socket)
          await new Promise<void>((resolve, reject) => {
            socket.once('connect', resolve).on('error', reject)
          })
        }
      })
    )
    put({ i: 'one\n' })
    t.equal(codeOf(await server.post('/edit', { path: 'i', old_text: 'one', new_text: 'two' })), '200')
    t.comment(`${idle.filter(({ destroyed }) => !destroyed).length} of ${idle.length} are still connected`)
    const codes = (await Promise.all(slow.map(({ received }) => received))).map(outcome)
    for (const code of codes) t.equal(code, '408 REQUEST_TIMEOUT')
    t.equal(codeOf(await server.post('/edit', { path: 'i', old_text: 'two', new_text: 'three' })), '200')
    return `${tally(codes)}; others are served meanwhile`
  }
)

row(
  54,
  'a text exchanged for another one with the same `file_hash`',
  { done: 'two texts whose SHA-256 begin with the same 16 digits; an edit of the one, while the file holds the other' },
  async t => {
    const texts = ['allow: nobody    # rev 27c7cbba5fb48f1c\n', 'allow: everyone  # rev f43ba53f1c282a7d\n']
    const read: Record<string, string>[] = []
    for (const text of texts) {
      put({ policy: text })
      read.push(JSON.parse((await send('/inspect', { path: 'policy' })).text))
    }
    const [expected, now] = read as [Record<string, string>, Record<string, string>]
    t.equal(now.file_hash, expected.file_hash)
    const edit = { path: 'policy', old_text: '#', new_text: '##', dry_run: true }
    const codeWith = async (expected_hash?: string) => (await send('/edit', { ...edit, expected_hash })).code
    t.equal(await codeWith(now.sha256), '200')
    const [short, whole] = [await codeWith(expected.file_hash), await codeWith(expected.sha256)]
    t.equal(whole, 'STALE_FILE')
    return `with \`file_hash\` as \`expected_hash\` \`${short}\`, as SECURITY.md says; with \`sha256\` \`${whole}\``
  }
)

checkDocument()
