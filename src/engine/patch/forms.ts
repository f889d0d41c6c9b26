// The forms in which models write a patch or a diff although the format doesn't have them, where they have one meaning:
// as they are, none of these can be read. Turns them into the format's own. Does not know hunks.
import { patchLines } from './fault.ts'
import { BEGIN_PATCH, END_PATCH, GIT_FILE, GIT_HUNK } from './v4a.ts'

/**
 * What was turned. `indented`: every line was indented by the same white space; `escaped_breaks`: `\n` stood for each
 * line break; `more_envelopes`: another patch followed the first; `git_header`: `---` and `+++` lines were before `@@`.
 */
export type PatchForm = 'indented' | 'escaped_breaks' | 'more_envelopes' | 'git_header'

/** `text`: in the format's own form, with each line at its number; `forms`: what was turned, in that order. */
export interface Turned {
  text: string
  forms: PatchForm[]
}

/** Turns a patch of several files. Linear. */
export function turnPatch(patch: string): Turned {
  return turned(patch, [
    ['escaped_breaks', text => (/^\s*"?\*\*\* Begin Patch *(?:\\r)?\\n/.test(text) ? withBreaks(text) : text)],
    ['indented', text => withoutIndentation(text, /^\*\*\* Begin Patch[^\S\n]*$/m)],
    ['more_envelopes', asOneEnvelope]
  ])
}

/** Turns the diff of one file that is changed. Linear. */
export function turnDiff(diff: string): Turned {
  return turned(diff, [
    ['escaped_breaks', text => (/^@@.*\\n/.test(text) ? withBreaks(text) : text)],
    ['indented', text => withoutIndentation(text, /^@@/m)]
  ])
}

function turned(text: string, steps: readonly [form: PatchForm, turn: (text: string) => string][]): Turned {
  const forms: PatchForm[] = []
  for (const [form, turn] of steps) {
    const after = turn(text)
    if (after !== text) forms.push(form)
    text = after
  }
  return { text, forms }
}

/** A text of one line with the line breaks that its `\n` stand for; as it is if something else is escaped or not. */
function withBreaks(text: string): string {
  const line = text.trim()
  if (/[\n\r]/.test(line)) return text
  try {
    const value: unknown = JSON.parse(line.startsWith('"') ? line : `"${line}"`)
    return typeof value === 'string' ? value : text
  } catch {
    // Its quotation marks aren't escaped, so backslashes before other signs may be its own.
    return /\\(?!r?\\?n)/.test(line) ? text : line.replaceAll(/(?:\\r)?\\n/g, '\n')
  }
}

/**
 * A text without the spaces and tabs that all its lines begin with; only the first and blank ones may lack them. As it
 * is if `within` is in no line then: its lines may be those of the file.
 */
function withoutIndentation(text: string, within: RegExp): string {
  const lines = text.split('\n')
  const full = lines.flatMap(line => (line.trim() === '' ? [] : [line]))
  const indent = /^[ \t]*/.exec(full[1] ?? '')![0]
  if (indent === '' || full.some((line, i) => !line.startsWith(indent) && (i > 0 || /^\s/.test(line)))) return text
  const bare = lines.map(line => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart())).join('\n')
  return within.test(bare) ? bare : text
}

/** A text of several patches as one: the lines between them become blank ones. */
function asOneEnvelope(text: string): string {
  const lines = text.split('\n')
  let end = -1
  for (const [i, line] of lines.entries()) {
    if (line.trimEnd() === END_PATCH) end = i
    else if (line.trim() === BEGIN_PATCH && end !== -1) lines[end] = lines[i] = ''
    else if (line.trim() !== '') end = -1
  }
  return lines.join('\n')
}

/**
 * A diff without the header of git before its first `@@`, and of a new file without that line too; `lines`: how many
 * they were. Null if it has no such header, or one that names another file.
 */
export function withoutGitHeader(
  diff: string,
  { path, isNew = false }: { path: string; isNew?: boolean }
): { diff: string; lines: number } | null {
  let lines = 0
  const named: string[] = []
  for (const { text, start, next } of patchLines(diff)) {
    const isName = text.startsWith(named.length === 0 ? '--- ' : '+++ ') && named.length < 2
    if (isName) named.push(text.slice('--- '.length))
    else if (named.length === 2 && text.startsWith('@@')) {
      if (!named.every((name, i) => isNamed(name, path, isNew && i === 0))) return null
      if (!isNew) return { diff: diff.slice(start), lines }
      return GIT_HUNK.test(text) ? { diff: diff.slice(next), lines: lines + 1 } : null
    } else if (named.length > 0 || !(text.trim() === '' || GIT_FILE.test(text))) return null
    lines++
  }
  return null
}

/** Whether git's name of a file, with or without its `a/` or `b/` and a time, is that of a path. */
function isNamed(name: string, path: string, mayBeNone: boolean): boolean {
  const plain = name.replace(/\t.*$/, '').trim()
  if (mayBeNone && plain === '/dev/null') return true
  const whole = `/${path.replace(/^(?:\.\/)+/, '')}`
  return [plain, plain.replace(/^[ab]\//, '')].some(one => one !== '' && whole.endsWith(`/${one.replace(/^\.\//, '')}`))
}
