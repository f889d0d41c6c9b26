// /move: gives a file another path, or a folder with all its files. Replaces nothing.
import { posix } from 'node:path'
import { MoveRequestSchema, type MoveRequest } from '../../schemas/move.ts'
import { MoveResultSchema } from '../../schemas/outcome.ts'
import { fail, ok } from '../result.ts'
import type { EarlierStep, FilesBelow, Workspace } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { refusalOfName } from '../workspace/odd-name.ts'
import { mayDelete } from './access.ts'
import { REMOVAL_CODES } from './codes.ts'
import {
  carryOut,
  type FileOperation,
  type Planning,
  type Prepared,
  type Step,
  targetOf,
  withPast
} from './file-operation.ts'
import { faulty, folderMeant, ofFolder, outcomeOfFolder, removalFacts } from './folder-change.ts'
import { PATH_HINT } from './hints.ts'
import type { CallContext, Failed } from './operation.ts'
import { foldersAbove, moveSteps, outcomeOfMoved, unchangedPlanner } from './removal-steps.ts'

export function makeMove(workspace: Workspace, planning: Planning): FileOperation<MoveRequest> {
  const prepare: FileOperation<MoveRequest>['prepare'] = async (request, context, after = []) => {
    const { path, create_parents = true } = request
    const [from, to] = [plain(path), plain(request.to)]
    const found = await folderMeant(workspace, request, context, { verb: 'move', whole: true, after })
    if (!found.ok) return found
    if (to === from) return faulty(path, '/to', 'same_path')
    if (to.startsWith(`${from}/`)) return faulty(path, '/to', 'into_itself')
    const plan = unchangedPlanner(planning, { path })
    if (found.value !== null) {
      const thereAt = (path: string) => kindOf(workspace, path, context, after)
      return prepareFolder(request, { folder: found.value, to, plan, after, thereAt })
    }
    const target = {
      path: request.to,
      overwrite: false,
      create_parents,
      ...(posix.basename(to) === posix.basename(from) && { name: 'known' as const })
    }
    return ok({
      operation: 'move',
      steps: moveSteps(targetOf(request), target, plan, foldersAbove(path, context.clears_below)),
      answer: done => ({ operation: 'move', outcome: outcomeOfMoved(request, done) }),
      explained: (failed, step) => (step === 0 ? withPast(workspace, context, failed) : aboutTarget(failed, from))
    })
  }
  return {
    ...removalFacts(workspace),
    id: 'move_file',
    route: '/move',
    summary: 'Move or rename a file or a directory',
    description: ({ undo }) =>
      'Moves or renames a file, also a binary one, or a directory with all its files: all of them, or none. ' +
      `Its bytes, mode and history go with it, and nothing is replaced. ${undo} moves a file back by path, a directory by batch_id.`,
    hints: {
      path: PATH_HINT,
      to: 'The new path, with the name.',
      expected_hash: 'file_hash from your last answer about the file.',
      dry_run: 'true: only show what would be moved.'
    },
    request: MoveRequestSchema,
    outcome: MoveResultSchema,
    codes: [...REMOVAL_CODES, 'ALREADY_EXISTS'],
    prepare,
    call: (request, context = {}) => carryOut(workspace, request, context, prepare(request, context))
  }
}

/** A path without what doesn't change its meaning, as far as its text tells. */
const plain = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, '')

type There = 'file' | 'directory' | null

/** An earlier operation removes the file; `next`: the step after that. */
const movedAway = (next: Step | undefined): FileFailure => ({
  code: 'FILE_NOT_FOUND',
  missing: 'removed',
  ...(next?.operation === 'create' && next.moves === true && { moved_to: plain(next.target.path) })
})

