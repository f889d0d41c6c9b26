// What an edit keeps of a file that is written in another style than old_text.
import t from 'tap'
import type { TextEdit } from '../../../src/engine/edit/request.ts'
import { planTextEdits } from '../../../src/engine/plan/replace-text.ts'
import { often } from '../../often.ts'
import { Random, SEED } from '../../random.ts'

type Style = (name: string) => string
/** How old_text has a line, and how the file has it. */
const STYLES: Record<string, [sent: Style, file: Style]> = {
  'list marker': [name => `- ${name}`, name => `* ${name}`],
  'another list marker': [name => `+ ${name}`, name => `- ${name}`],
  heading: [name => `# ${name}`, name => `## ${name}`],
  comment: [name => `//${name}`, name => `// ${name}`],
  'comment of another language': [name => `# ${name}`, name => `-- ${name}`],
  'quotes in a list': [name => `  '${name}',`, name => `  "${name}",`],
  'quotes in a call': [name => `log('${name}')`, name => `log("${name}")`],
  'two strings': [name => `  get("/${name}", "x");`, name => `  get('/${name}', 'x');`],
  'typographic quotes': [name => `say "${name}"`, name => `say “${name}”`],
  semicolon: [name => `${name}()`, name => `${name}();`],
  'no semicolon': [name => `${name}();`, name => `${name}()`],
  comma: [name => `${name}: 1`, name => `${name}: 1,`],
  spacing: [name => `${name}=f(${name},1)`, name => `${name} = f(${name}, 1)`],
  table: [name => `|${name}|x|`, name => `| ${name} | x |`],
  dash: [name => `${name} - note`, name => `${name} – note`],
  tabs: [name => `  ${name}: true`, name => `\t${name}: true`],
  backticks: [name => `use ${name}.`, name => `use \`${name}\`.`],
  parentheses: [name => `print ${name}`, name => `print(${name})`],
  'spaces at the end': [name => `<li>${name}</li>`, name => `<li>${name}</li>  `]
}
const WORDS = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliet']
const [TOP, BOTTOM] = ['the first line\n\n', '\n\nthe last line\n']

const plan = (file: string, edit: TextEdit) =>
  planTextEdits(Buffer.from(file), [edit], { line_endings: 'adapt', max_result_size: 1 << 20 })

/** The names of the lines after an edit; `put`: those of lines that were not there. */
function edited(random: Random, names: readonly string[]): { lines: string[]; put: Set<string> } {
  const lines = [...names]
  const put = new Set<string>()
  for (let count = 1 + random.int(2); count > 0; count--) {
    const [at, name] = [random.int(lines.length), `new_${random.pick(WORDS)}${count}`]
    const kind = random.pick(['insert', 'append', 'delete', 'replace', 'swap'] as const)
    if (kind === 'insert') lines.splice(at, 0, name)
    else if (kind === 'append') lines.push(name)
    else if (kind === 'delete' && lines.length > 1) lines.splice(at, 1)
    else if (kind === 'replace') lines[at] = name
    else [lines[at], lines[0]] = [lines[0]!, lines[at]!]
    if (lines.includes(name)) put.add(name)
  }
  return { lines, put }
}

t.test(
  'leaves each line that the edit keeps as the file has it, white space at its end aside, in a complete edit that is offered',
  async t => {
    const complete = new Map<string, number>()
    for (let round = 0; round < often(3000, 600); round++) {
      const random = new Random(SEED * 70_003 + round)
      const style = random.pick(Object.keys(STYLES))
      const [sent, inFile] = STYLES[style]!
      const names = new Set<string>()
      while (names.size < 5) names.add(`${random.pick(WORDS)}_${random.pick(WORDS)}`)
      const old = [...names].slice(0, 2 + random.int(4))
      const { lines, put } = edited(random, old)
      const file = TOP + old.map(inFile).join('\n') + BOTTOM
      const planned = plan(file, { old_text: old.map(sent).join('\n'), new_text: lines.map(sent).join('\n') })
      if (planned.ok || planned.failure.code !== 'NO_MATCH') continue
      const edit = planned.failure.fixes.find(fix => fix.type === 'USE_EXACT_TEXT')?.edit
      if (edit?.new_text === undefined) continue
      complete.set(style, (complete.get(style) ?? 0) + 1)
      const about = JSON.stringify({ SEED, round, style, file, lines, edit })
      const applied = plan(file, { old_text: edit.old_text, new_text: edit.new_text })
      if (!applied.ok) return t.fail(`can't be sent: ${about}`)
      const result = Buffer.concat(applied.value.pieces).toString()
      if (!result.startsWith(TOP) || !result.endsWith(BOTTOM)) t.fail(`more is changed than was asked for: ${about}`)
      const found = result.slice(TOP.length, -BOTTOM.length).split('\n')
      const isRight = (name: string, i: number): boolean =>
        found[i]?.trimEnd() === inFile(name).trimEnd() || (put.has(name) && found[i]?.trim() === sent(name).trim())
      if (found.length !== lines.length || !lines.every(isRight)) t.fail(`${JSON.stringify(found)} is wrong: ${about}`)
    }
    for (const style of Object.keys(STYLES)) {
      t.ok(complete.get(style)! > 0, `${style}: ${complete.get(style)} complete edits`)
    }
  }
)
