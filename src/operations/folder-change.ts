// What deleting and moving a folder have in common: its files, and the answer about them. Does not know steps.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { MAX_FOLDER_FILES } from '../../schemas/delete.ts'
import { fail } from '../result.ts'
import type { EarlierStep, FilesBelow, Workspace } from '../workspace/api.ts'
import { changedMeanwhile } from '../workspace/failure.ts'
import { mayDelete, refusalToDelete } from './access.ts'
import { keyedByAll } from './file-operation.ts'
import type { CallContext, ChangedOutcome, ChangeOutcome, Failed, FixedFault, TooManyOperations } from './operation.ts'

/** A request that deletes or moves what is at its path. */
interface Asked {
  path: string
  expected_hash?: string
  dry_run?: boolean
}

export const tooManyFiles = (actual: number): TooManyOperations => ({
  code: 'TOO_MANY_OPERATIONS',
  what: 'files',
  limit: MAX_FOLDER_FILES,
  actual
})

/** A fault of the request, with its path: it is known only from what is there. */
export const faulty = (path: string, pointer: string, reason: FixedFault): Failed => ({
  ...fail({ code: 'INVALID_REQUEST', faults: [{ pointer, reason }] }),
  path
})

/**
 * The folder that a request to delete or move names, as the steps `after` will leave it; null if its path leads to no
 * folder. It has a file, or had one before those steps, or something `blocked`. `whole`: the request may mean a folder.
 */
export async function folderMeant(
  workspace: Workspace,
  { path, expected_hash }: Asked,
  { subject }: CallContext,
  { verb, whole, after }: { verb: 'delete' | 'move'; whole: boolean; after: readonly EarlierStep[] }
): Promise<{ ok: true; value: FilesBelow | null } | Failed> {
  const undeletable = refusalToDelete(subject)
  if (undeletable !== null) return { ...fail(undeletable), path }
  const found = await workspace.filesBelow({ path }, { most: MAX_FOLDER_FILES, after, ...mayDelete(subject) })
  if (!found.ok || found.value === null) return found
  const { path: folder, total, blocked, leaves } = found.value
  if (folder === '.') return faulty(path, '/path', 'whole_workspace')
  if (total > MAX_FOLDER_FILES) return { ...fail(tooManyFiles(total)), path: folder }
  if (!whole) return { ...fail({ code: 'NOT_A_FILE', type: 'folder', files: total }), path: folder }
  if (expected_hash !== undefined) return faulty(folder, '/expected_hash', 'hash_of_folder')
  const isEmpty = total === 0 && blocked === null && leaves === null
  return isEmpty ? { ...fail({ code: 'NOT_A_FILE', type: 'empty_folder', verb }), path: folder } : found
}

/** What the answer says about a folder, from what it says about each of its files. `path`: where these are, or were. */
export function outcomeOfFolder(
  { dry_run = false }: Pick<Asked, 'dry_run'>,
  path: string,
  files: readonly ChangeOutcome[]
): ChangeOutcome {
  const sum = (count: (file: ChangeOutcome) => number): number => files.reduce((all, file) => all + count(file), 0)
  return {
    path,
    changed: true,
    dry_run,
    files: files.map(({ path, moved_from, hash_before, file_hash, edit_id }) => ({
      path,
      moved_from,
      hash_before,
      file_hash,
      edit_id
    })),
    changed_lines: [],
    left_alone: [],
    newTextWarnings: [],
    warnings: [...new Set(files.flatMap(({ warnings }) => warnings))],
    changes: [],
    total_lines_before: sum(({ total_lines_before }) => total_lines_before),
    total_lines_after: sum(({ total_lines_after }) => total_lines_after),
    file_size: sum(({ file_size }) => file_size)
  }
}

/** A failure in a file of a folder, which was there when the folder was listed. */
export const ofFolder = (failed: Failed): Failed =>
  failed.failure.code === 'FILE_NOT_FOUND' ? { ...failed, failure: changedMeanwhile } : failed

/** The files that an answer names. */
export const filesOf = ({
  outcome: { files, ...one }
}: Pick<ChangedOutcome, 'outcome'>): { path: string; resolved_path?: string }[] =>
  (files ?? [one]).flatMap(({ moved_from, ...file }) =>
    moved_from === undefined ? [file] : [file, { path: moved_from }]
  )

/** What /delete and /move have in common. */
export const removalFacts = (workspace: Workspace) =>
  ({
    deletes: true,
    effect: 'changes',
    needs: 'review',
    expects_hash: true,
    expects_none: false,
    items: {},
    call_fields: CALL_FIELDS,
    keyed: keyedByAll(workspace, kept => filesOf(kept as ChangedOutcome))
  }) as const
