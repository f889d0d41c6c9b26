// What /inspect says: facts, windows and matches, however the file comes in chunks.
import t from 'tap'
import { languageOf } from '../../../src/engine/inspect/language.ts'
import { Scan, type ScanResult } from '../../../src/engine/inspect/scan.ts'
import { checkSearch, searchText } from '../../../src/engine/inspect/search.ts'
import type { SearchRequest } from '../../../src/engine/inspect/search-literal.ts'
import type { WindowRequest } from '../../../src/engine/inspect/window.ts'
import { often } from '../../often.ts'
import { Random, randomFile, SEED } from '../../random.ts'

/** Scans a file cut at `cuts`, through one buffer that is reused. */
function scanned(bytes: Buffer, path = 'x', window?: WindowRequest, cuts: number[] = []): ScanResult {
  const scan = new Scan(path, window)
  const reused = Buffer.alloc(bytes.length)
  for (let from = 0, i = 0; i <= cuts.length; i++) {
    const to = cuts[i] ?? bytes.length
    const size = bytes.copy(reused, 0, from, to)
    scan.push(reused.subarray(0, size))
    from = to
  }
  return scan.finish()
}

t.test('facts', t => {
  const facts = (text: string | Buffer, path = 'x') => scanned(Buffer.from(text), path).facts!
  t.match(facts('\ufeffa\r\nb\n'), {
    total_lines: 2,
    bom: true,
    line_ending: 'mixed',
    line_ending_counts: { lf: 1, crlf: 1, cr: 0 },
    ends_with_newline: true
  })
  t.match(facts('a\rb'), { total_lines: 2, bom: false, line_ending: 'cr', ends_with_newline: false })
  t.match(facts('\ufeff'), { total_lines: 0, line_ending: 'none', ends_with_newline: false })
  t.match(facts('a\r'), { total_lines: 1, ends_with_newline: true })
  t.strictSame(facts('a\n  b\n    c\n  d\n').indentation, { style: 'spaces', width: 2 })
  t.strictSame(facts('a\n\tb\n').indentation, { style: 'tabs' })
  t.strictSame(facts('a\n\tb\n    c\n').indentation, { style: 'mixed', width: 4 })
  t.strictSame(facts('/*\n * a\n */\n\n   \nb\n').indentation, { style: 'none' })
  t.strictSame(facts('\tb\n'.repeat(20) + '  c\n').indentation, { style: 'tabs' })
  t.strictSame(facts('a\n  b\n'.repeat(20) + '\tc\n').indentation, { style: 'spaces', width: 2 })
  t.strictSame(facts('   a\n   b\n').indentation, { style: 'spaces', width: 3 })
  for (const [path, text, language] of [
    ['a/B.TS', '', 'typescript'],
    ['Dockerfile', '', 'dockerfile'],
    ['x', '#!/usr/bin/env python3\n', 'python'],
    ['x', '#!/bin/ls\n', undefined],
    ['constructor', '', undefined],
    ['a.constructor', '', undefined],
    ['.ts', '', undefined]
  ] as const) {
    t.equal(languageOf(path, Buffer.from(text)), language, `${path} ${language}`)
  }
  t.end()
})

