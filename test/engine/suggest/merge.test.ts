// The change of an edit, made to the region of the file that was meant.
import t from 'tap'
import { merge, type MergeConflict } from '../../../src/engine/suggest/merge.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const check = (name: string, base: string, mine: string, theirs: string, expected: string | MergeConflict): void => {
  const merged = merge(base, mine, theirs)
  t.strictSame(merged.ok ? merged.value : merged.failure, expected, name)
}
const both = (changed: string, found: string): MergeConflict => ({ reason: 'same_words', changed, found })
const SPACING: MergeConflict = { reason: 'spacing' }

check(
  'keeps what the file has otherwise',
  'let a = 1\nlet b = 2',
  'let a = 1\nlet b = 3',
  'const a = 1\nlet b = 2',
  'const a = 1\nlet b = 3'
)
check('keeps the selector of a sign', 'I \u2764 you', 'I \u2764 them', 'I \u2764\ufe0f you', 'I \u2764\ufe0f them')
check('replaces a sign with its selector', 'a \u2764 b', 'a + b', 'a \u2764\ufe0f b', 'a + b')
check('puts a line in', 'a()\nc()', 'a()\nb()\nc()', 'a(1)\nc()', 'a(1)\nb()\nc()')
check('takes a line out', 'a\nb\nc\nd', 'a\nb\nd', 'x\nb\nc\nd', 'x\nb\nd')
check('takes the first line out', 'a\nb\nc', 'b\nc', 'a\nb\nC', 'b\nC')
check(
  'gives what begins the text then the indentation of the file',
  'f {\n a\n b',
  ' a\n b',
  'f {\n\ta\n\tb',
  '\ta\n\tb'
)
check('knows no indentation for what then begins the text', 'f {\n  a', '   a', 'f {\n\ta', SPACING)
check('keeps the first line break out that the file lacks', '\nf\n  a', '\n  a', 'f\n  a', '  a')
check('keeps it out where the edit takes it too', '\nf\n  a', '  a', 'f\n  a', '  a')
check(
  'puts in a line above where the file lacks the first line break',
  '\n a\n b',
  '\n c\n a\n b',
  '  a\n  b',
  '  c\n  a\n  b'
)
check('takes no line break out that the edit moves', '\nf\n  a', '\n\n  a', 'f\n  a', SPACING)
check('takes the last line out', 'a\nb\nc', 'a\nb', 'A\nb\nc', 'A\nb')
check('takes all out', 'a b', '', 'a  b\n', '\n')
check('adds at the end', 'a\nb', 'a\nb\nc', 'A\nb', 'A\nb\nc')
check('adds at the start', 'b\na', 'c\nb\na', 'b\nA', 'c\nb\nA')
check('changes nothing', 'a b', 'a b', 'a c', 'a c')
check(
  'takes no other word for the one that is gone',
  'new Buffer(x)',
  'new Buffer(x, 1)',
  'new Units(x)',
  'new Units(x, 1)'
)
check('takes a change that the file has already as made', 'f(1)\ng(2)', 'f(3)\ng(4)', 'f(3)\ng(2)', 'f(3)\ng(4)')
check('does not take half of a change as made', 'f(1)\ng(2)', 'f(3, 5)\ng(4)', 'f(3)\ng(2)', both('1', '3'))
check('says what both have changed', 'f(Buffer)', 'f(Bytes)', 'f(Units)', both('Buffer', 'Units'))
check('wants a word between two changes', 'a b c', 'a x c', 'a b y', both('b c', 'b y'))
check('is glad of one word', 'a b c', 'x b c', 'a b y', 'x b y')
check('replaces an item of a list that the file has lengthened', 'f(b)', 'f(c)', 'f(a, b, d)', 'f(a, c, d)')
check('replaces an item of a list that the file has shortened', 'f(a, b, d)', 'f(a, c, d)', 'f(b)', 'f(c)')
check('replaces items that the file has just once', 'f(b)', 'f(c)', 'f(b, b)', both('b', 'b, b'))
check('replaces no part of a longer item', 'f(b)', 'f(c)', 'f(x.b)', both('b', 'x.b'))
check('replaces no item beside a replaced one', 'f(b d)', 'f(c d)', 'f(b e)', both('b d', 'b e'))
check('takes no part of a number for an item', 'f(1)', 'f(2)', 'f(1,000)', both('1', '1,000'))
check('adds no item where the file has another', 'f(b)', 'f(c, e)', 'f(b, d)', both('b', 'b, d'))
check('takes no item out beside others', 'f(a, b)', 'f(a)', 'f(a, b, d)', both(', b', ', b, d'))
check('replaces a line beside other lines', 'a = 1\nb = 2', 'a = 5\nb = 2', 'a = 1\nc = 3', 'a = 5\nc = 3')
check('takes a line out between other lines', 'a\nb\nc', 'a\nc', 'x\nb\ny', 'x\ny')
check('says where the file has lost it', 'a b c d', 'a b x d', 'a d', both('b c', ''))
check('puts in no word that the file has lost', 'old(1)\ngo()', 'old(1)\ngo(old)', 'fresh(1)\ngo()', {
  reason: 'unknown_word',
  word: 'old'
})
check('counts quotes as the same', "f('a', b)", "f('a', c)", 'f("a", b)', 'f("a", c)')
check('changes quotes where that is asked', "f('a')", 'f(`a`)', 'f("a")', 'f(`a`)')
check(
  'puts a whole line in, not parts of two',
  "f('a')\nf('b')",
  "f('a')\nf('c')\nf('b')",
  'f("a")\nf("b")',
  'f("a")\nf(\'c\')\nf("b")'
)
check('puts a whole string in', "f('a')", "f('b', 'a')", 'f("a")', `f('b', "a")`)
check('takes no quote for the end of another string', "f('a')", `f('it"s')`, 'f("a")', both(`'it"s'`, '"'))
check('makes no pair of two kinds of quotes', "f('a', x)", "f('a' + x + 'b', x)", 'f("a", x)', `f("a" + x + 'b', x)`)
check('makes no pair of another quote', 'f(\'a\', "b")', "f('b')", 'f("a", \'b\')', both("'b'", '"'))
check('puts a line in among other list markers', '- a\n- b', '- a\n- c\n- b', '* a\n* b', '* a\n- c\n* b')
check('puts no line in that has another marker', '- a\n- b', '- a\nc\n- b', '* a\n* b', both('-', '*'))
check('puts no line in without its comma', 'a: 1\nb: 1', 'a: 1\nc: 1\nb: 1', 'a: 1,\nb: 1,', both('', ','))
check('puts a line in after a semicolon', 'a()\nb()', 'a()\nb()\nc()', 'a();\nb();', 'a();\nb();\nc()')
check('takes a line out with its own marker', '- a\n- b\n- c', '- a\n- c', '* a\n* b\n* c', '* a\n* c')
check('moves a line as the file has it', 'a()\nb()\nc()', 'b()\na()\nc()', 'a(); \nb(); \nc();', 'b(); \na(); \nc();')
check('takes no line out where the file has another', 'a\n-\nb', 'a\nb', 'a\n*\n*\nb', both('-', '*\n*'))
check('moves no line that the file has in another', '- a\n- b\nc', '- b\n- a\nc', '* a * b\nc', both('- a', '* a'))
check(
  'writes plain signs where the file does',
  'say “a” – b',
  'say “a” – b – “c”…',
  'say "a" - b',
  'say "a" - b - "c"…'
)
check('composes letters as the file does', 'cafe\u0301 1', 'cafe\u0301 1 the\u0301', 'café 1', 'café 1 thé')
check('reads Chinese sign by sign', '编辑文件', '编辑大文件', '编辑文本', '编辑大文本')
check('knows where Chinese words touch', '编辑文件', '编辑旧件', '编辑文本', both('文件', '文本'))

