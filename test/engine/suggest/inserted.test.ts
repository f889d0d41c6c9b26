// Regions that only have something inserted within a line: that they are found from their start, come before what lacks a
// word, and get an edit to send.
import t from 'tap'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { Budget } from '../../../src/engine/suggest/budget.ts'
import { Haystack } from '../../../src/engine/suggest/haystack.ts'
import { withInsertions } from '../../../src/engine/suggest/inserted.ts'
import { oldTextOf } from '../../../src/engine/suggest/readings.ts'
import { regionAt } from '../../../src/engine/suggest/regions.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'

const OPTIONS = { line_endings: 'adapt', max_result_size: 1 << 20 } as const

/** Expects the part of `file` between « and » as the first suggestion, and `fix` as the first edit that is offered. */
function check(name: string, edit: [oldText: string, newText: string], file: string, fix?: string): void {
  const text = Buffer.from(file.replace(/[«»]/g, ''))
  const [old_text, new_text] = edit
  const planned = planTextEdits(text, [{ old_text, new_text }], OPTIONS)
  t.equal(planned.ok, false, name)
  if (planned.ok || planned.failure.code !== 'NO_MATCH') return
  const [best] = suggest(text, old_text).candidates
  const there = best && text.toString('utf8', best.start, best.end)
  t.equal(there, file.slice(file.indexOf('«') + 1, file.indexOf('»')), name)
  const offered = planned.failure.fixes.flatMap(one => ('edit' in one ? [one.edit] : []))[0]
  t.equal(offered !== undefined && 'new_text' in offered ? offered.new_text : undefined, fix, name)
}

const VIEW = 'var body: some View {\n    «Button(title, role: .cancel) { act() }»\n}\n'
check(
  'an argument',
  ['Button(title) { act() }', 'Button(title) { go() }'],
  VIEW,
  'Button(title, role: .cancel) { go() }'
)
check(
  'an argument, in a block',
  ['    Button(title) {\n        act()\n    }', '    Button(title) {\n        act()\n        log()\n    }'],
  'var body: some View {\n«    Button(title, role: .cancel) {\n        act()\n    }»\n}\n',
  '    Button(title, role: .cancel) {\n        act()\n        log()\n    }'
)
check(
  'conditions in the line above what is most like it',
  ['if (a) {\n  go()\n}', 'if (a) {\n  stop()\n}'],
  'é()\n«if (a && isReady(b) && hasMore(c)) {\n  go()\n}»\n',
  'if (a && isReady(b) && hasMore(c)) {\n  stop()\n}'
)
check(
  'attributes before what is most like it',
  ['<Button onClick={go}>', '<Button onClick={stop}>'],
  'é\n  <b>é</b><i/>«<Button variant="primary" size="lg" disabled={isDisabled} onClick={go}>»Go</Button>\n',
  '<Button variant="primary" size="lg" disabled={isDisabled} onClick={stop}>'
)
// Of two that are as likely, each is offered.
check(
  'of two lines the one that has all words first',
  ['router.get("/x", handler)', 'router.get("/x", other)'],
  '«router.get("/x", authenticate, rateLimit({ max: 100, window: 60 }), handler)»\nrouter.get("/y", handler2)\n',
  'router.get("/x", authenticate, rateLimit({ max: 100, window: 60 }), other)'
)
check(
  'no end of another call, but the line that is nearer',
  ['x = compute(alpha)', 'x = compute(beta)'],
  'x = compute(gamma) + other(more, than, enough, alpha)\n«y = compute(alpha)»\n',
  'y = compute(beta)'
)

/** Expects that a text which is sought is taken for one with something inserted in `file`, or not. */
function checkWhole(name: string, sought: string, file: string, expected: boolean): void {
  const [haystack, budget] = [new Haystack(Buffer.from(file)), new Budget(1e9)]
  const region = regionAt(haystack, oldTextOf(sought), 0, file.length, budget)
  t.equal(withInsertions(haystack, [region], budget)[0] !== region, expected, name)
}
checkWhole('an argument', 'open(alpha)\nuse(beta)', 'open(alpha, more)\nuse(beta)', true)
checkWhole('no lines', 'open(alpha)\nuse(beta)', 'open(alpha)\nclose(alpha)\nuse(beta)', false)
checkWhole('no part of another call', 'a = open(alpha)', 'a = open(beta) + close(alpha)', false)
checkWhole('no two places', 'open(alpha)\nuse(beta)', 'open(alpha, 1)\nuse(beta, 1)', false)
checkWhole('nothing before or behind', 'open(alpha)', 're.open(alpha).more', false)
checkWhole('no four words', 'open(alpha)', 'open(alpha, 1)', false)
checkWhole('no hundred words', 'x = open(alpha)', `x = open(alpha${', 1'.repeat(51)})`, false)
checkWhole('fifty arguments', 'x = open(alpha)', `x = open(alpha${', 1'.repeat(50)})`, true)
