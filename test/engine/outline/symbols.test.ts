// Code by its symbols: the outline of each language, edits of symbols, laws on real sources, and the thread that
// parses.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { describe } from '../../../src/engine/report/describe.ts'
import { unifiedDiff } from '../../../src/engine/report/diff.ts'
import { languageOf } from '../../../src/engine/inspect/language.ts'
import { LineTable } from '../../../src/engine/text/lines.ts'
import { OUTLINED } from '../../../src/engine/outline/outlined.ts'
import type { Outline, Symbol } from '../../../src/engine/outline/outline.ts'
import { findTarget } from '../../../src/engine/outline/target.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { planSectionEdit, strayItem } from '../../../src/engine/plan/replace-section.ts'
import { type SectionAction, type SectionEdit } from '../../../src/engine/outline/section-edit.ts'
import { Outliner } from '../../../src/workers/outline.ts'
import { parse } from '../../../src/workers/parse.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

async function outlineOf(text: string | Buffer, language: string): Promise<Outline & { type: 'code' }> {
  const outline = await parse(Buffer.from(text), language)
  if (outline.type !== 'code') throw new Error(JSON.stringify(outline))
  return outline
}

/** `kind path lines`, with the line of the doc comment in brackets. */
const line = ({ kind, name, parent, start_line, end_line, comment_start_line }: Symbol): string => {
  const path = parent === undefined ? name : `${parent}.${name}`
  const comment = comment_start_line === undefined ? '' : `[${comment_start_line}] `
  return `${kind} ${path} ${comment}${start_line}-${end_line}`
}

