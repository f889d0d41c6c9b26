// Which of our tools is meant by the name of another vendor's, or by a typo.
import t from 'tap'
import { toolMeant } from '../../../src/http/tools/other-names.ts'

const OURS = [
  'edit_file',
  'edit_lines',
  'edit_section',
  'preview_edit',
  'batch_edit',
  'replace_in_files',
  'create_file',
  'inspect_file',
  'find',
  'edit_history',
  'undo_edit',
  'redo_edit'
]

const MEANT: [sent: string, ours: string | undefined][] = [
  // As other vendors call theirs, in any spelling.
  ['read_file', 'inspect_file'],
  ['Read', 'inspect_file'],
  ['list_directory', 'inspect_file'],
  ['Grep', 'find'],
  ['search_files', 'find'],
  ['glob', 'find'],
  ['multi_edit', 'edit_file'],
  ['MultiEdit', 'edit_file'],
  ['str_replace', 'edit_file'],
  ['str_replace_based_edit_tool', 'edit_file'],
  ['write_file', 'create_file'],
  ['write_to_file', 'create_file'],
  ['insert_at_line', 'edit_lines'],
  ['replace_symbol_body', 'edit_section'],
  ['undo', 'undo_edit'],
  ['functions.read_file', 'inspect_file'],
  // Typos.
  ['edit_fil', 'edit_file'],
  ['editFile', 'edit_file'],
  ['mcp__editd__edit_file', 'edit_file'],
  ['edit_sections', 'edit_section'],
  ['inspect', 'inspect_file'],
  // What none of ours does, or what is like several.
  ['delete_file', undefined],
  ['move_file', undefined],
  ['bash', undefined],
  ['do_edit', undefined],
  ['xdo_edit', undefined],
  ['', undefined],
  ['constructor', undefined],
  ['edit_file'.repeat(10), undefined]
]

t.test('names the tool that is meant, or none', t => {
  for (const [sent, ours] of MEANT) t.equal(toolMeant(sent, OURS), ours, sent)
  t.end()
})

t.test('names no tool that the caller may not use', t => {
  t.equal(toolMeant('write_file', ['inspect_file']), undefined)
  t.equal(toolMeant('edit_fil', []), undefined)
  t.end()
})
