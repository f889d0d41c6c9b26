// Makes a file where none is, or replaces the one whose hash was given. Knows not what a plan does; commit-new.ts and
// edit.ts touch the disk.
import { fail, ok, type Result } from '../result.ts'
import type { Created, CreateTarget, Planner } from './api.ts'
import { runPlan, changeFile, type WriteContext } from './edit.ts'
import { codeOf } from './errno.ts'
import type { FileFailure } from './failure.ts'
import type { Lock } from './lock.ts'
import { commitNew } from './commit-new.ts'
import { namesFolder } from './path.ts'
import { mayWrite, type Missing, type Pin } from './pin.ts'
import { shortHash } from './text-file.ts'
import type { FileInfo } from './file-access.ts'

/** What a new file would be; `answer` is that of a dry run. */
interface Prepared<T> {
  spot: Missing
  content: { pieces: readonly Buffer[]; size: number }
  answer: Created<T>
}

export function createFile<T, F>(
  writing: WriteContext,
  asked: Buffer,
  about: FileInfo,
  target: CreateTarget,
  dry_run: boolean,
  plan: Planner<T, F>
): Promise<Result<Created<T>, F | FileFailure>> {
  const { files: way } = writing

  const replace = async (pin: Pin, lock: Lock | null): Promise<Result<Created<T>, F | FileFailure>> => {
    const refusal = refusalToReplace(target)
    if (refusal !== null) {
      await way.hash(pin, about)
      return fail(refusal)
    }
    const changed = await changeFile(writing, pin, about, target, plan, lock)
    return changed.ok ? ok({ ...changed.value, created: false }) : changed
  }

  const prepare = async (spot: Missing): Promise<Result<Prepared<T>, F | FileFailure>> => {
    delete about.file_hash
    const refusal = refusalToMake(writing, spot, target)
    if (refusal !== null) return fail(refusal)
    if (!spot.relative.equals(asked)) about.resolved_path = spot.relative.toString()
    const planned = await runPlan(plan, Buffer.alloc(0), { path: about.path, exists: false })
    if (!planned.ok) return planned
    const { content, digest, description } = planned.value
    return ok({
      spot,
      content,
      answer: {
        ...about,
        changed: true,
        new_hash: shortHash(await digest),
        file_size: content.size,
        description,
        warnings: [],
        created: true
      }
    })
  }

  if (dry_run) {
    return way.find<Created<T>, F | FileFailure>(asked, 'edit', about, {
      onFound: pin => replace(pin, null),
      async onMissing(spot) {
        const prepared = await prepare(spot)
        return prepared.ok ? ok(prepared.value.answer) : prepared
      }
    })
  }
  return way.locked<Created<T>, F | FileFailure>(
    asked,
    about,
    {
      async onFound(pin) {
        const refusal = refusalToReplace(target)
        if (refusal === null) return ok(pin.relative)
        await way.hash(pin, about)
        return fail(refusal)
      },
      async onMissing(spot) {
        const refusal = refusalToMake(writing, spot, target)
        return refusal === null ? ok(spot.relative) : fail(refusal)
      }
    },
    lock => ({
      onFound: pin => replace(pin, lock),
      async onMissing(spot) {
        try {
          const prepared = await prepare(spot)
          if (!prepared.ok) return prepared
          const made = await carry(writing, prepared.value, lock)
          if (!made.ok) await way.refreshHash(spot.relative, about)
          return made
        } catch (error) {
          // Something has come, or a folder on the way has gone, perhaps with another request that failed: look again.
          if (['EEXIST', 'ENOENT', 'ENOTDIR', 'RACED'].includes(codeOf(error))) return ok(null)
          throw error
        }
      }
    })
  )
}

async function carry<T>(
  { options, root, intents }: WriteContext,
  { spot, content, answer }: Prepared<T>,
  lock: Lock
): Promise<Result<Created<T>, FileFailure>> {
  const made = await commitNew({ root, intents, durability: options.durability, lock }, spot, content)
  return made.ok ? ok({ ...answer, file_hash: answer.new_hash, warnings: made.value }) : made
}

/** Null: it may be replaced if its hash is the one that was given. */
function refusalToReplace({ overwrite, expected_hash, if_none_match }: CreateTarget): FileFailure | null {
  if (if_none_match === true) return alreadyThere(true)
  if (overwrite && expected_hash !== undefined) return null
  if (overwrite) return { code: 'ALREADY_EXISTS', reason: 'needs_expected_hash' }
  return expected_hash === undefined ? alreadyThere() : { code: 'ALREADY_EXISTS', reason: 'needs_overwrite' }
}

/**
 * In bytes: of a longer absolute path the system can't tell where a descriptor leads, so what lies there could be made
 * but not be edited.
 */
const REAL_LIMIT = 4095

/** What can be known before anything is touched. */
function refusalToMake({ root, files: way }: WriteContext, spot: Missing, target: CreateTarget): FileFailure | null {
  // Whoever gives a hash counts on content that isn't there: to make the file all the same would hide that it was
  // removed.
  if (target.expected_hash !== undefined) {
    const failure = way.notFound(spot, 'edit')
    return failure.code === 'FILE_NOT_FOUND' ? { ...failure, missing: 'expected' } : failure
  }
  if (spot.dangling === 'last') return alreadyThere(target.if_none_match)
  if (spot.dangling === 'before') return notADirectory
  // A folder's name; nothing is guessed.
  if (namesFolder(target.path)) return { code: 'NOT_A_FILE', type: 'trailing_slash' }
  const real = root.real()
  if (real !== null && real.length + 1 + spot.relative.length > REAL_LIMIT) {
    return { code: 'INVALID_PATH', reason: 'too_long' }
  }
  let folder
  try {
    folder = root.openFolder(spot.folder)
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return notADirectory
    throw error
  }
  try {
    if (!mayWrite(folder.at('.'))) return { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
  } finally {
    folder.close()
  }
  const inIt = spot.folder.length === 0 ? 0 : spot.folder.length + 1
  return !target.create_parents && spot.relative.includes('/', inIt)
    ? { code: 'FILE_NOT_FOUND', missing: 'parent' }
    : null
}

const alreadyThere = (if_none_match?: boolean): FileFailure => ({
  code: 'ALREADY_EXISTS',
  reason: 'exists',
  ...(if_none_match === true && { if_none_match })
})
const notADirectory: FileFailure = { code: 'NOT_A_FILE', type: 'not_a_directory' }
