// What POST /preview accepts: one flat object with the fields of all operations it can compute. Knows only the wire
// format.
import type { TObject, TSchema } from 'typebox'
import { Type } from './type.ts'
import { named, ref, requestPath, word, madeOnce } from './common.ts'
import { CreateRequestSchema } from './create.ts'
import { DeleteRequestSchema } from './delete.ts'
import { editLinesRequest, LineEdit } from './edit-lines.ts'
import { EditSectionRequestSchema } from './edit-section.ts'
import { lineEndings } from './change-fields.ts'
import { MoveRequestSchema } from './move.ts'
import { ADAPTED, editRequest, TextEdit } from './edit.ts'

export const PREVIEWED = ['edit', 'edit_lines', 'edit_section', 'create', 'delete', 'move'] as const

/**
 * The fields of all these objects. The description names the objects that have the field, unless all do. Every field is
 * optional, since what one object requires another may lack.
 */
function merged(objects: Record<string, TObject>): Record<string, TSchema> {
  const fields = new Set(Object.values(objects).flatMap(({ properties }) => Object.keys(properties)))
  return Object.fromEntries(
    [...fields].map(field => {
      const having = Object.entries(objects).filter(([, { properties }]) => field in properties)
      const texts = new Set(
        having.map(([, { properties }]) => (properties[field] as { description?: string }).description)
      )
      const isOfAll = texts.size === 1 && having.length === Object.keys(objects).length
      // The field is described in its operation; repeating that here would be a tenth of the published document.
      const description = isOfAll ? [...texts].join('') : `As in ${having.map(([name]) => name).join(', ')}.`
      return [field, Type.Optional({ ...having[0]?.[1].properties[field], description })]
    })
  )
}

export const PreviewEdit = named(
  'PreviewEdit',
  'One edit. edit: old_text and new_text with their options. ' +
    'edit_lines: start_line, end_line, new_text and expected_text.',
  merged({ edit: TextEdit, edit_lines: LineEdit })
)

/** The request of /preview; `edits_max` bounds its edits. */
export const previewRequest = madeOnce((edits_max: number) => {
  const { path, idempotency_key, ...fields } = merged({
    edit: editRequest(edits_max),
    edit_lines: editLinesRequest(edits_max),
    edit_section: EditSectionRequestSchema,
    create: CreateRequestSchema,
    delete: DeleteRequestSchema,
    move: MoveRequestSchema
  })
  return named(
    'PreviewRequest',
    'One operation with its fields, computed but not carried out. Fields of another operation are refused.',
    {
      operation: word([...PREVIEWED], 'The operation to preview.'),
      path: requestPath,
      ...fields,
      edits: Type.Optional(
        Type.Array(ref(PreviewEdit), {
          minItems: 1,
          maxItems: edits_max,
          description: 'As in edit, edit_lines: not together with one at the top level.'
        })
      ),
      new_text: Type.Optional(
        Type.String({
          description: 'Taken literally; "" deletes. As in edit, edit_lines, edit_section.'
        })
      ),
      line_endings: lineEndings(ADAPTED),
      dry_run: Type.Optional(Type.Boolean({ enum: [true], description: 'Can only be true: nothing is written.' })),
      show_diff: Type.Optional(Type.Boolean({ description: 'Whether to add a unified diff (default: true).' }))
    }
  )
})

/** A preview whose fields have passed the schema of the operation it names. */
export interface PreviewRequest {
  operation: (typeof PREVIEWED)[number]
  path: string
  expected_hash?: string
  show_diff?: boolean
  [field: string]: unknown
}