/** One file in each language, and what it is made of. */
const FIXTURES: Record<string, [string, string[]]> = {
  javascript: [
    `// about a
const a = 1, b = 2
export const f = async (x) => {
  const inner = 1
}
/** Doc. */
@dec
export default class P extends Q {
  static x = () => {
  }

  /** m */
  @bound
  m () { function nested () {} }
  get #p () { return 1 }
}
function * gen () {}
let v = 2
var w
if (a) { const no = 1 }
exports.e = function () {}
res.s = async () => {}
View.prototype.p = function p () {}
View.prototype.size = 4
module.exports.K = class {
  k () {}
}
exports.again = f
make().no = function () {}
module.exports = {
  one: () => {},
  'two': function () {},
  three () {},
  no: 1,
  deep: { four () {} },
  ...{ five () {} }
}
const o = create({ m () {}, n: { q: x => x } })
exports.table = { row () {} }
x = { get g () { return 1 } }
call({ no () {} })
if (a) x = { no () {} }
if (a) { const no = { no () {} } }
a[0] = { no () {} }
export default { data () {} }
`,
    [
      'constant a 2-2',
      'constant b 2-2',
      'function f 3-5',
      'class P [6] 7-16',
      'method P.x 9-10',
      'method P.m [12] 13-14',
      'function P.m.nested 14-14',
      'method P.#p 15-15',
      'function gen 17-17',
      'variable v 18-18',
      'variable w 19-19',
      'method exports.e 21-21',
      'method res.s 22-22',
      'method View.p 23-23',
      'variable View.size 24-24',
      'class module.exports.K 25-27',
      'method module.exports.K.k 26-26',
      'method module.exports.one 31-31',
      'method module.exports.two 32-32',
      'method module.exports.three 33-33',
      'method module.exports.deep.four 35-35',
      'constant o 38-38',
      'method o.m 38-38',
      'method o.n.q 38-38',
      'variable exports.table 39-39',
      'method exports.table.row 39-39',
      'method x.g 40-40',
      'method default.data 45-45'
    ]
  ],
  typescript: [
    `@A() export class C<T> {
  constructor (readonly x: number) {}
  over (a: string): void
  over (a: number): void
  over (a: unknown) {}
}
export abstract class D { abstract m (): void }
export interface I { a: string, m (): void }
type T = string
declare const enum E { A }
export namespace N.M { export const k = 1; export function g () {} }
declare module 'x' { export function h (): void }
export default () => {}
export function o (a: string): void
export function o (a: unknown) {}
`,
    [
      'class C 1-6',
      'method C.constructor 2-2',
      'method C.over 3-3',
      'method C.over 4-4',
      'method C.over 5-5',
      'class D 7-7',
      'method D.m 7-7',
      'interface I 8-8',
      'method I.m 8-8',
      'type T 9-9',
      'enum E 10-10',
      'namespace N.M 11-11',
      'constant N.M.k 11-11',
      'function N.M.g 11-11',
      "namespace 'x' 12-12",
      "function 'x'.h 12-12",
      'function default 13-13',
      'function o 14-14',
      'function o 15-15'
    ]
  ],
  tsx: [
    'export const App = () => <div>{1}</div>\nexport default class {\n  render () { return <p/> }\n}\n',
    ['function App 1-1', 'class default 2-4', 'method default.render 3-3']
  ],
  python: [
    `import os
# about A
@dec(1)
@other
class A(B):
    """Doc."""
    x: int = 1

    @property
    def p(self): return 1

    async def q(self):
        def inner(): pass

LIMIT: int = 3
name = 'x'
async def f(): pass
if os:
    def g(): pass
    NO = 1
type Alias = int
`,
    [
      'class A [2] 3-13',
      'method A.p 9-10',
      'method A.q 12-13',
      'function A.q.inner 13-13',
      'constant LIMIT 15-15',
      'variable name 16-16',
      'function f 17-17',
      'function g 19-19',
      'type Alias 21-21'
    ]
  ],
  // Its tabs are of the language.
  go: [
    String.raw`package p

// T is.
type T struct {
\ta int
}

type (
\tI interface { M() }
\tAlias = T
)

const (
\tA = iota
\tB
)

var v = 1

// M does.
func (t *T) M() {}
func (l List[K]) Len() int { return 0 }
func main() { const no = 1 }
`.replaceAll('\\t', '\t'),
    [
      'struct T [3] 4-6',
      'interface I 9-9',
      'type Alias 10-10',
      'constant A 14-14',
      'constant B 15-15',
      'variable v 18-18',
      'method T.M [20] 21-21',
      'method List.Len 22-22',
      'function main 23-23'
    ]
  ],
  rust: [
    `//! crate
/// A point.
#[derive(Debug)]
#[repr(C)]
pub struct P { x: i32 }
enum E { A }
trait Tr { fn t(&self); }
impl<T> Tr for P<T> {
    /// does
    #[inline]
    fn t(&self) {}
}
impl P { const K: i32 = 1; fn new() -> P { P {} } }
mod m { pub const X: i32 = 1; static S: u8 = 0; }
type Al = P;
macro_rules! mac { () => {} }
fn main() {}
`,
    [
      'struct P [2] 3-5',
      'enum E 6-6',
      'trait Tr 7-7',
      'method Tr.t 7-7',
      'impl impl Tr for P<T> 8-12',
      'method P.t [9] 10-11',
      'impl impl P 13-13',
      'method P.new 13-13',
      'namespace m 14-14',
      'constant m.X 14-14',
      'variable m.S 14-14',
      'type Al 15-15',
      'macro mac 16-16',
      'function main 17-17'
    ]
  ],
  java: [
    `package a;
/** Doc. */
@Deprecated
public class C {
  static final int X = 1;
  C() {}
  @Override
  public void m() {}
  void m(int a) {}
  enum E { A; void f() {} }
}
interface I { void g(); }
record R(int a) { R {} }
@interface N {}
`,
    [
      'class C [2] 3-11',
      'method C.C 6-6',
      'method C.m 7-8',
      'method C.m 9-9',
      'enum C.E 10-10',
      'method C.E.f 10-10',
      'interface I 12-12',
      'method I.g 12-12',
      'class R 13-13',
      'method R.R 13-13',
      'interface N 14-14'
    ]
  ],
  c: [
    `#define MAX 3
#define SQ(x) ((x) * (x))
/* a point */
typedef struct point { int x; } point_t;
struct list { struct list *next; };
enum color { RED };
static const int limit = 1;
int count;
int *names(void)
{
  int no = 1;
  return 0;
}
#ifdef X
static void f(int a) {}
#endif
typedef int (*callback)(void);
int declared(void);
`,
    [
      'macro MAX 1-1',
      'macro SQ 2-2',
      'type point_t [3] 4-4',
      'struct point_t.point 4-4',
      'struct list 5-5',
      'enum color 6-6',
      'constant limit 7-7',
      'variable count 8-8',
      'function names 9-13',
      'function f 15-15',
      'type callback 17-17'
    ]
  ],
  cpp: [
    `namespace a::b {
class P {
public:
  P();
  ~P() {}
  void m(int x) const;
  int &ref() { return x; }
  operator bool() const { return true; }
private:
  int x;
};
template <class T>
T max(T a, T b) { return a; }
}
void a::b::P::m(int x) const {}
using Al = int;
struct S { int v; };
constexpr int K = 1;
extern "C" { void g() {} }
`,
    [
      'namespace a::b 1-14',
      'class a.b.P 2-11',
      'method a.b.P.P 4-4',
      'method a.b.P.~P 5-5',
      'method a.b.P.m 6-6',
      'method a.b.P.ref 7-7',
      'method a.b.P.operator bool() const 8-8',
      'function a.b.max 12-13',
      'method a.b.P.m 15-15',
      'type Al 16-16',
      'struct S 17-17',
      'constant K 18-18',
      'function g 19-19'
    ]
  ],
  csharp: [
    `namespace X.Y
{
    /// <summary>Doc.</summary>
    [Serializable]
    public class C
    {
        public C() {}
        public int P { get; set; }
        void M<T>() { void Local() {} }
    }
    struct S {}
    interface I { void G(); }
    enum E { A }
    record R(int A);
    delegate void D();
}
`,
    [
      'namespace X.Y 1-16',
      'class X.Y.C [3] 4-10',
      'method X.Y.C.C 7-7',
      'method X.Y.C.P 8-8',
      'method X.Y.C.M 9-9',
      'function X.Y.C.M.Local 9-9',
      'struct X.Y.S 11-11',
      'interface X.Y.I 12-12',
      'method X.Y.I.G 12-12',
      'enum X.Y.E 13-13',
      'class X.Y.R 14-14',
      'type X.Y.D 15-15'
    ]
  ],
  ruby: [
    `# about M
module M
  LIMIT = 3
  class A < B
    def m(x)
      1
    end

    def self.s; end
  end
end
def top; end
`,
    [
      'namespace M [1] 2-11',
      'constant M.LIMIT 3-3',
      'class M.A 4-10',
      'method M.A.m 5-7',
      'method M.A.s 9-9',
      'method top 12-12'
    ]
  ],
  php: [
    `<?php
namespace A\\B;
const TOP = 1;
/** Doc. */
#[At]
final class C extends D {
    const X = 1;
    public function m(): void {}
}
interface I { function g(); }
trait T {}
enum E: string { case A = 'a'; function f() {} }
function f() {}
`,
    [
      'constant TOP 3-3',
      'class C [4] 5-9',
      'constant C.X 7-7',
      'method C.m 8-8',
      'interface I 10-10',
      'method I.g 10-10',
      'trait T 11-11',
      'enum E 12-12',
      'method E.f 12-12',
      'function f 13-13'
    ]
  ],
  bash: [
    `#!/bin/bash
# does f
f() {
  local no=1
}
function g {
  echo
}
X=1
readonly Y=2
`,
    ['function f [2] 3-5', 'function g 6-8', 'variable X 9-9', 'constant Y 10-10']
  ],
  css: [
    `/* about a */
.a, .b > c:hover {
  color: red;
}
@media (min-width: 1px) {
  .a { color: blue }
}
@keyframes spin { from { a: b } }
@font-face { a: b }
@supports (a: b) { d { e: f } }
`,
    [
      'rule .a, .b > c:hover [1] 2-4',
      'rule @media (min-width: 1px) 5-7',
      'rule @media (min-width: 1px)..a 6-6',
      'rule @keyframes spin 8-8',
      'rule @font-face 9-9',
      'rule @supports (a: b) 10-10',
      'rule @supports (a: b).d 10-10'
    ]
  ]
}

