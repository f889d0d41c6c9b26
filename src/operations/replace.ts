// /replace: exact text replaced in all files that hold it, all or nothing. The files are found without their locks; under
// these, each must still have as many places as were found. A file that is made in between can't be known.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import {
  MAX_OLD_TEXT,
  MAX_REPLACED_FILES,
  MAX_SHOWN_PLACES,
  ReplaceRequestSchema,
  ReplaceResultSchema,
  type ReplaceRequest
} from '../../schemas/replace.ts'
import { matchLines, type SearchMatch } from '../engine/inspect/match-lines.ts'
import { placesToReplace } from '../engine/plan/places-to-replace.ts'
import { spread } from '../engine/report/spread.ts'
import { Text } from '../engine/text/text.ts'
import { fail, ok } from '../result.ts'
import type { FindFailure, FoundFile, FoundFiles, Planner, Workspace } from '../workspace/api.ts'
import { changedMeanwhile } from '../workspace/failure.ts'
import { CHANGE_CODES } from './codes.ts'
import { decoding } from './decoding.ts'
import {
  DIFF_LINES,
  fileWithoutTexts,
  keyedByAll,
  outcomeOf,
  type Planning,
  plannerFor,
  type Step
} from './file-operation.ts'
import { shortHash } from './file-hash.ts'
import { countsOf, faultOfGlob, type Finding, foundOtherwise, listOf, TRYING_TIME } from './find.ts'
import type {
  CallContext,
  CallFailure,
  CallResult,
  Failed,
  FileWithPlaces,
  Operation,
  Outcome,
  ReplacedFile
} from './operation.ts'
import { withHowRemoved } from './removals.ts'
import type { Reported } from './syntax-guard.ts'
import { makeTogether, type PreparedPart } from './together.ts'

type ReplaceOutcome = Extract<Outcome, { operation: 'replace' }>

/** How often to search again for files that others change in between. Chosen, not measured. */
const ATTEMPTS = 3
/** Lines of all diffs of an answer together. Chosen, not measured. */
const ALL_DIFF_LINES = 2000
/** The most globs in `exclude`. */
const MAX_GLOBS = 100

/** Failures of a file that stay as long as the file and the request do, so that only leaving it out helps. */
const UNFIT: readonly CallFailure['code'][] = [
  'PATH_NOT_ALLOWED',
  'PROTECTED_PATH',
  'PERMISSION_DENIED',
  'BINARY_FILE',
  'FILE_TOO_LARGE',
  'NOT_A_FILE',
  'RESULT_TOO_LARGE',
  'SYNTAX_ERROR',
  'UNENCODABLE_TEXT'
]

export const makeReplace = (
  workspace: Workspace,
  planning: Planning,
  finding: Pick<Finding, 'searcher' | 'outliner'>
): Operation<ReplaceRequest> => ({
  id: 'replace_in_files',
  route: '/replace',
  summary: 'Replace text in many files, all or nothing',
  description: () =>
    'Replaces exact text in all files that hold it, all or nothing. ' +
    'Without occurrences it writes nothing and answers with the files and the occurrences to send.',
  hints: {
    old_text: 'Exact text, no expression.',
    path: 'Directory or file. Default: the root.',
    include: 'Glob: *.ts, src/**',
    occurrences: 'How many places in all files: from the answer without it.'
  },
  tool_fields: [
    'old_text',
    'new_text',
    'whole_word',
    'path',
    'include',
    'exclude',
    'ignored',
    'occurrences',
    'show_diff'
  ],
  only_by_name: true,
  effect: 'changes',
  request: ReplaceRequestSchema,
  outcome: ReplaceResultSchema,
  codes: [
    ...CHANGE_CODES,
    'EMPTY_OLD_TEXT',
    'WRONG_COUNT',
    'NOTHING_TO_REPLACE',
    'SEARCH_INCOMPLETE',
    'TOO_MANY_OPERATIONS',
    'BATCH_NOT_SUPPORTED',
    'FIND_NOT_SUPPORTED'
  ],
  expects_hash: false,
  expects_none: false,
  items: {},
  call_fields: CALL_FIELDS,
  keyed: keyedByAll(workspace, kept => (kept as ReplaceOutcome).outcome.results.map(({ outcome }) => outcome)),
  call: (request, context = {}) =>
    new Replacement({ workspace, ...finding, client: context.client }, planning, request, context).run()
})

/** What is found in one file. `repeated`: places that have new_text around them already. */
interface Places {
  matches: SearchMatch[]
  repeated: number
}

/** A file to change, and how many places it must have. `known`: absent if it holds the text and isn't a text file. */
interface FileToChange {
  path: string
  occurrences: number
  known?: FoundFile<Places>
}

/** Everything found: at least one file. */
interface FoundAll {
  files: FileToChange[]
  occurrences: number
  skipped: FoundFiles<Places>['skipped']
}

/** The shortest new_text that, where it is, says that the change was made already, in UTF-16 units. Chosen. */
const TELLING = 4

