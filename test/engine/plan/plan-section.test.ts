// Decorators and attributes that a replacement leaves out.
import t from 'tap'
import { droppedMark } from '../../../src/engine/plan/plan-section.ts'
import type { Item } from '../../../src/engine/outline/outline.ts'

t.test('finds the decorator or attribute that a replacement does not have', async t => {
  const cases: [file: string, new_text: string, dropped: string | undefined][] = [
    ['@app.route("/")\ndef f():', 'def f():', '@app.route'],
    ['@app.route("/")\ndef f():', '@app.route("/all")\ndef f():', undefined],
    ['@a\n@b\ndef f():', '\n# why\n@b\ndef f():', undefined],
    ['@a\ndef f():', '# @a\ndef f():', '@a'],
    ['@A() export class C {}', 'export class C {}', '@A'],
    ['@A class C {}', '/** Doc. */\n@A class C {}', undefined],
    ['#[test]\nfn f() {}', 'fn f() {}', '#[test]'],
    ['#[derive(Debug)]\nstruct S;', '/// Doc.\n#[derive(Clone)]\nstruct S;', undefined],
    ['#[cfg(\n  a)]\nfn f() {}', 'fn f() {}', '#[cfg('],
    ['  [Fact]\n  void F() {}', 'void F() {}', '[Fact]'],
    ['[Symbol.iterator]() {}', 'next() {}', undefined],
    ['def f():', '@a\ndef f():', undefined],
    ['@a\ndef f():', '', undefined]
  ]
  for (const [file, new_text, dropped] of cases) {
    const item: Item = { kind: 'function', name: 'f', within: -1, start_line: 1, end_line: 2, alone: true }
    t.equal(droppedMark(Buffer.from(`${file}\n`), item, new_text), dropped, new_text)
  }
})

t.test('takes no rule of a style sheet, and no part of a document, for one', async t => {
  const place = { within: -1, start_line: 1, end_line: 2 }
  const rule: Item = { ...place, kind: 'rule', name: '@media print', alone: true }
  t.equal(droppedMark(Buffer.from('@media print {\n}\n'), rule, 'a {}'), undefined)
  t.equal(droppedMark(Buffer.from('---\n---\n'), { ...place, kind: 'front_matter' }, 'a: 1'), undefined)
})
