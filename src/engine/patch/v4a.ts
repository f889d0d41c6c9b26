// V4A, the diff of one file in OpenAI's apply_patch format: text in, hunks out. envelope.ts reads the envelope around
// the diffs of several files.
//
// Parsed as @openai/agents-core 0.20 does (`applyDiff`), but nothing is ignored:
// - a git hunk header (`@@ -1,2 +1,2 @@ text`) counts as `@@`. Its numbers aren't needed, since the old lines must
//   occur at one place only, and models count badly. As an anchor it would be a line that no file has;
// - `--- a/file` and `+++ b/file` are refused: as diff lines they would remove `-- a/file`;
// - `*** End Patch` may end the diff, as in agents-core; any other envelope line is refused.
import { fail, ok, type Result } from '../../result.ts'
import { ANY_BREAK } from '../text/lines.ts'
import {
  faultOfLength,
  isFence,
  patchFault,
  type PatchFault,
  type PatchFaultReason,
  patchBreak,
  patchLines
} from './fault.ts'
import type { Hunk, HunkLine } from './hunk.ts'

export const BEGIN_PATCH = '*** Begin Patch'
export const END_PATCH = '*** End Patch'
export const END_OF_FILE = '*** End of File'

/** The start of a git hunk header; text may follow it. */
export const GIT_HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/
/** A line of git above the `---` and `+++` lines. */
export const GIT_FILE =
  /^(?:diff --git |index [0-9a-f]+\.\.[0-9a-f]+|(?:new|deleted) file mode |similarity index |rename (?:from|to) )/

const KINDS: Record<string, HunkLine['kind']> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/**
 * Parses the diff of a changed file into hunks: `@@` lines (with a text, an anchor), lines that begin with ` `, `-` or
 * `+`, and `*** End of File`. The first hunk needs no `@@`; an empty line is an empty kept line; the marker of a line
 * applies to all lines that a lone `\r` splits it into. Blank lines before the first `@@` are ignored. Fails with the
 * first line that is none of these, with a hunk without lines, or if nothing is added or removed. Linear.
 */
export function parseDiff(diff: string): Result<Hunk[], PatchFault> {
  const tooLong = faultOfLength(diff)
  if (tooLong !== null) return fail(tooLong)
  const hunks: Hunk[] = []
  let open: { anchors: string[]; lines: HunkLine[]; patch_line: number } | undefined
  /** Empty lines that may turn out to begin a hunk. */
  let blanks = 0
  let number = 0
  let previous = ''
  for (const { text } of patchLines(diff)) {
    number++
    if (previous.trimEnd() === END_PATCH) {
      if (text.trim() === '') continue
      return fail(patchFault('envelope_line', number - 1, previous))
    }
    if (text.startsWith('@@')) {
      if (open !== undefined && open.lines.length > 0) {
        hunks.push({ ...open, at_end: false })
        open = undefined
      }
      open ??= { anchors: [], lines: [], patch_line: number }
      blanks = 0
      const anchor = anchorOf(text)
      if (anchor === undefined) return fail(patchFault('no_space_after_marker', number, text))
      if (anchor !== '') open.anchors.push(anchor)
    } else if (text.trimEnd() === END_OF_FILE) {
      if (open === undefined || open.lines.length === 0) return fail(patchFault('empty_hunk', number, text))
      hunks.push({ ...open, at_end: true })
      open = undefined
    } else if (text === '' && open === undefined) blanks++
    else if (text.trimEnd() !== END_PATCH) {
      const fault = faultOf(text, hunks.length === 0 && open?.lines.length === 1 ? previous : '')
      if (fault !== undefined) return fail(patchFault(fault, number, text))
      if (hunks.at(-1)?.at_end === true && open === undefined) {
        return fail(patchFault('after_end_of_file', number, text))
      }
      open ??= {
        anchors: [],
        lines: Array.from({ length: blanks }, () => ({ kind: 'keep', text: '' })),
        patch_line: number - blanks
      }
      const kind = KINDS[text[0] ?? ' ']!
      for (const part of text.slice(1).split(ANY_BREAK)) open.lines.push({ kind, text: part })
    }
    previous = text
  }
  if (open?.lines.length === 0) return fail(patchFault('empty_hunk', number, previous))
  if (open !== undefined) hunks.push({ ...open, at_end: false })
  const changes = hunks.some(({ lines }) => lines.some(({ kind }) => kind !== 'keep'))
  return changes ? ok(hunks) : fail(patchFault('no_change', 1, patchLines(diff).next().value?.text))
}

/** The text of a `@@` line; empty if there is none, undefined if the space before it is missing. */
function anchorOf(line: string): string | undefined {
  if (GIT_HUNK.test(line)) return ''
  const text = line.slice(2)
  if (text.trim() === '') return ''
  return text.startsWith(' ') ? text.slice(1) : undefined
}

/** Why a line isn't a line of a hunk. `previous`: the only line before it, if it is the second of the diff. */
function faultOf(line: string, previous: string): PatchFaultReason | undefined {
  if (GIT_FILE.test(line) || (line.startsWith('+++ ') && previous.startsWith('--- '))) return 'git_header'
  if (line === '' || KINDS[line[0]!] !== undefined) return undefined
  if (isFence(line)) return 'fence'
  if (line.startsWith('*** ')) return 'envelope_line'
  return line.startsWith('\\ No newline') ? 'newline_note' : 'no_marker'
}

/**
 * The content of a new file: every line of the diff begins with `+`, and its break is that of the diff. An empty diff
 * is an empty file. Fails with the first line without `+`. Linear.
 */
export function parseNewFile(diff: string): Result<string, PatchFault> {
  const tooLong = faultOfLength(diff)
  if (tooLong !== null) return fail(tooLong)
  const lineBreak = patchBreak(diff)
  const lines: string[] = []
  let number = 0
  let ended: string | undefined
  for (const { text } of patchLines(diff)) {
    number++
    if (ended !== undefined) {
      if (text.trim() === '') continue
      return fail(patchFault('envelope_line', number - 1, ended))
    }
    if (text.startsWith('+')) lines.push(`${text.slice(1)}${lineBreak}`)
    else if (text.trimEnd() === END_PATCH) ended = text
    else return fail(patchFault(isFence(text) ? 'fence' : 'not_added', number, text))
  }
  return ok(lines.join(''))
}
