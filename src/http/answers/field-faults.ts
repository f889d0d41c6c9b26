// What is wrong with a field of a request that passed its schema, in words. Does not know statuses.
import type { FieldFault, FixedFault } from '../../operations/operation.ts'
import type { InvalidField } from '../failure.ts'
import type { CallSyntax } from './call-names.ts'

const TARGETS = 'heading, code_block and symbol'

const SENTENCES: Record<FixedFault, string> = {
  missing: 'is missing',
  replace_all_too: "can't be combined with replace_all: true; send one of them",
  no_target: `the request has no target; send one of ${TARGETS}`,
  empty_target: 'is empty; send index, language or under_heading',
  text_to_delete: 'is not used with action delete; leave it out',
  heading_not_replaced: 'can only be used with action replace of a heading or code_block; leave it out',
  comment_not_replaced: 'can only be used with action replace or delete of a symbol; leave it out',
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
    case 'other_operation':
      return `names another operation; call ${naming[fault.operation]} for that, without this field`
    case 'second_target':
      return `is a second target beside ${fault.other}; send only one of ${TARGETS}`
    case 'closes_fence':
      return (
        `has a line that would close the fence of the code block at line ${fault.line}; leave the fences out, ` +
        'or send include_heading: true with the whole block between longer fences'
      )
    case 'no_regex':
      return `is not a regular expression in RE2 syntax (${fault.syntax})`
    default:
      return SENTENCES[fault.reason]
  }
}
