// Every problem code, with all that is known of it, by families. The only files that know statuses and titles.
import type { ProblemEntries } from './entry.ts'
import { FILES } from './file.ts'
import { PAST } from './past.ts'
import { PATHS } from './paths.ts'
import { RANGES } from './ranges.ts'
import { REQUEST } from './request.ts'
import { RESULTS } from './results.ts'
import { SECTIONS } from './sections.ts'
import { TEXT } from './text.ts'

/** The compiler refuses it without one of the codes. */
export const PROBLEMS: ProblemEntries = {
  ...REQUEST,
  ...PATHS,
  ...FILES,
  ...TEXT,
  ...RANGES,
  ...SECTIONS,
  ...RESULTS,
  ...PAST
}
