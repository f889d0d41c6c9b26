// What stands for characters that can't be seen, or that change how others are shown.
import t from 'tap'
import { piecesOf, plain } from '../../../page/review/visible.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

const check = (text: string, expected: string, one_line = true) => {
  const shown = piecesOf(text, one_line).map(({ text, code }) => (code === true ? `[${text}]` : text))
  t.equal(shown.join(''), expected, expected.replace(/[^\x20-\x7e]/g, '?'))
}

check('src/app.ts', 'src/app.ts')
check('naïve 字 😀 שלום', 'naïve 字 😀 שלום')
check('a\nb\r\tc', 'a[\\n]b[\\r][\\t]c')
check('a\tb', 'a\tb', false)
check('a\u0000\u001b[31m\u007f\u0085', 'a[U+0000][U+001B][31m[U+007F][U+0085]')
check('\u202egpj.exe\u202c', '[U+202E]gpj.exe[U+202C]')
check('a\u200b\u200d\u2060\ufeff\u00adb', 'a[U+200B][U+200D][U+2060][U+FEFF][U+00AD]b')
check('\u2028\u2029\u3164\u115f\uffa0', '[U+2028][U+2029][U+3164][U+115F][U+FFA0]')
check('\ud800x\udc00', '[U+D800]x[U+DC00]')
check('x\u{e0041}\u{e0100}', 'x[U+E0041][U+E0100]')
check('', '')
t.equal(plain('a\nb\u202e'), 'a[\\n]b[U+202E]')

t.test('leaves nothing hidden, and loses nothing of what can be seen', async t => {
  const random = new Random(SEED)
  const alphabet = ['a', ' ', '\n', '\t', '\u202e', '\u200b', '😀', '\ud83d', '<b>', '\u0007', 'é']
  for (let i = 0; i < often(2000); i++) {
    const text = random.text(alphabet, 12)
    const pieces = piecesOf(text, true)
    const shown = pieces.filter(({ code }) => code !== true).map(({ text }) => text)
    const visible = [...text].filter(character => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(character)).join('')
    if (shown.join('') !== visible || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(plain(text))) {
      t.fail(`SEED=${SEED} ${JSON.stringify(text)}`)
      return
    }
  }
  t.pass()
})
