// Calls as models send them, a little off: paths and texts that are nearly right, in edits, batches, patches, undos and
// finds.
// Whatever is wrong, no answer is a failure of the server, a refusal changes nothing, and what it proposes can be sent.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { often } from '../often.ts'
import { textsIn } from '../operations/support/patched.ts'
import { Random, SEED } from '../random.ts'
import { startServer, type Reply } from './test-server.ts'

type Body = Record<string, any>

const FILES: Record<string, string> = {
  'app.py':
    'import os\n\ndef load(path):\n    with open(path) as f:\n        return f.read()\n\nclass Store:\n' +
    '    def load(self, key):\n        return self.data[key]\n\ndef main():\n    data = load("in.txt")\n\nmain()\n',
  'crlf.ts': 'export function run(port: number) {\r\n\tif (port > 0) {\r\n\t\tlisten(port)\r\n\t}\r\n}\r\n',
  'guide.md': '# Guide\n\n## Use\n\n```sh\nnpm start\n```\n\n## Use\n\nAgain.\n',
  'deploy.yaml': 'a:\n  b: 1\n  c:\n    - x\n    - y\n',
  'one.txt': 'no newline',
  'empty.txt': ''
}
const ODD_PATHS = [
  'ap.py',
  'App.py',
  '/repo/app.py',
  './app.py',
  'src/app.py',
  'none/at/all.txt',
  '../x',
  '.git/config',
  ''
]
const MARKS = ['one', 'import os', '## Use', 'Use', 'load', 'Store.load', 'lod', 'run', 'x']