t.test('windows', t => {
  const window = (text: string | Buffer, request: WindowRequest, total: number) => {
    const { facts, window } = scanned(Buffer.from(text), 'x', request)
    t.equal(facts!.total_lines, total)
    return window!.ok ? window!.value : window!.failure
  }
  t.strictSame(window('a\r\nb\nc', { start_line: 1, end_line: 2 }, 3), {
    content: 'a\r\nb\n',
    start_line: 1,
    end_line: 2,
    truncated: false
  })
  t.strictSame(window('a\nb\nc', { start_line: 2 }, 3), {
    content: 'b\nc',
    start_line: 2,
    end_line: 3,
    truncated: false
  })
  t.match(
    window('a\nb\nc', { start_line: 2, end_line: 99 }, 3),
    { end_line: 3 },
    'an end past the end reads to the end'
  )
  t.strictSame(window('', { start_line: 1 }, 0), { content: '', start_line: 1, end_line: 0, truncated: false })
  t.match(window('\ufeffa', {}, 1), { content: 'a' })
  t.match(window('a\n\nb', { numbered: true }, 3), { content: '1\ta\n2\t\n3\tb' })
  t.match(window(Buffer.from([0xff]), {}, 1), { content: '\ufffd', lossy: true })
  t.strictSame(window('a', { start_line: 2 }, 1), { code: 'LINE_OUT_OF_RANGE', total_lines: 1, start_line: 2 })
  t.strictSame(window('a\nb', { start_line: 2, end_line: 1 }, 2), {
    code: 'LINE_OUT_OF_RANGE',
    total_lines: 2,
    start_line: 2,
    end_line: 1
  })
  t.match(window('ab', { start_column: 3 }, 1), { code: 'LINE_OUT_OF_RANGE', start_column: 3, total_columns: 2 })
  t.match(window('a\n'.repeat(3000), { start_line: 2 }, 3000), {
    start_line: 2,
    end_line: 2001,
    truncated: true,
    next_line: 2002
  })
  t.match(
    window(`${'x'.repeat(40_000)}\n`.repeat(2), { end_line: 2 }, 2),
    { end_line: 1, truncated: true, next_line: 2, next_column: undefined },
    'whole lines as far as they fit'
  )
  t.match(
    window(`${'x'.repeat(10_000)}\n`.repeat(2), {}, 2),
    { end_line: 1, truncated: true, next_line: 2 },
    'in 16 KiB where no end is asked for'
  )
  t.match(window(`${'x'.repeat(10_000)}\n`.repeat(2), { end_line: 2 }, 2), { end_line: 2, truncated: false })
  const line = '😀'.repeat(20_000)
  const first = window(line, { end_line: 1 }, 1)
  t.match(first, { start_line: 1, end_line: 1, truncated: true, next_line: 1, next_column: 32_769 })
  const second = window(line, { start_column: 32_769, end_line: 1 }, 1)
  t.match(second, { start_column: 32_769, truncated: false })
  t.equal((first as { content: string }).content + (second as { content: string }).content, line)
  t.match(
    window(Buffer.alloc(66_000, 0x85), { end_line: 1 }, 1),
    { next_column: 65_537, truncated: true },
    'bytes that begin no character'
  )
  const odd = Buffer.concat([Buffer.from('é'), Buffer.from([0xff]), Buffer.from('😀z')])
  t.match(window(odd, { start_column: 5 }, 1), { content: 'z' }, 'columns count a byte that is not UTF-8 as one')
  t.end()
})

t.test('says the same however the file is cut into chunks', t => {
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 20_011 + round)
    const { bytes } = randomFile(random)
    if (random.chance(5)) bytes.fill(0, 0, Math.min(1, bytes.length))
    const window = {
      start_line: 1 + random.int(4),
      ...(random.chance(50) && { end_line: 1 + random.int(6) }),
      ...(random.chance(50) && { start_column: 1 + random.int(12) }),
      ...(random.chance(30) && { numbered: true })
    }
    const cuts = Array.from({ length: random.int(8) }, () => random.int(bytes.length + 1)).sort((a, b) => a - b)
    const [whole, cut] = [scanned(bytes, 'x', window), scanned(bytes, 'x', window, cuts)]
    if (JSON.stringify(whole) === JSON.stringify(cut)) continue
    t.fail(
      `differs: ${JSON.stringify({ seed: SEED, round, file: bytes.toString('latin1'), window, cuts, whole, cut })}`
    )
    break
  }
  t.pass('all rounds')
  t.end()
})

t.test('reads a window as the lines of the text', t => {
  for (let round = 0; round < often(2000); round++) {
    const random = new Random(SEED * 10_007 + round)
    const { bytes } = randomFile(random)
    const lines =
      bytes
        .toString('latin1')
        .replace(/^\xef\xbb\xbf/, '')
        .match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []
    if (lines.length === 0) continue
    const start_line = 1 + random.int(lines.length)
    const end_line = start_line + random.int(5)
    const { window } = scanned(bytes, 'x', { start_line, end_line })
    const expected = Buffer.from(lines.slice(start_line - 1, end_line).join(''), 'latin1').toString()
    if (window?.ok && window.value.content === expected) continue
    t.fail(
      `differs: ${JSON.stringify({ seed: SEED, round, file: bytes.toString('latin1'), start_line, end_line, expected, window })}`
    )
    break
  }
  t.pass('all rounds')
  t.end()
})

t.test('recognises binary files', t => {
  for (const [bytes, encoding] of [
    [[0x61, 0], 'binary'],
    [[0xff, 0xfe, 0x61, 0x62], 'utf-16le'],
    [[0xfe, 0xff], 'utf-16be'],
    [[0x61], 'ascii'],
    [[0xc3, 0xa9], 'utf-8'],
    [[0xc3], 'unknown-8bit'],
    [[0xc3, 0x28, 0x80], 'unknown-8bit']
  ] as const) {
    const found = scanned(Buffer.from(bytes), 'x', {}, [1])
    t.equal(found.encoding, encoding)
    t.equal(found.facts === undefined, /binary|utf-16/.test(encoding))
  }
  t.end()
})