check('indents as the file does', 'a {\n  b\n}', 'a {\n  b\n  c\n}', 'a {\n    b\n}', 'a {\n    b\n    c\n}')
check(
  'tabs for spaces',
  'a {\n    b {\n        c\n    }\n}',
  'a {\n    b {\n        c\n            d\n    }\n}',
  'a {\n\tb {\n\t\tc\n\t}\n}',
  'a {\n\tb {\n\t\tc\n\t\t\td\n\t}\n}'
)
check(
  'indents a line that lost it',
  'a {\n      b\n    }',
  'a {\n      b\n    }\n    c',
  '    a {\n      b\n    }',
  '    a {\n      b\n    }\n    c'
)
check('indents like the lines beside it', 'a\nb\nc\nd', 'a\nb\nx\nc\nd', 'a\n  b\n  c\nd', 'a\n  b\n  x\n  c\nd')
check('moves a line that the file has not moved', 'a\nb\nc', 'a\n  b\nc', 'A\nb\nc', 'A\n  b\nc')
check('white space that both changed', 'a\n  b', 'a\n    b', 'a b', SPACING)
check('white space that both changed alike', 'a  b', 'a b', 'a b', 'a b')
check('white space beside a word that the file has lost', 'a b c', 'a  b c', 'a x c', SPACING)
check('keeps blank lines of the file', 'a\nb\nc', 'a\nb\nd', 'a\n\nb\nc', 'a\n\nb\nd')
check('puts a word in before a stray blank', 'a b ', 'a b c ', 'a b', 'a b c')
check('puts a word in before stray blanks', 'a b  ', 'a b c  ', 'a b', 'a b c')
check('keeps white space at its ends', '  a b  ', '  a c  ', 'a b', 'a c')
check('no rule of indentation', 'x\n \ta\n  b\nc', 'x\n \ta\n  b\n\ty\nc', 'x\n  a\n    b\nc', SPACING)
check('nothing to take away from the indentation', '    a\n    b', '  c\nb', '  a\n  b', SPACING)
check('spaces for tabs', '\ta\n\t\tb', '\tc\n\t\t\td', '  a\n    b', '  c\n      d')
check('more of the same', 'a\n  b', 'c\n  d', '    a\n      b', '    c\n      d')
check('fewer', '    a', '    c\n      d', '  a', '  c\n    d')
check('only the first line', 'a\n    b', 'c\n    d', '    a\n    b', '    c\n    d')
check('white space at the end of lines', 'a\nb', 'c\nd', 'a  \nb', 'c\nd')
check(
  'not in proportion',
  'x\n  a\n    b\n      c',
  'x\n  a\n    b\n      c\n        d',
  'x\n  a\n   b\n      c',
  SPACING
)
check('another sign', '\ta\n\tb', '\tc\n    d', '  a\n  b', SPACING)
check('another sign where there was none', 'a\nb', 'c\n  d', '\ta\n\tb', SPACING)
check('wraps lines', 'a\nb', 'if x:\n    a\n    b', '    a\n    b', '    if x:\n        a\n        b')
check('wraps some', 'f\n  a\n  b', 'f\n  if x\n    a\n  b', 'f\n    a\n    b', 'f\n    if x\n        a\n    b')
check('wraps lines with tabs', 'a;\nb;\n', '{\n\ta;\n\tb;\n}\n', '\ta;\n\tb;\n', '\t{\n\t\ta;\n\t\tb;\n\t}\n')
check(
  'nests all',
  's:\n  - a\n  - b',
  'j:\n  s:\n    - a\n    - b',
  's:\n    - a\n    - b',
  'j:\n    s:\n        - a\n        - b'
)
check('adds a line behind the last break', 'a\nb\n', 'a\nb\nc\n', '    a\n    b\n', '    a\n    b\n    c\n')
const LOOP = 'for x in y:\n    use(x)\ndone()'
check(
  'adds a line as deep as the one before it, which is as deep as the file has the one after it',
  LOOP.replace(/^/gm, '    '),
  LOOP.replace('\ndone', '\n    log(x)\ndone').replace(/^/gm, '    '),
  LOOP.replace(/^/gm, '        '),
  LOOP.replace('\ndone', '\n    log(x)\ndone').replace(/^/gm, '        ')
)
check(
  'adds one with tabs',
  LOOP.replaceAll('    ', '\t').replace(/^/gm, '\t'),
  LOOP.replace('\ndone', '\n    log(x)\ndone').replaceAll('    ', '\t').replace(/^/gm, '\t'),
  LOOP.replaceAll('    ', '\t').replace(/^/gm, '\t\t'),
  LOOP.replace('\ndone', '\n    log(x)\ndone').replaceAll('    ', '\t').replace(/^/gm, '\t\t')
)
// Of old_text without any indentation, for a block that has some.
check('adds no line between a deep and a less deep one', 'a:\nb\nc', 'a:\nb\nx\nc', 'a:\n  b\nc', SPACING)
check('adds no line below the last of several depths', 'a:\nb', 'a:\nb\nx', 'a:\n  b', SPACING)
check('replaces one line by one', 'a:\nb\nc', 'a:\nx\nc', 'a:\n  b\nc', 'a:\n  x\nc')
check('replaces no last line by two', 'a:\nb\nc', 'a:\nx\ny\nc', 'a:\n  b\nc', SPACING)
check(
  'replaces a line by none of two, of which one may be within the other',
  'a:\nb\nc\nd',
  'a:\nx\ny\nc\nd',
  'a:\n  b\n  c\nd',
  SPACING
)
check('adds one line between two as deep', 'a:\nb\nc\nd', 'a:\nb\nx\nc\nd', 'a:\n  b\n  c\nd', 'a:\n  b\n  x\n  c\nd')
check('adds no line that opens a block', 'a:\nb\nc\nd', 'a:\nb\nx:\nc\nd', 'a:\n  b\n  c\nd', SPACING)
check('adds no line below one that opens a block', 'a\nb {\n}\nc', 'a\nb {\nx\n}\nc', '  a\nb {\n}\nc', SPACING)
check('adds no line with an indentation of its own', 'a:\nb\nc\nd', 'a:\nb\n  x\nc\nd', 'a:\n  b\n  c\nd', SPACING)
check('adds no line that opens a block where nothing is indented', 'a\nb', 'a\nx:\nb', '  a\n  b', SPACING)
check('takes no line out that others are within', 'a:\nb\nc', 'b\nc', 'a:\n  b\nc', SPACING)
check('takes a block out', 'a:\nb\nc', 'c', 'a:\n  b\nc', 'c')
check('adds a line to a block of one depth', 'a\nb', 'a\nx\ny\nb', '  a\n  b', '  a\n  x\n  y\n  b')
check(
  'takes no word of the line below for one that is taken out',
  'a:\nreturn b\nreturn c',
  'a:\nx\ny\nreturn c',
  'a:\n  return b\nreturn c',
  SPACING
)
check('leaves lines that the edit indents as the file does', 'a\nb', '    a\n    c', '    a\n    b', '    a\n    c')
check('leaves lines below a first one that has lost its own', 'a\n  b', 'a\n  c\n  b', '  a\n  b', '  a\n  c\n  b')

