// The body and sentence of a success. Does not know status codes.
import type { ApplyPatchResult } from '../../../schemas/apply-patch.ts'
import type { BatchResult } from '../../../schemas/batch.ts'
import type { BlameResult } from '../../../schemas/blame.ts'
import type { ChangesResult } from '../../../schemas/changes.ts'
import type { FindResult } from '../../../schemas/find.ts'
import type { HistoryResult } from '../../../schemas/history.ts'
import type { InspectResult } from '../../../schemas/inspect.ts'
import type { ChangeResult } from '../../../schemas/outcome.ts'
import type { PendingResult } from '../../../schemas/pending.ts'
import type { ReviewResult } from '../../../schemas/review.ts'
import type { ReplaceResult } from '../../../schemas/replace.ts'
import type { RedoResult, UndoResult } from '../../../schemas/undo.ts'
import type { NewTextWarning } from '../../engine/edit/new-text-warnings.ts'
import type { EncodingNote } from '../../engine/task.ts'
import type { PlaceOperation } from '../../engine/edit/piece-table.ts'
import type { LineChange } from '../../engine/report/describe.ts'
import type { Repeated } from '../../engine/outline/repeated.ts'
import type { JoinedBreaks } from '../../engine/report/joined-breaks.ts'
import type { LeftAlone } from '../../engine/edit/plan.ts'
import type { Section } from '../../engine/plan/plan-section.ts'
import type { ChangedOutcome, ChangeOutcome, Outcome, PatchedFile, ReplacedFile } from '../../operations/operation.ts'
import type { FileWarning } from '../../workspace/failure.ts'
import { batchMessage, patchedMessage, patchMessage } from './batch-outcome.ts'
import { BY_ROUTE, type CallSyntax, pathShown, undoneWith } from './call-names.ts'
import { othersNamed } from './other-changes.ts'
import { sentences, capital, counted, encodingShown, linesListed, quote, span, listed } from './phrases.ts'
import { findMessage, type FoundOutcome } from './find-outcome.ts'
import { inspectMessage } from './inspect-outcome.ts'
import {
  blameMessage,
  changesMessage,
  fileMessage,
  historyMessage,
  pendingMessage,
  reviewMessage,
  undoMessage
} from './history-outcome.ts'
import { replaceMessage } from './replace-outcome.ts'
import { entryNamed } from './problems/sections.ts'
import { syntaxWarning } from './problems/results.ts'

/** The body of any success. */
export type AnswerBody =
  | ChangeResult
  | InspectResult
  | FindResult
  | HistoryResult
  | UndoResult
  | RedoResult
  | BatchResult
  | ReplaceResult
  | ApplyPatchResult
  | ReviewResult
  | PendingResult
  | BlameResult
  | ChangesResult

/**
 * The body of a success: what was found or done, and a sentence about it. `requestWarnings`: how the request was
 * understood; these come first in the body's warnings. `naming`: the caller's names.
 */
export function toBody(
  value: Outcome,
  requestWarnings: readonly string[] = [],
  naming: CallSyntax = BY_ROUTE
): AnswerBody {
  const warnings = requestWarnings.length > 0 ? [...requestWarnings] : undefined
  switch (value.operation) {
    case 'inspect': {
      const outcome = withPathShown(value.outcome, naming)
      const { path, resolved_path, ...facts } = outcome
      return { path, resolved_path, message: inspectMessage({ ...value, outcome }), ...facts, warnings }
    }
    case 'find':
      return value.by_inspect === true ? searchedFolder(value, requestWarnings, naming) : foundBody(value, warnings)
    case 'history': {
      const { edits, ...page } = value.outcome
      const listed = edits.map(({ diff_unavailable: why, ...edit }) => ({
        ...edit,
        diff_unavailable: why && NO_DIFF[why]
      }))
      return { message: historyMessage(value.outcome), edits: listed, ...page, warnings }
    }
    case 'undo':
    case 'redo': {
      const { dry_run, batch_id, toggled, skipped, rest_of_batch } = value.outcome
      const rest = rest_of_batch === undefined ? [] : [restSaid(rest_of_batch, naming)]
      const results = value.outcome.results.map(file => withPathShown(file, naming))
      const common = {
        message: undoMessage(value.operation, { ...value.outcome, results }),
        dry_run,
        batch_id,
        results: results.map(({ edit_ids, ...file }) =>
          bodyOf(file, fileMessage(value.operation, { ...file, edit_ids }), naming, file.warnings.map(warningOfFile))
        ),
        warnings: rest.length === 0 ? warnings : [...requestWarnings, ...rest]
      }
      return value.operation === 'undo' ? { ...common, undone: toggled, skipped } : { ...common, redone: toggled }
    }
    case 'batch': {
      const results = value.outcome.results.map(each => {
        const { dry_run: _, ...body } = changeBody(each, [], naming)
        return { operation: each.operation, ...body }
      })
      return { message: batchMessage(value.outcome), ...value.outcome, results, warnings }
    }
    case 'replace': {
      const results = value.outcome.results.map(file => replacedBody(file, naming))
      return { message: replaceMessage(value), ...value.outcome, results, warnings }
    }
    case 'apply_patch': {
      const results = value.outcome.results.map(file => patchedBody(file, naming))
      return { message: patchMessage(value.outcome), ...value.outcome, results, warnings }
    }
    case 'review': {
      const { verdict, edit_ids } = value.outcome
      return { message: reviewMessage(value.outcome), [verdict]: edit_ids, warnings }
    }
    case 'pending':
      return { message: pendingMessage(value.outcome), ...value.outcome, warnings }
    case 'blame':
      return { message: blameMessage(value.outcome), ...value.outcome, warnings }
    case 'changes':
      return { message: changesMessage(value.outcome), ...value.outcome, warnings }
    default:
      return changeBody(value, requestWarnings, naming)
  }
}

