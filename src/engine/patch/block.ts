// Which lines belong to the block that a line begins, judged by indentation alone.
import type { FileLines } from './file-lines.ts'

/** The start of a line that closes a block at the indentation of its first line. */
const CLOSING = /^(?:[)\]}]|<\/|(?:end|fi|done|esac)\b)/
/** The end of such a line if the block continues: `): {`, `} else {`, `):`. */
const OPENING = /[([{:]$/
/** Lines at the block's own indentation that continue it: a brace alone, a branch, a label, a comment. */
const GOING_ON =
  /^(?:\{|(?:else|elif|elsif|catch|except|finally|rescue|ensure|then|do)\b|(?:case\b.*|default|public|private|protected) ?:$|#|\/[/*])/

/**
 * The index after the last line of the block that line `first` begins: the deeper lines below it, up to the next line
 * that isn't deeper, and the line that closes the block. Lines at the same depth that continue it are included if
 * deeper ones follow. Undefined if the line begins no block: the next non-blank line is no deeper, or can't be compared
 * because one is indented with tabs and the other with spaces. Also undefined if a line inside can't be compared.
 */
export function blockEnd(file: FileLines, first: number): number | undefined {
  const own = indentation(file, first)
  let end: number | undefined
  for (let i = first + 1; i < file.count; i++) {
    const [start, stop] = file.trimmed(i)
    if (start === stop) continue
    const indent = indentation(file, i)
    if (indent.length > own.length) {
      if (!indent.startsWith(own)) return undefined
      end = i + 1
      continue
    }
    if (!own.startsWith(indent)) return undefined
    if (indent.length < own.length) break
    const text = file.bytes.toString('utf8', start, Math.min(stop, start + LOOKED_AT))
    if (CLOSING.test(text)) {
      if (OPENING.test(text)) continue
      return end === undefined ? undefined : i + 1
    }
    if (!GOING_ON.test(text)) break
  }
  return end
}

/** Bytes examined of a line. */
const LOOKED_AT = 200

function indentation(file: FileLines, index: number): string {
  const start = file.starts[index]!
  return file.bytes.toString('latin1', start, file.trimmed(index)[0])
}
