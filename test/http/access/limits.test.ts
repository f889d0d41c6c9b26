// As whose a request counts.
import t from 'tap'
import type { Grant } from '../../../src/http/access/grant.ts'
import { makeLimits } from '../../../src/http/access/limits.ts'

const grant = (workspace: string, name: string, others: Partial<Grant> = {}): Grant => ({
  name,
  workspace,
  scope: 'edit',
  paths: null,
  memoryRoot: null,
  expires: null,
  ...others
})

t.test('counts each token for itself, by its own rate if it has one', async t => {
  const told: string[] = []
  const limits = makeLimits({ rate: { requests: 1, per: 'h' }, hasTokens: true, onLimited: of => told.push(of) })
  const rate = { requests: 2, per: 'h' } as const
  const [a, b, c] = [grant('acme', 'a'), grant('beta', 'a'), grant('acme', 'c', { rate })]
  for (const one of [a, b, c, c]) t.equal(limits.request(one, '192.0.2.1'), null)
  t.match(limits.request(a, '192.0.2.2'), { code: 'RATE_LIMITED', of: 'token', rate: { requests: 1, per: 'h' } })
  t.match(limits.request(c, undefined), { of: 'token', rate })
  t.strictSame(told, ['token', 'token'])
})

t.test('limits a token that has a rate, where the settings have none', async t => {
  const limits = makeLimits({ rate: null, hasTokens: true })
  const limited = grant('acme', 'a', { rate: { requests: 1, per: 'h' } })
  for (let i = 0; i < 100; i++) t.equal(limits.request(grant('acme', 'b'), '192.0.2.1'), null)
  t.equal(limits.request(limited, '192.0.2.1'), null)
  t.match(limits.request(limited, '192.0.2.1'), { of: 'token' })
})

t.test('counts the one token of a server for all who have it, and addresses where there is none', async t => {
  const rate = { requests: 1, per: 'h' } as const
  const [one, open] = [makeLimits({ rate, hasTokens: true }), makeLimits({ rate, hasTokens: false })]
  t.equal(one.request(null, '192.0.2.1'), null)
  t.match(one.request(null, '192.0.2.2'), { of: 'token' })
  t.equal(open.request(null, '2001:db8::1'), null)
  t.equal(open.request(null, '192.0.2.2'), null)
  t.match(open.request(null, '2001:db8::2'), { of: 'address' })
})

t.test('counts wrong tokens of an address, and no other refusal', async t => {
  const limits = makeLimits({ rate: null, hasTokens: true })
  const of = (reason: 'missing' | 'malformed' | 'wrong' | 'expired') => ({ code: 'UNAUTHORIZED', reason }) as const
  const host = { code: 'FORBIDDEN_HOST', host: 'a' } as const
  for (let i = 0; i < 100; i++) {
    for (const other of [of('missing'), host]) t.equal(limits.refusal(other, '192.0.2.1'), other)
  }
  const refused = Array.from({ length: 20 }, () =>
    (['malformed', 'wrong', 'expired'] as const).map(reason => limits.refusal(of(reason), '192.0.2.1').code)
  ).flat()
  t.ok(refused.every(code => code === 'UNAUTHORIZED'))
  t.match(limits.refusal(of('wrong'), '192.0.2.1'), { code: 'RATE_LIMITED', of: 'wrong_tokens' })
  t.match(limits.refusal(of('wrong'), '192.0.2.2'), { code: 'UNAUTHORIZED' })
})