/** One request. */
class Replacement {
  readonly #finding: Finding
  readonly #planning: Planning
  readonly #request: ReplaceRequest
  readonly #context: CallContext
  readonly #isDry: boolean
  /** Each file must be the one that was found: the server asks for hashes. */
  #needsHashes = false

  constructor(finding: Finding, planning: Planning, request: ReplaceRequest, context: CallContext) {
    this.#finding = finding
    this.#planning = planning
    this.#request = request
    this.#context = context
    this.#isDry = request.dry_run === true || request.occurrences === undefined
  }

  async run(): Promise<CallResult> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#find()
      if (!found.ok) return found
      const done = await this.#makeAll(found.value, this.#isDry)
      if (done.ok) {
        const is_count = this.#request.occurrences === undefined && this.#request.dry_run !== true
        return ok({ ...done.value, is_count })
      }
      if (attempt < ATTEMPTS && this.#isOvertaken(done)) continue
      return UNFIT.includes(done.failure.code) ? this.#withoutUnfit(done, found.value) : alone(done)
    }
  }

  /** Whether a file has changed since it was found, so that searching again may help. */
  #isOvertaken({ failure }: Failed): boolean {
    this.#needsHashes ||= failure.code === 'PRECONDITION_REQUIRED'
    return (
      failure.code === 'PRECONDITION_REQUIRED' ||
      failure.code === 'FILE_NOT_FOUND' ||
      (failure.code === 'STALE_FILE' && failure.reason !== 'overwritten')
    )
  }

  /** The files that hold the text. Fails if there are none, too many, or not as many places as expected. */
  async #find(): Promise<{ ok: true; value: FoundAll } | Failed> {
    const { old_text, new_text, occurrences: expected, path = '.', whole_word = false } = this.#request
    const { workspace, client } = this.#finding
    const edit = { old_text, new_text, whole_word }
    const repeatedIn = new Map<string, number>()
    const unreadable: FileToChange[] = []
    const { include, exclude, ignored = false } = this.#request
    const found = await workspace.find<Places>(
      {
        path,
        text: { pattern: old_text, regex: false, ignore_case: false, whole_word },
        include: listOf(include),
        exclude: listOf(exclude),
        ignored,
        sort: 'path',
        max_files: MAX_REPLACED_FILES,
        client
      },
      {
        async select(text, _, file) {
          const { places, repeated } = placesToReplace(text, edit)
          repeatedIn.set(file, repeated)
          return places
        },
        cut: (text, places, file) => ({
          matches: matchLines(
            new Text([text]),
            spread(places.length, MAX_SHOWN_PLACES).map(i => places[i]!),
            0
          ),
          repeated: repeatedIn.get(file)!
        }),
        binary: file => unreadable.push({ path: file, occurrences: 0 })
      }
    )
    if (!found.ok) {
      const { failure, ...about } = found
      if ('message' in failure) {
        // Exact text is no expression.
        const fault = faultOfGlob(failure as Extract<FindFailure, { code: 'BAD_GLOB' }>, this.#request)
        return { ...fail({ code: 'INVALID_REQUEST', faults: [fault] }), path }
      }
      return withHowRemoved(workspace, { ...about, failure }, this.#context)
    }
    const { files, total_files, total_matches: actual, truncated, searched_files, skipped } = found.value
    if (truncated === 'time' || truncated === 'size') {
      return fail({ code: 'SEARCH_INCOMPLETE', reason: truncated, searched_files })
    }
    if (total_files > MAX_REPLACED_FILES) {
      return fail({ code: 'TOO_MANY_OPERATIONS', what: 'found_files', limit: MAX_REPLACED_FILES, actual: total_files })
    }
    const all = files.map((file): FileToChange => ({ path: file.path, occurrences: file.count, known: file }))
    const search_text = old_text
    if (all.length === 0 && unreadable.length === 0) {
      return fail({ code: 'NOTHING_TO_REPLACE', reason: 'none', search_text, searched_files, ...(await this.#hints()) })
    }
    const repeated = files.reduce((sum, { value }) => sum + value.repeated, 0)
    if (actual > 0 && repeated === actual) {
      return fail({ code: 'NOTHING_TO_REPLACE', reason: 'repeated', search_text, in_files: files.map(listedFile) })
    }
    // What can't be changed is said before how many places there are.
    if (expected !== undefined && expected !== actual && unreadable.length === 0) {
      return fail({
        code: 'WRONG_COUNT',
        in_files: files.map(listedFile),
        search_text,
        expected_occurrences: expected,
        actual_occurrences: actual,
        again: { ...this.#fields(), occurrences: actual }
      })
    }
    return ok({ files: [...all, ...unreadable], occurrences: actual, skipped })
  }

  /** What else would find something. */
  async #hints() {
    const { old_text: text, new_text, path, include, exclude, whole_word, ignored } = this.#request
    const where = { path, include, exclude, ignored }
    const until = performance.now() + TRYING_TIME
    const otherwise = await foundOtherwise({ text, whole_word, ...where }, this.#finding, until)
    const isSought = new_text.length >= TELLING && new_text.length <= MAX_OLD_TEXT && performance.now() < until
    const made = isSought ? await countsOf({ text: new_text, whole_word, ...where }, this.#finding) : null
    return { otherwise, ...(made !== null && { new_text_in: made }) }
  }

  /** Changes the files together, or says what would change. */
  async #makeAll({ files, occurrences, skipped }: FoundAll, isDry: boolean) {
    const { show_diff, syntax, new_text, old_text, whole_word } = this.#request
    const change = {
      operation: 'edit' as const,
      edits: [{ old_text, new_text, replace_all: true, ...(whole_word === true && { whole_word }) }],
      line_endings: 'adapt' as const
    }
    const common = {
      dry_run: isDry,
      show_diff,
      max_diff_lines: Math.min(DIFF_LINES, Math.ceil(ALL_DIFF_LINES / files.length)),
      context_lines: 0,
      syntax
    }
    const stepOf = ({ path, occurrences: expected, known }: FileToChange): Step => {
      const expected_hash = this.#needsHashes ? known?.file_hash : undefined
      const planner = plannerFor(this.#planning, { ...common, path, expected_hash }, change)
      const plan = decoding(counting(planner, expected), this.#planning.limits)
      // Apart, as another name of the same file was found with the same text.
      return { operation: 'edit', target: { path, expected_hash }, plan, apart: true }
    }
    return makeTogether(this.#finding.workspace, this.#context, {
      operation: 'replace',
      dry_run: isDry,
      parts: files.map((file): PreparedPart<ReplacedFile> => ({
        steps: [stepOf(file)],
        answer: ([step]) => ({
          occurrences: file.occurrences,
          ...(isDry && { matches: file.known!.value.matches }),
          outcome: { ...outcomeOf(common, step!), changes: [], changed_lines: [] }
        })
      })),
      partAt: operation_index => ({ operation_index, path: files[operation_index]!.path }),
      withoutTexts: ({ matches: _, outcome, ...file }) => ({ ...file, outcome: fileWithoutTexts(outcome) }),
      about: { occurrences, skipped },
      other_failures: files.length,
      withPart: async failed => failed
    })
  }

  /** Adds to a failure which files can't be changed at all, and the request that leaves them out. */
  async #withoutUnfit(failed: Failed, found: FoundAll): Promise<Failed> {
    const until = performance.now() + TRYING_TIME
    const unfit = new Set<string>()
    const takeIn = ({ failure, path, others = [] }: Failed): boolean => {
      const isUnfit = UNFIT.includes(failure.code)
      if (isUnfit) unfit.add(path!)
      for (const other of others) takeIn(other)
      return isUnfit
    }
    takeIn(failed)
    const left = () => found.files.filter(({ path }) => !unfit.has(path))
    // Paths that the policy refuses are reported one at a time.
    while (left().length > 0 && performance.now() < until) {
      const rest = await this.#makeAll({ ...found, files: left() }, true)
      if (rest.ok || !takeIn(rest)) break
    }
    const exclude = [...listOf(this.#request.exclude), ...[...unfit].map(globOf)]
    const occurrences = left().reduce((sum, file) => sum + file.occurrences, 0)
    if (occurrences === 0 || exclude.length > MAX_GLOBS) return alone(failed)
    const { occurrences: expected, ...fields } = this.#fields()
    // Without the right number of places, they are to be seen first.
    const again = { ...fields, exclude, ...(expected === found.occurrences && { occurrences }) }
    return { ...alone(failed), leave_out: { paths: [...unfit], again } }
  }

  /** The request without the fields of the caller and without `dry_run`, to be sent with other fields. */
  #fields(): Partial<ReplaceRequest> {
    const { agent: _a, session: _s, reason: _r, idempotency_key: _k, dry_run: _d, ...fields } = this.#request
    return fields
  }
}

/** A failure of one file as that of the whole request. */
const alone = ({ others: _others, untried: _untried, part: _part, ...failed }: Failed): Failed => failed

const listedFile = ({ path, file_hash, count, value: { matches } }: FoundFile<Places>): FileWithPlaces => ({
  path,
  file_hash: shortHash(file_hash),
  occurrences: count,
  matches
})

/** The planner, which fails if the file has another number of places than expected: it has changed since. */
const counting =
  <F extends CallFailure>(planner: Planner<Reported, F>, expected: number): Planner<Reported, CallFailure> =>
  async (original, file) => {
    const planned = await planner(original, file)
    if (!planned.ok) return planned.failure.code === 'NO_MATCH' ? fail(changedMeanwhile) : planned
    const [applied] = planned.value.description.plan.edits_applied
    return applied!.occurrences_replaced === expected ? planned : fail(changedMeanwhile)
  }

/** A glob that fits this path only; bytes that aren't UTF-8 in it, and so other such bytes too. */
const globOf = (path: string): string => {
  const glob = path.replace(/[\\*?[\]{}!#]/g, '\\$&').replaceAll('\ufffd', '*')
  return glob.includes('/') ? glob : `/${glob}`
}