/** What is nearly the text. */
const BENDS: ((text: string) => string)[] = [
  text => text.replace(/^ +/gm, ''),
  text => text.replace(/^( +)/gm, '$1 '),
  text => text.replace(/ {4}/g, '\t'),
  text => text.replace(/"/g, "'"),
  text => text.replace(/\w+/, word => `${word}x`),
  text => `${text}\n`,
  text => `\`\`\`\n${text}\n\`\`\``,
  text => text.replace(/^/gm, '-'),
  text => text.replace(/\n/g, '\\n'),
  text => text.slice(0, -2),
  text => text.toUpperCase()
]

/** Makes calls on the files as they are. */
class Model {
  readonly #random: Random
  readonly #root: string
  /** Ids of the edits and batches that were made. */
  readonly edit_ids: string[] = []
  readonly batch_ids: string[] = []

  constructor(random: Random, root: string) {
    this.#random = random
    this.#root = root
  }

  call(): [route: string, body: Body] {
    const random = this.#random
    const [kind, path] = [random.int(13), this.#path()]
    const operation = this.#operation()
    const { operation: name, ...fields } = operation
    switch (kind) {
      case 0:
      case 1:
        return [`/${String(name).replace('_', '-')}`, fields]
      case 2:
        return ['/tools/preview_edit', operation]
      case 3:
      case 4:
        return ['/tools/batch_edit', { operations: [operation, this.#operation(), this.#operation()] }]
      case 5:
      case 6:
        return ['/adapters/codex-apply-patch', { input: this.#patch() }]
      case 7:
        return [
          '/adapters/openai-apply-patch',
          { type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path, diff: this.#diff(path) } }
        ]
      case 8:
        return ['/adapters/anthropic-text-editor', this.#command(path)]
      case 9:
        return ['/tools/undo_edit', this.#undo(path)]
      case 10:
        return ['/tools/find', this.#find(path)]
      case 11: {
        const { path: where, include, whole_word } = this.#find(path)
        return [
          '/tools/replace_in_files',
          { old_text: this.#word(path), new_text: 'x', path: where, include, whole_word, occurrences: random.int(3) }
        ]
      }
      default:
        // A dry run, since the others need the files.
        return random.chance(30)
          ? ['/tools/delete_file', { path, recursive: random.chance(50), dry_run: true }]
          : ['/tools/move_file', { path, to: this.#path(), dry_run: true }]
    }
  }

  #path(): string {
    const random = this.#random
    return random.pick(random.chance(70) ? Object.keys(FILES) : ODD_PATHS)
  }

  /** Some lines of the file, nearly. */
  #lines(path: string): string {
    const random = this.#random
    const lines = readFileSync(join(this.#root, path in FILES ? path : 'app.py'), 'utf8').split(/\r?\n/)
    const from = random.int(lines.length)
    const text = lines.slice(from, from + 1 + random.int(3)).join('\n')
    return random.chance(50) ? text : random.pick(BENDS)(text)
  }

  /** A part of a line of the file, nearly. */
  #word(path: string): string {
    const random = this.#random
    const line = this.#lines(path).split('\n')[0]!
    return line.slice(random.int(line.length), line.length - random.int(4)) || 'load'
  }

  #find(path: string): Body {
    const random = this.#random
    const [by, text] = [random.pick(['text', 'regex', 'symbol', 'old_text']), this.#word(path)]
    return {
      ...(by !== 'old_text' && { [by]: random.chance(50) ? text : random.pick(MARKS) }),
      ...(random.chance(30) && { path }),
      ...(random.chance(30) && { include: random.pick(['*.py', '**/*', '*.{ts,md}', '[', '/app.py', '!*.md', 'src']) }),
      ...(random.chance(20) && { exclude: [random.pick(ODD_PATHS), '*.md'] }),
      ...(random.chance(30) && { whole_word: true }),
      ...(random.chance(10) && { after: random.pick([...ODD_PATHS, 'guide.md']) }),
      ...(random.chance(30) && { show: random.pick(['lines', 'files', 'counts', 'paths']) })
    }
  }

  #operation(): Body {
    const random = this.#random
    const path = this.#path()
    const [start_line, new_text] = [random.int(16), this.#lines(path)]
    const more = { ...(random.chance(10) && { expected_hash: '0123456789abcdef' }) }
    switch (random.int(5)) {
      case 0:
        return {
          operation: 'edit_lines',
          path,
          start_line,
          end_line: start_line + random.int(3) - 1,
          new_text,
          ...more
        }
      case 1:
        return { operation: 'edit_section', path, action: 'replace', heading: random.pick(MARKS), new_text, ...more }
      case 2:
        return { operation: 'edit_section', path, action: 'append', symbol: random.pick(MARKS), new_text, ...more }
      default: {
        const edits = Array.from({ length: 1 + random.int(3) }, () => ({
          old_text: this.#lines(path),
          new_text: this.#lines(path)
        }))
        return { operation: 'edit', path, edits, ...more }
      }
    }
  }

  #diff(path: string): string {
    const random = this.#random
    const hunk = (): string[] => [
      random.chance(50) ? '@@' : `@@ ${random.pick(['def main():', 'class Stores:', '## Use'])}`,
      ...this.#lines(path)
        .split('\n')
        .flatMap(line => random.pick([[` ${line}`], [`-${line}`], [`-${line}`, `+${line}!`], [`+${line}`]]))
    ]
    return Array.from({ length: 1 + random.int(2) }, hunk)
      .flat()
      .join('\n')
  }

  #patch(): string {
    const random = this.#random
    const parts = Array.from({ length: 1 + random.int(3) }, () => {
      const path = this.#path()
      if (random.chance(10)) return [`*** Add File: ${path}`, '+new']
      return [`*** Update File: ${path}`, this.#diff(path)]
    })
    return ['*** Begin Patch', ...parts.flat(), '*** End Patch'].join('\n')
  }

  #command(path: string): Body {
    const random = this.#random
    const [line, text] = [random.int(20), this.#lines(path)]
    return random.pick<Body>([
      { command: 'view', path, view_range: [line, random.chance(50) ? -1 : line + 2] },
      { command: 'str_replace', path, old_str: text, new_str: 'x' },
      { command: 'insert', path, insert_line: line, insert_text: text },
      { command: 'create', path, file_text: text },
      { command: 'undo_edit', path }
    ])
  }

  #undo(path: string): Body {
    const random = this.#random
    const [edit_id, batch_id] = [random.pick([...this.edit_ids, 'none']), random.pick([...this.batch_ids, 'none'])]
    return random.pick<Body>([
      { edit_id },
      { edit_ids: [edit_id] },
      { edit_id, change_indexes: [0] },
      { batch_id },
      { path }
    ])
  }
}

/** The call that a refusal says can be sent as it is; undefined where it says none, or asks for a text of one's own. */
function proposed(route: string, body: Body, { text, body: answer }: Reply): Body | undefined {
  const fixes: Body[] = (answer.problem as Body | undefined)?.suggested_fixes ?? []
  if (route.endsWith('codex-apply-patch')) {
    // Else there is more to correct, as it says.
    const patch = /end this corrected diff(?: as it is)?:\n(\*\*\* Begin Patch\n[^]*?^\*\*\* End Patch$)/m.exec(
      String(answer.output)
    )
    return patch === null ? undefined : { input: patch[1] }
  }
  if (route.endsWith('openai-apply-patch')) {
    const diff = fixes[0]?.diff
    return diff === undefined ? undefined : { ...body, operation: { ...body.operation, diff } }
  }
  if (route === '/tools/replace_in_files') {
    const count = /send the same call with "occurrences": (\d+);/.exec(text)
    return count === null ? undefined : { ...body, occurrences: Number(count[1]) }
  }
  const undo = /^To take back the later edits? too, send:\n(.*)$/m.exec(text)
  return undo === null ? undefined : (JSON.parse(undo[1]!) as Body)
}

/** What failed: of several, which. */
const failed = ({ status, body, text }: Reply): string => {
  const { code, operation_index, edit_index } = (body.problem ?? body) as Body
  return [status, code ?? /\[([A-Z_]+)\]/.exec(text)?.[1], operation_index, edit_index].join()
}

const CALLS = often(2000, 300, 100)

t.test('answers every near miss, and proposes what can be sent', async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  const model = new Model(new Random(SEED), server.root)
  const headers = { accept: '*/*' }
  let sent = 0
  for (let i = 0; i < CALLS; i++) {
    if (i % 100 === 0) for (const [path, text] of Object.entries(FILES)) writeFileSync(join(server.root, path), text)
    const [route, body] = model.call()
    const before = textsIn(server.root)
    const reply = await server.call('POST', route, { body, headers })
    const what = `seed ${SEED}, call ${i}: ${route} ${JSON.stringify(body)} → ${reply.text}`
    if (reply.status >= 500) t.fail(what)
    if (/\bundefined\b|\[object |\bNaN\b|9007199254740991/.test(reply.text)) t.fail(what)
    if (reply.status < 300) {
      for (const [, name, id] of reply.text.matchAll(/(edit_id|batch_id)"?: "?(\w{26})/g)) {
        model[name === 'edit_id' ? 'edit_ids' : 'batch_ids'].push(id!)
      }
      continue
    }
    t.strictSame(textsIn(server.root), before, what)
    const next = proposed(route, body, reply)
    if (next === undefined) continue
    sent++
    const again = await server.call('POST', route, { body: next, headers })
    // Another hunk, or another file, may be wrong too.
    if (again.status >= 400 && failed(again) === failed(reply)) t.fail(`${what}, then → ${again.text}`)
  }
  t.ok(sent > CALLS / 60, `${sent} were sent`)
})
