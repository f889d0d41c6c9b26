// Which names are like one that isn't there, and for which of them a call may be proposed.
import t from 'tap'
import { markdownOutline } from '../../../src/engine/outline/markdown.ts'
import type { Outline } from '../../../src/engine/outline/outline.ts'
import { findTarget } from '../../../src/engine/outline/target.ts'
import type { Target } from '../../../src/engine/failure.ts'

type Like = { nearest: string[]; meant: string | undefined }

function like(outline: Outline, target: Target): Like | string {
  const found = findTarget(outline, target)
  if (found.ok || found.failure.code !== 'TARGET_NOT_FOUND') return found.ok ? found.value.kind : found.failure.code
  return { nearest: found.failure.nearest, meant: found.failure.meant }
}

/** Methods and functions by their paths. */
const code = (...paths: string[]): Outline => ({
  type: 'code',
  syntax_error_lines: [],
  items: paths.map((path, i) => {
    const at = path.lastIndexOf('.')
    return {
      kind: 'function',
      name: path.slice(at + 1),
      ...(at > 0 && { parent: path.slice(0, at) }),
      within: -1,
      start_line: i + 1,
      end_line: i + 1,
      alone: true
    }
  })
})

t.test('means a name that is misspelt, and no other', t => {
  const cases: [asked: string, paths: string[], meant: string | undefined, nearest?: string[]][] = [
    // Another spelling.
    ['Store.Add', ['Store', 'Store.add', 'Store.size'], 'Store.add'],
    ['store.add', ['Store', 'Store.add'], 'Store.add'],
    ['get_value(x)', ['getValue'], 'getValue'],
    ['get_value', ['getValue', 'setValue'], 'getValue'],
    ['HtmlParser', ['HTMLParser'], 'HTMLParser'],
    ['Stor::add', ['Store.add', 'Cache.add'], 'Store.add'],
    // Another parent.
    ['Cache.add', ['Store.add', 'Cache', 'Cache.evict'], undefined, ['Store.add']],
    ['res.redirect', ['res', 'sendfile.ondirectory'], undefined, []],
    ['get_user_agent', ['default_user_agent', 'get_env'], undefined],
    // A letter missing, added or moved.
    ['Parser.prase', ['Parser.parse', 'Parser.reset'], 'Parser.parse'],
    ['loadConfg', ['loadConfig', 'loadConfigs'], 'loadConfig'],
    ['Cart.totals', ['Cart.total'], 'Cart.total'],
    ['instalation', ['installation'], 'installation'],
    ['instillatiun', ['installation'], 'installation'],
    // Other words, which the rest of a path makes no likelier.
    ['Store.clear', ['Store.add', 'Store.size'], undefined, []],
    ['Store.clear', ['Store.clean'], undefined, ['Store.clean']],
    ['setValue', ['getValue'], undefined, ['getValue']],
    ['readSync', ['readAsync'], undefined, ['readAsync']],
    ['increment', ['decrement'], undefined, ['decrement']],
    ['parse2', ['parse3', 'parse'], undefined, ['parse3', 'parse']],
    ['Store.on', ['Store.one'], undefined, ['Store.one']],
    ['parser', ['parsed'], undefined, ['parsed']],
    ['parse', ['Parser.parseAll'], undefined, ['Parser.parseAll']],
    ['parseallfiles', ['parseAllFile'], undefined, ['parseAllFile']],
    ['operator-', ['operator+'], undefined, ['operator+']],
    ['_', ['$'], undefined, []],
    // Misspelt and elsewhere is two doubts.
    ['Cache.totals', ['Store.total'], undefined, []],
    ['A.B.total', ['B.totals'], undefined, []],
    // Several that are as likely.
    ['Base.add', ['Store.add', 'Cache.add'], undefined, ['Store.add', 'Cache.add']],
    ['Cache.total', ['Cache.totals', 'Store.total'], 'Cache.totals', ['Cache.totals', 'Store.total']],
    ['Add', ['add', 'ADD'], undefined, ['add', 'ADD']],
    ['Store.Add', ['Store.add', 'Store.add'], undefined, ['Store.add']],
    ['Store.total', ['Store.Total', 'Store.totals', 'Cache.total'], 'Store.Total'],
    // What is long is compared with nothing.
    [`${'x'.repeat(101)}y`, [`${'x'.repeat(101)}z`], undefined, []],
    [`a.${'x'.repeat(101)}`, [`A.${'x'.repeat(101)}`], `A.${'x'.repeat(101)}`],
    [`${'x'.repeat(101)}y.total`, [`${'x'.repeat(101)}z.total`, 'total'], undefined]
  ]
  for (const [symbol, paths, meant, nearest] of cases) {
    const { nearest: named, meant: one } = like(code(...paths), { symbol }) as Like
    t.equal(one, meant, `${symbol} of ${paths.join()}`)
    if (nearest !== undefined) t.strictSame(named, nearest, symbol)
  }
  t.end()
})

t.test('means a heading of which the name has another case, level or place, or a typo', t => {
  const outline = markdownOutline(Buffer.from('# Guide\n## Usage\n## Set up\n### Build > run\n# `Code` *x*\n'))
  const cases: [heading: string, meant: string | undefined][] = [
    ['Usge', 'Guide > Usage'],
    ['usage', 'Guide > Usage'],
    ['# Usage', 'Guide > Usage'],
    ['Other > Usage', undefined],
    ['Gide > Usage', 'Guide > Usage'],
    ['Guide > Setup', 'Guide > Set up'],
    ['build > run', 'Guide > Set up > Build > run'],
    ['Code x', '`Code` *x*'],
    ['Guidelines', undefined],
    ['Changelog', undefined],
    ['Use', undefined],
    ['age', undefined]
  ]
  for (const [heading, meant] of cases) t.match(like(outline, { heading }), { meant }, heading)
  t.end()
})
