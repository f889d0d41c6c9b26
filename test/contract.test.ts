// The table of contract.md: every test that it names exists.
import { readFileSync } from 'node:fs'
import t from 'tap'

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

t.test('names tests that there are', async t => {
  const named = [...textOf('contract.md').matchAll(/`([a-z0-9/.-]+\.ts): ([^`]+)`/g)]
  t.ok(named.length > 60)
  for (const [, file = '', name = ''] of named) {
    // A name may stand on the line after its bracket.
    const calls = textOf(file).replace(/\(\s+/g, '(')
    t.ok(
      ["'", '"', '`'].some(quote => calls.includes(`(${quote}${name}`)),
      `${file}: ${name}`
    )
  }
})
