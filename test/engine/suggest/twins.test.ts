// Where the text that was probably meant stands more than once, its places are suggested as equally likely.
import t from 'tap'
import { MARGIN, suggest } from '../../../src/engine/suggest/suggest.ts'

/** The first places suggested for `sought` are where `file` has «, and no other is as likely. */
const check = (name: string, sought: string, file: string): void => {
  const [, ...parts] = file.split('«')
  const plain = file.replaceAll('«', '')
  const starts = parts.map((_, i) => plain.length - parts.slice(i).join('').length)
  const { candidates, margin } = suggest(Buffer.from(plain), sought)
  const found = candidates.slice(0, starts.length).map(({ start }) => start)
  t.strictSame(
    found.sort((a, b) => a - b),
    starts,
    name
  )
  t.equal(margin < MARGIN, starts.length > 1, name)
}

/** Lines that end as the one in question does, more than are looked at. */
const calls = Array.from({ length: 40 }, (_, i) => `  call_${i}(${i}),\n`).join('')
const long = 'x = 1\n'.repeat(400)

check('finds a twin that is far away', '\t),', `a(\n«  ),\n${calls}b(\n«  ),\n`)
check('finds a twin without its indentation', '),  ', `a(\n  «),\n${calls}b(\n    «), \n`)
check('finds a twin with its line break', '\t),\n', `a(\n«  ),\n${calls}b(\n«  ),\n`)
check('seeks no twin of a part of a line', 'summery(tot)', 'x = «summary(tot) + 1\n// A summary(to) of all.\n')
check('counts no part of a line as a twin of a line', '\ttotal,', 'f(\n«  total,\n)\n  total, rest\n  x  total,\n')
check('suggests three of many', '\tvalue,', `${'«  value,\n'.repeat(3)}${'  value,\n'.repeat(9)}`)
check('seeks no twin of a long text', `${long}y`, `«${long}z\n`)