const restSaid = (batch_id: string, naming: CallSyntax): string =>
  sentences(
    `This edit is one of batch ${batch_id}, and others of it still stand.`,
    undoneWith(naming, 'To take back all of it', { batch_id })
  )

function foundBody(found: FoundOutcome, warnings: string[] | undefined): FindResult {
  const { path, resolved_path, ...facts } = found.outcome
  return { path, resolved_path, message: findMessage(found), ...facts, warnings }
}

/** What /inspect answers to a search in a folder. */
function searchedFolder(found: FoundOutcome, warnings: readonly string[], naming: CallSyntax): InspectResult {
  const { truncated, ...facts } = foundBody(found, undefined)
  const other = naming.find === undefined ? '' : `, as by ${naming.find}, which has more fields`
  const said = `${facts.path} is a directory, so all files below it were searched${other}.`
  return { ...facts, type: 'directory', truncated: truncated !== undefined, warnings: [...warnings, said] }
}

/** The result for one file in which text was replaced. */
function replacedBody(
  { occurrences, matches, outcome }: ReplacedFile,
  naming: CallSyntax
): ReplaceResult['results'][number] {
  const { path, resolved_path, changed, hash_before, file_hash, sha256, new_hash, file_size, edit_id, ...others } =
    changeBody({ operation: 'edit', outcome }, [], naming)
  const { write_strategy, diff, diff_truncated, diff_unavailable, warnings } = others
  return {
    path,
    resolved_path,
    occurrences,
    changed,
    ...(matches !== undefined && { matches: [...matches] }),
    hash_before: hash_before!,
    file_hash: file_hash!,
    sha256,
    new_hash,
    file_size,
    edit_id,
    write_strategy,
    diff,
    diff_truncated,
    diff_unavailable,
    warnings
  }
}

/** The result for one file of a patch. */
function patchedBody(file: PatchedFile, naming: CallSyntax): ApplyPatchResult['results'][number] {
  const { operation, outcome, moved_from } = file
  const as = operation === 'create' ? operation : 'edit_lines'
  const { dry_run, message, path, ...body } = changeBody({ operation: as, outcome }, [], naming, PATCH)
  return {
    operation,
    path,
    moved_from,
    message: patchedMessage(file, message),
    ...body,
    removed: operation === 'delete' && !dry_run ? true : undefined
  }
}

/** A name for the text that a patch inserts, since its field's name varies. */
const PATCH = 'the new text'

function changeBody(
  given: ChangedOutcome,
  requestWarnings: readonly string[],
  naming: CallSyntax,
  field: string = fieldOf(given, naming)
): ChangeResult {
  const outcome = withPathShown(given.outcome, naming)
  const value: ChangedOutcome = outcome === given.outcome ? given : { ...given, outcome }
  const { joined_breaks, mark_dropped, encoded, syntax, warnings, newTextWarnings, dry_run, edit_id } = outcome
  const made =
    value.operation === 'edit_section' ? sectionMessage(outcome, value.section) : MESSAGES[value.operation](outcome)
  const message = sentences(made, rebasedSaid(outcome))
  const warned = [...requestWarnings]
  if (syntax !== undefined) warned.push(syntaxWarning(syntax, { dry_run, field, edit_id, naming }))
  if (value.operation === 'edit_section') warned.push(...sectionWarnings(value.section, outcome))
  warned.push(...warnings.map(warningOfFile))
  if (joined_breaks !== undefined) warned.push(joinedWarning(joined_breaks, dry_run))
  if (encoded !== undefined) warned.push(encodingWarning(encoded, dry_run))
  if (mark_dropped !== undefined) warned.push(markWarning(value, naming, field))
  if (newTextWarnings.length > 0) warned.push(...toWarnings(newTextWarnings, outcome, field))
  return bodyOf(outcome, message, naming, warned)
}

