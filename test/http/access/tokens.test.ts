// Which tokens are known.
import { createHash } from 'node:crypto'
import t from 'tap'
import { namedTokens, oneToken, type NamedToken } from '../../../src/http/access/tokens.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const grant = (name: string) =>
  ({
    name,
    workspace: 'acme',
    scope: 'edit',
    paths: null,
    memoryRoot: null,
    expires: null
  }) satisfies Partial<NamedToken>
const named = (name: string, token: string, expires: number | null = null): NamedToken => ({
  ...grant(name),
  sha256: sha256(token),
  expires
})

t.test('knows the one token of a server, which may do everything', async t => {
  const identify = oneToken('right')
  t.strictSame(identify('right'), { ok: true, value: null })
  for (const token of ['', 'Right', 'right ', 'righ', sha256('right')]) {
    t.match(identify(token), { ok: false, failure: { code: 'UNAUTHORIZED', reason: 'wrong' } }, token)
  }
})

t.test('knows the tokens of an access file by their hashes, until they expire', async t => {
  const identify = namedTokens([
    named('a', 'one'),
    named('b', 'two', Date.now() + 60_000),
    named('old', 'three', Date.now())
  ])
  t.strictSame(identify('one'), { ok: true, value: grant('a') })
  t.match(identify('two'), { ok: true, value: { name: 'b', expires: Number } })
  t.match(identify('three'), { ok: false, failure: { code: 'UNAUTHORIZED', reason: 'expired' } })
  for (const token of ['four', sha256('one'), sha256('one').toUpperCase(), 'a', '']) {
    t.match(identify(token), { ok: false, failure: { code: 'UNAUTHORIZED', reason: 'wrong' } }, token)
  }
})
