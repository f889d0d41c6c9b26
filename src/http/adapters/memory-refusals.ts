// The sentences with which Anthropic's own memory tool refuses a command, as of @anthropic-ai/sdk 1.12. Does not know
// what else a problem says.
import type { Problem } from '../../../schemas/problem.ts'
import { cut } from '../answers/phrases.ts'
import type { CommandFields } from './text-editor-call.ts'

/** The longest old_str that is said again, in UTF-16 units. */
const OLD_TEXT = 200

/** The vendor's sentence for a problem of a command; undefined where it has none. */
export function memoryRefusal(fields: CommandFields, problem: Problem): string | undefined {
  const { command, path, old_str = '', old_path, new_path, insert_line } = fields
  const old = `old_str \`${cut(old_str, OLD_TEXT)}\``
  switch (problem.code) {
    case 'NO_MATCH':
      return `No replacement was performed, ${old} did not appear verbatim in ${path}.`
    case 'WRONG_COUNT':
      return (
        `No replacement was performed. Multiple occurrences of ${old} in lines: ` +
        `${(problem.match_lines ?? []).join(', ')}. Please ensure it is unique`
      )
    case 'FILE_NOT_FOUND':
      return command === 'delete' || command === 'rename'
        ? `The path ${old_path ?? path} does not exist`
        : `The path ${path} does not exist. Please provide a valid path.`
    case 'NOT_A_FILE':
      return command === 'rename' || command === 'delete' ? undefined : `The path ${path} is not a file.`
    case 'ALREADY_EXISTS':
      return command === 'rename' ? `The destination ${new_path} already exists` : `File ${path} already exists`
    case 'LINE_OUT_OF_RANGE':
      return command === 'insert'
        ? `Invalid \`insert_line\` parameter: ${insert_line}. ` +
            `It should be within the range of lines of the file: [0, ${problem.total_lines}]`
        : undefined
    default:
      return undefined
  }
}