/** What had changed in the file of an edit that was carried over. */
function rebasedSaid({ rebased, dry_run }: Pick<ChangeOutcome, 'rebased' | 'dry_run'>): string {
  if (rebased === undefined) return ''
  const named = othersNamed(rebased)
  const by = named === '' ? '' : ` (${named})`
  const had = dry_run ? 'has' : 'had'
  return `The file ${had} changed since your expected_hash${by}, but not these lines.`
}

/** The result for one changed file; `F` has members that only some operations return. */
function bodyOf<F extends ChangeOutcome>(outcome: F, message: string, naming: CallSyntax, warnings: string[]) {
  const {
    path,
    resolved_path,
    changed_lines: _lines,
    more_places: _more,
    removed_lines: _removed,
    left_alone,
    newTextWarnings: _texts,
    joined_breaks: _breaks,
    mark_dropped: _mark,
    encoded: _encoded,
    syntax: _syntax,
    warnings: _warnings,
    diff_unavailable,
    ...done
  } = outcome
  const note = left_alone.map(others => leftAlone(others, done.edits_applied?.length ?? 1, naming)).join(' ')
  return {
    path,
    resolved_path,
    message,
    ...done,
    diff_unavailable: diff_unavailable && NO_DIFF[diff_unavailable],
    note: note === '' ? undefined : note,
    warnings
  }
}

function withPathShown<O extends { path: string }>(outcome: O, naming: CallSyntax): O {
  const path = pathShown(naming, outcome.path)
  return path === outcome.path ? outcome : { ...outcome, path }
}

const warningOfFile = (warning: FileWarning): string => FILE_WARNINGS[warning]

const NO_DIFF = {
  not_utf8: 'The changed lines, or those beside them, contain bytes that are not UTF-8, which JSON cannot carry.',
  too_long: 'The changed lines, or those beside them, are longer than 1 MiB in total, which is too long to show.',
  page_full:
    'The newer edits of this answer have 8 MiB of texts, and it shows no more. ' +
    'To get this diff, send only this edit_id, with show_diff.'
}

const FILE_WARNINGS: Record<FileWarning, string> = {
  set_id_dropped: 'The set-user-id and set-group-id bits are dropped.',
  links_left: 'The file has other hard links; they keep the old content.',
  unsynced_change:
    'The file was changed, but its directory could not be synced: a power failure may bring the old content back.',
  unsynced_creation:
    'The file was created, but its directory could not be synced: a power failure may remove it again.',
  save_replaced:
    'Another program saved the file in the same instant, and this edit replaced what it saved; ' +
    'if the history could keep that, it is there as a change from outside in the state "uncertain".',
  unrecorded: 'The change was made, but the history could not be written: nothing can take this change back.'
}

/**
 * A `\r` and a `
 * ` became one line break, because the text between them was removed.
 */
function joinedWarning({ count, lines }: JoinedBreaks, dry_run: boolean): string {
  const [brought, are, has] = dry_run ? ['would bring', 'would be', 'would have'] : ['brought', 'are', 'has']
  return sentences(
    `The edit ${brought} a carriage return (\\r) and a line feed (\\n) together`,
    `at the end of ${linesListed(lines, count === lines.length)}.`,
    `Together they ${are} one line break, so the file ${has} ${counted(count, 'line')} fewer than expected.`
  )
}

/** The file isn't UTF-8, or wasn't before. */
function encodingWarning(note: EncodingNote, dry_run: boolean): string {
  if ('replaced' in note) {
    const [had, has] = dry_run ? ['is', 'would be UTF-8'] : ['was', 'is UTF-8 now']
    return `The file ${had} ${encodingShown(note.encoding)}, and ${has}: check that the programs that read it expect that.`
  }
  return sentences(
    `The file is not UTF-8: it seems to be ${encodingShown(note.encoding)}, and so`,
    `${quote(note.written)} ${dry_run ? 'would be' : 'was'} written in that encoding. Check it if the file is in another.`
  )
}

