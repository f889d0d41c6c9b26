// Finds which of our tools an unknown tool name means: other vendors' names, and typos. Does not know which tools a
// caller may use.
import { distance } from 'fastest-levenshtein'
import { BY_TOOL } from '../answers/call-names.ts'

/** Our tool → equivalent tools of other vendors, in lower case without punctuation. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  [BY_TOOL.inspect]: [
    ...['read', 'readfile', 'readfiles', 'readtextfile', 'readmanyfiles', 'readmultiplefiles', 'openfile', 'getfile'],
    ...['view', 'viewfile', 'viewlinerange', 'cat', 'getfileinfo', 'fileinfo', 'getfilecontents', 'readfilecontent'],
    ...['ls', 'list', 'listdir', 'listdirectory', 'listfiles', 'directorytree', 'listcodedefinitionnames'],
    ...['getsymbolsoverview', 'documentsymbols', 'viewcodeitem', 'searchinfile', 'inspect']
  ],
  [BY_TOOL.find]: [
    ...['grep', 'grepsearch', 'ripgrep', 'search', 'searchfiles', 'searchcode', 'searchforpattern', 'textsearch'],
    ...['searchfilecontent', 'searchtext', 'findinfiles', 'searchinfiles', 'searchproject', 'codesearch'],
    ...['glob', 'globsearch', 'filesearch', 'findfile', 'findfiles', 'findbyname', 'findsymbol', 'gotodefinition']
  ],
  [BY_TOOL.edit]: [
    ...['edit', 'multiedit', 'editfiles', 'editexistingfile', 'inserteditintofile', 'applyedit', 'applydiff', 'patch'],
    ...['replace', 'replaceinfile', 'replacestringinfile', 'multireplacestringinfile', 'replacefilecontent'],
    ...['searchreplace', 'searchandreplace', 'singlefindandreplace', 'findandreplace', 'strreplace'],
    ...['strreplaceeditor', 'strreplacebasededittool', 'replaceregex', 'replacecontent', 'updatefile', 'modifyfile']
  ],
  [BY_TOOL.edit_lines]: [
    ...['insert', 'insertline', 'insertlines', 'insertatline', 'insertcontent', 'replacelines', 'deletelines'],
    ...['editrange', 'replacerange']
  ],
  [BY_TOOL.edit_section]: ['replacesymbolbody', 'insertaftersymbol', 'insertbeforesymbol', 'editsymbol'],
  [BY_TOOL.create]: [
    ...['create', 'createnewfile', 'createtextfile', 'newfile', 'addfile'],
    ...['write', 'writefile', 'writetofile', 'writetextfile', 'savefile', 'overwritefile', 'putfilecontents']
  ],
  [BY_TOOL.delete]: [
    ...[
      'delete',
      'deletefiles',
      'deletedirectory',
      'deletefolder',
      'deletepath',
      'remove',
      'removefile',
      'removefiles'
    ],
    ...['removedirectory', 'removefolder', 'rm', 'rmdir', 'unlink', 'trash']
  ],
  [BY_TOOL.move]: [
    ...[
      'move',
      'movefiles',
      'movedirectory',
      'movefolder',
      'movepath',
      'mv',
      'rename',
      'renamefile',
      'renamedirectory'
    ],
    ...['renamefolder', 'renamepath']
  ],
  [BY_TOOL.undo]: ['undo', 'undolastedit', 'revert', 'revertfile', 'rollback'],
  [BY_TOOL.redo]: ['redo'],
  [BY_TOOL.history]: ['history', 'filehistory', 'listedits', 'edits'],
  [BY_TOOL.replace]: [
    ...['replaceall', 'replaceinallfiles', 'replaceallinfiles', 'replaceeverywhere', 'replaceacrossfiles'],
    ...['findandreplaceall', 'findandreplaceinfiles', 'searchandreplaceinfiles', 'globalreplace', 'replacetextinfiles']
  ],
  batch_edit: ['batch', 'editmultiplefiles', 'multifileedit'],
  preview_edit: ['preview', 'viewdiff', 'diff', 'dryrun']
}

const OURS = new Map(Object.entries(OTHERS).flatMap(([ours, others]) => others.map(name => [name, ours] as const)))

/**
 * The most UTF-16 units of a name that is compared: comparing takes time per unit, and a longer name is similar to
 * none.
 */
const COMPARED = 40

/** A name without the server's name, which some hosts put before it. */
const plain = (name: string): string => {
  const [own = ''] = name.split(/__|[./:]/).slice(-1)
  return own.toLowerCase().replace(/[^a-z]/g, '')
}

/**
 * The one of `names` that an unknown name means: another vendor's name for it, or a typo. Undefined if there is none,
 * or if several are equally near.
 */
export function toolMeant(name: string, names: readonly string[]): string | undefined {
  if (name.length > COMPARED) return undefined
  const wanted = plain(name)
  const ours = OURS.get(wanted)
  if (ours !== undefined) return names.find(one => one === ours)
  const steps = names.map(one => ({ one, far: distance(plain(one), wanted) })).sort((a, b) => a.far - b.far)
  const [first, second] = steps
  const most = Math.floor(wanted.length / 5)
  return first !== undefined && first.far <= most && second?.far !== first.far ? first.one : undefined
}
