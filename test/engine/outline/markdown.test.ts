// Markdown by its structure: the outline, edits of sections and code blocks, and their laws on real documents.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Target } from '../../../src/engine/failure.ts'
import { markdownOutline } from '../../../src/engine/outline/markdown.ts'
import type { Heading } from '../../../src/engine/outline/outline.ts'
import { findTarget, outlineEntryOf } from '../../../src/engine/outline/target.ts'
import { planLineEdits } from '../../../src/engine/plan/replace-lines.ts'
import { planSectionEdit, strayItem } from '../../../src/engine/plan/replace-section.ts'
import { type SectionAction, type SectionEdit } from '../../../src/engine/outline/section-edit.ts'
import { LineTable } from '../../../src/engine/text/lines.ts'
import { every, often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

interface Asked extends Partial<SectionEdit> {
  action: SectionAction
  at_line?: number
  line_endings?: 'adapt' | 'exact'
  apart?: boolean
}

/** The document after an edit, or why it can't be made. */
function edited(
  bytes: Buffer,
  target: Target,
  { at_line, line_endings = 'adapt', apart = false, ...asked }: Asked
): Buffer | string {
  const outline = markdownOutline(bytes)
  const found = findTarget(outline, target, at_line)
  if (!found.ok) return found.failure.code
  const made = planSectionEdit(
    bytes,
    outline,
    found.value,
    { new_text: '', include_heading: false, include_comment: false, ...asked },
    { line_endings, apart }
  )
  if (!made.ok) return made.failure
  const planned = planLineEdits(bytes, [made.value], { line_endings, max_result_size: 1 << 24 })
  if (!planned.ok) return planned.failure.code
  const result = Buffer.concat(planned.value.pieces)
  const stray = strayItem(
    outline,
    markdownOutline(result),
    made.value,
    new LineTable(result).total - new LineTable(bytes).total
  )
  if (stray === undefined) return result
  return apart
    ? `${stray.reason} ${stray.item.kind} ${stray.item.start_line}`
    : edited(bytes, target, { ...asked, line_endings, apart: true, ...(at_line !== undefined && { at_line }) })
}

const shape = (text: string | Buffer) =>
  markdownOutline(Buffer.from(text)).items.map(item => [
    item.kind === 'heading'
      ? '#'.repeat(item.level) + ' ' + item.name
      : item.kind === 'code_block'
        ? '```' + (item.language ?? '')
        : 'front',
    item.start_line,
    item.end_line,
    ...(item.parent === undefined ? [] : [item.parent])
  ])

t.test('finds headings, sections, code blocks and front matter', async t => {
  const cases: [string, string, unknown[]][] = [
    [
      'ATX and setext headings',
      '# A #\n\ntext\n\nB b\nc\n---\n\n### C\n## \n',
      [
        ['# A', 1, 10],
        ['## B b c', 5, 9, 'A'],
        ['### C', 9, 9, 'A > B b c'],
        ['## ', 10, 10, 'A']
      ]
    ],
    ['no heading where there is none', '#nospace\n    # code\n\\# escaped\n####### seven\n', []],
    ['an indented code block', 'a\n\n    # code\n\n    more\n\nb\n', [['```', 3, 5]]],
    [
      'nothing inside fences',
      '```js title="x"\n# no\n```\n~~~\n```\n# no\n~~~\n# yes\n',
      [
        ['```js', 1, 3],
        ['```', 4, 7],
        ['# yes', 8, 8]
      ]
    ],
    [
      'nothing inside HTML and comments',
      '<!--\n# no\n\n# no\n-->\n<div>\n# no\n</div>\n\n# yes\n',
      [['# yes', 10, 10]]
    ],
    [
      'a fence that is never closed',
      '# A\n```\n# no\n',
      [
        ['# A', 1, 3],
        ['```', 2, 3, 'A']
      ]
    ],
    [
      'YAML front matter',
      '---\n# no\nx: 1\n---\n# A\n',
      [
        ['front', 1, 4],
        ['# A', 5, 5]
      ]
    ],
    [
      'front matter ended by dots',
      '---\nx: 1\n...\n# A\n',
      [
        ['front', 1, 3],
        ['# A', 4, 4]
      ]
    ],
    [
      'TOML front matter after a mark',
      '\ufeff+++\nx = 1\n+++\n\n# A\n',
      [
        ['front', 1, 3],
        ['# A', 5, 5]
      ]
    ],
    ['a rule that is no front matter', '---\n\n# A\n\n---\n', [['# A', 3, 5]]],
    ['front matter that is never closed', '---\nx: 1\n# A\n', [['# A', 3, 3]]],
    [
      'empty front matter',
      '---\n---\n# A\n',
      [
        ['front', 1, 2],
        ['# A', 3, 3]
      ]
    ],
    [
      'headings in quotes and lists, which end with them',
      '# A\n> ## Q\n> text\n\n- # L\n  more\n\n\n- x\n\n## B\n',
      [
        ['# A', 1, 11],
        ['## Q', 2, 3, 'A'],
        ['# L', 5, 6, 'A'],
        ['## B', 11, 11, 'A']
      ]
    ],
    [
      'code blocks in lists',
      '1. a\n\n   ```sh\n   x\n   ```\n2. b\n\n       code\n',
      [
        ['```sh', 3, 5],
        ['```', 8, 8]
      ]
    ],
    [
      'CRLF and lone CR',
      '# A\r\n\r\ntext\r## B\r\n',
      [
        ['# A', 1, 4],
        ['## B', 4, 4, 'A']
      ]
    ],
    [
      'no line break at the end',
      '# A\n## B',
      [
        ['# A', 1, 2],
        ['## B', 2, 2, 'A']
      ]
    ],
    ['nothing in an empty file', '', []]
  ]
  for (const [name, text, expected] of cases) t.strictSame(shape(text), expected, name)
  t.match(
    markdownOutline(Buffer.from('# caf\xe9\n', 'latin1')).items.map(outlineEntryOf),
    [{ name: 'caf\ufffd', lossy: true }],
    'bytes that are not UTF-8'
  )
  t.match(markdownOutline(Buffer.from('# A\ntext\n# B\n\n\nc\n\nd\n')).gaps, {
    before_heading: 0,
    after_heading: 2,
    between: 1
  })
})

const GUIDE = '# Guide\n\nIntro.\n\n## Setup\n\nInstall.\n\n### Linux\n\napt\n\n## Use\n\nRun.\n'

t.test('edits sections', async t => {
  const cases: [string, string, string, Omit<Asked, 'action'> & { action?: SectionAction }, string | RegExp][] = [
    [
      'replaces the body, subsections included',
      GUIDE,
      '## Setup',
      { action: 'replace', new_text: 'New.\n' },
      GUIDE.replace('Install.\n\n### Linux\n\napt', 'New.')
    ],
    [
      'replaces the heading too',
      GUIDE,
      'Setup',
      { action: 'replace', new_text: '## Get\n\nNew.', include_heading: true },
      GUIDE.replace('## Setup\n\nInstall.\n\n### Linux\n\napt', '## Get\n\nNew.')
    ],
    [
      'deletes a section',
      GUIDE,
      'Guide > Setup',
      { action: 'delete' },
      GUIDE.replace('## Setup\n\nInstall.\n\n### Linux\n\napt\n\n', '')
    ],
    [
      'deletes the last one, and the blank line before it',
      GUIDE,
      'Use',
      { action: 'delete' },
      GUIDE.replace('\n## Use\n\nRun.\n', '')
    ],
    ['deletes the only one', '# A\n\nx\n', 'A', { action: 'delete' }, ''],
    [
      'appends before the next heading',
      GUIDE,
      'Setup',
      { action: 'append', new_text: 'More.' },
      GUIDE.replace('apt\n', 'apt\n\nMore.\n')
    ],
    ['appends to the last section', GUIDE, 'Use', { action: 'append', new_text: 'More.\n' }, `${GUIDE}\nMore.\n`],
    [
      'prepends after the heading',
      GUIDE,
      'Setup',
      { action: 'prepend', new_text: 'First.' },
      GUIDE.replace('Install.', 'First.\n\nInstall.')
    ],
    [
      'prepends before a subsection',
      '# A\n\n## B\n\nx\n',
      'A',
      { action: 'prepend', new_text: 'text\n' },
      '# A\n\ntext\n\n## B\n\nx\n'
    ],
    [
      'inserts before',
      GUIDE,
      'Use',
      { action: 'insert_before', new_text: '## Between\n\nText.\n' },
      GUIDE.replace('## Use', '## Between\n\nText.\n\n## Use')
    ],
    [
      'inserts before the first heading',
      '# A\n\nx\n',
      'A',
      { action: 'insert_before', new_text: '\n\nHello\n' },
      'Hello\n\n# A\n\nx\n'
    ],
    [
      'inserts before a heading below another',
      '# A\n\n## B\n',
      'B',
      { action: 'insert_before', new_text: 'x' },
      '# A\n\nx\n\n## B\n'
    ],
    [
      'inserts after',
      GUIDE,
      'Setup',
      { action: 'insert_after', new_text: '## Next\n\nText.' },
      GUIDE.replace('## Use', '## Next\n\nText.\n\n## Use')
    ],
    ['inserts after the last', GUIDE, 'Use', { action: 'insert_after', new_text: '## Next\n' }, `${GUIDE}\n## Next\n`],
    [
      'puts no blank lines in where there are none',
      '# A\nx\n# B\ny\n',
      'A',
      { action: 'append', new_text: 'z' },
      '# A\nx\nz\n# B\ny\n'
    ],
    [
      'takes over two blank lines before headings',
      '# A\n\nx\n\n\n# B\n\ny\n\n\n# C\n',
      'B',
      { action: 'insert_before', new_text: '# N\n\nn\n' },
      '# A\n\nx\n\n\n# N\n\nn\n\n\n# B\n\ny\n\n\n# C\n'
    ],
    [
      'fills an empty section',
      '# A\n\n# B\n\nx\n',
      'A',
      { action: 'replace', new_text: 'text' },
      '# A\n\ntext\n\n# B\n\nx\n'
    ],
    [
      'prepends to an empty section',
      '# A\n\n# B\n\nx\n',
      'A',
      { action: 'prepend', new_text: 'text' },
      '# A\n\ntext\n\n# B\n\nx\n'
    ],
    ['inserts after an empty section', '# A\n# B\n', 'A', { action: 'insert_after', new_text: 'x' }, '# A\nx\n# B\n'],
    ['appends to a document of one line', '# A\n', 'A', { action: 'append', new_text: 'text\n' }, '# A\n\ntext\n'],
    [
      'empties a section',
      GUIDE,
      'Setup',
      { action: 'replace', new_text: '' },
      GUIDE.replace('Install.\n\n### Linux\n\napt\n\n', '')
    ],
    ['empties the last section', GUIDE, 'Use', { action: 'replace', new_text: '\n' }, GUIDE.replace('\nRun.\n', '')],
    [
      'deletes a section by an empty replacement of all of it',
      GUIDE,
      'Use',
      { action: 'replace', new_text: '', include_heading: true },
      GUIDE.replace('\n## Use\n\nRun.\n', '')
    ],
    ['puts nothing in', GUIDE, 'Use', { action: 'append', new_text: '\n' }, GUIDE],
    ['keeps the file as it ends', '# A\n\nx', 'A', { action: 'replace', new_text: 'y' }, '# A\n\ny'],
    [
      'appends to a file without a last line break',
      '# A\n\nx',
      'A',
      { action: 'append', new_text: 'y' },
      '# A\n\nx\n\ny'
    ],
    [
      "writes the file's line breaks",
      '# A\r\n\r\nx\r\n',
      'A',
      { action: 'append', new_text: 'y\nz\n' },
      '# A\r\n\r\nx\r\n\r\ny\r\nz\r\n'
    ],
    [
      "writes bytes as given, and its own breaks as the file's",
      '# A\r\n\r\nx\r\n',
      'A',
      { action: 'append', new_text: 'y\nz', line_endings: 'exact' },
      '# A\r\n\r\nx\r\n\r\ny\nz\r\n'
    ],
    [
      'edits what follows a mark and front matter',
      '\ufeff---\nx: 1\n---\n\n# A\n\ny\n',
      'A',
      { action: 'replace', new_text: 'z' },
      '\ufeff---\nx: 1\n---\n\n# A\n\nz\n'
    ],
    [
      'edits inside a quote',
      '> # Q\n>\n> text\n\nafter\n',
      'Q',
      { action: 'append', new_text: 'more\n\nlines\n' },
      '> # Q\n>\n> text\n>\n> more\n>\n> lines\n\nafter\n'
    ],
    [
      'edits inside a list',
      '- # L\n\n  text\n- b\n',
      'L',
      { action: 'replace', new_text: 'new' },
      '- # L\n\n  new\n- b\n'
    ],
    [
      'takes setext headings',
      'A\n=\n\nx\n\nB\n-\n\ny\n',
      'A > B',
      { action: 'replace', new_text: 'z' },
      'A\n=\n\nx\n\nB\n-\n\nz\n'
    ],
    [
      'puts a blank line where a heading would be swallowed',
      '# A\nB\n-\nx\n',
      'B',
      { action: 'insert_before', new_text: 'y' },
      '# A\n\ny\n\nB\n-\nx\n'
    ],
    [
      'puts a blank line where one is left over',
      '# A\npara\n# B\nC\n=\n# D\n',
      'B',
      { action: 'delete' },
      '# A\npara\n\nC\n=\n# D\n'
    ],
    [
      'refuses a fence that is never closed',
      GUIDE,
      'Setup',
      { action: 'replace', new_text: '```\nx\n' },
      'lost heading 13'
    ],
    [
      'refuses a comment that is never closed',
      GUIDE,
      'Setup',
      { action: 'append', new_text: '<!-- x\n' },
      'lost heading 13'
    ]
  ]
  for (const [name, text, heading, asked, expected] of cases) {
    const result = edited(Buffer.from(text), { heading }, { action: 'replace', ...asked })
    t.equal(String(result), expected, name)
  }
})

t.test('leaves a section as it is only where the edit comes to the same bytes', async t => {
  const cases: [string, string, string, Omit<Asked, 'action'> & { action?: SectionAction }, string][] = [
    [
      'takes breaks of any kind for those of the file',
      '# T\r\n\r\na\r\nb\r\n',
      'T',
      { new_text: 'a\nb\n' },
      '# T\r\n\r\na\r\nb\r\n'
    ],
    [
      'keeps the breaks of a mixed file',
      '# T\n\na\r\nb\nc\r\n',
      'T',
      { new_text: 'a\nb\nc\n' },
      '# T\n\na\r\nb\nc\r\n'
    ],
    ['needs no last break', '# T\n\na\n', 'T', { new_text: 'a' }, '# T\n\na\n'],
    ['needs no blank lines around', '# T\n\na\n\n# U\n', 'T', { new_text: '\n\na\n' }, '# T\n\na\n\n# U\n'],
    [
      'writes breaks as given where asked',
      '# T\n\na\nb\n',
      'T',
      { new_text: 'a\r\nb\r\n', line_endings: 'exact' },
      '# T\n\na\r\nb\r\n'
    ],
    [
      'writes a last break as given where asked',
      '# T\n\na\n\n# U\n',
      'T',
      { action: 'append', new_text: 'b\r\n', line_endings: 'exact' },
      '# T\n\na\n\nb\r\n\n# U\n'
    ],
    [
      'replaces bytes that are not UTF-8 by what they are shown as',
      '# U\n\nc\xff\n',
      'U',
      { new_text: 'c\ufffd\n' },
      '# U\n\nc\xef\xbf\xbd\n'
    ],
    ['ends the file with the break that is given', '# U\n\nc', 'U', { new_text: 'c\n' }, '# U\n\nc\n'],
    ['leaves the last line without a break', '# U\n\nc', 'U', { new_text: 'c' }, '# U\n\nc'],
    ['puts in once more what is there', '# U\n\nc\n', 'U', { action: 'append', new_text: 'c\n' }, '# U\n\nc\n\nc\n'],
    [
      'takes the lines of an item as they stand',
      '- # L\n\n  text\n- b\n',
      'L',
      { new_text: '- # L\n\n  text\n', include_heading: true },
      '- # L\n\n  text\n- b\n'
    ],
    [
      'takes the lines of an item as they stand at the end of the file',
      '- # L\n\n  text',
      'L',
      { new_text: '- # L\n\n  text', include_heading: true },
      '- # L\n\n  text'
    ]
  ]
  for (const [name, text, heading, asked, expected] of cases) {
    const result = edited(Buffer.from(text, 'latin1'), { heading }, { action: 'replace', ...asked })
    t.equal(typeof result === 'string' ? result : result.toString('latin1'), expected, name)
  }
})

t.test('writes breaks of its own as the line has them at which it writes', async t => {
  const MIXED = '# A\r\n\r\nx\r\n\r\n# B\n\ny\n'
  const cases: [string, string, string, Asked, string][] = [
    ['above a heading', MIXED, 'B', { action: 'insert_before', new_text: 'n' }, MIXED.replace('# B', 'n\n\n# B')],
    ['below a section', MIXED, 'A', { action: 'append', new_text: 'n' }, MIXED.replace('x\r\n', 'x\r\n\r\nn\r\n')],
    ['at the end', MIXED, 'B', { action: 'append', new_text: 'n' }, `${MIXED}\nn\n`],
    [
      'in place of what ends with other breaks',
      '# A\n\nx\r\ny\n\n# B\n',
      'A',
      { action: 'replace', new_text: 'n' },
      '# A\n\nn\r\n\n# B\n'
    ],
    [
      'in place of a section',
      '# A\npara\r\n# B\r\nC\n=\n# D\n',
      'B',
      { action: 'delete' },
      '# A\npara\r\n\r\nC\n=\n# D\n'
    ],
    [
      'apart from a \\r',
      '# A\n\n# B\n\n# C\n\nx\r# D\n',
      'D',
      { action: 'insert_before', new_text: 'n' },
      '# A\n\n# B\n\n# C\n\nx\r\rn\n\n# D\n'
    ]
  ]
  for (const [name, text, heading, asked, expected] of cases) {
    for (const line_endings of ['adapt', 'exact'] as const) {
      t.equal(
        String(edited(Buffer.from(text), { heading }, { ...asked, line_endings })),
        expected,
        `${name}, ${line_endings}`
      )
    }
  }
  t.equal(
    String(
      edited(
        Buffer.from('# A\n\nx\n\n# B\n'),
        { heading: 'B' },
        { action: 'insert_before', new_text: 'y\r', line_endings: 'exact' }
      )
    ),
    '# A\n\nx\n\ny\r\r# B\n',
    'apart from a \\r that is given'
  )
})

t.test('changes nothing where nothing is put in', async t => {
  const documents = [
    GUIDE,
    '# A\n\n\n# B\n',
    '# A\n\n \n',
    '# A',
    '# A\r\n\r\n## B\r\n\r\n\r\n# C\r\n',
    '> # Q\n>\n>\n\n- # L\n\n\n- b\n',
    '```\n```\n',
    '```\n\n\n```\n',
    '```\nx',
    '    x\n\n\n    y\n',
    '> ```\n>\n> ```\n',
    '# A\n\n~~~js\n\n~~~\n\n\ntext\n'
  ]
  let tried = 0
  for (const text of documents) {
    const bytes = Buffer.from(text)
    const outline = markdownOutline(bytes)
    for (const item of outline.items) {
      for (const action of ['append', 'prepend', 'insert_before', 'insert_after'] as const) {
        const made = planSectionEdit(
          bytes,
          outline,
          item,
          { action, new_text: '', include_heading: false, include_comment: false },
          { line_endings: 'adapt', apart: false }
        )
        if (!made.ok) continue
        const planned = planLineEdits(bytes, [made.value], { line_endings: 'adapt', max_result_size: 1 << 24 })
        tried++
        if (!planned.ok || planned.value.splices.list.length > 0) {
          t.fail(`${action} at line ${item.start_line} of ${JSON.stringify(text)}`)
        }
      }
    }
  }
  t.ok(tried > 60, `${tried} edits`)
})

t.test('edits code blocks', async t => {
  const DOC = '# A\n\n```js\none()\n```\n\ntext\n\n~~~~sh\ntwo\n~~~~\n\n## B\n\n```js\nthree()\n```\n'
  const cases: [string, string, NonNullable<Target['code_block']>, Asked, string][] = [
    [
      'replaces what the fences hold',
      DOC,
      { index: 1 },
      { action: 'replace', new_text: 'uno()\n' },
      DOC.replace('one()', 'uno()')
    ],
    ['finds by language', DOC, { language: 'SH' }, { action: 'replace', new_text: 'zwei' }, DOC.replace('two', 'zwei')],
    [
      'finds by heading',
      DOC,
      { under_heading: 'B' },
      { action: 'replace', new_text: 'x' },
      DOC.replace('three()', 'x')
    ],
    [
      'counts those that fit',
      DOC,
      { language: 'js', index: 2 },
      { action: 'replace', new_text: 'x' },
      DOC.replace('three()', 'x')
    ],
    [
      'replaces the fences too',
      DOC,
      { language: 'sh' },
      { action: 'replace', new_text: '```py\nx\n```\n', include_heading: true },
      DOC.replace('~~~~sh\ntwo\n~~~~', '```py\nx\n```')
    ],
    [
      'appends inside',
      DOC,
      { language: 'sh' },
      { action: 'append', new_text: 'more' },
      DOC.replace('two\n', 'two\nmore\n')
    ],
    [
      'prepends inside',
      DOC,
      { language: 'sh' },
      { action: 'prepend', new_text: 'more\n' },
      DOC.replace('two\n', 'more\ntwo\n')
    ],
    [
      'deletes, with the blank line after',
      DOC,
      { language: 'sh' },
      { action: 'delete' },
      DOC.replace('~~~~sh\ntwo\n~~~~\n\n', '')
    ],
    [
      'deletes the last',
      DOC,
      { language: 'js', index: 2 },
      { action: 'delete' },
      DOC.replace('\n```js\nthree()\n```\n', '')
    ],
    ['deletes the only block', '```\nx\n```\n', { index: 1 }, { action: 'delete' }, ''],
    [
      'deletes by an empty replacement of all',
      DOC,
      { language: 'sh' },
      { action: 'replace', new_text: '', include_heading: true },
      DOC.replace('~~~~sh\ntwo\n~~~~\n\n', '')
    ],
    ['deletes between lines', 'a\n```\nx\n```\n\nb\n', { index: 1 }, { action: 'delete' }, 'a\n\nb\n'],
    ['keeps texts apart', 'a\n```\nx\n```\nb\n===\n', { index: 1 }, { action: 'delete' }, 'a\n\nb\n===\n'],
    [
      'inserts before',
      DOC,
      { language: 'sh' },
      { action: 'insert_before', new_text: 'new' },
      DOC.replace('~~~~sh', 'new\n\n~~~~sh')
    ],
    [
      'inserts after',
      DOC,
      { language: 'sh' },
      { action: 'insert_after', new_text: 'new' },
      DOC.replace('two\n~~~~\n', 'two\n~~~~\n\nnew\n')
    ],
    [
      'inserts after the last',
      DOC,
      { under_heading: 'B' },
      { action: 'insert_after', new_text: '# C\n' },
      `${DOC}\n# C\n`
    ],
    [
      'inserts at the very top',
      '```\nx\n```\n',
      { index: 1 },
      { action: 'insert_before', new_text: 'a' },
      'a\n\n```\nx\n```\n'
    ],
    [
      'inserts below a heading',
      DOC,
      { index: 1 },
      { action: 'insert_before', new_text: 'a' },
      DOC.replace('# A\n\n', '# A\n\na\n\n')
    ],
    ['fills an empty block', '```\n```\n', { index: 1 }, { action: 'replace', new_text: 'x' }, '```\nx\n```\n'],
    ['empties a block', '```\nx\n```\n', { index: 1 }, { action: 'replace', new_text: '' }, '```\n```\n'],
    [
      'keeps blank lines inside',
      '```\nx\n```\n',
      { index: 1 },
      { action: 'replace', new_text: '\ny\n\n' },
      '```\n\ny\n\n```\n'
    ],
    [
      'indents what an indented block holds',
      'a\n\n    x\n\nb\n',
      { index: 1 },
      { action: 'replace', new_text: 'y\n\nz\n' },
      'a\n\n    y\n\n    z\n\nb\n'
    ],
    [
      'leaves what is indented already',
      'a\n\n    x\n\nb\n',
      { index: 1 },
      { action: 'append', new_text: '\ty' },
      'a\n\n    x\n\ty\n\nb\n'
    ],
    [
      'indents in a list',
      '1. a\n\n   ```sh\n   x\n   ```\n',
      { index: 1 },
      { action: 'replace', new_text: 'y\nz\n' },
      '1. a\n\n   ```sh\n   y\n   z\n   ```\n'
    ],
    [
      'indents an indented block in a list',
      '- a\n\n      x\n\n  b\n',
      { index: 1 },
      { action: 'append', new_text: 'y\n' },
      '- a\n\n      x\n      y\n\n  b\n'
    ],
    [
      'takes the indentation of the lines of a block in a list',
      '- a\n\n    ```\n  x\n    ```\n',
      { index: 1 },
      { action: 'append', new_text: '  y\n' },
      '- a\n\n    ```\n  x\n  y\n    ```\n'
    ],
    [
      'quotes in a quote',
      '> ```\n> x\n> ```\n',
      { index: 1 },
      { action: 'append', new_text: 'y\n\nz\n' },
      '> ```\n> x\n> y\n>\n> z\n> ```\n'
    ],
    ['refuses what closes the fence', DOC, { index: 1 }, { action: 'replace', new_text: '```\n' }, 'closes_fence'],
    [
      'takes a shorter fence',
      DOC,
      { language: 'sh' },
      { action: 'replace', new_text: '~~~\nx\n~~~' },
      DOC.replace('two', '~~~\nx\n~~~')
    ],
    [
      'puts nothing after what is never closed',
      '```\nx\n',
      { index: 1 },
      { action: 'insert_after', new_text: 'y' },
      'unclosed'
    ],
    ['edits what is never closed', '```\nx', { index: 1 }, { action: 'append', new_text: 'y' }, '```\nx\ny'],
    [
      'chooses by line',
      DOC,
      { language: 'js' },
      { action: 'replace', new_text: 'x', at_line: 16 },
      DOC.replace('three()', 'x')
    ],
    ['names several', DOC, { language: 'js' }, { action: 'replace', new_text: 'x' }, 'AMBIGUOUS_TARGET'],
    ['names none', DOC, { index: 4 }, { action: 'replace', new_text: 'x' }, 'TARGET_NOT_FOUND'],
    ['names no heading', DOC, { under_heading: 'C' }, { action: 'replace', new_text: 'x' }, 'TARGET_NOT_FOUND']
  ]
  for (const [name, text, code_block, asked, expected] of cases) {
    t.equal(String(edited(Buffer.from(text), { code_block }, asked)), expected, name)
  }
})

t.test('finds the target that is meant, or says which there are', async t => {
  const text = '# Guide\n## Setup\n### Setup\n## Use > run\n# Other\n## Setup\n## `Code` *x*\n## C# #\n'
  const outline = markdownOutline(Buffer.from(text))
  const finds = (target: Target, at_line?: number) => {
    const found = findTarget(outline, target, at_line)
    return found.ok ? found.value.start_line : found.failure
  }
  t.equal(finds({ heading: ' Guide ' }), 1)
  t.equal(finds({ heading: 'Guide > Setup' }), 2)
  t.equal(finds({ heading: '# Guide > ## Setup' }), 2)
  t.equal(finds({ heading: 'Guide > Setup > Setup' }), 3)
  t.equal(finds({ heading: '### Setup' }), 3)
  t.equal(finds({ heading: 'Guide > Use > run' }), 4)
  t.equal(finds({ heading: 'Use > run' }), 4)
  t.equal(finds({ heading: '## C# #' }), 8)
  t.equal(finds({ heading: 'C#' }), 8)
  t.equal(finds({ heading: 'Setup' }, 2), 2)
  t.equal(finds({ heading: 'Setup' }, 3), 3, 'the innermost')
  t.match(finds({ heading: 'Setup' }), {
    code: 'AMBIGUOUS_TARGET',
    fitting: 3,
    targets: [
      { start_line: 2, parent: 'Guide' },
      { start_line: 3, parent: 'Guide > Setup' },
      { start_line: 6, parent: 'Other' }
    ],
    total: 8
  })
  t.match(finds({ heading: 'Guide' }, 6), { code: 'TARGET_NOT_FOUND', elsewhere: [{ start_line: 1 }], nearest: [] })
  t.match(finds({ heading: 'setup' }), {
    code: 'TARGET_NOT_FOUND',
    nearest: ['Guide > Setup', 'Guide > Setup > Setup', 'Other > Setup'],
    outline: { length: 8 }
  })
  t.match(finds({ heading: 'Code x' }), { nearest: ['Other > `Code` *x*'] })
  t.match(finds({ heading: '# Setup' }), { code: 'TARGET_NOT_FOUND' }, 'of another level')
  t.match(finds({ heading: 'Guide > Nothing of that kind' }), { nearest: [] })
  t.match(finds({ code_block: { index: 1 } }), { code: 'TARGET_NOT_FOUND', nearest: [] })
  const twice = markdownOutline(Buffer.from('# A\n```\n1\n```\n# A\n```\n2\n```\n'))
  t.match(findTarget(twice, { code_block: { under_heading: 'A' } }), {
    failure: { code: 'AMBIGUOUS_TARGET', targets: [{ kind: 'heading' }, { kind: 'heading' }] }
  })
  t.match(findTarget(twice, { code_block: { under_heading: 'A', index: 1 } }, 6), { value: { start_line: 6 } })
  const nearestFirst = { elsewhere: [{ start_line: 6 }, { start_line: 2 }] }
  t.match(findTarget(twice, { code_block: { under_heading: 'A' } }, 9), { failure: nearestFirst }, 'in neither section')
  t.match(findTarget(twice, { code_block: {} }, 9), { failure: nearestFirst }, 'in no block')
  t.match(findTarget(twice, { heading: 'A' }, 9), { failure: { elsewhere: [{ start_line: 5 }, { start_line: 1 }] } })
})

/** Headings by an independent model: each way to part a path is tried. */
function modelFits(items: readonly Heading[], { name, level, within }: Heading, asked: string): boolean {
  const isCalled = (text: string) => {
    const [, marks = '', rest = ''] = /^(#{1,6})(?:[ \t]+(.*))?$/.exec(text) ?? []
    return name === text || (marks.length === level && [rest, rest.replace(/(?:^|[ \t]+)#+$/, '')].includes(name))
  }
  if (isCalled(asked.trim())) return true
  const around = items[within]
  return (
    around !== undefined &&
    [...asked.matchAll(/(?<=[^]) (?=> )/g)].some(
      ({ index }) => isCalled(asked.slice(index + 3).trim()) && modelFits(items, around, asked.slice(0, index))
    )
  )
}

const heading = (name: string, level: number, within: number, start_line: number): Heading => ({
  kind: 'heading',
  name,
  level,
  within,
  start_line,
  end_line: start_line,
  heading_line: start_line,
  prefix: ''
})

t.test('finds by paths what the model finds', async t => {
  for (let round = 0; round < often(3000); round++) {
    const random = new Random(SEED * 60_013 + round)
    const name = () => random.text(['a', 'a', 'b', ' > ', ' >', '> ', '# ', ' #', '##'], 3).trim()
    const items: Heading[] = []
    for (let i = 0; i < 8; i++) items.push(heading(name(), 1 + random.int(3), random.int(i + 1) - 1, i + 1))
    const pathTo = ({ name: last, level, within }: Heading): string => {
      const marked = random.chance(30) ? `${'#'.repeat(level)} ${last}${random.pick(['', ' #', ' ##'])}` : last
      return within === -1 || random.chance(20)
        ? marked
        : `${pathTo(items[within]!)}${random.pick([' > ', ' > ', ' >  '])}${marked}`
    }
    const asked = random.chance(80) ? pathTo(random.pick(items)) : Array.from({ length: 3 }, name).join(' > ')
    const found = findTarget({ type: 'document', items, gaps: {} }, { heading: asked })
    const lines = found.ok
      ? [found.value.start_line]
      : found.failure.code === 'AMBIGUOUS_TARGET'
        ? found.failure.targets.map(({ start_line }) => start_line)
        : []
    const expected = items.filter(item => modelFits(items, item, asked)).map(({ start_line }) => start_line)
    if (JSON.stringify(lines) !== JSON.stringify(expected)) {
      const headings = items.map(({ name, level, within }) => [name, level, within])
      t.fail(`other headings: ${JSON.stringify({ seed: SEED, round, asked, lines, expected, headings })}`)
      break
    }
  }
})

t.test(
  'looks at each heading a few times, and at those around each other once for each name, however long the path is',
  async t => {
    let looks = 0
    const counted = (name: string, level: number, within: number, start_line: number): Heading => ({
      ...heading('', level, within, start_line),
      get name() {
        looks++
        return name
      }
    })
    const wide = [counted('a', 1, -1, 1), ...Array.from({ length: 1000 }, (_, i) => counted('a', 2, 0, i + 2))]
    const deep = Array.from({ length: 1000 }, (_, i) => counted('a', 1 + Math.min(5, i), Math.min(i, 250) - 1, i + 1))
    const long = Array<string>(250).fill('a').join(' > ')
    const cases: [string, Heading[], string, object][] = [
      ['that none has', wide, `${long} > b`, { code: 'TARGET_NOT_FOUND' }],
      ['whose end all have', wide, long, { code: 'TARGET_NOT_FOUND' }],
      ['with marks', wide, long.replaceAll('a', '# a').slice(0, 990), { code: 'TARGET_NOT_FOUND' }],
      ['that leads deep', deep, `b > ${long}`, { code: 'TARGET_NOT_FOUND' }],
      ['that many have', deep, long, { code: 'AMBIGUOUS_TARGET' }]
    ]
    for (const [name, items, path, failure] of cases) {
      looks = 0
      const found = findTarget({ type: 'document', items, gaps: {} }, { heading: path })
      t.match(found, { failure }, `a path ${name}`)
      t.ok(looks < 5 * items.length + 250 * 250, `a path ${name}: ${looks} looks at ${items.length} headings`)
    }
  }
)

/** Real documents: what packages bring along; one in so many of them, by the day, but in the long run. */
const STRIDE = every(1, 12)
const MODULES = join(import.meta.dirname, '../../../node_modules')
const documents = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
  .filter(name => /\.md$/i.test(name))
  .sort()
  .filter((_, i) => i % STRIDE === SEED % STRIDE)
  .map(name => join(MODULES, name))

t.test('holds its laws on real documents', async t => {
  t.ok(documents.length > often(400, 25), `${documents.length} documents`)
  const counts = { sections: 0, same: 0, returned: 0, blocks: 0 }
  for (const [i, path] of documents.entries()) {
    let bytes = readFileSync(path)
    if (bytes.length > 12_000) continue
    if (i % 5 === 0 && !bytes.includes(13)) {
      bytes = Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')
    }
    const { items, gaps } = markdownOutline(bytes)
    const table = new LineTable(bytes)
    const textOf = (first: number, last: number) =>
      bytes.toString('utf8', table.startOf(first), table.startOf(last + 1))
    const lossless = Buffer.from(bytes.toString()).equals(bytes)
    if (!lossless) continue
    const ofDocument = items.filter((_, n) => n % Math.ceil(items.length / 5) === 0)
    for (const item of ofDocument) {
      const at_line = item.start_line
      if (item.kind === 'code_block') {
        const block = { code_block: {} }
        const [first, last] = item.fence
          ? [item.start_line + 1, item.fence.closed ? item.end_line - 1 : item.end_line]
          : [item.start_line, item.end_line]
        const same = edited(bytes, block, { action: 'replace', new_text: textOf(first, last), at_line })
        if (!bytes.equals(same as Buffer)) {
          t.fail(`${path}:${at_line} replaced by itself`, { same: String(same).slice(0, 300) })
        }
        const whole = edited(bytes, block, {
          action: 'replace',
          include_heading: true,
          new_text: textOf(item.start_line, item.end_line),
          at_line
        })
        if (!bytes.equals(whole as Buffer)) {
          t.fail(`${path}:${at_line} replaced by itself, fences too`, { whole: String(whole).slice(0, 300) })
        }
        counts.blocks++
        continue
      }
      if (item.kind !== 'heading') continue
      const heading = { heading: item.name }
      counts.sections++
      for (const [include_heading, own] of [
        [true, textOf(item.start_line, item.end_line)],
        [false, textOf(item.heading_line + 1, item.end_line)]
      ] as const) {
        if (own.trim() === '') continue
        const same = edited(bytes, heading, { action: 'replace', include_heading, new_text: own, at_line })
        if (bytes.equals(same as Buffer)) counts.same++
        else {
          t.fail(`${path}:${at_line} replaced by itself`, {
            include_heading,
            own: own.slice(0, 200),
            same: String(same).slice(0, 300)
          })
        }
      }
      // Where blank lines are as everywhere in the document, what was deleted can be put back.
      const before = at_line - 1
      const blanks = [...Array(20).keys()].findIndex(n => !table.isBlank(before - n))
      const after = [...Array(20).keys()].findIndex(n => !table.isBlank(item.end_line - n))
      const isLast = item.end_line === table.total
      const usual = gaps.before_heading ?? 1
      if (
        item.prefix !== '' ||
        item.parent === undefined ||
        blanks !== usual ||
        (isLast ? after !== 0 : after !== usual)
      ) {
        continue
      }
      const shorter = edited(bytes, heading, { action: 'delete', at_line })
      if (!(shorter instanceof Buffer)) continue
      const left = markdownOutline(shorter)
      if (left.gaps.before_heading !== usual) continue
      const next = left.items.find(
        (other): other is Heading => other.kind === 'heading' && other.start_line === at_line
      )
      const own = textOf(item.start_line, item.end_line)
      const back = isLast
        ? edited(
            shorter,
            { heading: item.parent.split(' > ').at(-1)! },
            {
              action: 'append',
              new_text: own,
              at_line: left.items.findLast(other => other.kind === 'heading')!.start_line
            }
          )
        : next === undefined
          ? undefined
          : edited(shorter, { heading: next.name }, { action: 'insert_before', new_text: own, at_line })
      if (!(back instanceof Buffer)) continue
      if (!back.equals(bytes)) t.fail(`${path}:${at_line} deleted and put back`, { back: back.toString().slice(-300) })
      counts.returned++
    }
  }
  t.ok(
    counts.sections > often(300, 5) && counts.blocks > often(100, 1) && counts.returned > often(100, 1),
    JSON.stringify(counts)
  )
})