t.test('finds the symbols of each language', async t => {
  t.strictSame(
    OUTLINED.filter(language => !(language in FIXTURES)),
    ['jsx', 'markdown', 'shell'],
    'there is a file in each, or in what it is read as'
  )
  for (const [language, [text, expected]] of Object.entries(FIXTURES)) {
    const { items, syntax_error_lines } = await outlineOf(text, language)
    t.strictSame(items.map(line), expected, language)
    t.strictSame(syntax_error_lines, [], language)
    const crlf = await outlineOf(`\ufeff${text.replaceAll('\n', '\r\n')}`, language)
    t.strictSame(crlf.items.map(line), expected, `${language} with CRLF and a byte-order mark`)
  }
  const cr = await outlineOf('// a\rfunction f () {\r}\r', 'javascript')
  t.strictSame(cr.items.map(line), ['function f [1] 2-3'], 'with lone CR')
  const bytes = Buffer.from('// \xff\xfe\nfunction caf\xe9 () {}\n/* 😀 */ function g () {\n}\n', 'latin1')
  t.match(
    (await outlineOf(bytes, 'javascript')).items.map(line),
    ['function caf\ufffd [1] 2-2', 'function g 3-4'],
    'bytes that are not UTF-8'
  )
  t.match(
    await outlineOf('class A {\n  m () {}\n}\nfunction f ( {\n', 'javascript'),
    { items: [{ name: 'A' }, { name: 'm' }], syntax_error_lines: [4] },
    'what is still known'
  )
})

interface Asked extends Partial<SectionEdit> {
  action: SectionAction
  at_line?: number
  line_endings?: 'adapt' | 'exact'
}

const CLASS =
  'class A {\n  x = 1\n\n  /** m */\n  m () {\n    return `\nx`\n  }\n\n  n () {}\n}\n\nfunction f () {}\n\nfunction g () {}\n'

const METHODS = 'class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n'

async function edited(
  bytes: Buffer,
  language: string,
  symbol: string,
  { at_line, line_endings = 'adapt', ...asked }: Asked
): Promise<string> {
  const outline = await outlineOf(bytes, language)
  const found = findTarget(outline, { symbol }, at_line)
  if (!found.ok) return found.failure.code
  const made = planSectionEdit(
    bytes,
    outline,
    found.value,
    { new_text: '', include_heading: false, include_comment: false, ...asked },
    { line_endings, apart: false }
  )
  if (!made.ok) return made.failure
  const planned = planLineEdits(bytes, [made.value], { line_endings, max_result_size: 1 << 24 })
  if (!planned.ok) return planned.failure.code
  const result = Buffer.concat(planned.value.pieces)
  const after = await outlineOf(result, language)
  const stray =
    after.syntax_error_lines.length > 0
      ? undefined
      : strayItem(outline, after, made.value, new LineTable(result).total - new LineTable(bytes).total)
  return stray === undefined ? result.toString() : JSON.stringify(stray)
}