/** The file's byte-order mark was removed, by an edit of the text after it or by new content. */
function markWarning({ operation, outcome: { dry_run } }: ChangedOutcome, naming: CallSyntax, field: string): string {
  const begins =
    operation !== 'create' ? `${naming.field('old_text')} begins` : dry_run ? 'The file begins' : 'The file began'
  return sentences(
    `${begins} with a byte-order mark and ${field} does not, so the mark ${dry_run ? 'would be' : 'was'} removed.`,
    dry_run
      ? `To keep it, begin ${field} with \\ufeff.`
      : 'To put it back, send an edit that begins the file with \\ufeff.'
  )
}

/** The caller's name for the field that holds the inserted text. */
const fieldOf = ({ operation }: ChangedOutcome, naming: CallSyntax): string =>
  operation === 'create'
    ? naming.field('content', operation)
    : naming.field('new_text', operation === 'edit_lines' ? operation : 'edit')

/** The most warnings about inserted text that are listed one by one. */
const MAX_TEXT_WARNINGS = 20

function toWarnings(newTextWarnings: readonly NewTextWarning[], outcome: ChangeOutcome, field: string): string[] {
  const several = (outcome.edits_applied?.length ?? 0) > 1 || outcome.changes.some(({ edit_index }) => edit_index > 0)
  // It begins a sentence.
  const of = (index: number) => (field === PATCH ? capital(field) : several ? `${field} of edit ${index + 1}` : field)
  const each = newTextWarnings
    .slice(0, MAX_TEXT_WARNINGS)
    .map(({ edit_index, type, line, text }) =>
      TEXT_WARNINGS[type](of(edit_index), `${quote(text)} (its line ${line})`, outcome.dry_run)
    )
  const more = newTextWarnings.length - each.length
  return more === 0 ? each : [...each, `Not listed: ${counted(more, 'more warning')} about ${field}.`]
}

const TEXT_WARNINGS: Record<NewTextWarning['type'], (field: string, text: string, dry_run: boolean) => string> = {
  placeholder: (field, text, dry_run) =>
    sentences(
      `${field} contains the placeholder ${text}, which ${dry_run ? 'would be' : 'was'} written literally:`,
      'it does not stand for anything. If you meant lines of the file,',
      dry_run
        ? 'write them out in full before you send the edit.'
        : 'they are gone; replace it with those lines, in full.'
    ),
  diff: (field, text, dry_run) =>
    sentences(
      `${field} contains the line of a diff ${text}, which ${dry_run ? 'would be' : 'was'} written literally:`,
      'no diff is applied.',
      dry_run
        ? 'Send only the lines that should be in the file.'
        : 'Unless you meant that, send an edit that removes it.'
    ),
  markers: (field, text, dry_run) =>
    sentences(
      `${field} contains the marker ${text}, which ${dry_run ? 'would be' : 'was'} written literally:`,
      'it is of another edit format, or of the call.',
      dry_run ? 'Leave it out.' : 'Unless you meant that, send an edit that removes it.'
    ),
  line_numbers: (field, text, dry_run) =>
    sentences(
      `${field} starts its lines with numbers, such as ${text},`,
      `which ${dry_run ? 'would be' : 'were'} written literally.`,
      'If they are line numbers copied from a view of the file,',
      dry_run ? 'leave them out.' : 'send an edit that removes them.'
    ),
  byte_order_mark: (field, _, dry_run) =>
    sentences(
      `${field} begins with a byte-order mark (U+FEFF), which ${dry_run ? 'would be' : 'was'} written literally:`,
      'only as the very first character of a file is it a mark, here it is an invisible character.',
      dry_run ? 'Leave it out.' : 'Unless you meant that, send an edit that removes it.'
    )
}

const MESSAGES = {
  edit: editMessage,
  edit_lines: linesMessage,
  create: createMessage,
  delete: deleteMessage,
  move: moveMessage
}

const UNCHANGED = 'The file already has exactly this content; nothing was written.'

/** The note about matches that an edit left unchanged. */
function leftAlone({ edit_index, count, lines }: LeftAlone, edits: number, naming: CallSyntax): string {
  const areAll = count === lines.length
  const times = areAll ? '' : ` ${counted(count, 'time')},`
  const old_text = naming.field('old_text')
  const text = edits === 1 ? old_text : `The ${old_text} of edit ${edit_index + 1}`
  return `${text} also appears${times} at ${linesListed(lines, areAll)}, which ${count === 1 ? 'was' : 'were'} left unchanged.`
}

