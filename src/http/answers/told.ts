// What a failure says beyond its kind. Does not know any failure.
import type { Problem } from '../../../schemas/problem.ts'

/** The sentence, members of the body, headers. */
export interface ProblemParts {
  detail: string
  members?: Partial<Problem>
  headers?: Record<string, string>
}

export const NOTHING_WRITTEN = 'Nothing was written.'
