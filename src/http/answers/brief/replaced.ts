// What /replace did, or would do, as text for a model; and files with places of a text, in the form in which rg prints
// them. Does not know problems.
import type { ReplaceResult } from '../../../../schemas/replace.ts'
import type { FileWithPlaces } from '../../../operations/operation.ts'
import type { CallSyntax } from '../call-names.ts'
import { counted, sentences } from '../phrases.ts'
import { numberedMatches, oneLine } from './found.ts'
import { below, manyFiles } from './layout.ts'

/** The most warnings that are shown. */
const MAX_WARNINGS = 5

/** A file as a text shows it. */
type ShownFile = Omit<FileWithPlaces, 'matches'> & {
  matches?: FileWithPlaces['matches'] | undefined
  diff?: string | undefined
}

/** `message`: how many were replaced, or what to send. */
export function briefReplaced({ message, batch_id, results }: ReplaceResult, naming: CallSyntax): string {
  return below(
    sentences(message, batch_id === undefined ? '' : `batch_id: ${batch_id}`),
    filesListed(results, naming),
    ...warningsIn(results)
  )
}

/** A line for each file with its places, below it some places or the diff; as many as fit. */
export function filesListed(files: readonly ShownFile[], naming: CallSyntax): string {
  const takesHash = naming.takes('expected_hash')
  return manyFiles(
    files.map(({ path, file_hash, occurrences, matches = [], diff }) => ({
      head: `${oneLine(path)}${takesHash ? ` (${file_hash})` : ''}: ${occurrences}`,
      rest:
        diff?.trimEnd() ?? below(...numberedMatches(matches).map(({ text }) => text), placesLeft(occurrences, matches)),
      asked: diff !== undefined
    }))
  )
}

/** How many places of a file aren't shown, if some are; `shown` has the first and the last place. */
function placesLeft(all: number, shown: NonNullable<ShownFile['matches']>): string {
  const left = all - shown.length
  const isOnOneLine = shown[0]?.line_number === shown.at(-1)?.line_number
  return left === 0 || isOnOneLine ? '' : `${counted(left, 'more place')} not shown.`
}

/** The warnings of all files, each once. */
function warningsIn(results: ReplaceResult['results']): string[] {
  const paths = new Map<string, string[]>()
  for (const { path, warnings } of results) {
    for (const warning of warnings) paths.set(warning, [...(paths.get(warning) ?? []), path])
  }
  const shown = [...paths].slice(0, MAX_WARNINGS).map(([warning, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${counted(others.length, 'more file')}`
    return `Warning for ${first}${more}: ${warning}`
  })
  return paths.size > MAX_WARNINGS
    ? [...shown, `Not shown: ${counted(paths.size - MAX_WARNINGS, 'more warning')}.`]
    : shown
}
