// What /find found as text for a model, in the form in which rg prints it. Does not know problems.
import type { FindRequest, FoundFileOnWire } from '../../../../schemas/find.ts'
import type { SearchMatch } from '../../../engine/inspect/match-lines.ts'
import { BY_TOOL, type CallSyntax, type ToolCall } from '../call-names.ts'
import { type FoundOutcome, type ShownMatches, cutFile, leftOut, stopped, whatWasFound } from '../find-outcome.ts'
import { counted } from '../phrases.ts'
import { below } from './layout.ts'

/**
 * UTF-16 units of the lines in one answer, so that it has at most 2,000 tokens (chosen; counted in
 * test/http/tool-tokens.test.ts). `max_lines` asks for more.
 */
const LENGTH = 5000
const LENGTH_ASKED = 40_000

/** A line of the answer. `file`: the index of its file; `shows`: how many matches, definitions or files it shows. */
interface TextLine {
  text: string
  file: number
  shows: number
}

/** What was found. `made`: the call that is answered. */
export function briefFound(found: FoundOutcome, made: ToolCall, naming: CallSyntax): string {
  const { outcome, sought } = found
  const { request, otherwise } = sought
  const { files } = outcome
  const send = (fields: object) => naming.write(BY_TOOL.find, { ...request, ...fields }, made)
  const [offer] = otherwise
  const all = files.flatMap((file, i) => linesOf(file, i, request, naming))
  const lines = within(all, request.max_lines === undefined ? LENGTH : LENGTH_ASKED)
  const last = lines.at(-1)?.file ?? -1
  const file = files[last]
  const shownIn = (index: number): ShownMatches => {
    const own = lines.filter(({ file, shows }) => file === index && shows > 0)
    return { matches: own.reduce((sum, { shows }) => sum + shows, 0), lines: own.length }
  }
  const shownInEach = files.map((_, i) => shownIn(i))
  const after = last < files.length - 1 ? (file!.after ?? file!.path) : outcome.next_after
  return below(
    whatWasFound(found, linesOfAll(found, shownInEach)),
    offer && below('Send:', send(offer.change)),
    ...lines.map(({ text }) => text),
    ...files.slice(0, last + 1).map((one, i) => cutFile(one, shownInEach[i]!, request)),
    stopped(outcome.truncated, ''),
    leftOut(outcome),
    after === undefined ? '' : below(`${moreFiles(found, last + 1)} To continue, send:`, send({ after }))
  )
}

/** On how many lines all matches are; undefined if some aren't shown. */
function linesOfAll({ outcome }: FoundOutcome, shown: readonly ShownMatches[]): number | undefined {
  const sum = (of: keyof ShownMatches) => shown.reduce((all, one) => all + one[of], 0)
  return sum('matches') === outcome.total_matches ? sum('lines') : undefined
}

function moreFiles({ outcome, sought }: FoundOutcome, shown: number): string {
  const more = outcome.total_files - shown
  // Those before `after` count too.
  return sought.request.after === undefined && more > 0
    ? `${counted(more, 'more file')} ${more === 1 ? 'is' : 'are'} not shown.`
    : 'There are more files.'
}

/** As many lines as fit, up to one that shows something; at least up to the first that does. */
function within(lines: readonly TextLine[], most: number): readonly TextLine[] {
  let length = 0
  const over = lines.findIndex(({ text }) => (length += text.length + 1) > most)
  if (over === -1) return lines
  const first = lines.findIndex(({ shows }) => shows > 0)
  const last = lines.findLastIndex(({ shows }, i) => shows > 0 && i < over)
  return lines.slice(0, Math.max(first, last) + 1)
}

function linesOf(
  file: FoundFileOnWire,
  index: number,
  { show = 'lines' }: FindRequest,
  naming: CallSyntax
): TextLine[] {
  const { file_hash, count = 0, matches, definitions } = file
  const path = oneLine(file.path)
  const lines =
    definitions?.map(({ start_line, end_line, kind, symbol, line_content }) => ({
      text: `${start_line}-${end_line} ${kind} ${symbol}: ${line_content.trim()}`,
      shows: 1
    })) ??
    (matches && numberedMatches(matches))
  if (lines === undefined) return [{ text: show === 'counts' ? `${path}: ${count}` : path, file: index, shows: 1 }]
  const hash = naming.takes('expected_hash') ? ` (${file_hash})` : ''
  return [{ text: `${path}${hash}`, shows: 0 }, ...lines].map(line => ({ ...line, file: index }))
}

/** `12: match`, `13- line around it`, and `--` where lines are left out between lines around matches. */
export function numberedMatches(matches: readonly SearchMatch[]): Omit<TextLine, 'file'>[] {
  const lines = new Map<number, { text: string; shows: number }>()
  const add = (line_number: number, texts: readonly string[]) => {
    for (const [i, text] of texts.entries()) {
      if (!lines.has(line_number + i)) lines.set(line_number + i, { text, shows: 0 })
    }
  }
  for (const { line_number, line_content, context_before = [] } of matches) {
    add(line_number - context_before.length, context_before)
    const known = lines.get(line_number)?.shows ?? 0
    lines.set(line_number, { text: line_content, shows: known + 1 })
  }
  for (const { line_number, context_after = [] } of matches) add(line_number + 1, context_after)
  const isGrouped = matches.some(({ context_before, context_after }) => (context_before ?? context_after) !== undefined)
  return [...lines]
    .sort(([a], [b]) => a - b)
    .flatMap(([number, { text, shows }]) => {
      const line = { text: `${number}${shows > 0 ? ':' : '-'} ${text}`, shows }
      const follows = number === 1 || lines.has(number - 1)
      return isGrouped && !follows ? [{ text: '--', shows: 0 }, line] : [line]
    })
    .filter(({ text }, i) => i > 0 || text !== '--')
}

/** A path on one line: in quotes if it has a line break or another control character. */
export const oneLine = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)
