// What is wrong with a field of a request that passed its schema, in words. Does not know statuses.
import { MAX_PATCH_LINES, type PatchFault, type PatchFaultReason } from '../../../engine/patch/fault.ts'
import type { FieldFault, FixedFault } from '../../../operations/operation.ts'
import type { InvalidField } from '../../request-failure.ts'
import type { CallSyntax } from '../call-names.ts'
import { counted, listed, quote } from '../phrases.ts'
import { whyNoPath } from './path-words.ts'

const TARGETS = 'heading, code_block and symbol'

/**
 * For a missing text that should replace `old`. Other editors treat a missing text as a deletion, but the call may as
 * well have been cut off.
 */
export const noTextFor = (old: string): string => `is missing; send "" to delete ${old}`

const SENTENCES: Record<FixedFault, string> = {
  several_selectors: 'is a second selector beside another one; send one of them',
  not_with_to: "can't be combined with to; leave it out",
  needs_path: 'can only be used together with path, which is missing',
  needs_edit_id: 'can only be used together with edit_id, which is missing',
  changes_of_undo:
    'names changes of an undo or redo; name those of the edits that it took back or made again, or leave it out',
  changes_not_kept:
    'names changes of an edit whose changes were not kept one by one; leave it out to mean the whole edit',
  several_files: 'is the hash of one file, but the edits are of several; leave it out, or name edits of one file',
  not_of_file: 'is not the edit_id of a known edit of this file',
  no_time: 'is not a valid date and time',
  no_cursor: 'is not a cursor of this service; send next_after from an answer unchanged',
  missing: 'is missing',
  no_new_text: noTextFor('old_text'),
  same_path: 'is the path that the file has already; send another one',
  into_itself: 'is inside path, and nothing can be moved into itself; send another path',
  whole_workspace: 'is the workspace itself, which stays; send the path of a file or directory in it',
  hash_of_folder: 'is of a file, but the path is a directory; leave it out',
  replace_all_too: "can't be combined with replace_all: true; send one of them",
  no_target: `the request has no target; send one of ${TARGETS}`,
  empty_target: 'is empty; send index, language or under_heading',
  text_to_delete: 'is not used with action delete; leave it out',
  heading_not_replaced: 'can only be used with action replace of a heading or code_block; leave it out',
  comment_not_replaced: 'can only be used with action replace or delete of a symbol; leave it out',
  slow_regex: 'takes too long to compile; send a shorter expression',
  without_search: 'can only be used together with search, which is missing',
  without_text: 'can only be used together with text or regex, which is missing',
  one_line: 'has a line break, but matches within one line only; to find text over several lines, send it as text',
  no_name: 'has no name at its end; send the name of a symbol, or a path such as Parser.parse',
  without_structure: 'can only be used together with structure: true, which is missing',
  facts_alone: "can't be combined with facts: true, which leaves the content out; send one of them",
  for_directories: 'can only be used with directories, but the path is a file; leave it out',
  for_files: 'can only be used with files, but the path is a directory; leave it out to list the directory'
}

/** The sentence about one fault, without its subject, the field. */
export const faultInWords = (fault: FieldFault, naming: CallSyntax): InvalidField => ({
  pointer: fault.pointer,
  message: messageOf(fault, naming)
})

function messageOf(fault: FieldFault, naming: CallSyntax): string {
  switch (fault.reason) {
    case 'too_many_files':
      return (
        `the request means edits of ${fault.actual} files; the limit is ${fault.limit}. ` +
        'Send edit_ids of fewer files'
      )
    case 'no_selector':
      return `the request does not say which changes it means; send one of ${listed(fault.selectors, 'or')}`
    case 'no_such_change':
      return (
        `is ${fault.index}, but the edit has ` +
        (fault.total === 1 ? 'only change 0' : `changes 0 to ${fault.total - 1}`)
      )
    case 'other_operation': {
      const other = naming[fault.operation]
      const instead = other === undefined ? 'leave it out' : `call ${other} for that, without this field`
      return `names another operation; ${instead}`
    }
    case 'second_target':
      return `is a second target beside ${fault.other}; send only one of ${TARGETS}`
    case 'closes_fence':
      return (
        `has a line that would close the fence of the code block at line ${fault.line}; leave the fences out, ` +
        'or send include_heading: true with the whole block between longer fences'
      )
    case 'unreadable_patch':
      return patchFaultInWords(fault.fault)
    case 'bad_path':
      return whyNoPath(fault.failure, naming)
    case 'no_regex':
      return `is not a regular expression in RE2 syntax (${fault.syntax})`
    case 'no_glob':
      return `is not a glob (${fault.syntax})`
    case 'not_beside':
      return `can't be combined with ${fault.other}; send one of them`
    default:
      return SENTENCES[fault.reason]
  }
}

/** What is wrong with a line of a patch, and what to write; each text follows the line's number and content. */
const UNREADABLE: Record<PatchFaultReason, string> = {
  no_marker: 'has no marker; put a space in front of a kept line, "-" of a removed one, "+" of an added one',
  not_added: 'has no "+" in front; in the diff of a new file every line has one, also an empty line',
  no_space_after_marker: 'has no space after @@; write "@@" alone, or "@@ " and a whole line of the file',
  empty_hunk: 'belongs to a hunk without lines; below @@ there must be lines with " ", "-" or "+" in front',
  no_change: 'begins a diff that changes nothing; at least one line must have "-" or "+" in front',
  after_end_of_file: 'stands after *** End of File; begin another hunk with @@, or leave it out',
  git_header: 'is a header of git, which this format does not have; leave it out, and begin with @@',
  newline_note: 'is a note of git, which this format does not have; leave it out: the final line break stays as it is',
  envelope_line: 'does not belong in the diff of one file; leave it out, and send one diff for each file',
  fence: 'is a Markdown fence; leave the fences out',
  too_many_lines: `is one too many: at most ${counted(MAX_PATCH_LINES, 'line')} are read; send several patches`,
  no_begin: 'is not "*** Begin Patch", with which a patch begins',
  no_end: 'is missing: a patch ends with "*** End Patch"; send it whole if it was cut off',
  after_end: 'stands after the end of the patch; leave it out',
  no_files: 'ends a patch without files; each begins with "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  no_file_line: 'stands where a file must be named: "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  unknown_line:
    'is not a line of a patch; write "*** Add File: ", "*** Update File: ", "*** Delete File: " or "*** End Patch"',
  misplaced_move: 'must stand right below "*** Update File: "',
  same_path: 'names the path that the file has already; leave it out, or name another one',
  no_path: 'has no path after the colon',
  no_update: 'has neither a diff nor "*** Move to: " below it; send the lines that change, or leave it out',
  lines_of_deleted: 'stands below "*** Delete File: ", which has no lines; leave it out'
}

/** The sentence about a fault in a patch, without its subject, the field. */
const patchFaultInWords = ({ line, reason, text }: PatchFault): string =>
  `can't be read: line ${line}${text === '' ? '' : ` (${quote(text, 40)})`} ${UNREADABLE[reason]}`
