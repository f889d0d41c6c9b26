// What this server can do, computed from its settings. Does not know any request.
import { MAX_BATCH_FILES, MAX_OPERATIONS } from '../../schemas/batch.ts'
import { MAX_REPLACED_FILES } from '../../schemas/replace.ts'
import type { Capabilities } from '../../schemas/capabilities.ts'
import { MAX_FOLDER_FILES } from '../../schemas/delete.ts'
import { TOOL_FORMATS } from '../../schemas/tools.ts'
import type { Config } from '../config/config.ts'
import { OUTLINED, PARSED_SIZE } from '../engine/outline/outlined.ts'
import { CHECKED_SIZE, SYNTAX_LANGUAGES } from '../engine/syntax/languages.ts'
import { MAX_MATCHES } from '../engine/inspect/search-literal.ts'
import { MAX_WINDOW_BYTES, MAX_WINDOW_LINES } from '../engine/inspect/window.ts'
import { MAX_ENTRIES, MAX_ITEMS } from '../operations/inspect.ts'
import { operationsIn, type Operations } from '../operations.ts'
import type { Grant } from './access/grant.ts'
import { BY_ROUTE } from './answers/call-names.ts'
import { MCP_VERSIONS } from './tools/definitions.ts'
import type { Workspace } from '../workspace/api.ts'

/** Whether a caller with this grant (null: no access file) may delete and move files; the history must keep them. */
export const deletesIn = (
  { allowDelete, history }: Pick<Config, 'allowDelete' | 'history'>,
  { kind }: Pick<Workspace, 'kind'>,
  grant: Pick<Grant, 'scope'> | null
): boolean =>
  kind === 'folder' &&
  (history === 'full' || history === 'required') &&
  (grant === null ? allowDelete : grant.scope === 'review')

/** The answer of /capabilities; `grant`: what the caller may do, null: everything. */
export function capabilitiesOf({
  config,
  workspace: { kind, confinement, canFind },
  version,
  operations,
  grant
}: {
  config: Config
  workspace: Pick<Workspace, 'kind' | 'confinement' | 'canFind'>
  version: string
  operations: Operations
  grant: Grant | null
}): Capabilities {
  return {
    name: 'editd',
    version,
    api: '1',
    operations: operationsIn(operations).map(({ id, route, description }) => ({
      name: id,
      method: 'POST',
      route,
      description: description(BY_ROUTE)
    })),
    limits: {
      max_file_size: config.maxFileSize,
      max_edits: config.maxEdits,
      max_operations: MAX_OPERATIONS,
      max_batch_files: MAX_BATCH_FILES,
      max_replaced_files: MAX_REPLACED_FILES,
      max_folder_files: MAX_FOLDER_FILES,
      body_limit: config.bodyLimit,
      max_lines: MAX_WINDOW_LINES,
      max_content_bytes: MAX_WINDOW_BYTES,
      max_entries: MAX_ENTRIES,
      max_matches: MAX_MATCHES,
      max_items: MAX_ITEMS,
      max_parsed_size: PARSED_SIZE,
      max_checked_size: CHECKED_SIZE,
      max_context_lines: 20,
      max_diff_lines: 100_000,
      lock_timeout_ms: config.lockTimeout
    },
    features: [
      'dry_run',
      'expected_hash',
      'if_match',
      'if_none_match',
      'multiple_edits',
      ...(kind === 'bucket' ? [] : ['batch']),
      'unified_diff',
      'adapted_line_endings',
      'search',
      'regex',
      ...(canFind ? ['find'] : []),
      'directories',
      'structure',
      'syntax',
      'dialects',
      'function_calling',
      'adapters',
      'mcp'
    ],
    tool_formats: [...TOOL_FORMATS],
    mcp_versions: [...MCP_VERSIONS],
    languages: [...OUTLINED],
    syntax_languages: [...SYNTAX_LANGUAGES],
    root: {
      kind,
      read_only: config.readOnly || grant?.scope === 'read',
      require_hash: config.requireHash,
      allow_delete: deletesIn(config, { kind }, grant),
      allowed_extensions: config.allowExtensions,
      protected: config.protect,
      durability: config.durability,
      lock: config.lock,
      confinement
    },
    ...(grant !== null && {
      access: { workspace: grant.workspace, scope: grant.scope, paths: grant.paths && [...grant.paths] }
    })
  }
}
