// Where the text defines what old_text defines, that is suggested beside what is more alike and has another name.
import t from 'tap'
import { MARGIN, suggest } from '../../../src/engine/suggest/suggest.ts'

/**
 * What is between « and » in `file` is suggested first for `sought`, and then what is between ‹ and ›; as equally likely
 * where there are several.
 */
const check = (name: string, sought: string, file: string): void => {
  const plain = Buffer.from(file.replace(/[«»‹›]/g, ''))
  const texts = (marks: RegExp) => [...file.matchAll(marks)].map(([, text]) => text!).sort()
  const [first, others] = [texts(/«([^»]*)»/g), texts(/‹([^›]*)›/g)]
  const { candidates, margin, ...found } = suggest(plain, sought)
  const shown = candidates.map(({ start, end }) => plain.toString('utf8', start, end))
  t.strictSame(shown.slice(0, first.length).sort(), first, name)
  t.strictSame(shown.slice(first.length, first.length + others.length).sort(), others, name)
  t.equal(margin < MARGIN, first.length + others.length > 1, name)
  t.equal(found.name !== undefined, others.length > 0, name)
}

const SOUGHT = 'def load_orders(path):\n    with open(path) as f:\n        return json.load(f)'
const numbered = (text: string): string =>
  text
    .split('\n')
    .map((line, i) => `${i + 1}: ${line}`)
    .join('\n')
const SAVE = '  async save(key: string) {\n    await this.open()\n    await this.write(key)\n  }'
const USERS = SOUGHT.replace('orders', 'users')
const ORDERS =
  'def load_orders(db, since):\n    rows = db.query(since)\n    out = []\n    for row in rows:\n        out.append(row)\n    return out'

check('the function of that name, however much it has changed', SOUGHT, `‹${USERS}›\n\n\n«${ORDERS}»\n\n\nx = 1\n`)
check('the one of another name where there is no other', SOUGHT, `«${USERS}»\n\n\n${ORDERS.replace('orders', 'all')}\n`)
check('the one of another name where it is only called', SOUGHT, `«${USERS}»\n\n\nload_orders(db)\n`)
check('the one that is more alike of the same name', SOUGHT, `${ORDERS}\n\n\n«${SOUGHT.replace('json', 'yaml')}»\n`)
check('with line numbers in old_text', numbered(SOUGHT), `‹${USERS}›\n\n\n«${ORDERS}»\n`)
check(
  'the block of that name',
  'export function area(w, h) {\n  const result = w * h\n  return result\n}',
  '‹export function vol(w, h, d) {\n  const result = w * h * d\n  return result\n}›\n\n' +
    '«function area(width) {\n  check(width)\n  return round(width)\n}»\n'
)
check(
  'a method of that name',
  '  start() {\n    this.open()\n    this.log()\n  }',
  'class A {\n‹  stop() {\n    this.open()\n    this.log()\n  }›\n\n' +
    '«  start() {\n    for (;;) {\n      await wait()\n    }\n  }»\n}\n'
)
check(
  'the whole of what has its middle left out',
  `# Reads orders.\n# ...\n${ORDERS.split('\n')[0]!}`,
  `«# Reads orders.\n${USERS}\n\n\n${ORDERS.split('\n')[0]!}»\n    return db\n`
)
const IN_CLASS = ORDERS.replace(/^/gm, '    ')
check('all of that name', SOUGHT, `‹${USERS}›\n\n\nclass A:\n«${IN_CLASS}»\n\n\nclass B:\n«${IN_CLASS}»\n`)
const CLOSE = '  close() {\n    this.log("closing")\n    this.file.end()\n    this.open = false\n  }'
check(
  'a method of that name of another class, and the one that is the same but for its name',
  CLOSE,
  `class Socket {\n‹${CLOSE.replace('file', 'socket')}›\n}\n\nclass File {\n«${CLOSE.replace('close', 'shutdown')}»\n}\n`
)
const METHOD = 'func (b *B) Close() error {\n\tb.mu.Lock()\n\tdefer b.mu.Unlock()\n\treturn b.file.Close()\n}'
check(
  'no method of another receiver for sure',
  METHOD,
  `«${METHOD.replace('b *B', 'a *A')}»\n\n«${METHOD.replace('Close() error', 'Shutdown() error')}»\n`
)
check(
  'no class for its constructor',
  '    Pool(int size, int max) {\n        this.size = size;\n        this.max = max;\n    }',
  'class Pool {\n    int size;\n    int max;\n\n' +
    '«    PoolView(int size, int max) {\n        this.size = size;\n        this.max = max;\n    }»\n}\n'
)
check(
  'no declaration',
  SAVE,
  `interface Store {\n  save: (key: string) => Promise<void>\n}\n\nclass Disk {\n«${SAVE.replace('save', 'saveKey')}»\n}\n`
)
// Where nothing is like old_text.
const COMMIT = 'def save(data):\n    db.put(data)\n    db.commit()'
const OTHER =
  '@cached\n@logged("x")\ndef save(path, rows):\n    with open(path) as f:\n        for row in rows:\n            f.write(row)'
check('the function of that name, with what is above it', COMMIT, `import x\n\n\n«${OTHER}»\n\n\nx = 1\n`)
check('the same, at the start of the file', COMMIT, `«${OTHER}»\n\n\nx = 1\n`)
check('the same, with CRLF', COMMIT, `import x\n\n\n«${OTHER}»\n\n\nx = 1\n`.replaceAll('\n', '\r\n'))
check('the same, with line numbers in old_text', numbered(COMMIT), `import x\n\n\n«${OTHER}»\n`)
check(
  'all of that name, none of them like it',
  COMMIT,
  `class A:\n«${OTHER.replace(/^/gm, '    ')}»\n\n\nclass B:\n«    def save(self):\n        return two(self)»\n`
)
const none = (name: string, sought: string, file: string): void => {
  t.strictSame(suggest(Buffer.from(file), sought).candidates, [], name)
}
none('nothing for a call of that name', COMMIT, 'import x\n\nsave(rows)\n')
none('nothing for a text of no name', 'if data:\n    db.put(data)', `x = 1\n\n\n${OTHER}\n`)
none('nothing for a very long text', COMMIT + '\n    put(it)'.repeat(2000), `x = 1\n\n\n${OTHER}\n`)
