// The hunks of a patch as data: what is to be changed in one file, and where. Does not know the format that they were
// written in, or the file.

/** A line without its break. `keep` and `remove`: it is in the file; `add`: it is put in. */
export interface HunkLine {
  kind: 'keep' | 'remove' | 'add'
  text: string
}

/** One change. Hunks of a file are in its order. */
export interface Hunk {
  /** Lines of the file that stand above the change, each below the one before; they aren't changed. */
  anchors: readonly string[]
  lines: readonly HunkLine[]
  /** Its last old line is the last of the file. */
  at_end: boolean
  /** The 1-based line of the diff where it begins. */
  patch_line: number
}

/** The lines that a hunk is to find. */
export const oldLines = ({ lines }: Pick<Hunk, 'lines'>): string[] =>
  lines.flatMap(({ kind, text }) => (kind === 'add' ? [] : [text]))

/** The lines that are to stand there instead. */
export const newLines = ({ lines }: Pick<Hunk, 'lines'>): string[] =>
  lines.flatMap(({ kind, text }) => (kind === 'remove' ? [] : [text]))