t.test('edits symbols', async t => {
  const cases: [name: string, language: string, text: string, symbol: string, asked: Asked, result: string][] = [
    [
      'replaces a whole definition, indented as it was',
      'javascript',
      CLASS,
      'A.n',
      { action: 'replace', new_text: 'n () {\n  return 1\n}' },
      CLASS.replace('n () {}', 'n () {\n    return 1\n  }')
    ],
    [
      'leaves the indentation of what is indented, and of what stands at the margin',
      'javascript',
      CLASS,
      'm',
      { action: 'replace', new_text: '  m () {\n    return `\ny`\n  }\n' },
      CLASS.replace('\nx`', '\ny`')
    ],
    [
      'replaces with the doc comment',
      'javascript',
      CLASS,
      'A.m',
      { action: 'replace', new_text: 'm () {}', include_comment: true },
      CLASS.replace(/ {2}\/\*\* m[^]*?`\n {2}}/, '  m () {}')
    ],
    [
      'deletes with the blank line after',
      'javascript',
      CLASS,
      'A.m',
      { action: 'delete', include_comment: true },
      CLASS.replace(/ {2}\/\*\* m[^]*?`\n {2}}\n\n/, '')
    ],
    ['deletes the last member', 'javascript', CLASS, 'A.n', { action: 'delete' }, CLASS.replace('\n  n () {}\n', '')],
    [
      'deletes the last definition',
      'javascript',
      CLASS,
      'g',
      { action: 'delete' },
      CLASS.replace('\nfunction g () {}\n', '')
    ],
    [
      'deletes the first definition',
      'javascript',
      CLASS,
      'A',
      { action: 'delete' },
      'function f () {}\n\nfunction g () {}\n'
    ],
    [
      'deletes by an empty replacement',
      'javascript',
      CLASS,
      'g',
      { action: 'replace', new_text: '\n' },
      CLASS.replace('\nfunction g () {}\n', '')
    ],
    ['deletes the only definition', 'javascript', 'function f () {}\n', 'f', { action: 'delete' }, ''],
    [
      'deletes what has no blank lines around it',
      'go',
      'package p\n\nconst (\n\tA = 1\n\tB = 2\n)\n',
      'A',
      { action: 'delete' },
      'package p\n\nconst (\n\tB = 2\n)\n'
    ],
    [
      'appends a method as members are set',
      'javascript',
      CLASS,
      'A',
      { action: 'append', new_text: 'o () {\n  return 2\n}\n' },
      CLASS.replace('n () {}\n', 'n () {}\n\n  o () {\n    return 2\n  }\n')
    ],
    [
      'prepends',
      'javascript',
      CLASS,
      'A',
      { action: 'prepend', new_text: 'y = 2' },
      CLASS.replace('  x = 1', '  y = 2\n\n  x = 1')
    ],
    [
      'inserts before the doc comment',
      'javascript',
      CLASS,
      'A.m',
      { action: 'insert_before', new_text: 'l () {}' },
      CLASS.replace('  /** m', '  l () {}\n\n  /** m')
    ],
    [
      'inserts after',
      'javascript',
      CLASS,
      'f',
      { action: 'insert_after', new_text: 'function h () {}\n' },
      CLASS.replace('f () {}\n', 'f () {}\n\nfunction h () {}\n')
    ],
    [
      'inserts after the last',
      'javascript',
      CLASS,
      'g',
      { action: 'insert_after', new_text: 'function h () {}\n' },
      `${CLASS}\nfunction h () {}\n`
    ],
    [
      'inserts at the very top',
      'javascript',
      CLASS,
      'A',
      { action: 'insert_before', new_text: 'const a = 1\n' },
      `const a = 1\n\n${CLASS}`
    ],
    [
      'puts one line beside one line without a blank one',
      'go',
      'package p\n\nconst A = 1\nconst B = 2\n\nfunc f() {}\n',
      'A',
      { action: 'insert_after', new_text: 'const C = 3' },
      'package p\n\nconst A = 1\nconst C = 3\nconst B = 2\n\nfunc f() {}\n'
    ],
    [
      'opens empty braces',
      'typescript',
      'export class A extends B {}\n',
      'A',
      { action: 'append', new_text: 'm () {}' },
      'export class A extends B {\n    m () {}\n}\n'
    ],
    [
      'puts nothing into empty braces',
      'typescript',
      'class A {}\n',
      'A',
      { action: 'append', new_text: '' },
      'class A {}\n'
    ],
    [
      'opens empty braces in an indented line, in place of the white space in them',
      'typescript',
      'namespace N {\n\tclass A { \t }\n}\n',
      'N.A',
      { action: 'prepend', new_text: 'a = 1\nb = 2\n' },
      'namespace N {\n\tclass A {\n\t\ta = 1\n\t\tb = 2\n\t}\n}\n'
    ],
    [
      'opens empty braces at the end of a file without a last line break',
      'typescript',
      'class A {}',
      'A',
      { action: 'append', new_text: 'm () {}\n' },
      'class A {\n    m () {}\n}'
    ],
    [
      'puts nothing into white space in braces',
      'typescript',
      'class A {  }\n',
      'A',
      { action: 'append', new_text: ' \n' },
      'class A {  }\n'
    ],
    [
      'puts into a function what it is',
      'javascript',
      'function f() {}\n',
      'f',
      { action: 'append', new_text: 'function f() {}' },
      'function f() {\n    function f() {}\n}\n'
    ],
    [
      'takes a replacement that is there already as such',
      'javascript',
      'function f() {}\r\n',
      'f',
      { action: 'replace', new_text: 'function f() {}\n' },
      'function f() {}\r\n'
    ],
    [
      'fills an empty body',
      'typescript',
      'namespace N {\n\n}\n\nclass X {\n\ty () {}\n}\n',
      'N',
      { action: 'append', new_text: 'const a = 1' },
      'namespace N {\n\tconst a = 1\n}\n\nclass X {\n\ty () {}\n}\n'
    ],
    [
      'appends statements to a function',
      'javascript',
      'function f () {\n  one()\n}\n',
      'f',
      { action: 'append', new_text: 'two()' },
      'function f () {\n  one()\n  two()\n}\n'
    ],
    [
      'appends to a struct of fields',
      'rust',
      'struct P {\n    x: i32,\n}\n',
      'P',
      { action: 'append', new_text: 'y: i32,' },
      'struct P {\n    x: i32,\n    y: i32,\n}\n'
    ],
    [
      'appends to an impl',
      'rust',
      'struct P;\n\nimpl P {\n    fn a() {}\n\n    fn b() {}\n}\n',
      'impl P',
      { action: 'append', new_text: 'fn c() {}' },
      'struct P;\n\nimpl P {\n    fn a() {}\n\n    fn b() {}\n\n    fn c() {}\n}\n'
    ],
    [
      'passes over labels',
      'cpp',
      'class P {\npublic:\n    int x;\n};\n',
      'P',
      { action: 'append', new_text: 'int y;' },
      'class P {\npublic:\n    int x;\n    int y;\n};\n'
    ],
    [
      'appends to a class of Python',
      'python',
      'class A:\n    """Doc."""\n\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n',
      'A',
      { action: 'append', new_text: 'def h(self):\n    pass\n' },
      'class A:\n    """Doc."""\n\n    def f(self):\n        pass\n\n    def h(self):\n        pass\n\n\ndef g():\n    pass\n'
    ],
    [
      'prepends to a class of Python',
      'python',
      'class A:\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n',
      'A',
      { action: 'prepend', new_text: 'def h(self):\n    pass\n' },
      'class A:\n    def h(self):\n        pass\n\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n'
    ],
    [
      'sets a method apart as in other classes',
      'python',
      'class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n    def g(self):\n        pass\n',
      'A.f',
      { action: 'insert_after', new_text: 'def h(self):\n    pass\n' },
      'class A:\n    def f(self):\n        pass\n    def h(self):\n        pass\n\n\n' +
        'class B:\n    def f(self):\n        pass\n    def g(self):\n        pass\n'
    ],
    [
      'sets a method apart from nothing where nothing is set apart',
      'python',
      'class A:\n    def f(self):\n        pass\ndef g():\n    pass\n',
      'A',
      { action: 'append', new_text: 'def h(self):\n    pass\n' },
      'class A:\n    def f(self):\n        pass\n    def h(self):\n        pass\ndef g():\n    pass\n'
    ],
    [
      'sets a function apart from a class as the other ones',
      'python',
      'class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n\n\ndef h():\n    pass\n',
      'h',
      { action: 'insert_after', new_text: 'def i():\n    pass\n' },
      'class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n\n\ndef h():\n    pass\n\n\ndef i():\n    pass\n'
    ],
    [
      'prepends after the docstring',
      'python',
      'class A:\n    """Doc."""\n\n    x = 1\n',
      'A',
      { action: 'prepend', new_text: 'y = 2\n' },
      'class A:\n    """Doc."""\n\n    y = 2\n    x = 1\n'
    ],
    [
      'appends to a class of Ruby',
      'ruby',
      'class A < B\n  def m\n  end\nend\n',
      'A',
      { action: 'append', new_text: 'def n\nend\n' },
      'class A < B\n  def m\n  end\n\n  def n\n  end\nend\n'
    ],
    [
      'appends to an empty class of Ruby',
      'ruby',
      'class A\nend\n',
      'A',
      { action: 'append', new_text: 'def n\nend\n' },
      'class A\n    def n\n    end\nend\n'
    ],
    [
      'takes the path of a class with a constructor of its name',
      'java',
      'class C {\n  C() {}\n}\n',
      'C',
      { action: 'append', new_text: 'int x;' },
      'class C {\n  C() {}\n\n  int x;\n}\n'
    ],
    [
      'takes :: for a dot',
      'cpp',
      'void P::m() {\n}\n',
      'P::m',
      { action: 'replace', new_text: 'void P::m() { f(); }' },
      'void P::m() { f(); }\n'
    ],
    [
      'keeps the comma after a member of an object',
      'javascript',
      'const o = {\n  a: () => 1,\n  b: 2\n}\n',
      'o.a',
      { action: 'replace', new_text: 'a: () => {\n  return 3\n}\n' },
      'const o = {\n  a: () => {\n    return 3\n  },\n  b: 2\n}\n'
    ],
    [
      'adds no second comma',
      'javascript',
      'const o = {\n  a: () => 1,\n  b: 2\n}\n',
      'o.a',
      { action: 'insert_after', new_text: 'c () {}, // c' },
      'const o = {\n  a: () => 1,\n  c () {}, // c\n  b: 2\n}\n'
    ],
    [
      'indents only the first line if the others are indented already',
      'python',
      METHODS,
      'A.f',
      { action: 'replace', new_text: 'def f(\n        self,\n    ):\n        if x:\n            return 3\n' },
      METHODS.replace(
        'def f(self):\n        return 1',
        'def f(\n        self,\n    ):\n        if x:\n            return 3'
      )
    ],
    [
      'indents only the first line if it is a decorator above an indented definition',
      'python',
      METHODS,
      'A.f',
      { action: 'insert_after', new_text: '@dec\n    def h(self):\n        return 3' },
      METHODS.replace('1\n', '1\n\n    @dec\n    def h(self):\n        return 3\n')
    ],
    [
      'indents only the first line of a method in braces',
      'javascript',
      CLASS,
      'A.n',
      { action: 'replace', new_text: '// n\n  n () {\n    return 1\n  }' },
      CLASS.replace('n () {}', '// n\n  n () {\n    return 1\n  }')
    ],
    [
      'indents each line where the body is one step deep',
      'python',
      METHODS,
      'A.f',
      { action: 'replace', new_text: 'def f(self,\n          x):\n    return {\n        1: 2\n    }' },
      METHODS.replace(
        'def f(self):\n        return 1',
        'def f(self,\n              x):\n        return {\n            1: 2\n        }'
      )
    ],
    [
      'indents each line of a call that is aligned',
      'python',
      METHODS,
      'A.f',
      { action: 'append', new_text: 'y = g(1,\n            2)' },
      METHODS.replace('1\n', '1\n        y = g(1,\n                    2)\n')
    ],
    [
      'chooses an overload by line',
      'java',
      'class C {\n  void m() {}\n  void m(int a) {}\n}\n',
      'C.m',
      { action: 'delete', at_line: 3 },
      'class C {\n  void m() {}\n}\n'
    ],
    [
      'names overloads',
      'java',
      'class C {\n  void m() {}\n  void m(int a) {}\n}\n',
      'C.m',
      { action: 'delete' },
      'AMBIGUOUS_TARGET'
    ],
    ['does not touch what shares a line', 'javascript', 'const a = 1, b = 2\n', 'b', { action: 'delete' }, 'not_alone'],
    ['takes no other constant along', 'go', 'package p\nconst X, Y = 1, 2\n', 'X', { action: 'delete' }, 'not_alone'],
    ['takes no pointer along', 'c', 'static int a = 1, *b;\n', 'a', { action: 'delete' }, 'not_alone'],
    ['takes no array along', 'cpp', 'int a, b[3];\n', 'a', { action: 'replace', new_text: 'int a;' }, 'not_alone'],
    [
      'takes no other function along',
      'cpp',
      'struct S {\n  int m(), n;\n};\n',
      'S.m',
      { action: 'delete' },
      'not_alone'
    ],
    ['takes no struct along', 'c', 'struct T {\n  int a;\n} t;\n', 't', { action: 'delete' }, 'not_alone'],
    [
      'deletes a variable of a struct without a name',
      'c',
      'struct {\n  int a;\n} t;\nint u;\n',
      't',
      { action: 'delete' },
      'int u;\n'
    ],
    ['takes no other target along', 'python', 'x = y = 1\n', 'x', { action: 'delete' }, 'not_alone'],
    ['takes no other constant of a value along', 'ruby', 'A = B = 1\n', 'A', { action: 'delete' }, 'not_alone'],
    ['finds each constant of a line', 'go', 'package p\nconst X, Y = 1, 2\n', 'Y', { action: 'delete' }, 'not_alone'],
    [
      'finds no place in one line',
      'python',
      'class A: pass\n',
      'A',
      { action: 'append', new_text: 'x = 1' },
      'cramped'
    ],
    [
      'finds no place in one line of words',
      'ruby',
      'class A; end\n',
      'A',
      { action: 'append', new_text: 'x' },
      'cramped'
    ],
    [
      'deletes what lies in a body that begins on the line of its class',
      'javascript',
      'class A { x = 1\n\n  m () {\n  }\n\n  n () {\n  }\n}\n',
      'A.m',
      { action: 'delete' },
      'class A { x = 1\n\n  n () {\n  }\n}\n'
    ],
    [
      'finds no place in what has no body',
      'typescript',
      'type A = string\n',
      'A',
      { action: 'append', new_text: 'x' },
      'no_body'
    ],
    [
      'writes breaks as given where asked, over the same lines',
      'javascript',
      'function f() {\n}\n',
      'f',
      { action: 'replace', new_text: 'function f() {\r\n}\r\n', line_endings: 'exact' },
      'function f() {\r\n}\r\n'
    ],
    [
      'writes breaks as given where asked, in braces on one line',
      'javascript',
      'class A {}\n',
      'A',
      { action: 'append', new_text: 'x\r\ny\r\n', line_endings: 'exact' },
      'class A {\n    x\r\n    y\r\n}\n'
    ],
    [
      'keeps CRLF',
      'javascript',
      'class A {\r\n  m () {}\r\n}\r\n',
      'A',
      { action: 'append', new_text: 'n () {}\n' },
      'class A {\r\n  m () {}\r\n\r\n  n () {}\r\n}\r\n'
    ]
  ]
  for (const [name, language, text, symbol, asked, result] of cases) {
    t.equal(await edited(Buffer.from(text), language, symbol, asked), result, name)
  }
})

