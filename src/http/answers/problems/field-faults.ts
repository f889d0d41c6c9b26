// What is wrong with a field of a request that passed its schema, in words. Does not know statuses.
import type { FieldFault, FixedFault } from '../../../operations/operation.ts'
import type { InvalidField } from '../../failure.ts'
import type { CallSyntax } from '../call-names.ts'
import { patchFaultInWords } from '../patch-fault.ts'
import { listed } from '../phrases.ts'

const TARGETS = 'heading, code_block and symbol'

/**
 * Of the text that is to replace `old`. Other editors take its absence as a deletion; it may as well be the rest of a
 * call that was cut off.
 */
export const noTextFor = (old: string): string => `is missing; send "" to delete ${old}`

const SENTENCES: Record<FixedFault, string> = {
  several_selectors: 'is a second selector beside another one; send one of them',
  not_with_to: "can't be combined with to; leave it out",
  needs_path: 'can only be used together with path, which is missing',
  needs_edit_id: 'can only be used together with edit_id, which is missing',
  changes_of_undo:
    'names changes of an undo or redo; name those of the edits that it was of, or leave it out to mean all of them',
  changes_not_kept:
    'names changes of an edit of which only the lines were counted; leave it out to mean the whole edit',
  several_files: 'is of one file, but the edits that are meant are of several; leave it out, or name edits of one file',
  not_of_file: 'is not the edit_id of a known edit of this file',
  no_time: 'is not a valid date and time',
  no_cursor: 'is not a cursor of this service; send next_after from an answer unchanged',
  missing: 'is missing',
  no_new_text: noTextFor('old_text'),
  same_path: 'is the path that the file has already; send another one',
  replace_all_too: "can't be combined with replace_all: true; send one of them",
  no_target: `the request has no target; send one of ${TARGETS}`,
  empty_target: 'is empty; send index, language or under_heading',
  text_to_delete: 'is not used with action delete; leave it out',
  heading_not_replaced: 'can only be used with action replace of a heading or code_block; leave it out',
  comment_not_replaced: 'can only be used with action replace or delete of a symbol; leave it out',
  slow_regex: 'takes too long to compile; send a shorter expression',
  without_search: 'can only be used together with search, which is missing',
  without_structure: 'can only be used together with structure: true, which is missing',
  facts_alone: "can't be combined with facts: true, which leaves the content out; send one of them",
  for_directories: 'can only be used with directories, but the path is a file; leave it out',
  for_files: 'can only be used with files, but the path is a directory; leave it out to list the directory'
}

/** The sentence about one fault, without its subject: the field. */
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
    case 'no_regex':
      return `is not a regular expression in RE2 syntax (${fault.syntax})`
    case 'not_beside':
      return `can't be combined with ${fault.other}; send one of them`
    default:
      return SENTENCES[fault.reason]
  }
}
