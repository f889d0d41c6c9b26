// What POST /preview takes: one flat object of the fields of all operations that it computes. Knows only the wire
// format.
import { Type, type TObject, type TSchema } from 'typebox'
import { named, ref, requestPath, word } from './common.ts'
import { CreateRequestSchema } from './create.ts'
import { editLinesRequest, LineEdit } from './edit-lines.ts'
import { EditSectionRequestSchema } from './edit-section.ts'
import { editRequest, TextEdit } from './edit.ts'

export const PREVIEWED = ['edit', 'edit_lines', 'edit_section', 'create'] as const

/**
 * The fields of all these objects, each saying to which of them it belongs unless to all. What one requires, another
 * doesn't have: all are optional.
 */
function merged(objects: Record<string, TObject>): Record<string, TSchema> {
  const fields = new Set(Object.values(objects).flatMap(({ properties }) => Object.keys(properties)))
  return Object.fromEntries(
    [...fields].map(field => {
      const having = Object.entries(objects).filter(([, { properties }]) => field in properties)
      const told = new Map<string, string[]>()
      for (const [name, { properties }] of having) {
        const { description = '' } = properties[field] as { description?: string }
        told.set(description, [...(told.get(description) ?? []), name])
      }
      const isOfAll = told.size === 1 && having.length === Object.keys(objects).length
      const description = [...told].map(([text, names]) => (isOfAll ? text : `${names.join(', ')}: ${text}`)).join(' ')
      return [field, Type.Optional({ ...having[0]?.[1].properties[field], description })]
    })
  )
}

export const PreviewEdit = named(
  'PreviewEdit',
  'One edit: old_text and new_text with their options in edit; start_line, end_line, new_text and expected_text in edit_lines.',
  merged({ edit: TextEdit, edit_lines: LineEdit })
)

/** The request of /preview, where one request may hold this many edits. */
export function previewRequest(edits_max: number) {
  const { path, ...fields } = merged({
    edit: editRequest(edits_max),
    edit_lines: editLinesRequest(edits_max),
    edit_section: EditSectionRequestSchema,
    create: CreateRequestSchema
  })
  return named(
    'PreviewRequest',
    'One operation with its fields, to be computed and not carried out. A field of another operation is refused.',
    {
      operation: word([...PREVIEWED], 'What to preview.'),
      path: requestPath,
      ...fields,
      edits: Type.Optional(
        Type.Array(ref(PreviewEdit), {
          minItems: 1,
          maxItems: edits_max,
          description:
            'edit, edit_lines: several edits of this file, as the operation takes them. Not together with one at the top level.'
        })
      ),
      dry_run: Type.Optional(Type.Boolean({ enum: [true], description: 'May only be true: nothing is written here.' })),
      show_diff: Type.Optional(Type.Boolean({ description: 'Whether a unified diff is added (true if left out).' }))
    }
  )
}

/** Its fields have passed the schema of the operation that it names. */
export interface PreviewRequest {
  operation: (typeof PREVIEWED)[number]
  path: string
  expected_hash?: string
  show_diff?: boolean
  [field: string]: unknown
}