t.test('takes a symbol as it is declared or called', async t => {
  const texts: Record<string, string> = {
    python: `${METHODS}def g(x):\n    pass\n\nlimit = 3\n`,
    javascript: 'class P {\n  #p () {}\n  q () {}\n}\nconst r = async () => {}\nV.prototype.s = function () {}\n',
    go: 'package p\ntype T struct {\n}\nfunc (t *T) Close() {}\n',
    java: 'class C<T> {\n  List<T> all(int a) { return null; }\n}\n',
    cpp: 'int main(void) {}\nstruct S {\n  void m() {}\n};\nint operator+(S a, S b) {}\n',
    rust: 'struct S {}\nimpl Display for S {\n    fn fmt(&self) {}\n}\n',
    ruby: 'class A\n  def self.b; end\n  def c?; end\nend\n',
    css: 'f {}\n#g {}\n'
  }
  const cases: [language: string, asked: string, found: string][] = [
    ...['def g', 'def g(x):', 'async def g', 'g()', ' g ', '`g`', 'function g', 'def g(x: int) -> int:'].map(
      (asked): [string, string, string] => ['python', asked, 'function g 7-8']
    ),
    ...['def f', 'A.f(self)', 'A::f', 'A#f', '#f', '.f', 'A->f', 'f(self)', 'self.f', 'method A.f', 'A.f()'].map(
      (asked): [string, string, string] => ['python', asked, 'method A.f 2-3']
    ),
    ['python', 'class A', 'class A 1-6'],
    ['python', 'class A(B):', 'class A 1-6'],
    ['python', 'limit = 3', 'variable limit 10-10'],
    ['python', 'class g', 'TARGET_NOT_FOUND'],
    ['python', 'A f', 'TARGET_NOT_FOUND'],
    ['python', 'the function g', 'TARGET_NOT_FOUND'],
    ['python', '(', 'TARGET_NOT_FOUND'],
    ['javascript', '#p', 'method P.#p 2-2'],
    ['javascript', 'P#q', 'method P.q 3-3'],
    ['javascript', 'export const r = async', 'function r 5-5'],
    ['javascript', 'V.prototype.s', 'method V.s 6-6'],
    ['javascript', 'V.prototype.s = function () {', 'method V.s 6-6'],
    ['go', 'func (t *T) Close()', 'method T.Close 4-4'],
    ['go', '(*T).Close', 'method T.Close 4-4'],
    ['go', 'type T struct', 'TARGET_NOT_FOUND'],
    ['java', 'public List<T> all(int a)', 'method C.all 2-2'],
    ['java', 'C<T>', 'class C 1-3'],
    ['cpp', 'int main(void)', 'function main 1-1'],
    ['cpp', 'void S::m()', 'method S.m 3-3'],
    ['cpp', 'operator+', 'function operator+ 5-5'],
    ['rust', 'impl Display for S', 'impl impl Display for S 2-4'],
    ['rust', 'fn fmt(&self)', 'method S.fmt 3-3'],
    ['ruby', 'A.self.b', 'TARGET_NOT_FOUND'],
    ['ruby', 'def self.b', 'method A.b 2-2'],
    ['ruby', 'def c?', 'method A.c? 3-3'],
    ['css', '#f', 'TARGET_NOT_FOUND'],
    ['css', '#g', 'rule #g 2-2']
  ]
  const outlines = new Map<string, Outline>()
  for (const [language, asked, expected] of cases) {
    const outline = outlines.get(language) ?? (await outlineOf(texts[language]!, language))
    outlines.set(language, outline)
    const found = findTarget(outline, { symbol: asked })
    t.equal(found.ok ? line(found.value as Symbol) : found.failure.code, expected, `${asked} in ${language}`)
  }
})

