// What a filter that a person types asks for.
import t from 'tap'
import { readFilter } from '../../../page/review/filter.ts'

const NOW = Date.parse('2026-11-30T12:00:00Z')

function check(text: string, asked: object): void {
  t.test(`reads ${JSON.stringify(text)}`, async t => {
    t.strictSame(readFilter(text, NOW), { ok: true, asked })
  })
}

check('', {})
check(' BOB  port ', { words: 'BOB port' })
check('agent:claude', { agent: 'claude' })
check('Agent:"claude code" session:run-7 token:ci', { agent: 'claude code', session: 'run-7', token: 'ci' })
check('path:src/**', { include: ['src/**'] })
check('path:*.ts path:"my file.md"', { include: ['*.ts', '/my file.md', '/my file.md/**'] })
check('path:./src/ agent:', { include: ['/src', '/src/**'] })
check('since:10m', { since: '2026-11-30T11:50:00.000Z' })
check('since:2D fix', { since: '2026-11-28T12:00:00.000Z', words: 'fix' })
check('since:2026-11-29', { since: '2026-11-29T00:00:00.000Z' })
check('http://x "two words"', { words: 'http://x two words' })
check('agent:"cla', { agent: 'cla' })

function checkFault(text: string, fault: RegExp): void {
  t.test(`refuses ${JSON.stringify(text)}`, async t => {
    t.match(readFilter(text, NOW), { ok: false, fault })
  })
}

checkFault('since:yesterday', /^since: takes an age/)
checkFault('since:5', /^since: takes an age/)
checkFault('agent:a agent:b', /^agent: is there twice/)
