// What GET /capabilities answers. Knows only the wire format, not the server's settings.
import type { Static } from 'typebox'
import { SCOPES } from './access.ts'
import { Type } from './type.ts'
import { count, named, ref, word } from './common.ts'

const text = (description: string) => Type.String({ description })
const texts = (description: string) => Type.Array(Type.String(), { description })

const OperationInfo = named('OperationInfo', 'One operation of this server.', {
  name: text('Its name.'),
  method: text('The HTTP method.'),
  route: text('The URL path to send requests to.'),
  description: text('What it does.')
})

const Limits = named('Limits', 'What this server accepts and answers at most.', {
  max_file_size: count('Bytes in a file, before and after an edit.'),
  max_edits: count('Edits in one request.'),
  max_operations: count('Operations in one batch.'),
  max_batch_files: count('Paths in one batch.'),
  max_replaced_files: count('Files that one request to /replace changes.'),
  max_folder_files: count('Files of a directory that one request deletes or moves.'),
  body_limit: count('Bytes in a request body.'),
  max_lines: count('Lines in one answer of /inspect.'),
  max_content_bytes: count('Bytes of content in one answer of /inspect.'),
  max_entries: count('Directory entries in one answer of /inspect.'),
  max_matches: count('Matches in one answer of /inspect.'),
  max_items: count('Structure items in one answer of /inspect.'),
  max_parsed_size: count('Bytes in a file whose structure can be listed or edited, before and after the edit.'),
  max_checked_size: count('Bytes in a file whose syntax is checked, before and after the edit.'),
  max_context_lines: count('The largest context_lines of an edit.'),
  max_diff_lines: count('The largest max_diff_lines of an edit.'),
  lock_timeout_ms: count('Milliseconds that a request waits for a file that is being edited.')
})

const RootFacts = named('RootFacts', 'What the workspace allows.', {
  kind: word(
    ['folder', 'bucket'],
    'folder: files of a file system. bucket: objects of an object store, without batches, deletions, modes and links.'
  ),
  read_only: Type.Boolean({ description: 'true: nothing can be edited.' }),
  require_hash: Type.Boolean({ description: 'true: every edit needs an expected_hash.' }),
  allow_delete: Type.Boolean({ description: 'true: files may be deleted and moved.' }),
  allowed_extensions: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only file extensions allowed; null: all.'
  }),
  protected: texts('Paths that may not be edited.'),
  durability: word(['full', 'fast'], 'full: an edit that was answered survives a power cut. fast: it may not.'),
  lock: word(
    ['shared', 'local'],
    'shared: servers on other hosts may work on this root too. local: only servers on this host.'
  ),
  confinement: word(
    ['proc', 'portable', 'keys'],
    'How paths are kept inside the root. proc: by open descriptors. portable: by checking names, which is weaker. ' +
      'keys: in a bucket, by the prefix of each key.'
  )
})

const AccessFacts = named('AccessFacts', 'What the token of the request may do. Absent if there is only one token.', {
  workspace: text('The name of its workspace.'),
  scope: word(
    [...SCOPES],
    'read: look, preview, dry runs. edit: also change files, undo its own changes. ' +
      'review: also keep and undo those of others, delete files.'
  ),
  paths: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only paths that it may use, as patterns; null: all.'
  })
})

export const CapabilitiesSchema = named(
  'Capabilities',
  'What this server can do, its limits and what its workspace allows.',
  {
    name: text('The name of the service.'),
    version: text('The version of the service.'),
    api: text('The version of the wire contract.'),
    operations: Type.Array(ref(OperationInfo), { description: 'The operations that a client can call.' }),
    limits: ref(Limits),
    features: texts('What is supported beyond the bare operations.'),
    tool_formats: texts('The formats in which GET /tools defines the operations.'),
    mcp_versions: texts('The MCP revisions that /mcp speaks, newest first.'),
    languages: texts(
      'Languages whose structure /inspect lists and /edit-section edits: ' +
        'Markdown by heading and code_block, the others by symbol.'
    ),
    syntax_languages: texts('Languages in which syntax warns of an edit that breaks a file, or refuses it.'),
    root: ref(RootFacts),
    access: Type.Optional(ref(AccessFacts))
  }
)

export const CAPABILITIES_COMPONENTS = [OperationInfo, Limits, RootFacts, AccessFacts, CapabilitiesSchema]
export type Capabilities = Static<typeof CapabilitiesSchema>
