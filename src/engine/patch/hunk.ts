// The hunks of a patch as data: what to change in one file, and where. Independent of the format that they were written
// in.

/** A line without its break. `keep` and `remove`: it is in the file; `add`: it is inserted. */
export interface HunkLine {
  kind: 'keep' | 'remove' | 'add'
  text: string
}

/** One change. The hunks of a file are in file order. */
export interface Hunk {
  /** Unchanged lines of the file above the change, each below the previous one. */
  anchors: readonly string[]
  lines: readonly HunkLine[]
  /** Its last old line is the last of the file. */
  at_end: boolean
  /** The 1-based line of the diff where the hunk begins. */
  patch_line: number
}

/** The lines that a hunk must find. */
export const oldLines = ({ lines }: Pick<Hunk, 'lines'>): string[] =>
  lines.flatMap(({ kind, text }) => (kind === 'add' ? [] : [text]))

/** The lines that replace them. */
export const newLines = ({ lines }: Pick<Hunk, 'lines'>): string[] =>
  lines.flatMap(({ kind, text }) => (kind === 'remove' ? [] : [text]))
