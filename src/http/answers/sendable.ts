// Limits a failure to what its caller can act on: fixes for which it has the fields, paths that it can name. Does not
// know sentences.
import type { Fix, FixedLines, FixedText } from '../../engine/failure.ts'
import type { Failure } from '../request-failure.ts'
import type { CallSyntax, OptionalField } from './call-names.ts'

type AnyFix = Fix<FixedText | FixedLines>

/** The fields that a fix tells the caller to set. */
const NEEDS: Partial<Record<AnyFix['type'], OptionalField>> = {
  ADJUST_COUNT: 'occurrences',
  CHOOSE_OCCURRENCE: 'occurrence'
}

/** Fields of an edit that some callers don't have. */
const FIELDS = ['occurrence', 'occurrences', 'start_line'] as const

function canSend({ type, edit, section }: AnyFix, naming: CallSyntax): boolean {
  const field = NEEDS[type]
  return (
    (section === undefined || naming.edit_section !== undefined) &&
    (field === undefined || naming.takes(field)) &&
    FIELDS.every(name => edit === undefined || !(name in edit) || naming.takes(name))
  )
}

/** The failure without fixes that the caller can't send and files that it can't name. */
export function sendable<F extends Failure>(given: F, naming: CallSyntax): F {
  const failure = withoutUnnamed(given, naming)
  const fixes =
    'fixes' in failure ? (failure.fixes as readonly AnyFix[]).filter(fix => canSend(fix, naming)) : undefined
  const paths =
    'did_you_mean' in failure ? failure.did_you_mean?.filter(path => naming.pathShown(path) !== undefined) : undefined
  const now =
    failure.code === 'STALE_FILE' && failure.now?.fits === false
      ? { ...failure.now, failure: sendable(failure.now.failure, naming) }
      : undefined
  return {
    ...failure,
    ...(fixes !== undefined && { fixes }),
    ...(paths !== undefined && { did_you_mean: paths }),
    ...(now !== undefined && { now })
  }
}

/** The failure without how its file was removed, if it was moved to a path that the caller can't name. */
function withoutUnnamed<F extends Failure>(failure: F, { pathShown }: CallSyntax): F {
  if (!('removals' in failure)) return failure
  const { removals, now_at, undo: _, ...others } = failure
  if (removals.every(({ moved_to }) => moved_to === undefined || pathShown(moved_to) !== undefined)) return failure
  return { ...others, ...(now_at !== undefined && { did_you_mean: [] }) } as unknown as F
}
