// What is done with the lines of a text.
import t from 'tap'
import { withoutLastLf } from '../../../src/engine/text/lines.ts'

t.test('takes away the line feeds at the end, and no others', t => {
  for (const [text, expected] of [
    ['', ''],
    ['\n\n', ''],
    ['a', 'a'],
    ['\na\n\nb\n\n', '\na\n\nb'],
    ['a\r\n', 'a\r']
  ] as const) {
    t.equal(withoutLastLf(text), expected)
  }
  // With an expression this takes an hour.
  const long = `${'\n'.repeat(2_000_000)}x`
  t.ok(withoutLastLf(`${long}\n`) === long)
  t.end()
})
