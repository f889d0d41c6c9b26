// Which name a line of code defines, in many languages, and where a text defines a name.
import t from 'tap'
import { definitionsOf, definedBy, definedFirst } from '../../../../src/engine/suggest/boundaries/definition.ts'
import { Budget } from '../../../../src/engine/suggest/budget.ts'
import { Haystack } from '../../../../src/engine/suggest/haystack.ts'

const DEFINED: Record<string, string> = {
  'function area(w, h) {': 'area',
  'export default async function* area(w) {': 'area',
  'export const area = (w, h) => w * h': 'area',
  'const area: Shape = async w => w': 'area',
  'area: function (w) {': 'area',
  'onClick: () => {': 'onClick',
  'area(w: number, h = 2): number {': 'area',
  'static async area(w) {': 'area',
  'get area() {': 'area',
  '#area() {': 'area',
  'export class Área extends Shape {': 'Área',
  'export interface Shape {': 'Shape',
  'type Shape = { w: number }': 'Shape',
  'def area(self, w, h):': 'area',
  'async def area(self) -> int:': 'area',
  'class Shape(Base):': 'Shape',
  'def self.area?(w)': 'area',
  'afterClose?: () => void': 'afterClose',
  'func (s *Shape) Area() float64 {': 'Area',
  'func Area[T any](x T) T {': 'Area',
  'pub(crate) async fn area<T>(w: T) -> T {': 'area',
  'impl Shape {': 'Shape',
  'public static int area(int w, List<String> h) {': 'area',
  'int *area(struct shape *s) {': 'area',
  'public function area($w): int {': 'area',
  'fun area(w: Int): Int {': 'area'
}
const OTHERS = [
  'if (w > 2) {',
  '} else if (area(w)) {',
  'for (const w of area(h)) {',
  'return area(w, () => {',
  'await area(function (w) {',
  'new Area(w) {',
  "it('has an area', () => {",
  'app.use(`/area`, w => {',
  'const area = compute(w)',
  'const area = 2',
  'area(w, h)',
  'area(w, h);',
  'x = area(w) {',
  'width: 2,',
  'class',
  '',
  `function ${'a'.repeat(300)}() {`
]
t.test('knows the name that a line defines', async t => {
  for (const [line, name] of Object.entries(DEFINED)) t.equal(definedBy(line)?.name, name, line)
  for (const line of OTHERS) t.equal(definedBy(line), undefined, line.slice(0, 40))
})

t.test('tells types, and the receivers of functions, from each other', async t => {
  for (const [line, of] of [
    ['class Pool extends Base {', 'type'],
    ['Pool(int size) {', ''],
    ['func (b *B) Close() error {', 'B'],
    ['func (s *Set[K, V]) Close() error {', 'Set'],
    ['func Close() error {', '']
  ] as const) {
    t.equal(definedBy(line)?.of, of, line)
  }
})

t.test('takes long lines no longer than short ones', async t => {
  for (const part of ['a ', 'a(', 'a<b ', 'a: ', 'public ', 'pub() ', '((', '=']) {
    definedBy(part.repeat(150).slice(0, 300))
  }
  t.equal(definedBy(`${'public '.repeat(40)}int`), undefined)
})

const FIRST: Record<string, string | undefined> = {
  'def area(w):\n    return w': 'area',
  '\n@cached\n# Of a shape.\ndef area(w):\n    return w': 'area',
  '/**\n * Of a shape.\n */\n  area(w) {\n': 'area',
  'def area(w): return w': undefined,
  'x = 1\ndef area(w):\n    return w': undefined,
  '# a\n# b': undefined,
  '': undefined
}
t.test('knows the name that a text of several lines begins to define', async t => {
  for (const [text, name] of Object.entries(FIRST)) t.equal(definedFirst(text)?.name, name, JSON.stringify(text))
  t.equal(definedFirst(`${'# a\n'.repeat(30)}def area(w):\n    return w`), undefined, 'not far below')
})

/** Each definition of `area` is from « to ». */
const check = (what: string, file: string, of = ''): void => {
  const plain = file.replace(/[«»]/g, '')
  const found = definitionsOf(new Haystack(Buffer.from(plain)), { name: 'area', of }, new Budget(1e9))
  const marked = found.reduceRight(
    (text, { start, end }) =>
      Buffer.concat([
        text.subarray(0, start),
        Buffer.from('«'),
        text.subarray(start, end),
        Buffer.from('»'),
        text.subarray(end)
      ]),
    Buffer.from(plain)
  )
  t.equal(marked.toString(), file, what)
}
check('to the line that closes it', 'é\n«function area(w) {\n  if (w) {\n  }\n\n  return w\n}»\nx\n')
check('with what follows on that line', '  «  area(w) {\n      x\n    },»\n  }\n'.replace('  «  ', '«    '))
check('to its last deeper line', '«def area(w):\n    a\n\n    return w»\n\n\ndef vol(w):\n    return w\n')
check('beyond the rest of a long head', '«def area(\n    w,\n):\n    return w»  \nx = 1\n')
check('of which the brace is on the next line', '«class area\n{\n  int w;\n}»\n', 'type')
check('to `end`', '«def area\n  a\nend»\ndef b\nend\n')
check('not of one line', 'const area = w => w * w\nconst b = 1\ndeclare function area(w: number): number')
check('of the same receiver', 'func (a A) area() {\n\tx\n}\n\n«func (b *B) area() {\n\tx\n}»\n', 'B')
check('not of a type of that name', 'class area {\n«  area(w) {\n    x\n  }»\n}\n')
check('where the text ends', '«def area(w):\r\n    return w»')
check('in a class that ends less deep', 'class A:\n«    def area(w):\n        return w»\nx\n')
check('of several', '«function area(w) {\n}»\narea(2)\n// area\n«function area(w, h) {\n}»\n')
check('not of longer names', 'function areas() {\n}\nfunction subarea() {\n}\n')
check('not where it is used', 'const x = area(\n  2\n)\n')
check('not of more than 32 KB', `function area() {\n${'  x = 1\n'.repeat(6000)}}\n`)
check('of four at the most', `${'«def area():\n  a»\n'.repeat(4)}def area():\n  a\n`)

check('not of one behind very many uses of the name', `${'area(1)\n'.repeat(200)}def area():\n  a\n`)
check('of one behind many', `${'area(1)\n'.repeat(199)}«def area():\n  a»\n`)

t.test('looks for nothing when there are no steps left', async t => {
  t.strictSame(
    definitionsOf(new Haystack(Buffer.from('def area():\n  a\n')), { name: 'area', of: '' }, new Budget(0)),
    []
  )
})
