// Why a path can't be used: its form, what is there, or access to it. Does not know the edits of a request.
import type { Problem } from '../../../../schemas/problem.ts'
import type { RemovedFile } from '../../../operations/operation.ts'
import type { OddPath } from '../../../workspace/odd-name.ts'
import { DEFAULT_PROTECTED } from '../../../workspace/policy.ts'
import { again, type Brief, type FailedCall, inspect, takesAway } from '../brief/call.ts'
import { BY_TOOL, type CallSyntax, lookedAtWith, pathShown, pathsShown } from '../call-names.ts'
import { withHiddenNamed } from '../invisible.ts'
import { behindNamed } from '../part.ts'
import { counted, cut, ECHO_MAX, listed, NOTHING_WRITTEN, quote, sentences } from '../phrases.ts'
import type { ProblemEntries, FailedRequest, FailureOf, ProblemParts } from './entry.ts'
import { isOdd, oddWords, WHY_INVALID, WHY_ODD } from './path-words.ts'
import { howAllRemoved } from './undo-conflict.ts'

export const PATHS = {
  INVALID_PATH: {
    kind: [400, 'Path is not valid', 'change_request'],
    detail: (failure, { shown, naming }) => {
      if (isOdd(failure)) return oddName(failure, shown, naming)
      const { reason } = failure
      const why = WHY_INVALID[reason]
      if (reason === 'not_utf8') {
        return {
          detail: sentences(`${shown} ${why}.`, NOTHING_WRITTEN, 'Ask a person to rename it.'),
          members: { errors: [{ pointer: '/path', message: why }] }
        }
      }
      return {
        detail: `path ${why}. Send the path of a file ${rootOf(naming).relative}, such as ${rootOf(naming).example}.`,
        members: { errors: [{ pointer: '/path', message: why }] }
      }
    },
    brief: (failure, call) => {
      if (!isOdd(failure) || failure.meant === undefined) return undefined
      const { why, literal } = oddWords(failure, call.naming)
      const next = again(call, { path: failure.meant })
      // Without a call, `detail` says which path to send.
      if (next.length === 0) return undefined
      return {
        what: `${quote(call.shown, 200)} can't be created: ${why}`,
        next: literal === '' ? next : [...next, literal]
      }
    },
    example: { code: 'INVALID_PATH', reason: 'empty' }
  },
  PATH_NOT_ALLOWED: {
    kind: [403, 'Path is not allowed', 'change_request'],
    detail: ({ reason, allowed_extensions = [], allowed_paths = [], did_you_mean = [] }, { shown, naming }) => {
      if (reason === 'token') {
        return sentences(
          `This token may not use ${shown}; it may use ${patternsListed(allowed_paths)}.`,
          allowed_paths.length > 0 ? 'Choose a path there, or ask the operator.' : 'Only the operator can allow it.'
        )
      }
      return reason === 'outside'
        ? {
            detail: sentences(
              `${shown} is outside the workspace.`,
              did_you_mean.length > 0
                ? `Paths are ${rootOf(naming).relative}. Did you mean ${pathsOrShown(did_you_mean, naming)}?`
                : `Send a path ${rootOf(naming).relative}, such as ${rootOf(naming).example} ` +
                    `(${rootOf(naming).shown} is the root); ../ and links may not lead out of it.`
            ),
            members: similarPaths(did_you_mean, naming)
          }
        : sentences(
            `${shown} has an extension that is not allowed.`,
            `Allowed extensions are ${listed(allowed_extensions)}.`
          )
    },
    brief: ({ reason, did_you_mean: [first, ...others] = [] }, call) =>
      reason === 'outside' && first !== undefined
        ? {
            what: `${call.shown} is outside the workspace; did you mean ${pathsOrShown([first, ...others], call.naming)}?`,
            next: again(call, { path: first })
          }
        : undefined,
    example: { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
  },
  PROTECTED_PATH: {
    kind: [403, 'Path is protected', 'change_request'],
    detail: ({ pattern }, { shown }) =>
      pattern === null
        ? `${shown} belongs to editd itself and can't be used. Choose another file.`
        : DEFAULT_PROTECTED.includes(pattern)
          ? sentences(
              `${shown} is protected (${pattern}), because changing or reading it could compromise tools that trust it.`,
              'Choose another file; only the operator can allow it, with --unprotect.'
            )
          : sentences(
              `${shown} is protected (${pattern}) by the operator of this server.`,
              'Choose another file; only the operator can allow it, in --protect or protect of the access file.'
            ),
    example: { code: 'PROTECTED_PATH', pattern: '.git' }
  },
  PERMISSION_DENIED: {
    kind: [403, 'Permission denied', 'change_request'],
    detail: ({ reason }, { shown }) => {
      const [what, ask] = (
        {
          read_only_file: [
            `${shown} is read-only: its owner has no write permission.`,
            'Ask a person to make it writable if it should be edited.'
          ],
          several_names: [
            `${shown} has several names (hard links) and can't be replaced by a new file here, so writing it would ` +
              'change the others too, also outside the workspace.',
            'Ask a person to give the server ownership of it, or to replace the link by a copy.'
          ],
          names_kept: [
            `${shown} can't be made: its folder has an attribute that keeps every name in it (chattr +a or +i).`,
            'Ask a person to remove that attribute.'
          ],
          store_denies: [
            `The object store denies this server the right to read or write ${shown}.`,
            'Ask a person to allow it in the policy of the bucket, if it should be edited.'
          ],
          not_permitted: [
            `The server has no permission to open or change ${shown}.`,
            'Ask a person to check owner and mode of the file and of its folder, and whether its file system is mounted read-only.'
          ]
        } as const
      )[reason]
      return sentences(what, NOTHING_WRITTEN, ask)
    },
    example: { code: 'PERMISSION_DENIED', reason: 'read_only_file' }
  },
  DELETE_NOT_ALLOWED: {
    kind: [403, 'Deleting is not allowed', 'change_request'],
    detail: ({ reason }, { shown }) => {
      const [why, operator] = (
        {
          setting: ["this server doesn't allow that.", 'Only the operator can allow it, with --allow-delete.'],
          history_off: [
            'this server keeps no history that could bring it back (--history off).',
            'Only the operator can turn the history on.'
          ],
          texts_not_kept: [
            "the history doesn't keep what it holds, so nothing could bring it back " +
              '(--history meta, or a file that often holds secrets).',
            'Only the operator can change what is kept.'
          ],
          bucket: [
            'this workspace is a bucket, in which that could also delete what somebody else has just written.',
            'Ask a person to delete it in the bucket if it should be gone.'
          ]
        } as const
      )[reason]
      const what = `${shown} can't be deleted or moved: ${why}`
      return sentences(what, NOTHING_WRITTEN, operator, 'You can still change what is in the file, or empty it.')
    },
    example: { code: 'DELETE_NOT_ALLOWED', reason: 'setting' }
  },
  FILE_NOT_FOUND: {
    kind: [404, 'File not found', 'change_request'],
    detail: (failure, { shown, naming }) => ({
      detail: notFound(failure, shown, naming),
      members: 'removals' in failure ? waysToRemoved(failure, naming) : similarPaths(failure.did_you_mean, naming)
    }),
    brief: briefNotFound,
    example: { code: 'FILE_NOT_FOUND', did_you_mean: ['src/app.ts'] }
  },
  NOT_A_FILE: {
    kind: [422, 'Not a file', 'change_request'],
    detail: notAFile,
    brief: briefNotAFile,
    example: { code: 'NOT_A_FILE', type: 'directory' }
  }
} satisfies Partial<ProblemEntries>

/** Where paths start, in the caller's notation. */
function rootOf(naming: CallSyntax): { shown: string; relative: string; example: string } {
  const shown = naming.pathShown('.') ?? '.'
  return shown === '.'
    ? { shown, relative: 'relative to the workspace root', example: 'src/app.ts' }
    : { shown, relative: `below ${shown}`, example: `${shown}/notes.md` }
}

/** The paths that may have been meant, most likely first, with a fix for the first one. */
function similarPaths(did_you_mean: string[] = [], naming: CallSyntax): Partial<Problem> {
  const [first] = did_you_mean
  if (first === undefined) return {}
  const fix = {
    type: 'FIX_PATH' as const,
    suggestion: `Use the path ${pathShown(naming, first)}, if that is the file you mean.`,
    ...lookedAtWith(naming, { path: first })
  }
  return { did_you_mean: pathsShown(naming, did_you_mean), suggested_fixes: [fix] }
}

function oddName(failure: OddPath, shown: string, naming: CallSyntax): ProblemParts {
  const { why, literal } = oddWords(failure, naming)
  const meant = pathsShown(naming, failure.meant === undefined ? [] : [failure.meant])
  const [first] = meant
  const instead =
    first === undefined
      ? `Send a path ${rootOf(naming).relative}, such as ${rootOf(naming).example}.`
      : `Send it again with the path ${quote(first, ECHO_MAX)}.`
  return {
    detail: sentences(`${quote(shown, 200)} can't be created: ${why}.`, NOTHING_WRITTEN, instead, literal),
    members: {
      errors: [{ pointer: '/path', message: WHY_ODD[failure.reason] }],
      ...(first !== undefined && {
        did_you_mean: meant,
        suggested_fixes: [{ type: 'FIX_PATH' as const, suggestion: instead }]
      })
    }
  }
}

/** The most patterns that a sentence names. */
const NAMED_PATTERNS = 5

function patternsListed(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'no path'
  const named = patterns.slice(0, NAMED_PATTERNS).map(pattern => cut(pattern, 200))
  const more = patterns.length - named.length
  return `${listed(more > 0 ? [...named, `${more} more`] : named)} only`
}

function notFound(failure: FailureOf<'FILE_NOT_FOUND'> | RemovedFile, shown: string, naming: CallSyntax): string {
  const { missing, moved_to, did_you_mean = [], folder = '.' } = failure
  const moved = moved_to && cut(pathShown(naming, moved_to), 200)
  if (missing === 'parent') {
    return sentences(
      `The directory for ${shown} was not found.`,
      NOTHING_WRITTEN,
      naming.takes('create_parents')
        ? 'Set create_parents to true, or leave it out, to create it too; or correct the path.'
        : 'Correct the path.'
    )
  }
  const removed = 'removals' in failure ? failure : undefined
  if (missing === 'expected') {
    return sentences(
      `${shown} was not found, although ${naming.takes('expected_hash') ? 'expected_hash says that it exists' : 'it was read before'}: ` +
        `${removed === undefined ? 'it was removed, or the path is wrong' : howGone(removed, naming)}.`,
      NOTHING_WRITTEN,
      removed === undefined ? '' : wayToRemoved(removed, naming),
      naming.takes('expected_hash') ? 'To create it again, leave expected_hash out.' : ''
    )
  }
  if (missing === 'removed') {
    return sentences(
      `An earlier operation of this request ${moved_to === undefined ? `deletes ${shown}` : `moves ${shown} to ${moved}`}.`,
      NOTHING_WRITTEN,
      `To change the file, ${moved_to === undefined ? 'send one update of it instead' : `use the path ${moved}`};`,
      'to have another file in its place, send a second request.'
    )
  }
  if (missing === 'link_target') {
    return sentences(
      `${shown} is, or lies behind, a symbolic link to something that is not there.`,
      NOTHING_WRITTEN,
      'Use another path.'
    )
  }
  if (removed !== undefined) {
    return sentences(`${shown} was not found: ${howGone(removed, naming)}.`, wayToRemoved(removed, naming))
  }
  if (did_you_mean.length > 0) {
    return `${withHiddenNamed(shown)} was not found. Did you mean ${pathsOrShown(did_you_mean, naming)}?`
  }
  const listing = naming.inspectWith({ path: folder })
  return sentences(
    `${shown} was not found.`,
    `Check the path: it is ${rootOf(naming).relative}, and case matters.`,
    listing === undefined ? '' : `${listing} lists what is there.`
  )
}

/** How a file was removed, in words. */
function howGone({ removals, now_at }: RemovedFile, naming: CallSyntax): string {
  const how = howAllRemoved(removals, naming)
  return removals.at(-1)?.moved_to === undefined || now_at !== undefined ? how : `${how}, where it is not any more`
}

/** The call that restores a deleted file, if the caller can send it. */
function bringingBackRemoved(
  { undo: edit_id }: RemovedFile,
  naming: CallSyntax
): { name: string; arguments: { edit_ids: string[] } } | undefined {
  const name = naming.undo
  return edit_id === undefined || name === undefined ? undefined : { name, arguments: { edit_ids: [edit_id] } }
}

function wayToRemoved(removed: RemovedFile, naming: CallSyntax): string {
  if (removed.now_at !== undefined) return 'Use the path that it has now.'
  const back = bringingBackRemoved(removed, naming)
  return back === undefined ? '' : `To bring it back, call ${back.name} with ${JSON.stringify(back.arguments)}.`
}

function waysToRemoved(removed: RemovedFile, naming: CallSyntax): Partial<Problem> {
  const { did_you_mean, suggested_fixes = [] } = similarPaths(removed.did_you_mean, naming)
  const call = bringingBackRemoved(removed, naming)
  const undo = { type: 'USE_UNDO' as const, suggestion: 'Bring the file back, then send this request again.' }
  const fixes = [...suggested_fixes, ...(call === undefined ? [] : [{ ...undo, call }])]
  return { did_you_mean, ...(fixes.length > 0 && { suggested_fixes: fixes }) }
}

/** Paths that may be meant; what looks alike in them is named. */
const pathsOrShown = (paths: readonly string[], naming: CallSyntax): string =>
  listed(pathsShown(naming, paths).map(withHiddenNamed), 'or')

/** The call that was probably meant, or what is at that place instead. */
function briefNotFound(failure: FailureOf<'FILE_NOT_FOUND'>, call: FailedCall): Brief | undefined {
  const { did_you_mean = [], missing, folder = '.' } = failure
  const [first, second] = did_you_mean
  if (missing !== undefined) return undefined
  const what = `${call.shown} was not found`
  const listing = inspect(call, { path: folder })
  const lists = listing.length === 0 ? ['Check the path.'] : ['This lists what is there:', ...listing]
  if ('removals' in failure) return briefRemoved(failure, what, lists, call)
  return first === undefined
    ? { what, next: lists }
    : {
        what: `${withHiddenNamed(what)}; did you mean ${pathsOrShown(did_you_mean, call.naming)}?`,
        next: second === undefined && !takesAway(call) ? again(call, { path: first }) : []
      }
}

/** The text if the history knows that the file was moved or deleted. */
function briefRemoved(removed: RemovedFile, what: string, lists: string[], call: FailedCall): Brief {
  const { naming, made } = call
  const { now_at } = removed
  const how = `${what}: ${howGone(removed, naming)}`
  if (now_at !== undefined) return { what: how, next: again(call, { path: now_at }, 'To use it there') }
  const back = bringingBackRemoved(removed, naming)
  const undo = back && naming.write(BY_TOOL.undo, back.arguments, made)
  return { what: how, next: undo === undefined ? lists : ['To bring it back, send:', undo] }
}

function notAFile(
  failure: FailureOf<'NOT_A_FILE'>,
  { path, resolved_path, shown, naming, part }: FailedRequest
): string | ProblemParts {
  if (failure.type === 'link_now') {
    return sentences(
      `${shown} is now, or lies behind, a symbolic link to ${cut(failure.leads_to, 200)}; ` +
        'the edit was made to the file that was there.',
      NOTHING_WRITTEN,
      'Put the file back in its place, or change it by an edit.'
    )
  }
  if (failure.type === 'folder') {
    const { files } = failure
    return {
      detail: sentences(
        `${shown} is a directory with ${counted(files, 'file')}.`,
        NOTHING_WRITTEN,
        `To delete ${files === 1 ? 'it with its file' : files === 0 ? 'it' : 'it with all of them'}, send the same request with recursive: true.`
      ),
      members: {
        suggested_fixes: [
          {
            type: 'FIX_PATH',
            suggestion: 'Send recursive: true, if you mean the whole directory.',
            ...lookedAtWith(naming, { path })
          }
        ]
      }
    }
  }
  if (failure.type === 'into_folder') {
    const meant = pathShown(naming, failure.meant)
    if (!naming.takes('to')) return sentences(`${shown} is a directory that already exists.`, NOTHING_WRITTEN)
    return {
      detail: sentences(
        `${shown} is the path of a directory, and to must be the whole new path, with the name at its end.`,
        NOTHING_WRITTEN,
        `To move it into that directory, send "to": ${quote(meant, ECHO_MAX)}.`
      ),
      members: { suggested_fixes: [{ type: 'FIX_PATH', suggestion: `Send "to": ${quote(meant, ECHO_MAX)}.` }] }
    }
  }
  if (failure.type === 'empty_folder') {
    if (failure.emptied === true) {
      return sentences(
        `The earlier operations leave no file in ${shown}, so there is nothing to move.`,
        NOTHING_WRITTEN,
        'Leave this operation out.'
      )
    }
    return failure.verb === 'move'
      ? sentences(
          `${shown} is a directory without any file, and only files can be moved.`,
          NOTHING_WRITTEN,
          'Make files at the new path instead: directories are made when a file needs them.'
        )
      : sentences(
          `${shown} is a directory without any file, which only a request of its own can delete.`,
          NOTHING_WRITTEN,
          'Leave this operation out.'
        )
  }
  const { type } = failure
  const behind = part && behindNamed(part, naming)
  if (behind !== undefined) {
    return sentences(
      type === 'directory'
        ? `${shown} can't be a file: ${behind} makes a file in it.`
        : `${shown} can't be made: ${behind} makes a file where it needs a directory.`,
      NOTHING_WRITTEN,
      'Give one of the two another path.'
    )
  }
  switch (type) {
    case 'file_as_directory':
      return {
        detail: `${shown} is a file, but the path ends in /, . or .., as only a directory's can. Send ${shown}.`,
        members: similarPaths([path], naming)
      }
    case 'trailing_slash':
      return sentences(
        `The path that was sent ends in /, . or .., so it names a directory, ${shown}.`,
        NOTHING_WRITTEN,
        'End it with the name of the file to create.'
      )
    case 'link': {
      const [meant] = pathsShown(naming, resolved_path === undefined ? [] : [resolved_path])
      const next = meant === undefined ? '' : `: ${cut(meant, 200)}`
      return sentences(
        `A symbolic link is part of the path ${shown}, so it is not clear what is to be deleted or moved.`,
        NOTHING_WRITTEN,
        resolved_path !== undefined && meant === undefined
          ? 'It leads to a path that this tool cannot name.'
          : `Send the path that it leads to${next}.`
      )
    }
    case 'link_inside':
      return sentences(
        `${shown} is a symbolic link, which no operation deletes or moves, so its directory can't be either.`,
        NOTHING_WRITTEN,
        'Delete or move the other files of that directory one by one, and the directories in it that hold no link.',
        'Only a person can remove the link.'
      )
    case 'not_a_directory':
      return sentences(`Part of the path ${shown} is not a directory.`, NOTHING_WRITTEN, 'Correct the path.')
    case 'directory': {
      const listing = naming.inspectWith({ path: cut(path) })
      return sentences(
        `${shown} is a directory, not a file.`,
        `Send the path of a file in it${listing === undefined ? '' : `; ${listing} lists them`}.`
      )
    }
    default:
      return `${shown} is a ${type === 'fifo' ? 'named pipe' : type}, not a file. Only regular files can be used.`
  }
}

/** The call that was probably meant. */
function briefNotAFile(failure: FailureOf<'NOT_A_FILE'>, call: FailedCall): Brief | undefined {
  switch (failure.type) {
    case 'folder':
      return {
        what: `${call.shown} is a directory with ${counted(failure.files, 'file')}`,
        next: again(call, { recursive: true }, 'To delete all of it')
      }
    case 'into_folder':
      if (!call.naming.takes('to')) return undefined
      return {
        what: `${call.shown} is the path of a directory, and to must be the whole new path`,
        next: again(call, { to: failure.meant }, 'To move it into that directory')
      }
    default:
      return undefined
  }
}
