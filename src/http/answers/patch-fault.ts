// Why the text of a patch or a diff can't be read, in words: which line, and what it should be. Does not know the
// field that it is in.
import { MAX_PATCH_LINES, type PatchFault, type PatchFaultReason } from '../../engine/patch/fault.ts'
import { counted, quote } from './phrases.ts'

/** What is wrong with the line, and what to write; each goes on after the line's number and text. */
const SENTENCES: Record<PatchFaultReason, string> = {
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
  no_file_line: 'stands where a file is to be named: "*** Add File: ", "*** Update File: " or "*** Delete File: "',
  unknown_line:
    'is none that there is; write "*** Add File: ", "*** Update File: ", "*** Delete File: " or "*** End Patch"',
  misplaced_move: 'stands elsewhere than right below "*** Update File: "',
  same_path: 'names the path that the file has already; leave it out, or name another one',
  no_path: 'has no path after the colon',
  no_update: 'has neither a diff nor "*** Move to: " below it; send the lines that change, or leave it out',
  lines_of_deleted: 'stands below "*** Delete File: ", which has no lines; leave it out'
}

/** The sentence, without its subject: the field. */
export const patchFaultInWords = ({ line, reason, text }: PatchFault): string =>
  `can't be read: line ${line}${text === '' ? '' : ` (${quote(text, 40)})`} ${SENTENCES[reason]}`
