// The sentences about what /find found, or what would find something. Does not know problems.
import { MAX_LINES, type FindRequest, type FoundFileOnWire } from '../../../schemas/find.ts'
import type { FoundOtherwise, Outcome } from '../../operations/operation.ts'
import { isForSeveralLines } from '../../engine/inspect/across-lines.ts'
import { oneLineAtATime } from './inspect-outcome.ts'
import { counted, cut, ECHO_MAX, listed, quote, sentences, timesOn } from './phrases.ts'

export type FoundOutcome = Extract<Outcome, { operation: 'find' }>

export const findMessage = (found: FoundOutcome): string => sentences(whatWasFound(found), ...whatIsLeft(found))

/**
 * What was found, in one sentence; if no file was, also what would find something. `lines`: on how many lines all
 * matches are shown below it.
 */
export function whatWasFound({ outcome, sought }: FoundOutcome, lines = outcome.total_matches): string {
  const { total_files, total_matches, truncated } = outcome
  const { request } = sought
  // The total counts those before it too.
  if (request.after !== undefined && outcome.files.length === 0 && truncated === undefined) {
    return `There is nothing more after ${quote(request.after, ECHO_MAX)}.`
  }
  if (total_files === 0) return nothingFound({ outcome, sought })
  const atLeast = truncated === 'time' || truncated === 'size' ? 'at least ' : ''
  const inFiles = `in ${counted(total_files, 'file')}`
  if (request.symbol !== undefined) {
    const are = total_matches === 1 ? 'There is' : 'There are'
    return `${are} ${atLeast}${counted(total_matches, 'definition')} of ${quote(request.symbol)} ${inFiles}.`
  }
  const text = request.text ?? request.regex
  return text === undefined
    ? `Found ${atLeast}${counted(total_files, 'file')}.`
    : `${quote(text)} was found ${atLeast}${timesOn(total_matches, lines)} ${inFiles}.`
}

function nothingFound({ outcome, sought }: Pick<FoundOutcome, 'outcome' | 'sought'>): string {
  const { searched_files, truncated, path, skipped } = outcome
  const { request, otherwise } = sought
  const { text, regex, symbol, ignored } = request
  const wanted = text ?? regex
  const where = path === '.' ? '' : ` in ${path}`
  const so = truncated === undefined ? '' : ' so far'
  if (searched_files === 0 && skipped.binary > 0) return `There is no text file to search${where}.`
  const isNone = searched_files === 0 && truncated === undefined
  const what =
    isNone || (wanted ?? symbol) === undefined
      ? `There is no file${where}${globsIn(request)}${so}.`
      : wanted === undefined
        ? `No definition of ${quote(symbol!)} was found${where}${so}.`
        : `${quote(wanted)} was not found${where}${so}.`
  const were = searched_files === 1 ? 'file was' : 'files were'
  const looked = isNone ? '' : `${searched_files} ${were} searched`
  const left = ignored === true ? '' : `${looked === '' ? 'W' : '; w'}hat .gitignore excludes was left out`
  return sentences(
    what,
    `${looked}${left}`.replace(/.$/, '$&.'),
    regex === undefined ? '' : oneLineAtATime({ text: regex, for_several_lines: isForSeveralLines(regex) }),
    ...otherwise.map(offered)
  )
}

function globsIn({ include, exclude }: FindRequest): string {
  const said = (field: string, value: FindRequest['include']) =>
    value === undefined ? [] : [`${field} ${quote(typeof value === 'string' ? value : value.join(', '))}`]
  const all = [...said('include', include), ...said('exclude', exclude)]
  return all.length === 0 ? '' : ` for ${listed(all)}`
}

/** What another request finds. */
function offered({ change, total_files, total_matches, stopped }: FoundOtherwise): string {
  const atLeast = stopped ? 'at least ' : ''
  const files = counted(total_files, 'file')
  const finds = total_matches === 0 ? files : `${counted(total_matches, 'time')} in ${files}`
  return `${changedTo(change)}: found ${atLeast}${finds}.`
}

/** `With ignore_case: true`, `Without include and exclude`. */
export function changedTo(change: FoundOtherwise['change']): string {
  if (change.text !== undefined) return `With text: ${JSON.stringify(cut(change.text, 200))}`
  const [[field, value]] = Object.entries(change) as [[string, unknown]]
  return value === undefined ? `Without ${listed(Object.keys(change))}` : `With ${field}: ${JSON.stringify(value)}`
}

/** How many matches or definitions of a file are listed, and on how many lines. */
export interface ShownMatches {
  matches: number
  lines: number
}

/** What is listed as JSON: each match by itself. */
export function shownOf({ matches, definitions }: FoundFileOnWire): ShownMatches {
  const { length } = matches ?? definitions ?? []
  return { matches: length, lines: length }
}

/** What the answer leaves out, and how to go on. */
function whatIsLeft({ outcome, sought }: FoundOutcome): string[] {
  const { files, total_files, truncated, next_after } = outcome
  const goOn = next_after === undefined ? '' : `: continue with after ${JSON.stringify(next_after)}`
  const are = `${counted(files.length, 'file')} ${files.length === 1 ? 'is' : 'are'} listed`
  return [
    ...files.map(file => cutFile(file, shownOf(file), sought.request)),
    truncated === 'limit' && files.length < total_files ? `${are}${goOn}.` : '',
    stopped(truncated, goOn),
    leftOut(outcome)
  ]
}

/** That only some matches of a file are listed; empty if all are, or none because of `show`. */
export function cutFile(
  { path, count }: FoundFileOnWire,
  { matches: shown, lines }: ShownMatches,
  { symbol, show = 'lines' }: FindRequest
): string {
  if (count === undefined || show !== 'lines' || shown === count) return ''
  const how =
    count <= MAX_LINES
      ? `to get all, send path ${JSON.stringify(path)} and max_lines ${count}`
      : symbol === undefined
        ? 'to find fewer, send a longer text'
        : 'to find fewer, send a longer path of names'
  const on = lines === shown ? '' : `, on ${counted(lines, 'line')}`
  return `${shown} of ${count} ${symbol === undefined ? 'matches' : 'definitions'} in ${quote(path, ECHO_MAX)} ${shown === 1 ? 'is' : 'are'} listed${on}; ${how}.`
}

/** Why looking was stopped, and how to go on. */
export const stopped = (truncated: FoundOutcome['outcome']['truncated'], goOn: string): string =>
  truncated === 'time'
    ? `Looking was stopped after ten seconds, so there may be more${goOn}.`
    : truncated === 'size'
      ? `There was too much to read for one request, so there may be more${goOn}.`
      : ''

/** The files that could not be listed, though they hold what was sought. */
export function leftOut({ skipped }: Pick<FoundOutcome['outcome'], 'skipped'>): string {
  const { binary, too_large, unreadable, unparsed = 0 } = skipped
  const all = [
    ...(binary > 0 ? [counted(binary, 'binary file')] : []),
    ...(too_large > 0 ? [`${counted(too_large, 'file')} over the size limit`] : []),
    ...(unreadable > 0 ? [`${counted(unreadable, 'file')} that could not be read`] : []),
    ...(unparsed > 0 ? [`${counted(unparsed, 'file')} that could not be parsed`] : [])
  ]
  return all.length === 0 ? '' : `Not listed: ${listed(all)}.`
}