/** A definition with empty braces: what stands before and after it in its file, and its name. */
const BRACES: Record<string, [top: string, head: string, tail: string, symbol: string]> = {
  javascript: ['', 'class A ', '', 'A'],
  typescript: ['', 'export class A ', '', 'A'],
  c: ['', 'void f(void) ', '', 'f'],
  cpp: ['', 'class A ', ';', 'A'],
  csharp: ['', 'class A ', '', 'A'],
  java: ['', 'class A ', '', 'A'],
  css: ['', 'a ', '', 'a'],
  go: ['package p\n', 'func f() ', '', 'f'],
  rust: ['', 'fn f() ', '', 'f'],
  php: ['<?php\n', 'function f() ', '', 'f']
}
/** Bytes for comments, in latin1: of UTF-8 whole and cut, and of none. */
const JUNK = [
  '\xe9',
  '\xff',
  '\xc3',
  '\x80',
  '\xc3\xa9',
  '\xe5\xad\x97',
  '\xf0\x9f\x98\x80',
  '\xf0\x9f',
  '\xef\xbf\xbd',
  'a',
  ' ',
  '\t',
  '{',
  '}'
] as const

t.test('changes nothing where nothing is put in', async t => {
  const sources: [language: string, text: string][] = Object.entries(FIXTURES).map(([language, [text]]) => [
    language,
    text
  ])
  sources.push(
    ['javascript', 'class A {\n\n  \n}\n\nfunction f () {\r\n\r\n}\n'],
    ['typescript', 'namespace N {\n\n}'],
    ['go', 'package p\n\nfunc f() {\n\n\n}\n'],
    ['java', 'class A {\n\n\tvoid m() {\n\t\n\t}\n}\n'],
    ['css', 'a {\n\n}\n'],
    ['rust', 'impl A {\n\n}\n']
  )
  let tried = 0
  for (const [language, text] of sources) {
    const bytes = Buffer.from(text)
    const outline = await outlineOf(bytes, language)
    for (const item of outline.items) {
      for (const action of ['append', 'prepend', 'insert_before', 'insert_after'] as const) {
        for (const new_text of ['', '\n', ' \t\r\n\n']) {
          const made = planSectionEdit(
            bytes,
            outline,
            item,
            { action, new_text, include_heading: false, include_comment: false },
            { line_endings: 'adapt', apart: false }
          )
          if (!made.ok) continue
          const planned = planLineEdits(bytes, [made.value], { line_endings: 'adapt', max_result_size: 1 << 24 })
          tried++
          if (!planned.ok || planned.value.splices.list.length > 0) {
            t.fail(
              `${language}, ${action} of ${JSON.stringify(new_text)} at line ${item.start_line} of ${JSON.stringify(text)}`
            )
          }
        }
      }
    }
  }
  t.ok(tried > 1000, `${tried} edits`)
})