t.test('judges a large file by its start', t => {
  const large = Buffer.concat([Buffer.from('  a\n'.repeat(1 << 19)), Buffer.from('\tb\n'.repeat(1 << 19))])
  t.match(scanned(large, 'x.py').facts, { total_lines: 1 << 20, indentation: { style: 'spaces' }, language: 'python' })
  t.end()
})

t.test('search', t => {
  const search = (text: string | Buffer, wanted: string, more: Partial<SearchRequest> = {}, stop?: () => boolean) => {
    const request = { text: wanted, regex: false, ignore_case: false, ...more }
    t.match(checkSearch(request), { ok: true })
    return searchText(Buffer.from(text), request, stop)
  }
  t.strictSame(search('a b\nb é b\n', 'b'), {
    matches: [
      { line_number: 1, column_start: 3, column_end: 4, line_content: 'a b' },
      { line_number: 2, column_start: 1, column_end: 2, line_content: 'b é b' },
      { line_number: 2, column_start: 5, column_end: 6, line_content: 'b é b' }
    ],
    total_matches: 3,
    truncated: false
  })
  t.match(search('\ufeffa😀b', 'b'), { matches: [{ column_start: 4 }] }, 'columns in UTF-16 units, after the mark')
  t.match(
    search(Buffer.from([0xe5, 0xad, 0x62]), 'b'),
    { matches: [{ column_start: 3, line_content: '\ufffd\ufffdb', lossy: true }] },
    'a byte that is not UTF-8 is one column'
  )
  t.match(
    search(Buffer.from([0xe5, 0xad, 0x62]), 'b', { regex: true }),
    { matches: [{ column_start: 3, line_content: '\ufffd\ufffdb', lossy: true }] },
    'for an expression too'
  )
  t.match(
    search('x\r\nab\r\ncd', 'b\nc'),
    { matches: [{ line_number: 2, column_start: 2, column_end: 3, line_content: 'ab' }], total_matches: 1 },
    'over two lines'
  )
  t.match(
    search('x\r\naB\r\nCd', 'b\nc', { ignore_case: true }),
    { matches: [{ line_number: 2, column_start: 2, column_end: 3 }], total_matches: 1 },
    'over two lines, in any case'
  )
  t.match(search('a.b\naxb', 'A.B', { ignore_case: true }), { total_matches: 1 }, 'a point is a point')
  t.match(search('foo1 foo22\nbar\n', 'fo+\\d+', { regex: true }), {
    matches: [
      { column_start: 1, column_end: 5 },
      { column_start: 6, column_end: 11 }
    ],
    total_matches: 2
  })
  t.match(search('a\nb\n', '^b$', { regex: true }), { matches: [{ line_number: 2 }] }, 'each line by itself')
  t.match(
    search('a\n\nb\n', '^$', { regex: true }),
    { matches: [{ line_number: 2, column_start: 1, column_end: 1 }], total_matches: 1 },
    'empty lines'
  )
  t.match(search('ab\n', 'x*', { regex: true }), { total_matches: 1 }, 'an empty match counts once a line')
  t.match(search('xab\n', 'x*', { regex: true }), { matches: [{ column_start: 1, column_end: 2 }], total_matches: 1 })
  t.match(search('a\n'.repeat(300), 'a'), { matches: { length: 200 }, total_matches: 300, truncated: true })
  t.match(search('a\n'.repeat(300), 'a', { regex: true }), {
    matches: { length: 200 },
    total_matches: 300,
    truncated: true
  })
  t.match(search('\n'.repeat(300), '^', { regex: true }), {
    matches: { length: 200 },
    total_matches: 300,
    truncated: true
  })
  t.match(search(`${'x'.repeat(1000)}a`, 'a'), {
    matches: [{ column_start: 1001, line_content: /^…\[601 characters left out\]…x+a$/ }]
  })
  t.match(
    search('b\n'.repeat(5000), 'a', { regex: true }, () => true),
    { stopped_at_line: 1000, truncated: true }
  )
  t.match(
    search('a', 'a', { regex: true }, () => true),
    { stopped_at_line: 1, total_matches: 0 }
  )
  t.match(
    search(`${'a'.repeat(20_000)}!`, '(a+)+$', { regex: true }),
    { total_matches: 0 },
    'linear where others backtrack'
  )
  t.match(checkSearch({ text: '(', regex: true, ignore_case: false }), {
    ok: false,
    failure: { code: 'INVALID_REGEX', message: /missing/ }
  })
  t.match(checkSearch({ text: '(?=a)', regex: true, ignore_case: false }), {
    ok: false,
    failure: { code: 'INVALID_REGEX' }
  })
  t.end()
})