t.strictSame(merge('a '.repeat(5000), 'b', 'a '.repeat(5000)), { ok: false, failure: { reason: 'too_long' } })
t.strictSame(merge('a '.repeat(3000), 'b '.repeat(3000), 'a'), { ok: false, failure: { reason: 'too_long' } })

const WORDS = ['a', 'b', 'cc', '(', ')', ' ', '\n', '\n  ', '  ', '\t', 'é', '字', '“', '"']

t.test('makes the edit itself where the file has the very text, and changes nothing without an edit', async t => {
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 70_001 + round)
    const [one, other] = [random.text(WORDS, 40), random.text(WORDS, 40)]
    const about = JSON.stringify({ seed: SEED, round, one, other })
    const made = merge(one, other, one)
    if (!made.ok || made.value !== other) t.strictSame(made, { ok: true, value: other }, about)
    const kept = merge(one, one, other)
    if (!kept.ok || kept.value !== other) t.strictSame(kept, { ok: true, value: other }, about)
  }
})

const wordsOf = (text: string): string[] => text.match(/[\p{L}]+|\S/gu) ?? []

t.test('brings nothing back, and drops nothing of the file', async t => {
  let merged = 0
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 70_003 + round)
    const lines = Array.from({ length: 12 }, (_, i) => `line${i} ${random.text(['a ', 'b ', 'c '], 8)}end${i}`)
    const change = (mark: string): string =>
      lines
        .flatMap((line, i) =>
          random.chance(6)
            ? []
            : random.chance(6)
              ? [line, `${mark}${i} new`]
              : random.chance(6)
                ? [line.replace(/ .* /, ` ${mark}${i} `)]
                : [line]
        )
        .join('\n')
    const [mine, theirs] = [change('mine'), change('theirs')]
    const result = merge(lines.join('\n'), mine, theirs)
    if (!result.ok) continue
    merged++
    const about = JSON.stringify({ seed: SEED, round, mine, theirs, result: result.value })
    const [ours, there, found] = [wordsOf(mine), wordsOf(theirs), wordsOf(result.value)]
    const old = new Set(wordsOf(lines.join('\n')))
    for (const word of found) {
      if (!there.includes(word) && !ours.includes(word)) t.fail(`${word} comes from nowhere: ${about}`)
      if (old.has(word) && !there.includes(word)) t.fail(`${word} is brought back: ${about}`)
    }
    for (const word of there) {
      if (word.startsWith('theirs') && !found.includes(word)) t.fail(`${word} is lost: ${about}`)
    }
    for (const word of ours) {
      if (word.startsWith('mine') && !found.includes(word)) t.fail(`${word} isn’t made: ${about}`)
    }
  }
  t.ok(merged > 20, `${merged} were merged`)
})

