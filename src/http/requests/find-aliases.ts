// Translates, before validation, the arguments of other search tools (Claude Code's Grep, VS Code's, deepagents' and
// our own inspect_file) into those of find. Names with one meaning everywhere are in field-aliases.ts.
import { listed } from '../answers/phrases.ts'
import type { InvalidField } from '../request-failure.ts'

type Json = Record<string, unknown>

/** What the translation notes: sentences, and our pointers → those with the names that were sent. */
interface Notes {
  warnings: Set<string>
  sentNames: Map<string, string>
}

/** Names for what to look for. By tool, it is exact text, an expression or a glob; those of `LITERAL` are always text. */
const PATTERNS = ['search', 'find', 'search_text', 'query', 'pattern']
const LITERAL = ['search', 'find', 'search_text']
/** Signs by which text, expression and glob differ. */
const SPECIAL = /[\\^$.|?*+()[\]{}]/

/** Fields that only Claude Code's Grep has; its pattern is an expression. */
const OF_GREP = ['-i', '-n', '-A', '-B', '-C', 'head_limit', 'multiline']

const FOLDERS = ['directory', 'dir', 'dir_path', 'folder', 'search_path', 'target_directory', 'cwd', 'under']
const LIMITS = ['head_limit', 'limit', 'max_results', 'maxResults', 'max_count']
const SENSITIVE = ['case_sensitive', 'caseSensitive', 'isCaseSensitive']
const NUMBERED = ['-n', 'line_numbers']

/** The values of Claude Code's `output_mode`, and of deepagents'. */
const SHOWN: Readonly<Record<string, string>> = { content: 'lines', files_with_matches: 'files', count: 'counts' }

/** Translates a body in place. Fails if a field is sent in two ways, or could mean several. */
export function readFind(object: Json, notes: Notes): InvalidField[] {
  const errors = [...readPattern(object, notes)]
  const { show } = object
  if (typeof show === 'string' && Object.hasOwn(SHOWN, show)) {
    object.show = SHOWN[show]
    notes.warnings.add(`${JSON.stringify(show)} was read as show ${JSON.stringify(object.show)}.`)
  }
  const isByLines =
    (object.show ?? 'lines') === 'lines' && ['text', 'regex', 'symbol'].some(name => isSent(object, name))
  errors.push(
    ...rename(object, FOLDERS, 'path', notes),
    ...rename(object, LIMITS, isByLines ? 'max_lines' : 'max_files', notes)
  )
  const around = ['-A', '-B'].filter(name => Number.isInteger(object[name]))
  if (around.length > 0 && !isSent(object, 'context_lines')) {
    const most = Math.max(...around.map(name => Number(object[name])))
    replace(object, around, 'context_lines', most, notes)
  }
  for (const name of SENSITIVE) {
    const value = object[name]
    if (typeof value === 'boolean' && !isSent(object, 'ignore_case')) {
      replace(object, [name], 'ignore_case', !value, notes)
    }
  }
  for (const name of NUMBERED.filter(name => typeof object[name] === 'boolean')) {
    Reflect.deleteProperty(object, name)
    notes.warnings.add(`${name} was left out: every line has its number.`)
  }
  return errors
}

const isSent = (object: Json, name: string): boolean => object[name] !== undefined && object[name] !== null

/** Puts `value` in `field`, in place of these names. */
function replace(
  object: Json,
  names: readonly string[],
  field: string,
  value: unknown,
  { warnings, sentNames }: Notes
): void {
  const sent = names.map(name => `${name} ${JSON.stringify(object[name])}`)
  for (const name of names) Reflect.deleteProperty(object, name)
  object[field] = value
  sentNames.set(`/${field}`, `/${names[0]}`)
  warnings.add(`${listed(sent)} ${names.length > 1 ? 'were' : 'was'} read as ${field} ${JSON.stringify(value)}.`)
}

/** Renames the one of these names that is sent. */
function rename(object: Json, names: readonly string[], field: string, notes: Notes): InvalidField[] {
  const [name, ...others] = names.filter(name => isSent(object, name))
  if (name === undefined) return []
  const second = isSent(object, field) ? name : others[0]
  if (second !== undefined) {
    const given = second === name ? `${field} is given too` : `so does ${name}`
    return [
      { pointer: `/${second}`, message: `means ${field}, and ${given}; send only one of them, preferably ${field}` }
    ]
  }
  replace(object, [name], field, object[name], notes)
  return []
}

/** Translates what to look for; `regex` may be a boolean that says how it is meant. */
function readPattern(object: Json, notes: Notes): InvalidField[] {
  const sent = [...Object.keys(object), ...[...notes.sentNames.values()].map(pointer => pointer.slice(1))]
  const isGrep = isSent(object, 'pattern') && OF_GREP.some(name => sent.includes(name))
  const flag =
    typeof object.regex === 'boolean' ? object.regex : isGrep && object.regex === undefined ? true : undefined
  const [name, ...others] = [...(flag === undefined ? [] : ['text']), ...PATTERNS].filter(one => isSent(object, one))
  if (name === undefined) return []
  const value = object[name]
  const own = ['text', 'regex', 'symbol'].filter(
    one => one !== name && isSent(object, one) && !(one === 'regex' && flag !== undefined)
  )
  const second = own.length > 0 ? name : others[0]
  if (second !== undefined) {
    const given = own.length > 0 ? `${listed(own)} is given too` : `so does ${name}`
    return [{ pointer: `/${second}`, message: `says what to find, and ${given}; send one of text, regex and symbol` }]
  }
  if (flag === undefined && !LITERAL.includes(name) && (typeof value !== 'string' || SPECIAL.test(value))) {
    const message =
      'may mean three things; send it as text (exact text), as regex, or as include (a glob of file names)'
    return [{ pointer: `/${name}`, message }]
  }
  if (flag !== undefined) Reflect.deleteProperty(object, 'regex')
  if (flag === true || name !== 'text') replace(object, [name], flag === true ? 'regex' : 'text', value, notes)
  else notes.warnings.add('regex false was left out: text is taken literally.')
  return []
}
