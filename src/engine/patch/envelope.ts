// The envelope of codex's apply_patch: the diffs of several files between `*** Begin Patch` and `*** End Patch`.
//
// Parsed as codex does (codex-rs/apply-patch, parser.rs), including the lenient heredoc around it, but strictly: only
// blank lines may be before, between or after its parts. A truncated patch has no `*** End Patch`.
import { fail, ok, type Result } from '../../result.ts'
import { faultOfLength, isFence, patchFault, type PatchFault, type PatchLine, patchLines } from './fault.ts'
import { BEGIN_PATCH, END_OF_FILE, END_PATCH } from './v4a.ts'

/**
 * What a patch does to one file. `diff`: for `parseNewFile` or `parseDiff`; empty if a file is only moved.
 * `first_line`: the 1-based line of the patch that is line 1 of `diff`; for a deletion, its header line.
 */
export type FilePatch =
  | { kind: 'create'; path: string; diff: string; first_line: number }
  | { kind: 'update'; path: string; move_to?: string; diff: string; first_line: number }
  | { kind: 'delete'; path: string; first_line: number }

const FILE = /^\*\*\* (Add|Delete|Update) File:(.*)$/
const MOVE = /^\*\*\* Move to:(.*)$/
/** A command that takes the patch as its input, up to the line with the word. */
const HEREDOC = /^(?:apply_?patch\s+)?<<-?\s*(['"]?)(\w+)\1\s*$/

const isBlank = (line: PatchLine): boolean => line.text.trim() === ''

/**
 * The parts of a patch, in order; doesn't check whether two name the same file. Ignores blank lines around the envelope
 * and after a part. Fails with the first line that isn't allowed at its place. Linear.
 */
export function parsePatch(text: string): Result<FilePatch[], PatchFault> {
  const tooLong = faultOfLength(text)
  if (tooLong !== null) return fail(tooLong)
  const lines = [...patchLines(text)]
  const bounds = insideOf(lines)
  if (!bounds.ok) return bounds
  const files: FilePatch[] = []
  const { from, to } = bounds.value
  for (let at = from; at < to;) {
    if (isBlank(lines[at]!)) {
      at++
      continue
    }
    const part = partAt(text, lines, at, to)
    if (!part.ok) return part
    files.push(part.value.file)
    at = part.value.next
  }
  return files.length === 0 ? fail(faultAt(lines, to, 'no_files')) : ok(files)
}

const HEADERS = { create: 'Add', delete: 'Delete', update: 'Update' } as const

/** Writes parts as a patch that `parsePatch` can read. */
export function writePatch(files: readonly FilePatch[]): string {
  const parts = files.flatMap(file => {
    const header = `*** ${HEADERS[file.kind]} File: ${file.path}`
    if (file.kind === 'delete') return [header]
    const move = file.kind === 'update' && file.move_to !== undefined ? [`*** Move to: ${file.move_to}`] : []
    return [header, ...move, ...(file.diff === '' ? [] : [file.diff.replace(/\r?\n$/, '')])]
  })
  return [BEGIN_PATCH, ...parts, END_PATCH, ''].join('\n')
}

/** The range of lines between `*** Begin Patch` and `*** End Patch`, end exclusive. */
function insideOf(lines: readonly PatchLine[]): Result<{ from: number; to: number }, PatchFault> {
  let from = lines.findIndex(line => !isBlank(line))
  let to = lines.findLastIndex(line => !isBlank(line))
  if (from === -1) return fail(faultAt(lines, 0, 'no_begin'))
  const word = HEREDOC.exec(lines[from]!.text.trim())?.[2]
  if (word !== undefined) {
    if (lines[to]!.text.trim() !== word) return fail(faultAt(lines, to + 1, 'no_end'))
    do from++
    while (from < to && isBlank(lines[from]!))
    do to--
    while (to > from && isBlank(lines[to]!))
  }
  if (lines[from]!.text.trim() !== BEGIN_PATCH) {
    return fail(faultAt(lines, from, isFence(lines[from]!.text) ? 'fence' : 'no_begin'))
  }
  const exact = lines.findIndex(({ text }, index) => index > from && text.trimEnd() === END_PATCH)
  // Indented, it may be a kept line; but nothing follows the last one.
  const end = exact === -1 && lines[to]!.text.trim() === END_PATCH ? to : exact
  if (end === -1) return fail(faultAt(lines, to + 1, 'no_end'))
  const after = lines.findIndex((line, at) => at > end && !isBlank(line))
  if (end < to) return fail(faultAt(lines, after, 'after_end'))
  return ok({ from: from + 1, to: end })
}

/** The part whose header is line `at`, and the first line where the next one may begin. */
function partAt(
  text: string,
  lines: readonly PatchLine[],
  at: number,
  to: number
): Result<{ file: FilePatch; next: number }, PatchFault> {
  const header = lines[at]!.text.trim()
  const [, verb, named = ''] = FILE.exec(header) ?? []
  if (verb === undefined) {
    const reason = MOVE.test(header) ? 'misplaced_move' : header.startsWith('***') ? 'unknown_line' : 'no_file_line'
    return fail(faultAt(lines, at, reason))
  }
  const path = named.trim()
  if (path === '') return fail(faultAt(lines, at, 'no_path'))
  let first = at + 1
  const move = verb === 'Update' && first < to ? MOVE.exec(lines[first]!.text.trimEnd())?.[1]?.trim() : undefined
  if (move === '') return fail(faultAt(lines, first, 'no_path'))
  if (move === path) return fail(faultAt(lines, first, 'same_path'))
  if (move !== undefined) first++
  let next = first
  while (next < to && !isHeader(lines[next]!.text)) next++
  // Blank lines without a marker at the end of a part only separate it from the next part.
  let last = next
  while (last > first && lines[last - 1]!.text === '') last--
  const first_line = first + 1
  const diff = last === first ? '' : text.slice(lines[first]!.start, lines[last - 1]!.next)
  if (verb === 'Add') return ok({ file: { kind: 'create', path, diff, first_line }, next })
  if (verb === 'Update') {
    if (diff === '' && move === undefined) return fail(faultAt(lines, at, 'no_update'))
    return ok({ file: { kind: 'update', path, ...(move !== undefined && { move_to: move }), diff, first_line }, next })
  }
  const stray = lines.slice(first, last).findIndex(line => !isBlank(line))
  return stray === -1
    ? ok({ file: { kind: 'delete', path, first_line: at + 1 }, next })
    : fail(faultAt(lines, first + stray, 'lines_of_deleted'))
}

/** Whether a line ends the part before it: other lines of a diff begin with a marker, except the end-of-file line. */
const isHeader = (line: string): boolean => line.startsWith('***') && line.trimEnd() !== END_OF_FILE

const faultAt = (lines: readonly PatchLine[], index: number, reason: PatchFault['reason']): PatchFault =>
  patchFault(reason, index + 1, lines[index]?.text)