/** A line and how deep it is. */
type Deep = readonly [text: string, level: number]

/** Lines, each at most one level deeper than the one before; the first has the least depth. */
function nested(random: Random): Deep[] {
  const lines: Deep[] = []
  for (let i = 0; i < 2 + random.int(5); i++) lines.push([`line${i}()`, i === 0 ? 0 : random.int(lines[i - 1]![1] + 2)])
  return lines
}

/** Wraps, adds and removes some of these lines. */
function edited(lines: readonly Deep[], random: Random): Deep[] {
  let all = [...lines]
  for (let i = 0; i <= random.int(2); i++) {
    const at = random.int(all.length)
    const [, level] = all[at]!
    if (random.chance(50)) {
      const end = all.findIndex(([, other], j) => j > at && other < level)
      const wrapped = all.slice(at, end === -1 ? undefined : end).map(([text, other]): Deep => [text, other + 1])
      all = [...all.slice(0, at), [`wrap${i}:`, level], ...wrapped, ...(end === -1 ? [] : all.slice(end))]
    } else if (random.chance(70)) {
      all.splice(at + 1, 0, [`new${i}()`, level])
    } else if (all.length > 2 && at > 0 && (all[at + 1]?.[1] ?? 0) <= level) {
      all.splice(at, 1)
    }
  }
  return all
}