function editMessage(outcome: ChangeOutcome): string {
  const { path, changes, total_replacements = 0, dry_run, changed } = outcome
  if (!changed) return UNCHANGED
  const deletes = changes.length > 0 && changes.every(change => change.operation === 'delete')
  const verb = deletes ? 'delete' : 'replace'
  const what = `${counted(total_replacements, 'occurrence')} ${deletes ? 'from' : 'in'} ${path}`
  const lines = linesListed(changes.map(change => change.start_line))
  const first = linesListed(changes.slice(0, 1).map(change => change.start_line))
  const where = !outcome.changes_truncated
    ? ` (${lines})`
    : total_replacements === 1
      ? `, from ${first} on`
      : `, the first at ${first}`
  return dry_run ? `Would ${verb} ${what}${where}; nothing was written.` : `Successfully ${verb}d ${what}${where}.`
}

/** The most changes that a sentence lists. */
const MAX_LISTED = 5

function linesMessage(outcome: ChangeOutcome): string {
  const { path, dry_run, changed, total_lines_before, total_lines_after } = outcome
  if (!changed) return UNCHANGED
  const changes = outcome.changes.map(change => ({ ...change, operation: doneBy(change, total_lines_before) }))
  const end = dry_run
    ? `${path} would then have ${counted(total_lines_after, 'line')}; nothing was written.`
    : `${path} now has ${counted(total_lines_after, 'line')}.`
  const [first, ...more] = changes
  if (first !== undefined && more.length === 0) return `${oneChange(first, path, dry_run)} ${end}`
  const each = changes.slice(0, MAX_LISTED).map(change => inList(change, dry_run))
  const total = `${outcome.changes_truncated ? 'more than ' : ''}${changes.length}`
  const rest = outcome.changes_truncated
    ? ['and more']
    : changes.length > MAX_LISTED
      ? [`and ${changes.length - MAX_LISTED} more`]
      : []
  return `${dry_run ? 'Would make' : 'Made'} ${total} changes in ${path}: ${[...each, ...rest].join('; ')}. ${end}`
}

/** What a change did to whole lines: replacing a range may only insert or only delete lines. */
function doneBy({ operation, start_line, lines_removed, lines_added }: LineChange, total: number): PlaceOperation {
  if (operation !== 'replace' || (lines_removed > 0 && lines_added > 0)) return operation
  if (lines_added === 0) return 'delete'
  return start_line > total ? 'append' : 'insert'
}

const oldSpan = ({ start_line, end_line }: LineChange) => span([start_line, end_line])
const newSpan = ({ new_start_line, new_end_line }: LineChange) => span([new_start_line, new_end_line])
function oneChange(change: LineChange, path: string, dry_run: boolean): string {
  const verb = (word: string, past: string) => (dry_run ? `Would ${word}` : past)
  switch (change.operation) {
    case 'insert':
      return `${verb('insert', 'Inserted')} ${newSpan(change)} into ${path}, before what was line ${change.start_line}.`
    case 'append':
      return `${verb('append', 'Appended')} ${newSpan(change)} to ${path}.`
    case 'delete':
      return `${verb('delete', 'Deleted')} ${oldSpan(change)} of ${path}.`
    case 'replace': {
      const [it, isNow] = change.lines_removed === 1 ? ['it', 'is now'] : ['they', 'are now']
      const now = `${it} ${dry_run ? 'would be' : isNow} ${newSpan(change)}`
      return `${verb('replace', 'Replaced')} ${oldSpan(change)} of ${path}; ${now}.`
    }
  }
}

/** One of several changes: `replace line 1 (now lines 1 to 2)`. */
function inList(change: LineChange, dry_run: boolean): string {
  const verb = (word: string, past: string) => (dry_run ? word : past)
  switch (change.operation) {
    case 'insert':
      return `${verb('insert', 'inserted')} ${newSpan(change)}`
    case 'append':
      return `${verb('append', 'appended')} ${newSpan(change)}`
    case 'delete':
      return `${verb('delete', 'deleted')} ${oldSpan(change)}`
    case 'replace':
      return `${verb('replace', 'replaced')} ${oldSpan(change)} (${verb('then', 'now')} ${newSpan(change)})`
  }
}

