// What GET /capabilities answers. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { count, named, ref, word } from './common.ts'

const text = (description: string) => Type.String({ description })
const texts = (description: string) => Type.Array(Type.String(), { description })

const OperationInfo = named('OperationInfo', 'One operation.', {
  name: text('Its name.'),
  method: text('The HTTP method.'),
  route: text('Where to send it.'),
  description: text('What it does.')
})

const Limits = named('Limits', 'What is refused above these.', {
  max_file_size: count('Bytes of a file, before and after an edit.'),
  max_edits: count('Edits in one request.'),
  body_limit: count('Bytes of a request body.'),
  max_lines: count('Lines in one answer of /inspect.'),
  max_content_bytes: count('Bytes of content in one answer of /inspect.'),
  max_entries: count('Entries of a directory in one answer of /inspect.'),
  max_matches: count('Matches in one answer of /inspect.'),
  max_items: count('Items of structure in one answer of /inspect.'),
  max_parsed_size: count('Bytes of a file whose structure is told, before and after an edit.'),
  max_context_lines: count('context_lines of an edit.'),
  max_diff_lines: count('max_diff_lines of an edit.'),
  lock_timeout_ms: count('How long a request waits for a file that others edit.')
})

const RootFacts = named('RootFacts', 'What the workspace allows.', {
  read_only: Type.Boolean({ description: 'true: nothing can be edited.' }),
  require_hash: Type.Boolean({ description: 'true: every edit needs an expected_hash.' }),
  allowed_extensions: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only extensions that may be used; null: all.'
  }),
  protected: texts('Paths that may not be edited.'),
  durability: word(['full', 'fast'], 'full: an answered edit survives a power cut.'),
  lock: word(['shared', 'local'], 'shared: several servers may work on this root.'),
  confinement: word(
    ['proc', 'portable'],
    'How paths are kept inside the root: proc, by open descriptors; portable, by checks of names, which is weaker.'
  )
})

export const CapabilitiesSchema = named(
  'Capabilities',
  'What this server can do, its limits and what its workspace allows.',
  {
    name: text('The name of the service.'),
    version: text('The version of the service.'),
    api: text('The version of the wire contract.'),
    operations: Type.Array(ref(OperationInfo), { description: 'What a client may call.' }),
    limits: ref(Limits),
    features: texts('What is supported beyond the bare operations.'),
    tool_formats: texts('The forms in which GET /tools defines the operations.'),
    mcp_versions: texts('The revisions of MCP that /mcp speaks, the newest first.'),
    languages: texts(
      'Languages whose structure /inspect tells and /edit-section changes: Markdown by heading and code_block, the others by symbol.'
    ),
    root: ref(RootFacts)
  }
)

export const CAPABILITIES_COMPONENTS = [OperationInfo, Limits, RootFacts, CapabilitiesSchema]
export type Capabilities = Static<typeof CapabilitiesSchema>