t.test('indents what is wrapped, added and moved by one rule, or leaves it to the caller', async t => {
  let merged = 0
  const wrong: string[] = []
  for (let round = 0; round < often(8000); round++) {
    const random = new Random(SEED * 70_009 + round)
    const [lines, end] = [nested(random), random.pick(['', '\n'])]
    const changed = edited(lines, random)
    const there = { unit: random.pick(['  ', '    ', '\t']), by: random.int(3) }
    const sent = { unit: random.pick(['  ', '    ', '\t']), by: random.int(there.by + 1) }
    const text = (all: readonly Deep[], { unit, by }: { unit: string; by: number }): string =>
      all.map(([line, level]) => `${unit.repeat(level + by)}${line}`).join('\n') + end
    // How deep a level is can't be known of lines of one level.
    if (sent.unit !== there.unit && !lines.some(([, level]) => level > 0)) continue
    const result = merge(text(lines, sent), text(changed, sent), text(lines, there))
    if (!result.ok) continue
    merged++
    const expected = text(changed, there)
    if (result.value !== expected) {
      wrong.push(
        JSON.stringify({
          round,
          base: text(lines, sent),
          mine: text(changed, sent),
          theirs: text(lines, there),
          expected,
          result: result.value
        })
      )
    }
  }
  t.strictSame(wrong.slice(0, 4), [], `${wrong.length} of ${merged}, seed ${SEED}`)
  t.ok(merged > 100, `${merged} were merged`)
})