t.test('leaves every byte beside what it puts into braces in one line', async t => {
  for (let round = 0; round < often(300); round++) {
    const random = new Random(SEED * 50_021 + round)
    const [language, [top, head, tail, symbol]] = random.pick(Object.entries(BRACES))
    const breaks = random.pick([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n', '\r']])
    const end = () => random.pick(breaks)
    const comment = () => `/* ${random.text(random.chance(70) ? JUNK : ['a', ' '], 6)} */`
    const above = `${random.chance(20) ? '\xef\xbb\xbf' : ''}${top.replace('\n', end())}${random.chance(50) ? comment() + end() : ''}`
    const before = `${above}${random.pick(['', '  ', '\t'])}${random.chance(70) ? `${comment()} ` : ''}${head}{`
    const closing = `}${tail}${random.chance(70) ? ` ${comment()}` : ''}`
    const after = `${closing}${random.chance(80) ? end() : ''}${random.chance(50) ? comment() + end() : ''}`
    const original = Buffer.from(before + random.pick(['', ' ', ' \t']) + after, 'latin1')
    const action = random.pick(['append', 'prepend'] as const)
    const line_endings = random.pick(['adapt', 'exact'] as const)
    const new_text = random.pick(['x: y;\n', 'x: y;', 'x: y;\nz', '', '\n'])
    const outline = await outlineOf(original, language)
    const found = findTarget(outline, { symbol })
    const made =
      found.ok &&
      planSectionEdit(
        original,
        outline,
        found.value,
        { action, new_text, include_heading: false, include_comment: false },
        { line_endings, apart: false }
      )
    const planned = made && made.ok && planLineEdits(original, [made.value], { line_endings, max_result_size: 1 << 24 })
    if (!planned || !planned.ok) {
      t.fail(
        `no edit: ${JSON.stringify({ seed: SEED, round, language, original: original.toString('latin1'), outline, found, made })}`
      )
      break
    }
    const result = Buffer.concat(planned.value.pieces)
    const text = result.toString('latin1')
    const isPut =
      text.startsWith(before) &&
      text.endsWith(after) &&
      /^(?:\r\n|\n|\r)[ \t]+x: y;(?:(?:\r\n|\n|\r)[ \t]*z)?(?:\r\n|\n|\r)[ \t]*$/.test(
        text.slice(before.length, -after.length)
      )
    const {
      changes: [change],
      total_lines_after
    } = describe(original, planned.value, { context_lines: 1, dry_run: false })
    const line = new LineTable(Buffer.from(before, 'latin1')).total
    const added = new_text.includes('z') ? 4 : 3
    const isReported =
      change?.start_line === line &&
      change?.end_line === line &&
      change?.new_start_line === line &&
      change?.new_end_line === line + added - 1 &&
      total_lines_after === new LineTable(result).total &&
      total_lines_after === new LineTable(original).total + added - 1
    const right = new_text.trim() === '' ? result.equals(original) : isPut && isReported
    if (!right) {
      const input = { seed: SEED, round, language, new_text, line_endings, original: original.toString('latin1') }
      t.fail(`other bytes: ${JSON.stringify({ ...input, text, change })}`)
      break
    }
  }
})

t.test('shows in the diff the line whose braces were opened', async t => {
  const original = Buffer.from('\ufeff// a\r\n/* 😀 é */ class A { } // 字\r\n// b\r\n')
  const outline = await outlineOf(original, 'javascript')
  const made = planSectionEdit(
    original,
    outline,
    outline.items[0]!,
    { action: 'append', new_text: 'm () {}', include_heading: false, include_comment: false },
    { line_endings: 'adapt', apart: false }
  )
  const planned = planLineEdits(original, made.ok ? [made.value] : [], {
    line_endings: 'adapt',
    max_result_size: 1 << 24
  })
  if (!planned.ok) return t.fail(JSON.stringify(planned))
  t.equal(
    Buffer.concat(planned.value.pieces).toString(),
    '\ufeff// a\r\n/* 😀 é */ class A {\r\n    m () {}\r\n} // 字\r\n// b\r\n'
  )
  t.match(describe(original, planned.value, { context_lines: 1, dry_run: true }).changes, [
    {
      operation: 'replace',
      start_line: 2,
      end_line: 2,
      new_start_line: 2,
      new_end_line: 4,
      lines_removed: 1,
      lines_added: 3,
      context: { before_lines: ['// a'], after_lines: ['// b'] },
      old_content: ' ',
      new_content: '\r\n    m () {}\r\n'
    }
  ])
  t.match(unifiedDiff(original, planned.value, { path: 'a.js', exists: true, max_lines: 20 }), {
    diff: /\n-.*\{ \} \/\/ 字\r\n\+.*\{\r\n\+ {4}m \(\) \{\}\r\n\+\} \/\/ 字\r\n \/\/ b\r\n$/
  })
})

/** Sources as they are: of packages, of this repository and of the system. */
const HOME = join(import.meta.dirname, '../../..')
const FOLDERS = [
  'src/engine',
  'src/http',
  'node_modules/fastify/lib',
  'node_modules/fastify/types',
  'node_modules/pino/lib',
  'node_modules/ajv/lib/compile',
  'node_modules/@fastify/swagger-ui/static',
  'node_modules/web-tree-sitter',
  '.ci'
].map(folder => join(HOME, folder))
const SYSTEM = [
  '/usr/lib/python3.11',
  '/usr/lib/python3/dist-packages',
  '/usr/lib/ruby/vendor_ruby',
  '/usr/share/doc/git/contrib/persistent-https',
  '/usr/include/x86_64-linux-gnu/sys',
  '/usr/include/linux',
  '/usr/share/bash-completion/completions',
  '/usr/lib/node_modules/npm/node_modules/node-gyp/lib'
]
const sources = [...FOLDERS, ...SYSTEM]
  .filter(folder => existsSync(folder))
  .flatMap(folder =>
    readdirSync(folder)
      .sort()
      .map(name => join(folder, name))
      .slice(0, often(40, 40, 12))
  )

t.test('holds its laws on real sources', async t => {
  const seen = new Map<string, number>()
  const counts = { symbols: 0, same: 0, returned: 0 }
  for (const path of sources) {
    if (!/\.\w+$/.test(basename(path))) continue
    const bytes = readFileSync(path)
    const language = languageOf(path, bytes)
    if (
      bytes.length > 40_000 ||
      bytes.includes(0) ||
      language === undefined ||
      !OUTLINED.includes(language) ||
      language === 'markdown'
    ) {
      continue
    }
    const outline = await outlineOf(bytes, language)
    seen.set(language, (seen.get(language) ?? 0) + 1)
    const table = new LineTable(bytes)
    if (!Buffer.from(bytes.toString()).equals(bytes)) continue
    const textOf = (first: number, last: number) =>
      bytes.toString('utf8', table.startOf(first), table.startOf(last + 1))
    for (const item of outline.items.filter((_, i) => i % Math.ceil(outline.items.length / 4) === 0)) {
      counts.symbols++
      const isNamed =
        item.kind === 'rule' ||
        item.name === 'default' ||
        textOf(item.start_line, item.end_line).includes(item.name.split(/[\s.]/).at(-1)!.slice(0, 20))
      t.ok(item.start_line <= item.end_line && item.end_line <= table.total && isNamed, `${path}: ${line(item)}`)
      if (!item.alone) continue
      const edit = { include_heading: false, include_comment: false }
      const own = textOf(item.start_line, item.end_line)
      const plan = (base: Buffer, from: Outline, target: Symbol, asked: Pick<SectionEdit, 'action' | 'new_text'>) => {
        const made = planSectionEdit(base, from, target, { ...edit, ...asked }, { line_endings: 'adapt', apart: false })
        const planned =
          made.ok && planLineEdits(base, [made.value], { line_endings: 'adapt', max_result_size: 1 << 24 })
        return planned && planned.ok ? Buffer.concat(planned.value.pieces) : Buffer.from(JSON.stringify(made))
      }
      const same = plan(bytes, outline, item, { action: 'replace', new_text: own })
      if (same.equals(bytes)) counts.same++
      else t.fail(`${path}: ${line(item)} replaced by itself`, { same: same.toString().slice(0, 500) })
      // What stands between its like with one blank line on either side can be put back, in files that have no more
      // anywhere.
      if (/\n\s*\n\s*\n/.test(bytes.toString())) continue
      const next = outline.items.find(other => other.within === item.within && other.start_line > item.end_line)
      if (
        next === undefined ||
        !next.alone ||
        item.comment_start_line !== undefined ||
        (next.comment_start_line ?? next.start_line) !== item.end_line + 2 ||
        !table.isBlank(item.start_line - 1) ||
        table.isBlank(item.start_line - 2)
      ) {
        continue
      }
      const shorter = plan(bytes, outline, item, { action: 'delete', new_text: '' })
      const left = await outlineOf(shorter, language)
      const there = left.items.find(
        other =>
          other.name === next.name && other.start_line === next.start_line - (item.end_line - item.start_line + 2)
      )
      if (there === undefined || left.syntax_error_lines.length > 0) continue
      const back = plan(shorter, left, there, { action: 'insert_before', new_text: `${own}\n` })
      if (!back.equals(bytes)) t.fail(`${path}: ${line(item)} deleted and put back`)
      counts.returned++
    }
  }
  t.ok(
    counts.symbols > often(200, 200, 60) && counts.same > often(100, 100, 30) && counts.returned > often(10, 10, 1),
    JSON.stringify({ ...counts, seen: Object.fromEntries(seen) })
  )
  for (const language of [
    'typescript',
    'javascript',
    'css',
    'python',
    'go',
    'c',
    'csharp',
    'java',
    'ruby',
    'rust',
    'php',
    'cpp',
    'bash'
  ]) {
    if (!seen.has(language)) t.comment(`no real source in ${language} here: only its own fixture`)
  }
})

const ALL = { start: 0, end: Infinity }

t.test('ends what takes too long, and goes on with another thread', async t => {
  const slow = new Outliner({ time: 2000 })
  t.match(await slow.items(Buffer.from('['.repeat(100_000)), 'javascript', ALL), {
    ok: false,
    failure: { reason: 'too_slow', limit: 2000 }
  })
  await slow.close()
  const small = new Outliner({ size: 10 })
  t.match(await small.items(Buffer.from('x'.repeat(11)), 'markdown', ALL), {
    ok: false,
    failure: { reason: 'too_large', limit: 10, actual: 11 }
  })
  await small.close()
})

t.test('reports a parser that fails, and goes on with another thread', async t => {
  const crashes: unknown[] = []
  const failing = new Outliner({ onCrash: error => crashes.push(error) })
  t.match(await failing.items(Buffer.from('x'), 'no such language', ALL), {
    ok: false,
    failure: { reason: 'parser_failed' }
  })
  t.match(await failing.items(Buffer.from('# x\n'), 'markdown', ALL), { ok: true })
  t.match(crashes, [{ name: 'TypeError' }])
  await failing.close()
})
