// A single line that is there but for one word: that its place is found, and where none is named.
import t from 'tap'
import { Budget } from '../../../src/engine/suggest/budget.ts'
import { Haystack } from '../../../src/engine/suggest/haystack.ts'
import { withOtherWord } from '../../../src/engine/suggest/other-word.ts'
import { suggest } from '../../../src/engine/suggest/suggest.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

/** Expects the place between « and » of `file`; without these, that none is found. */
const check = (name: string, sought: string, file: string): void => {
  const found = withOtherWord(new Haystack(Buffer.from(file.replace(/[«»]/g, ''))), sought, new Budget(1e9))
  const [start, end] = [file.indexOf('«'), file.indexOf('»')]
  const place = start !== -1 && {
    start: Buffer.byteLength(file.slice(0, start)),
    end: Buffer.byteLength(file.slice(0, end).replace('«', ''))
  }
  t.strictSame(found, place === false ? undefined : place, name)
}

check('a name in its midst', 'new Timer(count, true)', 'é\n  «new Timer(total, true)»;\n')
check('a name at its start', 'manager.stop(true)', 'x = «worker.stop(true)»\n')
check('a name at its end', 'using My.Target', '«using My.System»\n')
check('a name that is repeated', 'a.old = !a.old', 'a.one = !a.two\n«a.three = !a.three»\n')
check('with other white space', 'if (manager == null) {', '«if( worker  == null ){»\n')
check('with its indentation and its break', '    stop(manager, true)\n', 'x\r\n«\t\tstop(worker, true)\r\n»y')
check('with signs that mean something in a pattern', 'a[manager] = $(b) ^ {2} | c?', '«a[worker] = $(b) ^ {2} | c?»')
check('not where two places have another word', 'stop(manager, true)', 'stop(a1, true)\nstop(b1, true)\n')
check('not where the word is in the file', 'stop(manager, true)', 'stop(worker, true)\nmanager\n')
check('though a longer word has it', 'stop(manager, true)', '«stop(worker, true)»\nmanagers\n')
check('not where two words are missing', 'stop(manager, later)', 'stop(worker, now)\n')
check('not where no word is missing', 'stop(worker, true)', 'worker, true\nstop\n')
check('not where the place has two words instead', 'stop(manager, true)', 'stop(new worker, true)\n')
check('not where repeated words differ', 'a.old = !a.old', 'a.one = !a.two\n')
check('not where too little is left', 'f(manager)', 'f(worker)\n')
check('not where less is left than is missing', 'x.get(veryLongManagerName)', 'x.get(worker)\n')
check('not of several lines', 'stop(manager,\ntrue)', 'stop(worker,\ntrue)\n')
check('not of a long line', `stop(manager, "${'x'.repeat(200)}")`, `stop(worker, "${'x'.repeat(200)}")\n`)
check('not over lines', 'stop(manager, true)', 'stop(worker,\n  true)\n')
check('not of signs alone', '((()))', '[]\n')

t.test('looks no further when the budget is used up, and not in a large file', async t => {
  const file = Buffer.from('stop(worker, true)\n')
  t.equal(withOtherWord(new Haystack(file), 'stop(manager, true)', new Budget(10)), undefined)
  const large = Buffer.alloc(1.5 * 2 ** 20, 'x\n')
  file.copy(large, 1000)
  t.equal(withOtherWord(new Haystack(large), 'stop(manager, true)', new Budget(1e9)), undefined)
})

t.test('shows the place, though little of a short line is the same', async t => {
  const file = Buffer.from('import a;\nusing System;\nusing System.IO;\n\nclass Hello {}\n')
  const { candidates } = suggest(file, 'using Target;')
  t.strictSame(
    candidates.map(({ start, end, cause }) => [file.toString('utf8', start, end), cause.type]),
    [['using System;', 'renamed']]
  )
})

t.test('of a random line with another word finds that line and no other', async t => {
  const random = new Random(SEED)
  for (let round = 0; round < often(300); round++) {
    const word = () => `w${random.int(1e6)}`
    const signs = ['.', '(', ')', ', ', ' = ', ' ', '?', '*', '[', ']']
    const line = () =>
      Array.from({ length: 4 + random.int(5) }, () => word() + signs[random.int(signs.length)]!).join('')
    const lines = Array.from({ length: 1 + random.int(8) }, line)
    const wanted = lines[random.int(lines.length)]!.trim()
    const words = wanted.match(/w\d+/g)!
    const sought = wanted.replaceAll(words[random.int(words.length)]!, 'missing')
    const file = Buffer.from(lines.join('\n'))
    const found = withOtherWord(new Haystack(file), sought, new Budget(1e9))
    t.equal(found && file.toString('utf8', found.start, found.end), wanted, sought)
  }
})
