// Regions for a block of old_text: where they end, and that the block with the same first line is found.
import t from 'tap'
import { Budget } from '../../../../src/engine/suggest/budget.ts'
import { Haystack } from '../../../../src/engine/suggest/haystack.ts'
import { suggest } from '../../../../src/engine/suggest/suggest.ts'
import { blockOf, endOfBlock, startOfBlock } from '../../../../src/engine/suggest/boundaries/whole-block.ts'

/** Expects the block that begins at « in `file` to end at »; without it, that no block is found. */
const check = (name: string, sought: string, file: string): void => {
  const plain = Buffer.from(file.replace(/[«»]/g, ''))
  const start = Buffer.byteLength(file.slice(0, file.indexOf('«')))
  const to = file.indexOf('»')
  const block = blockOf(sought)
  const end = block && endOfBlock(new Haystack(plain), start, block)
  t.equal(end, to === -1 ? undefined : Buffer.byteLength(file.slice(0, to).replace('«', '')), name)
}

const SYNC = 'sync() {\n  a()\n}'
check('to the closing line of a block that has grown', SYNC, '«sync() {\n  if (x) {\n    a()\n  }\n  b()\n}»\nc()\n')
check('of one that has shrunk', 'sync() {\n  if (x) {\n    a()\n  }\n}', '«sync() {\n  a()\n}»\nd() {\n}\n')
check('beyond a branch', SYNC, '«sync() {\n  a()\n} else {\n  b()\n}»\n')
check('beyond the rest of a long head', SYNC, '«sync(\n  x\n) {\n  a()\n}»\n')
check('deeper in the file', SYNC, '  «sync() {\n    b()\n  }»\n}\n')
check('without what follows on its line', SYNC, '«sync() {\n  b()\n}»,\n')
check('with another sign after it', 'sync() {\n  a()\n},', '«sync() {\n  b()\n};»\n')
check('with its break', `${SYNC}\n`, '«sync() {\n  b()\n}\r\n»c\n')
check('with the break that the file has', `${SYNC}\n`, '«sync() {\n  b()\n}»')
check('of an element', '<ul id="a">\n  <li>\n</ul>', '«<ul id="a">\n  <li>\n  <li>\n</ul>»\n')
check('of words', 'def sync\n  a\nend', '«def sync\n  b\n\n  c\nend»\n')
check('with blank lines in it', SYNC, '«sync() {\n  b()\n\n\n}»\n')
check('with a first line that is nearly the same', SYNC, '«async() {\n  b()\n}»\n')
check('not with another first line', SYNC, '«function other() {\n  b()\n}\n')
check('not from within a line', SYNC, 'x = «sync() {\n  b()\n}\n')
check('not where it is closed otherwise', SYNC, '«sync() {\n  b()\n]\n')
check('not where another line comes first', SYNC, '«sync() {\n  b()\nc()\n}\n')
check('not where a line is less deep', SYNC, '  «sync() {\n    b()\n}\n')
check('not where it is never closed', SYNC, '«sync() {\n  b()\n')
check('not where it is very long', SYNC, `«sync() {\n${'  b()\n'.repeat(6000)}}\n`)
check('not of a text that closes nothing', 'sync() {\n  a()', '«sync() {\n  b()\n}\n')
check('not of a text that begins deeper', '    sync() {\n  a()\n}', '«sync() {\n  b()\n}\n')
check('not of a text that begins less deep', '  sync() {\n      a()\n    }', '«sync() {\n  b()\n}\n')
check('not of several blocks', `${SYNC}\nd()\n}`, '«sync() {\n  b()\n}\n')
check('not of one line', 'sync() { a() }', '«sync() { b() }\n')
check('not of blank lines', '\n\n', '«\n\n')

t.test('finds the one line that a block begins with', async t => {
  const start = (file: string, sought = 'function sync() {\n  a()\n}'): number | undefined =>
    startOfBlock(new Haystack(Buffer.from(file)), blockOf(sought)!, new Budget(1e9))
  t.equal(start('x\n  function sync() {\n'), 4)
  t.equal(start('function sync() { }\nfunction sync() {\n'), 20, 'as a whole line')
  t.equal(start('function sync() {\nfunction sync() {\n'), undefined, 'not where there are two')
  t.equal(start('function other() {\n'), undefined)
  t.equal(start('f() {\n', 'f() {\n  a()\n}'), undefined, 'not a short one, of which there may be many')
})

const OLD = 'function sync() {\n  const list = read(path)\n  write(list)\n}'

t.test('shows a block with the same first line, however much has changed', async t => {
  const body = ['  for (const name of names) {', '    await copy(name, target)', '  }', '  log.info("done")']
  const file = [
    'import fs from "fs"',
    '',
    'function sync() {',
    ...Array(5).fill(body).flat(),
    '}',
    '',
    'sync()',
    ''
  ].join('\n')
  const old_text = `function sync() {\n${'  zip(WAX, 0x7f + 0x41, 99) || quit(77)\n'.repeat(6)}}`
  const [best] = suggest(Buffer.from(file), old_text).candidates
  t.equal(file.slice(best!.start, best!.end), file.slice(file.indexOf('function'), file.indexOf('\n\nsync()')))
  t.ok(best!.score < 0.5, `with its true score: ${best!.score}`)
})

t.test('shows a line that is the same where nothing is like the whole', async t => {
  const shown = (file: string, old_text = OLD): string[] =>
    suggest(Buffer.from(file), old_text).candidates.map(({ start, end }) =>
      Buffer.from(file).toString('utf8', start, end).trim()
    )
  const other = 'class Other extends Thing {\n  size = 12\n}\n'.repeat(20)
  t.strictSame(shown(`${other}\t const list = read(path) \r\n${other}`), ['const list = read(path)'])
  t.strictSame(shown(`${other}\rwrite(list)\r${other}`), ['write(list)'], 'a line ends at any break')
  t.strictSame(shown(`${other}const list = read(path, all)\n${other}`, 'x()\n}\n'), [], 'short lines say nothing')
  t.strictSame(shown(other), [])
})

t.test('shows these of a text that is too long to be compared too', async t => {
  const junk = Array.from({ length: 400 }, (_, i) => `  zip(WAX, 0x${i}, 99) || quit(77)`).join('\n')
  const file = 'class A {\n  size = 12\n}\nfunction sync() {\n  copy(names)\n}\nsync()\n'
  const shown = (old_text: string): string[] =>
    suggest(Buffer.from(file), old_text).candidates.map(({ start, end }) => file.slice(start, end))
  t.strictSame(shown(`function sync() {\n${junk}\n}`), ['function sync() {\n  copy(names)\n}'])
  t.strictSame(shown(`${junk}\n  copy(names)\n${junk}`), ['copy(names)'])
})
