// Anthropic's text editor and memory tools: each call runs our operations, and the answer is what the vendor's own tool
// would say. Does not know how a command is translated, or routes.
import type { TSchema } from 'typebox'
import { MEMORY_COMMANDS, MemoryCall, TEXT_EDITOR_COMMANDS, TextEditorCall } from '../../../schemas/adapters.ts'
import type { Problem } from '../../../schemas/problem.ts'
import type { ChangeOutcome, InspectOutcome } from '../../operations/operation.ts'
import type { Operations } from '../../operations.ts'
import { fail, ok } from '../../result.ts'
import { below } from '../answers/brief/layout.ts'
import type { CallSyntax } from '../answers/call-names.ts'
import { cut } from '../answers/phrases.ts'
import { invalidField } from '../request-failure.ts'
import { SUCCESS, type Answer } from '../answers/problem.ts'
import { caller, type CallAnswer, type Done } from '../call.ts'
import {
  type Adapter,
  type AdapterAnswer,
  type AdapterContext,
  carryOutOwn,
  completed,
  failed,
  isDone,
  refusedCall
} from './adapter.ts'
import { directoryShown, emptyDirectory, type ListDirectory } from './listing.ts'
import { type CommandFields, commandReader, ownCallOf, type PathReader } from './text-editor-call.ts'
import { BY_TEXT_EDITOR, textEditorNames } from './text-editor-names.ts'
import { fileShown, removalShown, snippetOf } from './text-editor-output.ts'

type Sentences = Readonly<Record<string, (fields: CommandFields, snippet: string) => string>>

/** What differs between the two tools. */
interface Editor {
  call: TSchema
  commands: Readonly<Record<string, TSchema>>
  naming: CallSyntax
  pathOf: PathReader
  /** The answer to a change, by command. `snippet`: the lines in question, with their numbers. */
  sentences: Sentences
  /** The vendor's sentence for a problem, put before ours. */
  refusalOf?: (fields: CommandFields, problem: Answer['body']) => string | undefined
  /** The directory, as shown, that counts as empty while it doesn't exist. */
  own?: string
  /** Its path in our names: folders in it that become empty go. */
  root?: string
}

const SNIPPET = 'Here is the snippet showing the change (with line numbers):'
const created = ({ path }: CommandFields) => `File created successfully at: ${path}`

const TEXT_EDITOR_SENTENCES: Sentences = {
  create: created,
  str_replace: ({ path }, snippet) => below(`The file ${path} has been edited. ${SNIPPET}`, snippet),
  insert: ({ path }, snippet) => below(`The file ${path} has been edited. ${SNIPPET}`, snippet),
  undo_edit: ({ path }, snippet) => below(`The last edit of ${path} was undone. ${SNIPPET}`, snippet)
}

// Taken from @anthropic-ai/sdk 1.12, tools/memory/node.
const MEMORY_SENTENCES: Sentences = {
  create: created,
  str_replace: (_fields, snippet) => below(`The memory file has been edited. ${SNIPPET}`, snippet),
  insert: ({ path }) => `The file ${path} has been edited.`,
  delete: ({ path }) => `Successfully deleted ${path}`,
  rename: ({ old_path, new_path }) => `Successfully renamed ${old_path} to ${new_path}`
}

const MEMORIES = '/memories'

/** Translates a memory's path into ours, below the folder of all memories. `..` would lead out of it. */
const memoryPath =
  (root: string): PathReader =>
  path => {
    if (path !== MEMORIES && !path.startsWith(`${MEMORIES}/`)) {
      const meant = path
        .replace(/^[a-z]:(?=[\\/])/i, '')
        .replaceAll('\\', '/')
        .replace(/^(?:\.?\/)*/, '/')
      const isClear = meant === MEMORIES || meant.startsWith(`${MEMORIES}/`)
      return fail(`must be ${MEMORIES} or begin with ${MEMORIES}/${isClear ? `; send ${JSON.stringify(meant)}` : ''}`)
    }
    return path.split('/').includes('..')
      ? fail(`must not contain "..", which leads out of ${MEMORIES}`)
      : ok(`${root}${path.slice(MEMORIES.length)}`)
  }

/** Translates our path into the memory tool's; our root becomes the directory of all memories. */
const memoryShown =
  (root: string) =>
  (path: string): string | undefined => {
    if (path === '.' || path === root) return MEMORIES
    return path.startsWith(`${root}/`) ? `${MEMORIES}${path.slice(root.length)}` : undefined
  }

/** Anthropic's str_replace_based_edit_tool. */
export const textEditor = (operations: Operations): Adapter => ({
  id: 'anthropic_text_editor',
  route: '/adapters/anthropic-text-editor',
  summary: "Carry out a call of Anthropic's text editor tool",
  description:
    'Takes the input of a call of str_replace_based_edit_tool (text_editor_20250728 and its earlier versions) as the ' +
    'model gave it. Give the model output as the content of the tool_result, with is_error.',
  request: TextEditorCall,
  answer: editor(operations, {
    call: TextEditorCall,
    commands: TEXT_EDITOR_COMMANDS,
    naming: BY_TEXT_EDITOR,
    pathOf: ok,
    sentences: TEXT_EDITOR_SENTENCES
  })
})

