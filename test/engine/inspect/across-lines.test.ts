// Which expressions are meant to match across lines.
import t from 'tap'
import { isForSeveralLines } from '../../../src/engine/inspect/across-lines.ts'

const check = (name: string, expected: boolean, expressions: string[]): void => {
  t.test(name, t => {
    for (const expression of expressions) t.equal(isForSeveralLines(expression), expected, expression)
    t.end()
  })
}

check('sees a line break, as a character or escaped, alone or in a class', true, [
  'a\nb',
  'a\r\nb',
  'a\\nb',
  'a\\\\\\nb',
  '\\r?\\n',
  '(.|\\n)*',
  'a[\\r\\n]+b',
  'a[\n]b',
  '\\Qa\nb\\E'
])
check('sees what is written to match line breaks too', true, ['a[\\s\\S]*b', '[\\W\\w]', '(?s)a.b', '(?is:a.b)'])
check('leaves other expressions alone', false, [
  '',
  'a',
  'a\\\\nb',
  '[^\\n]*',
  '[^\\r\\n]+',
  '[a\\n]',
  '\\s*',
  '[\\s\\w]',
  '[]\\n]',
  '[[:space:]\\n]',
  '\\Q\\n\\E',
  '(?i)a',
  '(?i-s)a.b',
  '(?P<s>a)',
  '\\(?s)',
  '\\[\\]n'
])
