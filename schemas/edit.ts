// What POST /edit takes. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { hash, named, ref, requestPath, word } from './common.ts'

const oldText = Type.String({ minLength: 1, description: 'The exact text to replace, copied from the file: every space, tab and line break counts. Must fit exactly one place, unless occurrences, replace_all or occurrence says otherwise.' })
const newText = Type.String({ description: 'The text to put in its place, taken literally. An empty string deletes exactly the matched text.' })
const selectors = {
  occurrences: Type.Optional(Type.Integer({ minimum: 1, description: 'How many matches there must be (1 if left out); all of them are replaced. Prefer more context in old_text over a count.' })),
  replace_all: Type.Optional(Type.Boolean({ description: 'true: replace every match, however many there are (at least one).' })),
  occurrence: Type.Optional(Type.Unsafe<'first' | 'last' | 'all' | number>({
    anyOf: [{ type: 'string', enum: ['first', 'last', 'all'] }, { type: 'integer', minimum: 1 }],
    description: 'Replace this one of several matches: first, last, all, or its number counted from 1.'
  }))
}

/** The fields of one edit that may also stand at the top level. */
export const SINGLE_FIELDS = ['old_text', 'new_text', 'occurrences', 'replace_all', 'occurrence'] as const

export const TextEdit = named('TextEdit', 'One replacement of exact text.', { old_text: oldText, new_text: newText, ...selectors })

/** The request of /edit, where one request may hold this many edits. */
export const editRequest = (edits_max: number) => named('EditRequest', 'Replace exact text in one file: either old_text and new_text here, or several such edits in edits.', {
  path: requestPath,
  old_text: Type.Optional(oldText),
  new_text: Type.Optional(newText),
  ...selectors,
  edits: Type.Optional(Type.Array(ref(TextEdit), { minItems: 1, maxItems: edits_max, description: 'Several edits of this file, applied in order, each on the result of those before it; all or nothing. Not together with old_text at the top level.' })),
  expected_hash: Type.Optional(hash('The file_hash of your last answer about this file. If the file has changed since, nothing is written and the answer is STALE_FILE.')),
  dry_run: Type.Optional(Type.Boolean({ description: 'true: compute and check everything, write nothing (false if left out).' })),
  show_diff: Type.Optional(Type.Boolean({ description: 'true: add a unified diff to the answer (false if left out).' })),
  max_diff_lines: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: 'A longer diff is cut (100 if left out).' })),
  context_lines: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: 'Unchanged lines shown around each change (3 if left out).' })),
  line_endings: Type.Optional(word(['adapt', 'exact'], 'adapt (if left out): a line break in old_text matches any kind, and new_text is written with those of the file. exact: bytes as given.'))
})

export type EditRequest = Static<ReturnType<typeof editRequest>>
