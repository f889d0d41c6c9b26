// Translates calls of Anthropic's text editor and memory tools into calls of our operations. Does not know answers.
import type { TSchema } from 'typebox'
import type { Operations } from '../../operations.ts'
import { ok, type Result } from '../../result.ts'
import { invalidField, type Failure, type RequestFailure } from '../request-failure.ts'
import type { OwnCall } from './adapter.ts'
import { bodyReader } from './body-reader.ts'
import { TO_THE_END } from './text-editor-names.ts'

/** The fields of all commands; a call has some of them. */
export interface CommandFields {
  command: string
  path?: string
  view_range?: [number, number] | [number, number, number]
  old_str?: string
  new_str?: string
  file_text?: string
  insert_line?: number
  insert_text?: string
  old_path?: string
  new_path?: string
}

/** Translates a path from the model into ours. Fails if the tool can't have such a path. */
export type PathReader = (path: string) => Result<string, string>

/** Reads a call with the schema of its command; with `call` if there is no such command. */
export const commandReader = (
  call: TSchema,
  commands: Readonly<Record<string, TSchema>>
): ((body: unknown) => Result<CommandFields, Failure>) =>
  bodyReader(call, {}, fields => {
    const { command } = { ...(fields as object) } as { command?: unknown }
    return typeof command === 'string' && Object.hasOwn(commands, command) ? commands[command]! : call
  })

/** Translates a command into our call. `paths`: its paths in our names, in the order of its fields. */
type Translation = (
  fields: CommandFields,
  paths: readonly string[],
  operations: Operations
) => Result<OwnCall, RequestFailure>

const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  view({ view_range }, [path], { inspect }) {
    if (view_range === undefined) return ok({ operation: inspect, body: { path } })
    const [start_line, last, start_column] = view_range
    return ok({
      operation: inspect,
      body: {
        path,
        start_line,
        end_line: last === -1 ? TO_THE_END : last,
        ...(start_column !== undefined && { start_column })
      },
      sentNames: new Map([
        ['/start_line', '/view_range/0'],
        ['/end_line', '/view_range/1'],
        ['/start_column', '/view_range/2']
      ])
    })
  },
  str_replace: ({ old_str, new_str }, [path], { edit }) =>
    ok({
      operation: edit,
      body: { path, old_text: old_str, new_text: new_str },
      sentNames: new Map([
        ['/old_text', '/old_str'],
        ['/new_text', '/new_str']
      ])
    }),
  create: ({ file_text }, [path], { create }) =>
    ok({ operation: create, body: { path, content: file_text }, sentNames: new Map([['/content', '/file_text']]) }),
  insert({ insert_line, insert_text, new_str }, [path], { edit_lines }) {
    if (insert_text !== undefined && new_str !== undefined) {
      return invalidField('/new_str', 'means insert_text, which is given too; send only insert_text')
    }
    const new_text = insert_text ?? new_str
    if (new_text === undefined) return invalidField('/insert_text', 'is missing')
    const line = insert_line!
    return ok({
      operation: edit_lines,
      // An empty text inserts an empty line, as the vendor's own tool does.
      body: { path, start_line: line + 1, end_line: line, new_text: new_text === '' ? '\n' : new_text },
      sentNames: new Map([
        ['/start_line', '/insert_line'],
        ['/end_line', '/insert_line'],
        ['/new_text', insert_text === undefined ? '/new_str' : '/insert_text']
      ])
    })
  },
  undo_edit: (_fields, [path], { undo }) => ok({ operation: undo, body: { path } }),
  delete: (_fields, [path], operations) => ok({ operation: operations.delete, body: { path, recursive: true } }),
  rename: (_fields, [path, to], { move }) =>
    ok({
      operation: move,
      body: { path, to },
      sentNames: new Map([
        ['/path', '/old_path'],
        ['/to', '/new_path']
      ])
    })
}

/** Translates a call that was read into ours. */
export function ownCallOf(
  fields: CommandFields,
  operations: Operations,
  pathOf: PathReader
): Result<OwnCall, RequestFailure> {
  const paths: string[] = []
  for (const name of ['path', 'old_path', 'new_path'] as const) {
    const given = fields[name]
    if (given === undefined) continue
    const path = pathOf(given)
    if (!path.ok) return invalidField(`/${name}`, path.failure)
    paths.push(path.value)
  }
  return TRANSLATIONS[fields.command]!(fields, paths, operations)
}