async function prepareFolder(
  request: MoveRequest,
  {
    folder,
    to,
    plan,
    after,
    thereAt
  }: {
    folder: FilesBelow
    to: string
    plan: ReturnType<typeof unchangedPlanner>
    after: readonly Step[]
    thereAt: (path: string) => Promise<There>
  }
): Promise<Prepared> {
  const { path: from, files, folders, blocked } = folder
  const { create_parents = true } = request
  const there = await thereAt(to)
  const removal = after.findIndex(({ operation, target }) => operation === 'remove' && plain(target.path) === to)
  if (there === 'file' && removal !== -1) return { ...fail(movedAway(after[removal + 1])), path: to }
  if (there !== null) return { ...refusalAt(there, { from, to }), path: to }
  if (blocked !== null) return blocked
  if (files.length === 0) {
    return { ...fail({ code: 'NOT_A_FILE', type: 'empty_folder', verb: 'move', emptied: true }), path: from }
  }
  const isInFolder = (await thereAt(posix.dirname(to))) === 'directory'
  const odd = posix.basename(to) === posix.basename(from) ? null : refusalOfName({ path: to }, isInFolder)
  if (odd !== null) return aboutTarget({ ...fail(odd), path: to }, from)
  if (!isInFolder && !create_parents) return { ...fail({ code: 'FILE_NOT_FOUND', missing: 'parent' }), path: to }
  return ok({
    operation: 'move',
    files: files.length,
    steps: files.flatMap((path, i) => {
      const target = {
        path: `${to}${path.slice(from.length)}`,
        overwrite: false,
        create_parents: true,
        name: 'known' as const
      }
      return moveSteps({ path }, target, plan, i === 0 ? folders : [])
    }),
    answer: done => ({
      operation: 'move',
      outcome: {
        ...outcomeOfFolder(
          request,
          to,
          files.map((_, i) => outcomeOfMoved(request, done.slice(2 * i)))
        ),
        moved_from: from
      }
    }),
    explained: (failed, step) => (step % 2 === 0 ? ofFolder(failed) : aboutTarget(failed, from))
  })
}

/**
 * What is at a path: a folder as the earlier steps leave it, a file as it is; null: nothing, or nothing that may be
 * known.
 */
async function kindOf(
  workspace: Workspace,
  path: string,
  { subject }: CallContext,
  after: readonly EarlierStep[]
): Promise<There> {
  const below = await workspace.filesBelow({ path }, { most: 0, after, ...mayDelete(subject) })
  if (below.ok && below.value !== null) {
    const { total, blocked, leaves } = below.value
    return total === 0 && blocked === null && leaves !== null ? null : 'directory'
  }
  const looked = await workspace.look(
    { path },
    { file: () => ({ push: () => {}, finish: () => null }), directory: { limit: 1 } }
  )
  return looked.ok ? looked.value.type : null
}

const refusalAt = (there: 'file' | 'directory', { from, to }: { from: string; to: string }) =>
  there === 'directory'
    ? fail({ code: 'NOT_A_FILE' as const, type: 'into_folder' as const, meant: `${to}/${posix.basename(from)}` })
    : fail({ code: 'ALREADY_EXISTS' as const, reason: 'move_target' as const, from })

/** A failure of the new path, named by the field `to`. */
function aboutTarget(failed: Failed, from: string): Failed {
  const { failure, path = '' } = failed
  switch (failure.code) {
    case 'FILE_NOT_FOUND':
      return failure.onto_itself === true ? faulty(from, '/to', 'same_path') : failed
    case 'NOT_A_FILE': {
      const { type } = failure
      const isFolder = type === 'directory' || type === 'trailing_slash'
      if (!isFolder && type !== 'file_as_directory') return failed
      return { ...failed, ...refusalAt(isFolder ? 'directory' : 'file', { from, to: path }) }
    }
    case 'ALREADY_EXISTS':
      return { ...failed, ...refusalAt('file', { from, to: path }) }
    case 'INVALID_PATH':
      return {
        ...failed,
        ...fail({ code: 'INVALID_REQUEST', faults: [{ pointer: '/to', reason: 'bad_path', failure }] })
      }
    case 'PATH_NOT_ALLOWED': {
      // They are paths of files, where nothing can be moved.
      const { did_you_mean: _, ...refused } = failure
      return { ...failed, failure: refused }
    }
    default:
      return failed
  }
}
