// Every problem code with its entry, by family. Only these files know statuses and titles.
import type { ProblemEntries } from './entry.ts'
import { FILES } from './file.ts'
import { PAST } from './past.ts'
import { PATHS } from './paths.ts'
import { RANGES } from './ranges.ts'
import { REQUEST } from './request.ts'
import { REPLACEMENTS } from './replacements.ts'
import { RESULTS } from './results.ts'
import { SECTIONS } from './sections.ts'
import { TEXT } from './text.ts'

/** Doesn't compile if a code is missing. */
export const PROBLEMS: ProblemEntries = {
  ...REQUEST,
  ...PATHS,
  ...FILES,
  ...TEXT,
  ...REPLACEMENTS,
  ...RANGES,
  ...SECTIONS,
  ...RESULTS,
  ...PAST
}