function sectionMessage(outcome: ChangeOutcome, { entry, with_comment }: Section): string {
  const comment = with_comment === true ? ', with its doc comment' : ''
  return outcome.changed ? `${linesMessage(outcome)} Target: ${entryNamed(entry)}${comment}.` : UNCHANGED
}

const REPEATED: Record<Repeated, [what: string, were: string, field: string]> = {
  heading: ['the heading line', 'was', 'include_heading'],
  fences: ['the fences of the code block', 'were', 'include_heading'],
  comment: ['the doc comment', 'was', 'include_comment']
}

/** What an edit did, or may have done, beyond its target. */
function sectionWarnings(
  { entry, errors_before, repeated, emptied, dropped, stray, twice, gone }: Section,
  { changed, dry_run }: Pick<ChangeOutcome, 'changed' | 'dry_run'>
): string[] {
  const warnings: string[] = []
  if (repeated !== undefined && changed) {
    const [what, were, field] = REPEATED[repeated]
    warnings.push(
      sentences(
        `new_text begins with ${what}, which ${dry_run ? 'would be' : were} replaced too, as with ${field}: true.`,
        `If it should be there twice, send ${field}: false.`
      )
    )
  }
  if (emptied === true && changed) {
    const section = `${entryNamed(entry)} at line ${entry.start_line}`
    warnings.push(
      sentences(
        'replace keeps the heading line, and new_text begins with another heading:',
        // Once the edit is made, the same call with include_heading would insert the heading twice.
        dry_run
          ? `${section} would be empty. If new_text should replace its heading too, send include_heading: true.`
          : `${section} is empty now. If new_text should have replaced its heading too, delete that section.`
      )
    )
  }
  if (twice !== undefined && changed) {
    const which = `${entryNamed(twice)} at line ${twice.start_line}`
    warnings.push(
      sentences(
        `${capital(which)} ${dry_run ? 'would be' : 'is'} a second one with this heading in the same place of the outline.`,
        'If one was meant, use action replace on it, or append.'
      )
    )
  }
  if (gone !== undefined && changed) {
    const which = listed(gone.map(entry => `${entryNamed(entry)} (${span([entry.start_line, entry.end_line])} before)`))
    warnings.push(
      sentences(
        `replace covers all below the heading: ${which} ${dry_run ? 'would be' : gone.length === 1 ? 'was' : 'were'} removed.`,
        'If it should stay, put it into new_text.'
      )
    )
  }
  if (dropped !== undefined && changed) {
    const mark = dropped.mark === undefined ? 'a decorator or attribute' : quote(dropped.mark)
    warnings.push(
      sentences(
        `${capital(entryNamed(entry))} began with ${mark}, which new_text leaves out,`,
        `so it ${dry_run ? 'would be' : 'was'} removed: decorators and attributes belong to a symbol.`,
        'If it should stay, put it back.'
      )
    )
  }
  if (errors_before.length > 0) {
    warnings.push(
      sentences(
        `The file already had syntax errors (${linesListed(errors_before)}),`,
        'so parts of its structure may not have been recognized. Check changes.'
      )
    )
  }
  if (stray !== undefined) {
    const item = `${entryNamed(stray.entry)} at line ${stray.entry.start_line}`
    const became = stray.reason === 'lost' ? 'is no longer found' : 'is new'
    warnings.push(`More of the structure changed than the target: ${item} ${became}. Check changes.`)
  }
  return warnings
}

function createMessage({ path, created, changed, dry_run, total_lines_after, file_size }: ChangeOutcome): string {
  if (!changed) return UNCHANGED
  const [create, done] =
    created === true ? ['create', 'Created'] : ['replace the whole content of', 'Replaced the whole content of']
  const what = `${path} (${counted(total_lines_after, 'line')}, ${counted(file_size, 'byte')})`
  return dry_run ? `Would ${create} ${what}; nothing was written.` : `${done} ${what}.`
}

function deleteMessage({ path, files, dry_run }: ChangeOutcome): string {
  const what = `${path}${files === undefined ? '' : ` with ${counted(files.length, 'file')}`}`
  return dry_run ? `Would delete ${what}; nothing was written.` : `Deleted ${what}.`
}

function moveMessage({ path, moved_from, files, dry_run }: ChangeOutcome): string {
  const what = `${moved_from}${files === undefined ? '' : ` with ${counted(files.length, 'file')}`} to ${path}`
  if (dry_run) return `Would move ${what}; nothing was written.`
  const isSame = files?.every(({ hash_before, file_hash }) => hash_before === file_hash)
  return `Moved ${what}${isSame === true ? ', with the same hashes' : ''}.`
}