/** Anthropic's memory tool; `root`: the folder of the memories, relative to the workspace's root. */
export const memoryTool = (operations: Operations, root: string): Adapter => ({
  id: 'anthropic_memory',
  route: '/adapters/anthropic-memory',
  summary: "Carry out a call of Anthropic's memory tool",
  description:
    'Takes the input of a call of memory (memory_20250818) as the model gave it; its /memories is a folder of the ' +
    'workspace. Give the model output as the content of the tool_result, with is_error.',
  request: MemoryCall,
  answer: editor(operations, {
    call: MemoryCall,
    commands: MEMORY_COMMANDS,
    naming: textEditorNames({ pathShown: memoryShown(root) }),
    pathOf: memoryPath(root),
    sentences: MEMORY_SENTENCES,
    refusalOf: memoryRefusal,
    own: MEMORIES,
    root
  })
})

function editor(operations: Operations, tool: Editor): Adapter['answer'] {
  const { naming, pathOf, sentences, refusalOf, own, root } = tool
  const read = commandReader(tool.call, tool.commands)
  const refused = (answer: Answer, fields?: CommandFields) => {
    const sentence = fields === undefined ? undefined : refusalOf?.(fields, answer.body)
    return failed(answer, below(sentence, answer.text()))
  }
  const isOwn = (path: string | undefined) => path?.replace(/\/+$/, '') === own
  /** Whether the call lists the tool's own directory, which is only created when something is put into it. */
  const listsOwn = ({ command, path }: CommandFields) => command === 'view' && isOwn(path)
  /** The field by which the call would take the tool's own directory away. */
  const takenOwn = ({ command, path, old_path }: CommandFields) =>
    command === 'delete' && isOwn(path) ? '/path' : command === 'rename' && isOwn(old_path) ? '/old_path' : undefined

  async function outputOf(fields: CommandFields, { value, body }: Done, context: AdapterContext): Promise<string> {
    const warnings = (body.warnings ?? []).map(warning => `Warning: ${warning}`)
    switch (value.operation) {
      case 'inspect':
        return value.outcome.type === 'file'
          ? fileShown(value.outcome, fields.path!)
          : directoryShown(value.outcome, namesOf(fields.path!, value.outcome), lister(operations, context))
      case 'undo':
        return value.outcome.results.some(({ removed }) => removed)
          ? below(removalShown(fields, value.outcome, naming), ...warnings)
          : changeShown(fields, value.outcome.results[0]!, body.message, warnings)
      case 'edit':
      case 'edit_lines':
      case 'create':
        return changeShown(fields, value.outcome, body.message, warnings)
      default:
        return below(sentences[fields.command]!(fields, ''), ...warnings)
    }
  }

  function changeShown(
    fields: CommandFields,
    outcome: Pick<ChangeOutcome, 'changed' | 'changed_lines' | 'more_places'>,
    message: string,
    warnings: readonly string[]
  ): string {
    const what = outcome.changed ? sentences[fields.command]!(fields, snippetOf(outcome)) : message
    return below(what, ...warnings)
  }

  return async (body, context): Promise<AdapterAnswer> => {
    const fields = read(body)
    if (!fields.ok) return withError(refused(refusedCall(fields.failure, naming, context)))
    const taken = takenOwn(fields.value)
    const call =
      taken === undefined
        ? ownCallOf(fields.value, operations, pathOf)
        : invalidField(taken, `is ${own}, the directory of this tool; name what is in it`)
    if (!call.ok) return withError(refused(refusedCall(call.failure, naming, context), fields.value))
    const answer: CallAnswer = await carryOutOwn(call.value, naming, { ...context, clears_below: root })
    if (isDone(answer)) return withError(completed(answer, await outputOf(fields.value, answer, context)))
    if (answer.body.code === 'FILE_NOT_FOUND' && listsOwn(fields.value)) {
      return withError({ status: SUCCESS, headers: {}, body: { status: 'completed', output: emptyDirectory(own!) } })
    }
    return withError(refused(answer, fields.value))
  }
}

/** A directory's path in our names, and as it is shown. */
const namesOf = (sent: string, { path }: InspectOutcome) => ({ path, shown: sent.replace(/(?<=.)\/+$/, '') })

/** Lists a page of a directory. Only the call itself is logged, not these reads. */
const lister =
  ({ inspect }: Operations, { onAnswer: _, ...context }: AdapterContext): ListDirectory =>
  async (path, after) => {
    const body = { path, ...(after !== undefined && { after }) }
    const answer = await caller(inspect)({ ...context, body })
    return isDone(answer) && answer.value.operation === 'inspect' ? answer.value.outcome : undefined
  }

/** Adds the error marker of a tool_result. */
const withError = ({ body, ...answer }: AdapterAnswer): AdapterAnswer => ({
  ...answer,
  body: { ...body, is_error: body.status === 'failed' }
})

/** The longest old_str that is quoted, in UTF-16 units. */
const OLD_TEXT = 200

/**
 * The sentence with which Anthropic's own memory tool refuses a command, from @anthropic-ai/sdk 1.12; undefined: it has
 * none.
 */
function memoryRefusal(fields: CommandFields, problem: Problem): string | undefined {
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
      if (command === 'rename' && problem.path === new_path) return `The destination ${new_path} already exists`
      return command === 'rename' || command === 'delete' ? undefined : `The path ${path} is not a file.`
    case 'ALREADY_EXISTS':
      return command === 'rename' ? `The destination ${new_path} already exists` : `File ${path} already exists`
    case 'INVALID_REQUEST':
      return (old_path ?? path)?.replace(/\/+$/, '') === MEMORIES && (command === 'delete' || command === 'rename')
        ? `Cannot ${command} the ${MEMORIES} directory itself`
        : undefined
    case 'LINE_OUT_OF_RANGE':
      return command === 'insert'
        ? `Invalid \`insert_line\` parameter: ${insert_line}. ` +
            `It should be within the range of lines of the file: [0, ${problem.total_lines}]`
        : undefined
    default:
      return undefined
  }
}
